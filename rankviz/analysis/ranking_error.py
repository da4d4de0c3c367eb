"""The price of approximate kernels in ranking: models of approximate kernels beside that of the exact one.

Run records are all it reads, and the data for which documents belong to which query.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pandas as pd

from rankviz.common.errors import SettingError
from rankviz.datasets.types import RankingData
from rankviz.experiments.description import method_label
from rankviz.experiments.record import RunRecord
from rankviz.experiments.spec import RunSpec
from rankviz.features import FEATURE_MAPS, MapKind
from rankviz.metrics import kendall_tau, top_overlap
from rankviz.models.settings import FEATURE_MAP

TOP = 10
_DATA = ("dataset", "fold", "digest", "normalisation")


def ranking_errors(
    approximate: RunRecord, exact: RunRecord, data: RankingData, part: str, top: int = TOP
) -> pd.DataFrame:
    """How alike two models rank each query of a part: index query, columns tau and overlap.

    tau is Kendall's τ_b of the scores, 1 for the same order (ties count for neither order; NaN where there is
    one document or a model scores all alike); overlap is the share of the first `top` documents that both
    have, ties in file order. `data` is that part. Raises ValueError for runs on different data, or scores of
    other documents than the data's.
    """
    _same(approximate.spec, exact.spec, _DATA)
    left, right = approximate.scores[part], exact.scores[part]
    for scores in (left, right):
        if len(scores) != data.n_documents:
            raise ValueError(f"{len(scores):,} scores for {data.n_documents:,} documents: another part?")
    tau, overlap = kendall_tau(left, right, data), top_overlap(left, right, data, top)
    return pd.concat((tau, overlap), axis=1)


def objective_distance(approximate: RunRecord, exact: RunRecord) -> float:
    """(F̃ − F)/F of the objectives reached, ½‖w‖² + C·risk each in its own kernel.

    Nyström searches a subspace of what the exact kernel spans, so its optimum is never lower; that of random
    Fourier may be. Raises `SettingError` where the second run is none of an exact kernel, or minimises
    something else: another loss, kernel, C, costs, method. What only the map reads may differ, such as m.
    """
    if not _has(exact.spec, lambda kind: kind.is_exact):
        raise SettingError(
            f"{method_label(exact.spec)} is no model of an exact kernel: nothing to compare with"
        )
    if not _has(approximate.spec, lambda kind: kind.has_kernel):
        raise SettingError(f"{method_label(approximate.spec)} approximates no kernel: nothing to compare")
    _same_problem(approximate.spec, exact.spec)
    return (approximate.objective - exact.objective) / exact.objective


def _has(spec: RunSpec, fact: Callable[[MapKind], bool]) -> bool:
    """Whether a run has a feature map, of which something is true."""
    return FEATURE_MAP.name in spec and fact(FEATURE_MAPS[spec.feature_map])


def _same_problem(approximate: RunSpec, exact: RunSpec) -> None:
    """Raise `SettingError` unless both minimise the same, each in its own kernel."""
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
    """`ranking_errors` of many runs to one exact run: map, choice, m, seed, query, tau, overlap."""
    tables = []
    for record in records:
        table = ranking_errors(record, exact, data, part, top).reset_index()
        for place, (name, value) in enumerate(_about(record.spec).items()):
            table.insert(place, name, value)
        tables.append(table)
    columns = [*_about(exact.spec), "query", "tau", "overlap"]
    return pd.concat(tables, ignore_index=True) if tables else pd.DataFrame(columns=columns)


def objective_table(records: Sequence[RunRecord], exact: RunRecord) -> pd.DataFrame:
    """`objective_distance` of many runs to one exact run: map, choice, m, seed, distance."""
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
