"""One thread or several, in this process or another: the same figures, or as near as was promised."""

from __future__ import annotations

import hashlib
import math
import os
import subprocess
import sys

import numpy as np
import pytest
from sklearn.base import clone
from threadpoolctl import threadpool_limits

from rankviz import FactorizedRankSVM, RankSVM, RegularizedRankSVM
from rankviz.common.threads import ENVIRONMENT
from rankviz.datasets import make_data
from rankviz.learning.losses import LOSSES
from rankviz.learning.solvers import SOLVERS
from rankviz.models.feature_ranker import FeatureRanker

DATA = make_data(n_queries=56, documents_per_query=(30, 60), n_features=12, seed=1)
"""More than 2,000 documents, so that an exact kernel is solved for in its own space."""

FACTORISED: dict[str, FactorizedRankSVM] = {
    "linear": FactorizedRankSVM(rank=8, C=0.01),
    "nystroem": FactorizedRankSVM(rank=16, C=0.01, feature_map="nystroem", n_components=80, max_iter=40),
    "fourier": FactorizedRankSVM(rank=4, C=0.01, feature_map="fourier", n_components=300, max_iter=40),
    "exact": FactorizedRankSVM(rank=2, C=0.01, feature_map="exact", gamma=0.1),
    "query_steps": FactorizedRankSVM(
        C=0.01, feature_map="fourier", n_components=400, solver="query_steps", max_iter=15
    ),
}
STEADY = [name for name, choice in SOLVERS.items() if not name.endswith("_printed")]
CONVEX: dict[str, FeatureRanker] = {
    **{f"linear, {loss}": RankSVM(loss=loss) for loss in LOSSES},
    **{f"linear, {solver}": RankSVM(solver=solver) for solver in STEADY},
    "linear, plain": RankSVM(preconditioner="none", C=0.1),
    "nystroem": RankSVM("nystroem", n_components=300),
    "nystroem, kmeans++": RankSVM("nystroem", n_components=80, landmarks="kmeans++"),
    "nystroem, newton_yuan": RankSVM("nystroem", n_components=80, solver="newton_yuan"),
    "fourier": RankSVM("fourier", n_components=300),
    "exact": RankSVM("exact"),
    "exact, hinge": RankSVM("exact", loss="hinge", C=1e-3),
    "regularised, fista": RegularizedRankSVM(),
    "regularised, alternating": RegularizedRankSVM(solver="alternating", max_iter=5),
}


def fitted(model: FeatureRanker, threads: int, monkeypatch: pytest.MonkeyPatch) -> FeatureRanker:
    monkeypatch.setenv(ENVIRONMENT, str(threads))
    with threadpool_limits(limits=threads, user_api="blas"):
        return clone(model).fit_data(DATA)


def found(model: FeatureRanker) -> str:
    """A digest of everything that was found, bit by bit."""
    assert isinstance(model, FactorizedRankSVM)
    parts = (model.factors_, model.coef_, np.array([model.objective_, model.gap_, model.n_iter_]))
    return hashlib.sha256(b"".join(part.tobytes() for part in parts)).hexdigest()


@pytest.mark.parametrize("name", FACTORISED)
def test_a_factorised_model_is_the_same_bit_by_bit(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    digests = {found(fitted(FACTORISED[name], threads, monkeypatch)) for threads in (1, 2, 3, 5)}
    assert len(digests) == 1


SCRIPT = """
import test_same_figures as t
print(t.found(t.FACTORISED["exact"].fit_data(t.DATA)))
"""


def test_a_factorised_model_is_the_same_in_another_process(monkeypatch: pytest.MonkeyPatch) -> None:
    path = os.pathsep.join(entry for entry in sys.path if entry)
    for threads in "1", "3":
        environment = os.environ | {"PYTHONPATH": path, "OPENBLAS_NUM_THREADS": threads, ENVIRONMENT: threads}
        told = subprocess.run(
            [sys.executable, "-c", SCRIPT], env=environment, capture_output=True, text=True, check=True
        )
        assert told.stdout.strip() == found(fitted(FACTORISED["exact"], 1, monkeypatch))


def error(model: FeatureRanker) -> float:
    """What ‖w − optimum‖ is at most: ½‖w − w*‖² is what the objective is above its minimum, at most."""
    last = model.trace_.iloc[-1]
    return math.sqrt(2.0 * last["gap"] * abs(last["objective"]))


def length(model: FeatureRanker) -> np.ndarray:
    """‖φ(x)‖ of the documents."""
    fitted_map = model.feature_map_
    if fitted_map.in_kernel_space:
        return np.sqrt(fitted_map.kernel.diagonal(DATA.X))
    return np.linalg.norm(fitted_map.operator(DATA.X).dense(), axis=1)


@pytest.mark.parametrize("name", CONVEX)
def test_a_convex_model_is_the_same_within_its_proved_gap(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = (fitted(CONVEX[name], threads, monkeypatch) for threads in (1, 2))
    apart = np.abs(one.predict(DATA.X) - other.predict(DATA.X))
    rounding = 1e-9 * np.abs(one.predict(DATA.X)).max()
    assert (apart <= length(one) * (error(one) + error(other)) + rounding).all()


@pytest.mark.parametrize("name", [name for name in STEADY if name.startswith("sgd")])
def test_damped_steps_keep_rounding_small(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """No step takes two weights further apart, so that rounding adds up and does not grow."""
    f, g = (fitted(RankSVM(solver=name), threads, monkeypatch).predict(DATA.X) for threads in (1, 3))
    assert np.abs(f - g).max() <= 1e-9 * np.abs(f).max()
