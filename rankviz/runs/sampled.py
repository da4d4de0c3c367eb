"""Runs on samples of one training part: they share features, and each starts from the one before."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from rankviz.common.arrays import FloatArray
from rankviz.common.progress import Progress, Report, silent
from rankviz.common.timing import Stopwatch
from rankviz.datasets.types import Fold, RankingData
from rankviz.learning.result import Status
from rankviz.metrics import evaluate
from rankviz.models.ranksvm import RankSVM
from rankviz.runs.families import Evaluated, within
from rankviz.whatif.retraining import Retraining, Trained
from rankviz.whatif.samples import Sample


@dataclass(frozen=True, eq=False)
class _End:
    """The end of a run, from which the next starts."""

    sample: Sample
    w: FloatArray
    newton_seconds: float


class SampledRuns:
    """Trains a model on samples and evaluates it on whole parts.

    γ, landmarks and frequencies come from the whole training part.

    Parameters
    ----------
    model : RankSVM
        Unfitted.
    fold : Fold
        Normalised.
    """

    def __init__(self, model: RankSVM, fold: Fold, report: Report) -> None:
        self._fold, clock = fold, Stopwatch()
        self._end: _End | None = None
        model.room(fold.train)  # refuse too large problems before computing features
        gamma = model.gamma_for(fold.train.X)
        fitted = model.unfitted_map(gamma, model.seed()).fit(fold.train.X, report)
        clock.lap("draw")
        self._retraining = Retraining(model, fold.train, fitted, report)
        self._seconds = clock.laps["draw"] + self._retraining.seconds

    def run(self, sample: Sample, report: Report, *, alone: bool) -> tuple[RankSVM, Evaluated]:
        """Fit on a sample, from zero if `alone`, else from the previous sample; evaluate on every part.

        If stopped during Newton steps, it evaluates the weights so far without further calls.
        """
        end = None if alone else self._end
        model = self._train(sample.of(self._fold.train), end, report).model
        report = silent if model.outcome().stopped else report
        if end is not None:
            model.start_ = f"the weights for {end.sample.words}"
            model.seconds_["start"] = end.newton_seconds
        model.seconds_["features"] = self._seconds
        if model.status_ in (Status.CONVERGED, Status.CERTIFIED, Status.STALLED):
            spent = model.seconds_["newton"] + model.seconds_.get("start", 0.0)
            self._end = _End(sample, model.coef_, spent)
        clock, scores = Stopwatch(), dict[str, FloatArray]()
        for part, data in self._fold.parts.items():
            tell = within(report, len(scores), len(self._fold.parts))
            tell(Progress("evaluate", 0.0))
            scores[part] = self._retraining.scores(model, data, tell)
        metrics = {part: evaluate(scores[part], data).per_query for part, data in self._fold.parts.items()}
        clock.lap("evaluate")
        return model, Evaluated(scores, metrics, clock.laps["evaluate"], n_pairs=model.n_pairs_)

    def _train(self, data: RankingData, end: _End | None, report: Report) -> Trained:
        """Train on a sample in the whole part's feature space, from the end of the last run."""
        place = self._retraining.place
        w = np.zeros(place.map.n_components) if end is None else end.w
        moved = place.moved(self._fold.train, data, (), w)
        return self._retraining.train(replace(moved, w=None) if end is None else moved, report=report)
