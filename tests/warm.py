"""Import and measure before the processes of conftest_warm.py start, as a run would do late."""

from rankviz import RunSpec, execute
from rankviz.datasets import make_fold
from rankviz.runs.estimate import Shape, estimate
from rankviz.store import family_runner  # noqa: F401 - for those who are forked from here

_spec = RunSpec("small", feature_map="fourier", n_components=2)
_fold = make_fold(n_queries=20, documents_per_query=(5, 15), seed=1)
estimate(_spec, Shape.of(_fold))
execute(_spec, fold=_fold)
