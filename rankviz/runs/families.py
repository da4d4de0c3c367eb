"""Runs that share features: which ones do, in what order they are made, and what is computed once for all.

See docs/decisions/0013-a-run-is-a-value.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import pandas as pd

from rankviz.common.arrays import FloatArray
from rankviz.common.memory import BUDGET_SHARE, free_memory
from rankviz.common.progress import Callback, Progress, Report, silent
from rankviz.common.settings import instance, listed
from rankviz.common.timing import Stopwatch
from rankviz.datasets.types import Fold, RankingData
from rankviz.features.family import FamilyFeatures
from rankviz.learning.memory import TrainingSizes
from rankviz.learning.training import Fit
from rankviz.metrics import evaluate
from rankviz.models.ranksvm import RankSVM
from rankviz.runs.spec import RunSpec
from rankviz.shards import Backend


def families(specs: Iterable[RunSpec]) -> list[list[RunSpec]]:
    """Group specs that share features, each group in the order that suits warm starts; doubles go.

    A family differs only in what its method lets vary, m, γ and C for RankSVM: γ is outermost, then m and
    then C ascend. Maps truncated to a rank are not nested, so there each m is a family of its own; so is each
    run of a method that shares nothing. Runs on samples of the training part are a family where they differ
    in the sample only, draw by draw, shares ascending.
    """
    found: dict[object, list[RunSpec]] = {}
    specs = listed("specs", specs)
    for spec in specs:
        instance("a spec", spec, RunSpec, "a RunSpec")
    for spec in dict.fromkeys(specs):
        found.setdefault(_family(spec), []).append(spec)
    return [sorted(family, key=_place) for family in found.values()]


def _family(spec: RunSpec) -> object:
    """What runs of one family have in common."""
    varying = spec.kind.varying(spec.values)
    if not varying:
        return spec
    if spec.sample.drawn:
        return spec.data.whole, spec.method, spec.settings, "samples"
    shared = tuple((name, value) for name, value in spec.settings if name not in varying)
    return spec.data, spec.method, shared


def _place(spec: RunSpec) -> tuple[tuple[bool, float], ...]:
    """γ outermost, then m, then C, then the sample; a name that stands for a number after the numbers."""
    values = [spec.get(name, 0) for name in ("gamma", "n_components", "C")]
    values += [spec.draw, spec.flipped, spec.share]
    return tuple((True, 0.0) if isinstance(value, str) else (False, float(value)) for value in values)


def shares(spec: RunSpec) -> bool:
    """Whether runs of its method can share features and starts."""
    return bool(spec.kind.varying(spec.values))


@dataclass(frozen=True, eq=False)
class Evaluated:
    """Scores and metrics per query of one model, by part, and the seconds they took.

    `training` has seconds of training as they were seen from outside, for rankers that tell none. `n_pairs`
    are those trained on, where that is not all of the training part.
    """

    scores: dict[str, FloatArray]
    metrics: dict[str, pd.DataFrame]
    seconds: float
    training: dict[str, float] = field(default_factory=dict)
    n_pairs: int | None = None


class SharedRuns:
    """Trains and evaluates the models of one family on one fold.

    Parameters
    ----------
    models : list of RankSVM
        Unfitted, in the order of `families`.
    fold : Fold
        Normalised.
    where : Backend or None
        What shards are worked on by; None trains in one piece.
    """

    def __init__(
        self, models: Sequence[RankSVM], fold: Fold, report: Report, where: Backend | None = None
    ) -> None:
        self._fold = fold
        widest = max(models, key=lambda model: model.n_components)
        room = _Room(fold, widest)
        keep_arguments = len({model.gamma for model in models}) > 1 and room.for_arguments
        self._training = (
            widest.training(fold.train, report, keep_arguments=keep_arguments)
            if where is None
            else widest.training_in_shards(fold.train, where, report)
        )
        self._features = {
            part: FamilyFeatures(self._training.family, data.X, keep_arguments=keep_arguments)
            for part, data in fold.parts.items()
            if part != "train" and len(models) > 1 and room.for_parts
        }

    def run(self, model: RankSVM, report: Report, *, alone: bool) -> Evaluated:
        """Fit a model of the family, from zero if `alone`, and evaluate it on every part.

        Stopped during Newton steps it evaluates the weights so far, without asking again.
        """
        fit = model.fit_in(self._training, report, alone=alone)
        report = silent if model.outcome().stopped else report
        scores: dict[str, FloatArray] = {}
        metrics: dict[str, pd.DataFrame] = {}
        seconds = 0.0
        for part, data in self._fold.parts.items():
            tell = within(report, len(scores), len(self._fold.parts))
            tell(Progress("evaluate", 0.0))
            scores[part], shared = self._scores(model, fit, part, data, tell)
            clock = Stopwatch()
            metrics[part] = evaluate(scores[part], data).per_query
            clock.lap("evaluate")
            seconds += shared + clock.laps["evaluate"]
        return Evaluated(scores, metrics, seconds)

    def _scores(
        self, model: RankSVM, fit: Fit, part: str, data: RankingData, report: Report
    ) -> tuple[FloatArray, float]:
        """Scores of a part, and what they cost: of features that others use too, this model's columns."""
        if part == "train":
            return fit.result.point.scores, 0.0
        clock = Stopwatch()
        if part not in self._features:
            scores = model.predict(data.X, callback=_callback(report))
            clock.lap("scores")
            return scores, clock.laps["scores"]
        features = self._features[part]
        operator = features.operator(fit.task.n_components, fit.task.gamma, report)
        clock.lap("shared")
        scores = operator.product(model.coef_)
        clock.lap("scores")
        return scores, clock.laps["scores"] + features.seconds(fit.map)


class _Room:
    """What may be kept in memory beside what training takes."""

    def __init__(self, fold: Fold, widest: RankSVM) -> None:
        train, free = fold.train, free_memory()
        m, n, d = int(widest.n_components), train.n_documents, train.n_features
        sizes = TrainingSizes(widest.feature_map, m, n, d, kernel=widest.kernel)
        # the kernel matrix of an exact kernel takes what there is: then a part of the rest
        need = sizes.bytes + sizes.copy_bytes
        left = (1 - BUDGET_SHARE) / 2 * free if sizes.in_kernel_space else BUDGET_SHARE * free - need
        others = sum(part.n_documents for part in fold.parts.values()) - n
        self.for_parts = 8 * sizes.width * others <= left
        self.for_arguments = 8 * sizes.width * (n + 2 * others) <= left and not sizes.in_kernel_space


def within(report: Report, part: int, parts: int) -> Report:
    """Report the scores of one part as a share of the whole evaluation."""
    return lambda progress: report(Progress("evaluate", (part + (progress.fraction or 0.0)) / parts))


def _callback(report: Report) -> Callback:
    return lambda progress: report(progress)
