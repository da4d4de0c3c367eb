"""The price of approximate kernels in ranking: models of approximate kernels beside that of the exact one.

Run records are all it reads, and the data for which documents belong to which query.
"""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from rankviz.datasets.types import RankingData
from rankviz.experiments.record import RunRecord
from rankviz.experiments.spec import RunSpec
from rankviz.features import FEATURE_MAPS
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
    Fourier may be. Raises ValueError unless the data agree, and every setting of the exact run that says what
    is minimised: C, kernel, loss, costs.
    """
    declared = exact.spec.exact().declared()  # what the map itself is told, such as m, may differ
    minimised = (name for name, setting in declared.items() if not setting.how and name != FEATURE_MAP.name)
    _same(approximate.spec, exact.spec, ("method", *_DATA, *minimised))
    return (approximate.objective - exact.objective) / exact.objective


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
            raise ValueError(f"the runs differ in {name} ({ours!r} and {theirs!r}): nothing to compare")
