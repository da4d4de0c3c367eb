"""`execute`: the only way anything trains, in the page, in a worker, in a sweep or in a script."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from dataclasses import replace
from importlib.metadata import version

import pandas as pd

from rankviz._typing import FloatArray
from rankviz.datasets.folds import find_datasets, open_fold
from rankviz.datasets.normalise import normalise
from rankviz.datasets.types import DataError, Fold, RankingData
from rankviz.estimators import RankSVM
from rankviz.experiments.record import RunRecord
from rankviz.experiments.spec import RunSpec
from rankviz.metrics import evaluate
from rankviz.progress import Callback, Progress, Report, reporter, silent
from rankviz.solvers.result import Status
from rankviz.timing import Stopwatch, peak_memory, reset_peak_memory


def execute(spec: RunSpec, callback: Callback | None = None, *, fold: Fold | None = None) -> RunRecord:
    """Train and evaluate what a spec says.

    `fold` is the spec's fold as read (before normalisation), for callers that have it open; otherwise it
    is looked up by name below the data roots. `callback` is told the progress; returning True stops.
    Stopped during Newton steps it evaluates the weights so far, without asking again.
    Raises `DataError` for data that is missing or not the data the spec names, ValueError for a setting out
    of range, `StopRequested` when stopped before there was a model or during the evaluation.
    """
    report, clock = reporter(callback), Stopwatch()
    reset_peak_memory()
    fold = open_named(spec, None, callback) if fold is None else fold
    _check_digest(spec, fold)
    used = normalise(fold, spec.normalisation)
    clock.lap("data")
    model = model_of(spec).fit_data(used.train, callback=callback)
    clock.lap("training")
    report = silent if model.status_ is Status.STOPPED else report
    scores: dict[str, FloatArray] = {}
    metrics: dict[str, pd.DataFrame] = {}
    for part, data in used.parts.items():
        report(Progress("evaluate", len(scores) / len(used.parts)))
        scores[part] = model.predict(data.X, callback=_within(report, len(scores), len(used.parts)))
        metrics[part] = evaluate(scores[part], data).per_query
    clock.lap("evaluate")
    return RunRecord(
        spec=replace(spec, digest=fold.digest),
        status=model.status_.value,
        objective=model.objective_,
        n_components=model.n_components_,
        n_pairs=model.n_pairs_,
        metrics=metrics,
        scores=scores,
        weights=model.coef_,
        trace=model.trace_,
        seconds=model.seconds_ | {k: v for k, v in clock.laps.items() if k != "training"},
        peak_memory=peak_memory(),
        versions=_versions(),
    )


def _within(report: Report, part: int, parts: int) -> Callback:
    """Report the prediction of one part as a share of the whole evaluation."""
    return lambda progress: report(Progress("evaluate", (part + (progress.fraction or 0.0)) / parts))


def model_from(record: RunRecord, train: RankingData) -> RankSVM:
    """The fitted model of a record: its weights, with the feature map drawn again from the same seed.

    `train` is the training part it was fitted on, normalised as the spec says.
    """
    spec, model = record.spec, model_of(record.spec)
    model.feature_map_ = model.unfitted_map(spec.gamma, spec.seed).fit(train.X)
    model.coef_, model.gamma_, model.objective_ = record.weights, spec.gamma, record.objective
    model.n_components_, model.n_features_in_ = record.n_components, train.n_features
    model.n_pairs_ = record.n_pairs
    return model


def model_of(spec: RunSpec) -> RankSVM:
    """The unfitted estimator that a spec describes."""
    return RankSVM(
        feature_map=spec.feature_map,
        n_components=spec.n_components,
        gamma=spec.gamma,
        C=spec.C,
        loss=spec.loss,
        random_state=spec.seed,
        rank=spec.rank,
        tol=spec.tol,
        preconditioner=spec.preconditioner,
        landmarks=spec.landmarks,
        frequencies=spec.frequencies,
    )


def open_named(spec: RunSpec, roots: Sequence[str] | None = None, callback: Callback | None = None) -> Fold:
    """Open the fold that a spec names below data roots (by default `data_roots()`), telling the share read.

    Raises `DataError` where there is none or it cannot be read, `StopRequested` when the callback asks to.
    """
    report, found = reporter(callback), find_datasets(roots)
    if spec.dataset not in found:
        raise DataError(
            f"no data set named {spec.dataset!r}",
            expected=f"one of {', '.join(sorted(found)) or 'none found'}",
            remedy="Check the name, or start with a data folder that holds it.",
        )
    return open_fold(found[spec.dataset], spec.fold, progress=lambda share: report(Progress("data", share)))


def _check_digest(spec: RunSpec, fold: Fold) -> None:
    if spec.digest not in ("", fold.digest):
        raise DataError(
            f"{fold.name} has digest {fold.digest}",
            expected=f"the data this run was made with, digest {spec.digest}",
            remedy="The files have changed since; clear the digest to run on the new ones.",
        )


def _versions() -> dict[str, str]:
    packages = ("numpy", "scipy", "pandas", "scikit-learn")
    return {"python": platform.python_version()} | {name: version(name) for name in packages}
