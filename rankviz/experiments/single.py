"""Runs that share nothing with others: each model is fitted and evaluated by itself."""

from __future__ import annotations

from rankviz._typing import FloatArray
from rankviz.datasets.types import Fold
from rankviz.experiments.sweep import Evaluated
from rankviz.low_rank.ranker import LowRankRanker
from rankviz.metrics import evaluate
from rankviz.progress import Progress, Report, silent
from rankviz.solvers.result import Status
from rankviz.timing import Stopwatch


class SingleRuns:
    """Trains and evaluates low-rank models on one fold.

    Parameters
    ----------
    fold : Fold
        Normalised.
    """

    def __init__(self, fold: Fold) -> None:
        self._fold = fold

    def run(self, model: LowRankRanker, report: Report) -> Evaluated:
        """Fit a model and evaluate it on every part.

        Stopped during the solver's steps it evaluates the weights so far, without asking again.
        """
        model.fit_data(self._fold.train, callback=lambda progress: report(progress))
        report = silent if model.status_ is Status.STOPPED else report
        clock = Stopwatch()
        scores: dict[str, FloatArray] = {}
        for part, data in self._fold.parts.items():
            report(Progress("evaluate", len(scores) / len(self._fold.parts)))
            scores[part] = model.predict(data.X)
        metrics = {part: evaluate(scores[part], data).per_query for part, data in self._fold.parts.items()}
        clock.lap("evaluate")
        return Evaluated(scores, metrics, clock.laps["evaluate"])
