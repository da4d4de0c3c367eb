"""A run that shares nothing with others: fitted and evaluated by itself."""

from __future__ import annotations

from rankviz.common.arrays import FloatArray
from rankviz.common.progress import Progress, Report, silent
from rankviz.common.timing import Stopwatch
from rankviz.datasets.types import Fold
from rankviz.learning.pairs import count_pairs
from rankviz.metrics import evaluate
from rankviz.models.ranker import Ranker
from rankviz.runs.families import Evaluated
from rankviz.whatif.samples import Sample

ALL = Sample()


def single_run(model: Ranker, fold: Fold, report: Report, sample: Sample = ALL) -> Evaluated:
    """Fit a model on a normalised fold, or on a sample of its training part; evaluate it on every part.

    If stopped during the solver's steps, it evaluates the weights so far without further calls. Training is
    timed as a whole, for rankers that report no seconds.
    """
    clock = Stopwatch()
    train = sample.of(fold.train)
    model.fit_data(train, callback=report)
    clock.lap("newton")
    report = silent if model.outcome().stopped else report
    scores: dict[str, FloatArray] = {}
    for part, data in fold.parts.items():
        report(Progress("evaluate", len(scores) / len(fold.parts)))
        scores[part] = model.predict(data.X)
    metrics = {part: evaluate(scores[part], data).per_query for part, data in fold.parts.items()}
    clock.lap("evaluate")
    n_pairs = int(count_pairs(train.y, train.ptr).sum())
    return Evaluated(scores, metrics, clock.laps["evaluate"], {"newton": clock.laps["newton"]}, n_pairs)
