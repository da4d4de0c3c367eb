"""Runs against a reference: approximate kernels against the exact one, samples against all training data.

Only run records are read, and the data for the documents of each query.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np
import pandas as pd

from rankviz.common.arrays import FloatArray
from rankviz.common.errors import SettingError
from rankviz.datasets.samples import n_queries
from rankviz.datasets.types import RankingData
from rankviz.features import FEATURE_MAPS, MapKind
from rankviz.features.registry import FEATURE_MAP
from rankviz.metrics import kendall_tau, top_overlap
from rankviz.metrics.significance import Comparison, Interval, crossed_interval, largest, tied
from rankviz.runs.description import method_label
from rankviz.runs.record import RunRecord
from rankviz.runs.spec import RunSpec

TOP = 10
_DATA = ("dataset", "fold", "digest", "normalisation")


def ranking_errors(
    approximate: RunRecord, exact: RunRecord, data: RankingData, part: str, top: int = TOP
) -> pd.DataFrame:
    """Return the agreement of two models on each query of a part: index query, columns tau and overlap.

    tau is Kendall's τ_b of the scores, 1 for the same order (ties count for neither order; NaN for a single
    document or constant scores). overlap is the share of the first `top` documents that both have, ties in
    file order. `data` is that part. Raises ValueError for runs on different data, or if the number of scores
    differs from the data's documents.
    """
    _same(approximate.spec, exact.spec, _DATA)
    left, right = approximate.scores[part], exact.scores[part]
    for scores in (left, right):
        if len(scores) != data.n_documents:
            raise ValueError(f"{len(scores):,} scores for {data.n_documents:,} documents: another part?")
    tau, overlap = kendall_tau(left, right, data), top_overlap(left, right, data, top)
    return pd.concat((tau, overlap), axis=1)


def objective_distance(approximate: RunRecord, exact: RunRecord) -> float:
    """Return (F̃ − F)/F of the final objectives, ½‖w‖² + C·risk each in its own kernel.

    Nyström searches a subspace of the exact kernel's space, so its optimum is never lower; random Fourier's
    may be. Raises `SettingError` if the second run has no exact kernel, or another loss, kernel, C, costs or
    method. Settings that only the map reads may differ, such as m.
    """
    if not _has(exact.spec, lambda kind: kind.is_exact):
        raise SettingError(f"{method_label(exact.spec)} has no exact kernel: nothing to compare with")
    if not _has(approximate.spec, lambda kind: kind.has_kernel):
        raise SettingError(
            f"{method_label(approximate.spec)} does not approximate a kernel: nothing to compare"
        )
    _same_problem(approximate.spec, exact.spec)
    return (approximate.objective - exact.objective) / exact.objective


def _has(spec: RunSpec, fact: Callable[[MapKind], bool]) -> bool:
    """Return True if a run has a feature map for which `fact` holds."""
    return FEATURE_MAP.name in spec and fact(FEATURE_MAPS[spec.feature_map])


def _same_problem(approximate: RunSpec, exact: RunSpec) -> None:
    """Raise `SettingError` unless both minimise the same objective, each in its own kernel."""
    ours = (
        approximate.but(feature_map=exact.feature_map) if approximate.method == exact.method else approximate
    )
    if ours.problem != exact.problem:
        names = (*_DATA, "method", *exact.values)
        apart = [name for name in names if getattr(ours, name, None) != getattr(exact, name, None)]
        _same(ours, exact, [name for name in apart if name not in exact or not exact.declared()[name].how])


def ranking_error_table(
    records: Sequence[RunRecord], exact: RunRecord, data: RankingData, part: str, top: int = TOP
) -> pd.DataFrame:
    """Return `ranking_errors` of many runs to one exact run: map, choice, m, seed, query, tau, overlap."""
    tables = []
    for record in records:
        table = ranking_errors(record, exact, data, part, top).reset_index()
        for place, (name, value) in enumerate(_about(record.spec).items()):
            table.insert(place, name, value)
        tables.append(table)
    columns = [*_about(exact.spec), "query", "tau", "overlap"]
    return pd.concat(tables, ignore_index=True) if tables else pd.DataFrame(columns=columns)


def objective_table(records: Sequence[RunRecord], exact: RunRecord) -> pd.DataFrame:
    """Return `objective_distance` of many runs to one exact run: map, choice, m, seed, distance."""
    rows = [_about(record.spec) | {"distance": objective_distance(record, exact)} for record in records]
    return pd.DataFrame(rows, columns=[*_about(exact.spec), "distance"])


def _about(spec: RunSpec) -> dict[str, str | int]:
    way = FEATURE_MAPS[spec.feature_map].draws_by
    choice = "" if way is None else str(spec.get(way.name))
    return {
        "map": spec.feature_map,
        "choice": choice,
        "m": spec.get("n_components", 0),
        "seed": spec.get("seed", 0),
    }


def _same(left: RunSpec, right: RunSpec, names: Sequence[str]) -> None:
    for name in names:
        ours, theirs = getattr(left, name, None), getattr(right, name, None)
        if ours != theirs:
            raise SettingError(f"the runs differ in {name} ({ours!r} and {theirs!r}): nothing to compare")


SAMPLE_COLUMNS = [
    "share",
    "flipped",
    "queries",
    "draws",
    "mean",
    "low",
    "high",
    "difference",
    "difference_low",
    "difference_high",
    "distinguishable",
    "judged_by",
]


def without_sample(spec: RunSpec) -> RunSpec:
    """Return the run on the whole training part; runs on samples of one model share it."""
    return spec.but(share=1.0, flipped=0.0, draw=0, digest="")


def sample_table(records: Iterable[RunRecord], part: str, metric: str) -> pd.DataFrame:
    """Return one row per share and flipped share of one model's runs.

    Columns: share, flipped, queries (of the training part, learned from), draws, mean, low and high (95 %
    over draws and queries of `part`), difference to the model that learned from all with its interval,
    whether that is distinguishable from 0, and queries judged by. Differences are NaN without that model.
    """
    found = list(records)
    groups: dict[tuple[float, float], list[RunRecord]] = {}
    for record in sorted(found, key=lambda r: (r.spec.share, r.spec.flipped, r.spec.draw)):
        groups.setdefault((record.spec.share, record.spec.flipped), []).append(record)
    whole = next((values_by_draw([r], part, metric) for r in found if not r.spec.sample.drawn), None)
    rows = []
    for (share, flipped), group in groups.items():
        values = values_by_draw(group, part, metric)
        own = crossed_interval(values)
        lost = _compared(values, whole)
        taught = n_queries(len(group[0].metrics["train"]), share)
        rows.append(
            (
                *(share, flipped, taught, len(group), own.mean, own.low, own.high),
                *(lost.difference, lost.interval.low, lost.interval.high, lost.distinguishable),
                own.n_queries,
            )
        )
    return pd.DataFrame(rows, columns=SAMPLE_COLUMNS)


def values_by_draw(records: Iterable[RunRecord], part: str, metric: str) -> FloatArray:
    """Return a metric by draw and query, (draws, Q)."""
    return np.stack([record.metrics[part][metric].to_numpy(np.float64) for record in records])


def _compared(values: FloatArray, whole: FloatArray | None) -> Comparison:
    """Compare the values of each draw with those of the model trained on all data, query by query."""
    if whole is None:
        return Comparison(Interval(np.nan, np.nan, np.nan, 0.95, 0))
    differences = (values - whole).ravel()
    scale = largest(values, whole)
    return Comparison(crossed_interval(tied(differences, scale).reshape(values.shape)))
