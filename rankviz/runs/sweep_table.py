"""Tables of runs, the runs of a design in such a table, and the effect of each setting on a metric.

A table has one row per run, indexed by the digest of its spec: columns "dataset", "fold", "method",
"seconds", every setting by its name, and means over queries as "vali:MAP", "test:NDCG@10". Effects use only
complete cells (see `rankviz.runs.selection`) and validation parts.

See docs/decisions/0014-a-sweep-is-a-value.md.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd

from rankviz.common.errors import DataError, SettingError
from rankviz.common.settings import listed
from rankviz.metrics.significance import leader, tied
from rankviz.runs.axes import KINDS, Range
from rankviz.runs.designs import Design
from rankviz.runs.record import RunRecord
from rankviz.runs.spec import DataSpec, RunSpec

VALIDATION, TEST = "vali:", "test:"
_DATA = ("dataset", "fold", "normalisation", "share", "flipped", "draw")


def runs_table(runs: Iterable[tuple[RunSpec, RunRecord]]) -> pd.DataFrame:
    """Return the table of runs from `execute_all`, without stopped ones."""
    pairs = listed("runs", runs)
    for pair in pairs:
        if not (isinstance(pair, tuple) and len(pair) == 2 and isinstance(pair[1], RunRecord)):
            raise SettingError("runs must be pairs (RunSpec, RunRecord), as execute_all gives them")
    rows = {spec.hash: _row(spec, record) for spec, record in pairs if not record.stopped}
    return pd.DataFrame.from_dict(rows, orient="index")


def _row(spec: RunSpec, record: RunRecord) -> dict[str, Any]:
    data = {name: getattr(spec.data, name) for name in _DATA}
    means = {
        f"{part}:{metric}": float(mean)
        for part, frame in record.metrics.items()
        for metric, mean in frame.mean().items()
    }
    return data | {"method": spec.method, "seconds": sum(record.seconds.values())} | spec.values | means


def results(design: Design, table: pd.DataFrame) -> pd.DataFrame:
    """Return a row per run of the design: cell, fold, seed, digest (None if missing), seconds, metrics.

    It has metrics of training and validation parts only, because a choice must not see the test part.
    Raises `DataError` if two rows have the same settings: the data has changed between them.
    """
    planned, rows = design.plan.runs, _rows_of(design, table)
    digests = table.index[rows] if len(table) else pd.Index([None] * len(rows))
    shown = [
        name for name in table.columns if name == "seconds" or str(name).startswith(("train:", VALIDATION))
    ]
    found = table[shown].iloc[np.maximum(rows, 0)] if len(table) else pd.DataFrame(columns=shown)
    found = found.reset_index(drop=True).reindex(range(len(rows))).astype(np.float64)
    found.loc[rows < 0] = math.nan
    place = pd.DataFrame(
        {
            "cell": [run.cell for run in planned],
            "fold": [run.fold for run in planned],
            "seed": pd.Series([run.seed for run in planned], dtype=object),
            "digest": pd.Series(
                [d if row >= 0 else None for d, row in zip(digests, rows, strict=True)], dtype=object
            ),
        }
    )
    joined: pd.DataFrame = pd.concat([place, found], axis=1)
    return joined


def metric_column(table: pd.DataFrame, metric: str, part: str = VALIDATION) -> str:
    """Return the column of a metric on a part. Raises `SettingError` for an unknown one."""
    name = f"{part}{metric}"
    if name not in table:
        known = [str(column).removeprefix(part) for column in table.columns if str(column).startswith(part)]
        there = f"there are {', '.join(known)}" if known else "no run is done yet"
        raise SettingError(f"metric {metric!r} is not available for this part; {there}")
    return name


def by_fold(runs: pd.DataFrame, column: str) -> pd.DataFrame:
    """Return means over seeds, a row per cell and a column per fold; NaN if a run or its value is missing."""
    values = runs[column].where(np.isfinite(runs[column]))
    grouped = values.groupby([runs["cell"], runs["fold"]], sort=False)
    means = grouped.mean().where(grouped.count() == grouped.size())
    return wide(means)[list(dict.fromkeys(runs["fold"]))]


def wide(values: pd.Series[float]) -> pd.DataFrame:
    """Return values by cell and fold as a table, a row per cell and a column per fold."""
    return (
        values.rename("value")
        .reset_index()
        .pivot_table(index="cell", columns="fold", values="value", dropna=False)
    )


def settings_of(design: Design) -> pd.DataFrame:
    """Return a row per cell with its settings; None for those that the cell does not read."""
    rows = [{name: cell.get(name) for name in design.names} for cell in design.plan.cells]
    return pd.DataFrame(rows, columns=list(design.names), dtype=object).rename_axis("cell")


def _rows_of(design: Design, table: pd.DataFrame) -> np.ndarray:
    """Return the row of each run of the design, −1 if missing."""
    specs = [run.spec for run in design.plan.runs]
    data = [name for name in _DATA if name in table]
    names = list(dict.fromkeys(name for spec in specs for name in spec.values))
    measured = table.filter(regex=f"^{VALIDATION}").notna().any(axis=1).tolist()
    places: dict[tuple[Any, ...], int] = {}
    for row, key in enumerate(keys_of(_with_defaults(table, data), [*data, "method", *names])):
        if key in places and not (measured[row] and measured[places[key]]):
            row = row if measured[row] else places[key]  # one of them failed and was repeated
        elif key in places:
            one, other = table.index[places[key]], table.index[row]
            raise DataError(
                f"runs {one} and {other} have the same settings",
                expected="one run per combination of settings, on the same data",
                remedy="Omit the runs made before the data changed.",
            )
        places[key] = row
    asked = (
        (*(getattr(spec.data, name) for name in data), spec.method, *(plain(spec.get(n)) for n in names))
        for spec in specs
    )
    return np.array([places.get(key, -1) for key in asked], dtype=np.int64)


def _with_defaults(table: pd.DataFrame, names: Iterable[str]) -> pd.DataFrame:
    """Return the table with missing fields of the data filled by their defaults."""
    known = {name: getattr(DataSpec, name) for name in names if hasattr(DataSpec, name)}
    return table.assign(**{name: table[name].where(table[name].notna(), own) for name, own in known.items()})


def keys_of(table: pd.DataFrame, names: Iterable[str]) -> list[tuple[Any, ...]]:
    """Return the values of some columns by row, as in specs; None for missing columns."""
    nothing = [None] * len(table)
    columns = [list(map(plain, table[name].tolist())) if name in table else nothing for name in names]
    return list(zip(*columns, strict=True))


def plain(value: Any) -> Any:
    """Return a table's value as in a spec: None for NaN, tuples for lists."""
    if isinstance(value, float) and math.isnan(value):
        return None
    return tuple(map(plain, value)) if isinstance(value, list | tuple) else value


BINS = 6
"""Most groups of a range's values, with equally many cells each."""


def cell_values(design: Design, table: pd.DataFrame, metric: str) -> pd.DataFrame:
    """Return a row per complete cell: its settings, "value" (mean over folds), "low" and "high" over folds.

    For low and high, folds are shifted to the same mean over all complete cells, because a fold's difficulty
    says nothing about a cell. Raises `SettingError` for a metric that the table lacks.
    """
    folds = by_fold(results(design, table), metric_column(table, metric)).dropna()
    level = folds - folds.mean() + folds.to_numpy().mean() if len(folds) else folds
    spread = {"value": folds.mean(axis=1), "low": level.min(axis=1), "high": level.max(axis=1)}
    return settings_of(design).loc[folds.index].assign(**spread)


def worth(design: Design, table: pd.DataFrame, metric: str) -> pd.DataFrame:
    """Return best and mean of the cells with each value: setting, value, best, mean, cells.

    A range's values form at most six groups, named by their medians. Cells that do not read a setting form a
    group with the value None.
    """
    cells = cell_values(design, table, metric)
    rows = [
        (name, level, group["value"][leader(group["value"], metric)], group["value"].mean(), len(group))
        for name in design.names
        for level, group in _groups(design, cells, name)
    ]
    return pd.DataFrame(rows, columns=["setting", "value", "best", "mean", "cells"]).astype({"value": object})


def shares(design: Design, table: pd.DataFrame, metric: str) -> pd.DataFrame:
    """Return the share of the cells' variance that each setting explains by itself: setting, share, exact.

    η² = variance between the means at a setting's values / variance of all cells. It is exact for a complete
    grid; the rest up to 1 is interaction. Otherwise ("exact" is False) it is corrected for chance, ε² =
    1 − (1 − η²)(n − 1)/(n − k) for k values in n cells, and at least 0. NaN if all cells are equal, if
    there are fewer than two, or if each has its own value.
    """
    cells = cell_values(design, table, metric)
    exact = KINDS[design.kind].complete and len(cells) == KINDS[design.kind].count(design)
    found = [_share(cells["value"], _levels(design, cells, name), exact) for name in design.names]
    return pd.DataFrame({"setting": design.names, "share": found, "exact": exact})


def curves(
    design: Design, table: pd.DataFrame, metric: str, setting: str, lines: str | None = None
) -> pd.DataFrame:
    """Return the metric by one setting, a line per value of another, with all others at their best.

    A row per pair of values: setting, lines (if given), mean (over folds, of the best cell), low and high
    (of its folds, see `cell_values`), cell (its number) and cells (the number compared). Cells without a
    value of a setting are left out. Raises `SettingError` for a setting without an axis.
    """
    cells = cell_values(design, table, metric)
    names = [name for name in (setting, lines) if name]
    levels = pd.DataFrame({name: _levels(design, cells, name) for name in names}, index=cells.index)
    rows = []
    for place, group in cells.groupby([levels[name] for name in names], sort=False):
        best = int(leader(group["value"], metric))
        parts = (group[column][best] for column in ("value", "low", "high"))
        rows.append((*place, *parts, best, len(group)))
    found = pd.DataFrame(rows, columns=[*names, "mean", "low", "high", "cell", "cells"])
    places = pd.DataFrame({name: _places(design, name, found[name]) for name in reversed(names)})
    return found.loc[places.sort_values(list(places.columns)).index].reset_index(drop=True)


def _levels(design: Design, cells: pd.DataFrame, name: str) -> pd.Series[Any]:
    """Return a setting's value in each cell; for a range, the median of the value's group."""
    axis, values = design.axis(name), cells[name]
    if not isinstance(axis, Range) or values.nunique() <= BINS:
        return values
    numbers = values.astype(float)
    groups = pd.qcut(numbers, BINS, labels=False, duplicates="drop")
    return numbers.groupby(groups).transform("median").where(values.notna(), None)


def _share(values: pd.Series[float], levels: pd.Series[Any], exact: bool) -> float:
    values = pd.Series(tied(values.to_numpy(np.float64)), values.index)
    total = float(((values - values.mean()) ** 2).sum()) if np.ptp(values) else 0.0
    grouped = values.groupby(levels, dropna=False)
    between = float(((grouped.transform("mean") - values.mean()) ** 2).sum())
    n, k = len(values), grouped.ngroups
    if n < 2 or total == 0.0 or (not exact and n == k):
        return float("nan")
    share = between / total
    return share if exact else max(0.0, 1 - (1 - share) * (n - 1) / (n - k))


def _groups(design: Design, cells: pd.DataFrame, name: str) -> list[tuple[Any, pd.DataFrame]]:
    """Return the cells with each value of a setting, in the order of its axis; those without one last."""
    levels = _levels(design, cells, name)
    groups = [(level, cells[levels == level]) for level in levels.dropna().unique()]
    places = _places(design, name, pd.Series([level for level, _ in groups], dtype=object))
    found = [groups[row] for row in places.sort_values().index]
    return found + ([(None, cells[levels.isna()])] if levels.isna().any() else [])


def _places(design: Design, name: str, values: pd.Series[Any]) -> pd.Series[Any]:
    """Return sort keys of a setting's values: positions on its axis, or numbers of a range."""
    axis = design.axis(name)
    return values.astype(float) if isinstance(axis, Range) else values.map(axis.ordered.index)
