"""Families of runs: their order, and their training with shared features.

See docs/decisions/0013-a-run-is-a-value.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd

from rankviz.common.arrays import FloatArray
from rankviz.common.memory import BUDGET_SHARE, free_memory
from rankviz.common.progress import Progress, Report, Stopwatch, silent
from rankviz.common.settings import instance, listed
from rankviz.datasets.samples import Sample
from rankviz.datasets.types import Fold, RankingData
from rankviz.learning.memory import TrainingSizes
from rankviz.learning.objective import Status
from rankviz.learning.pairs import count_pairs
from rankviz.learning.training import FamilyFeatures
from rankviz.metrics.evaluation import compared
from rankviz.models.ranker import Ranker
from rankviz.models.ranksvm import RankSVM
from rankviz.runs.spec import RunSpec
from rankviz.shards import Backend
from rankviz.whatif.reuse import Retraining, Trained


def families(specs: Iterable[RunSpec]) -> list[list[RunSpec]]:
    """Group specs that share features, each group in an order that suits warm starts; remove duplicates.

    Runs of a family differ only in the settings that their method lets vary: m, γ and C for RankSVM. γ is
    outermost; m and then C ascend. Features truncated to a rank are not nested, so each m is a family there.
    Each run of a method that shares nothing is a family. Runs on samples of the training part are a family if
    they differ only in the sample; they are sorted by draw, then by share.
    """
    found: dict[object, list[RunSpec]] = {}
    specs = listed("specs", specs)
    for spec in specs:
        instance("a spec", spec, RunSpec, "a RunSpec")
    for spec in dict.fromkeys(specs):
        found.setdefault(_family(spec), []).append(spec)
    return [sorted(family, key=_place) for family in found.values()]


def _family(spec: RunSpec) -> object:
    """Return the common settings of a family, as a key."""
    varying = spec.kind.varying(spec.values)
    if not varying:
        return spec
    if spec.sample.drawn:
        return spec.data.whole, spec.method, spec.settings, "samples"
    shared = tuple((name, value) for name, value in spec.settings if name not in varying)
    return spec.data, spec.method, shared


def _place(spec: RunSpec) -> tuple[tuple[bool, float], ...]:
    """Return the sort key in a family: γ, m, C, then the sample; names come after numbers."""
    values = [spec.get(name, 0) for name in ("gamma", "n_components", "C")]
    values += [spec.draw, spec.flipped, spec.share]
    return tuple((True, 0.0) if isinstance(value, str) else (False, float(value)) for value in values)


def shares(spec: RunSpec) -> bool:
    """Return True if runs of this spec's method can share features and starts."""
    return bool(spec.kind.varying(spec.values))


@dataclass(frozen=True, eq=False)
class Evaluated:
    """Scores and metrics per query of one model, by part, and the seconds they took; see `RunRecord`.

    `training` has the seconds of training seen from outside, for rankers that report none. `n_pairs` are the
    pairs of a sample; None stands for all pairs of the training part.
    """

    scores: dict[str, FloatArray]
    metrics: dict[str, pd.DataFrame]
    by_order: dict[str, dict[str, float]]
    seconds: float
    training: dict[str, float] = field(default_factory=dict)
    n_pairs: int | None = None


def evaluated(
    parts: Mapping[str, RankingData],
    report: Report,
    scores_of: Callable[[str, RankingData, Report], tuple[FloatArray, float]],
) -> Evaluated:
    """Evaluate a model on these parts.

    `scores_of` returns the scores of a part, and seconds to add: for features that other models also use.
    """
    scores: dict[str, FloatArray] = {}
    metrics: dict[str, pd.DataFrame] = {}
    by_order: dict[str, dict[str, float]] = {}
    seconds = 0.0
    for part, data in parts.items():
        tell = _within(report, len(scores), len(parts))
        tell(Progress("evaluate", 0.0))
        clock = Stopwatch()
        scores[part], more = scores_of(part, data, tell)
        metrics[part], by_order[part] = compared(scores[part], data)
        clock.lap("evaluate")
        seconds += clock.laps["evaluate"] + more
    return Evaluated(scores, metrics, by_order, seconds)


def _within(report: Report, part: int, parts: int) -> Report:
    """Report the progress on one part as a share of the whole evaluation."""
    return lambda progress: report(Progress("evaluate", (part + (progress.fraction or 0.0)) / parts))


class SharedRuns:
    """Trains and evaluates the models of one family on one fold.

    Parameters
    ----------
    models : list of RankSVM
        Unfitted, in the order of `families`.
    fold : Fold
        Normalised.
    where : Backend or None
        The workers of shards; None trains in one piece.
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

        If stopped during Newton steps, it evaluates the weights so far without further calls.
        """
        fit = model.fit_in(self._training, report, alone=alone)

        def scores_of(part: str, data: RankingData, tell: Report) -> tuple[FloatArray, float]:
            if part == "train":
                return fit.result.point.scores, 0.0
            if part not in self._features:
                return model.predict(data.X, callback=lambda progress: tell(progress)), 0.0
            features, clock = self._features[part], Stopwatch()
            operator = features.operator(fit.task.n_components, fit.task.gamma, tell)
            clock.lap("shared")  # each model of the family is charged for its own columns
            return operator.product(model.coef_), features.seconds(fit.map) - clock.laps["shared"]

        return evaluated(self._fold.parts, silent if model.outcome().stopped else report, scores_of)


class _Room:
    """Decide what fits into memory beside training."""

    def __init__(self, fold: Fold, widest: RankSVM) -> None:
        train, free = fold.train, free_memory()
        m, n, d = int(widest.n_components), train.n_documents, train.n_features
        sizes = TrainingSizes(widest.feature_map, m, n, d, kernel=widest.kernel)
        # an exact kernel's matrix takes the whole budget: use a part of the rest
        need = sizes.bytes + sizes.copy_bytes
        left = (1 - BUDGET_SHARE) / 2 * free if sizes.in_kernel_space else BUDGET_SHARE * free - need
        others = sum(part.n_documents for part in fold.parts.values()) - n
        self.for_parts = 8 * sizes.width * others <= left
        self.for_arguments = 8 * sizes.width * (n + 2 * others) <= left and not sizes.in_kernel_space


def single_run(model: Ranker, fold: Fold, report: Report, sample: Sample) -> Evaluated:
    """Fit a model on a normalised fold, or on a sample of its training part; evaluate it on every part.

    If stopped during the solver's steps, it evaluates the weights so far without further calls. Training is
    timed as a whole, for rankers that report no seconds.
    """
    clock = Stopwatch()
    train = sample.of(fold.train)
    model.fit_watching(train, fold.vali, report)
    clock.lap("newton")
    report = silent if model.outcome().stopped else report
    found = evaluated(fold.parts, report, lambda part, data, tell: (model.predict(data.X), 0.0))
    n_pairs = int(count_pairs(train.y, train.ptr).sum())
    return replace(found, training={"newton": clock.laps["newton"]}, n_pairs=n_pairs)


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
        model.plan(fold.train)  # refuse too large problems before computing features
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
        found = evaluated(
            self._fold.parts,
            report,
            lambda part, data, tell: (self._retraining.scores(model, data, tell), 0.0),
        )
        return model, replace(found, n_pairs=model.n_pairs_)

    def _train(self, data: RankingData, end: _End | None, report: Report) -> Trained:
        """Train on a sample in the whole part's feature space, from the end of the last run."""
        place = self._retraining.state
        w = np.zeros(place.map.n_components) if end is None else end.w
        moved = place.moved(self._fold.train, data, (), w)
        return self._retraining.train(replace(moved, w=None) if end is None else moved, report=report)
