"""`execute_all`: all training on pages, in workers, in sweeps and in scripts runs through it."""

from __future__ import annotations

import platform
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from typing import Any

from rankviz.common.arrays import FloatArray
from rankviz.common.errors import DataError, SettingError
from rankviz.common.memory import peak_memory, reset_peak_memory
from rankviz.common.progress import Callback, Progress, Report, Stopwatch, reporter
from rankviz.datasets.folds import find_datasets, open_fold
from rankviz.datasets.normalise import normalise
from rankviz.datasets.types import Fold, RankingData
from rankviz.learning.objective import Status
from rankviz.learning.pairs import count_pairs
from rankviz.learning.solvers import STARTS
from rankviz.models.feature_ranker import FeatureRanker
from rankviz.models.ranker import Ranker
from rankviz.models.ranksvm import RankSVM
from rankviz.models.rounds import RoundRanker
from rankviz.runs.estimate import Shape
from rankviz.runs.families import Evaluated, SampledRuns, SharedRuns, families, shares, single_run
from rankviz.runs.record import RunRecord
from rankviz.runs.spec import RunSpec
from rankviz.shards import Backend
from rankviz.shards.storage import Plan, check_solver_in_shards, refuse_coefficients


def ranksvm_in_shards(spec: RunSpec) -> RankSVM:
    """Return the model of a run that supports shards. Raises `SettingError` with the reason for others."""
    model = spec.kind.model(spec.values)
    if not isinstance(model, RankSVM) or not shares(spec) or spec.sample.drawn:
        raise SettingError(
            f"{spec.kind.label} cannot be trained in shards here; train without shards, or use RankSVM on "
            "all queries"
        )
    check_solver_in_shards(model.solver)
    return model


def plan_in_shards(spec: RunSpec, fold: Fold, where: Backend) -> Plan:
    """Return the plan of a run on a fold (as read). Raise as `ranksvm_in_shards` and `RankSVM.shard_plan`."""
    return ranksvm_in_shards(spec).shard_plan(normalise(fold, spec.normalisation).train, where)


def reason_not_in_shards(spec: RunSpec, shape: Shape) -> str:
    """Return why a run on data of this shape cannot use shards, as a sentence; "" if it can."""
    try:
        ranksvm_in_shards(spec)
        refuse_coefficients(shape.training(spec))
    except SettingError as error:
        return str(error)
    return ""


def execute(
    spec: RunSpec,
    callback: Callback | None = None,
    *,
    fold: Fold | None = None,
    where: Backend | None = None,
) -> RunRecord:
    """Train and evaluate one spec; see `execute_all`."""
    return next(execute_all([spec], callback, fold=fold, where=where))[1]


def execute_all(
    specs: Iterable[RunSpec],
    callback: Callback | None = None,
    *,
    fold: Fold | None = None,
    where: Backend | None = None,
) -> Iterator[tuple[RunSpec, RunRecord]]:
    """Train and evaluate specs, and yield each with its record as soon as it is done.

    The order is that of `families`. Runs that differ only in m, γ and C, or only in the sample, share their
    features. Each starts from the weights of an earlier one, unless its spec says otherwise.

    `fold` is the specs' fold as read (before normalisation), if the caller has it open; otherwise it is found
    by name below the data roots. `where` trains in shards (see `rankviz.shards`), None in one piece: the
    models are the same. `callback` receives the progress; it stops the runs by returning True. If stopped
    during Newton steps, it evaluates the weights so far without further calls, and ends. Raises `DataError`
    for missing data or another digest than the spec's, ValueError for a setting out of range, `StopRequested`
    if stopped before there was a model or during the evaluation.
    """
    for family in families(specs):
        for spec, record in _family(family, callback, fold, where):
            yield spec, record
            if record.stopped:
                return


def _family(
    specs: list[RunSpec], callback: Callback | None, fold: Fold | None, where: Backend | None
) -> Iterator[tuple[RunSpec, RunRecord]]:
    reset_peak_memory()
    clock, report = Stopwatch(), reporter(callback)
    fold = open_named(specs[0], None, callback) if fold is None else fold
    _check_digest(specs[0], fold)
    used = normalise(fold, specs[0].normalisation)
    clock.lap("data")
    n_pairs = int(count_pairs(used.train.y, used.train.ptr).sum())
    for spec, model, result in _evaluated(specs, used, report, where):
        outcome = model.outcome()
        yield (
            spec,
            RunRecord(
                spec=spec.but(digest=fold.digest),
                status=outcome.status,
                stopped=outcome.stopped,
                objective=outcome.objective,
                n_components=outcome.n_components,
                n_pairs=n_pairs if result.n_pairs is None else result.n_pairs,
                metrics=result.metrics,
                by_order=result.by_order,
                scores=result.scores,
                weights=outcome.weights,
                trace=outcome.trace,
                seconds=(outcome.seconds or result.training) | clock.laps | {"evaluate": result.seconds},
                peak_memory=peak_memory(),
                versions=dict(versions()) | _library(model),
                start=outcome.start,
                solution=outcome.solution,
            ),
        )
        reset_peak_memory()


def _evaluated(
    specs: list[RunSpec], fold: Fold, report: Report, where: Backend | None
) -> Iterator[tuple[RunSpec, Ranker, Evaluated]]:
    """Yield the fitted models of a family with their scores and metrics."""
    models = {spec: model_of(spec) for spec in specs}
    if where is not None:
        ranksvm_in_shards(specs[0])
    if not shares(specs[0]):
        for spec, model in models.items():
            yield spec, model, single_run(model, fold, report, spec.sample)
        return
    if specs[0].sample.drawn:
        samples = SampledRuns(model_of(specs[0]), fold, report)
        for spec in specs:
            fitted, result = samples.run(spec.sample, report, alone=not STARTS[spec.start].shared)
            yield spec, fitted, result
        return
    related = SharedRuns(list(models.values()), fold, report, where)
    for spec, model in models.items():
        yield spec, model, related.run(model, report, alone=not STARTS[spec.start].shared)


def model_of(spec: RunSpec) -> Ranker:
    """Return the unfitted estimator of a spec. Raises `SettingError` for an invalid combination."""
    return spec.kind.model(spec.values)


def model_from(record: RunRecord, train: RankingData) -> Any:
    """Return the fitted model of a record: its weights, and the feature map drawn from the same seed.

    It also has the record's trace, final gap and status. `train` is the training part of the fit, normalised
    as the spec says. A record has all of a model of trees. Raises `SettingError` for other rankers without a
    feature map.
    """
    spec, model = record.spec, model_of(record.spec)
    if isinstance(model, RoundRanker):
        model.library_ = record.versions.get(model.library, "")
        return model.restore(record.solution, train.n_features, record.trace, record.status)
    if not isinstance(model, FeatureRanker):
        raise SettingError(
            f"the model of {spec.kind.label} cannot be restored from a record: only models with a feature "
            "map can; train again"
        )
    # RankSVM draws its features from all documents; other methods see only the sample
    learned_from = train if shares(spec) else spec.sample.of(train)
    model.take(record.weights, learned_from, record.objective, record.n_pairs)
    model.trace_, model.start_, model.seconds_ = record.trace, record.start, record.seconds
    for status in Status:  # an earlier version may have used other words
        if status.value == record.status:
            model.status_ = status
    if "gap" in record.trace and len(record.trace):
        model.keep({"gap": record.trace["gap"].to_numpy()[-1:]})
    model.keep(record.solution)
    return model


def open_named(spec: RunSpec, roots: Sequence[str] | None = None, callback: Callback | None = None) -> Fold:
    """Open a spec's fold below data roots (default: `data_roots()`), and report the share read.

    Raises `DataError` if it is missing, unreadable or not that of the spec's digest, `StopRequested` if the
    callback stops it.
    """
    report, found = reporter(callback), find_datasets(roots)
    if spec.dataset not in found:
        raise DataError(
            f"no data set named {spec.dataset!r}",
            expected=f"one of {', '.join(sorted(found)) or 'none found'}",
            remedy="Check the name, or start with a data folder that holds it.",
        )
    fold = open_fold(found[spec.dataset], spec.fold, progress=lambda share: report(Progress("data", share)))
    _check_digest(spec, fold)
    return fold


def _check_digest(spec: RunSpec, fold: Fold) -> None:
    if spec.digest not in ("", fold.digest):
        raise DataError(
            f"{fold.name} has digest {fold.digest}, not {spec.digest}",
            expected="the data this run was made with",
            remedy="The files have changed; clear the digest to use the new ones.",
        )


@cache
def versions() -> dict[str, str]:
    """Return the versions of the packages that decide results."""
    packages = ("numpy", "scipy", "pandas", "scikit-learn", "lightgbm")
    return {"python": platform.python_version()} | {name: version(name) for name in packages}


def _library(model: Ranker) -> dict[str, str]:
    """Return the version of the library that grew a model's trees; `versions` has the usual ones."""
    return {model.library: model.library_} if isinstance(model, RoundRanker) and model.library_ else {}


class Folds:
    """Folds below data roots; keeps the latest."""

    def __init__(self, roots: tuple[str, ...]) -> None:
        self._roots, self._data = roots, ("", "", "")
        self._latest: Fold | None = None

    def of(self, spec: RunSpec, callback: Callback) -> Fold:
        """Return the fold of a spec, as read."""
        data = spec.dataset, spec.fold, spec.digest
        if self._latest is None or self._data != data:
            self._latest, self._data = None, data
            self._latest = open_named(spec, self._roots, callback)
        return self._latest


@dataclass(frozen=True, eq=False)
class Playback:
    """A run with its scores at each iteration.

    Attributes
    ----------
    record : RunRecord
    scores : tuple of (n,) float64
        On the training part, at the start of each row of the trace.
    """

    record: RunRecord
    scores: tuple[FloatArray, ...]


def playable(spec: RunSpec) -> bool:
    """Return True if a run is trained by Newton steps, which report their scores."""
    return bool(getattr(spec.option("solver"), "newton", False))


def play(spec: RunSpec, fold: Fold) -> Playback:
    """Train a spec from zero and keep the scores of every iteration.

    Raises `SettingError` if the solver does not report scores, and as `execute`.
    """
    if not playable(spec):
        raise SettingError("this run has no Newton steps to play: its solver is not a Newton method")
    scores: list[FloatArray] = []

    def keep(progress: Progress) -> None:
        if progress.scores is not None:
            if progress.record is None and scores:  # narrower smoothing restarts at the last scores
                scores.pop()
            scores.append(progress.scores)

    record = execute(spec.but(start="zero") if "start" in spec else spec, keep, fold=fold)
    return Playback(record, tuple(scores[: len(record.trace)]))
