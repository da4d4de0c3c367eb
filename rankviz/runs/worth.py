"""What each setting of a sweep is worth: the metric by its values, its share of the differences, curves.

All of it is of complete cells (see `rankviz.runs.selection`) and of validation parts: it says how a choice
came about, not how good it is.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from rankviz.metrics.significance import tied
from rankviz.runs.axes import Range
from rankviz.runs.designs import Design
from rankviz.runs.kinds import KINDS
from rankviz.runs.sweep_table import by_fold, metric_column, results, settings_of

BINS = 6
"""Groups of as many cells each into which the values of a range are put."""


def cell_values(design: Design, table: pd.DataFrame, metric: str) -> pd.DataFrame:
    """A row a complete cell: its settings, then "value", the mean over folds, and "low" and "high" of them.

    Folds are moved to one level for low and high, each by its mean over all complete cells: that one fold is
    harder than another says nothing of a cell. Raises `SettingError` for a metric that the table has not.
    """
    folds = by_fold(results(design, table), metric_column(table, metric)).dropna()
    level = folds - folds.mean() + folds.to_numpy().mean() if len(folds) else folds
    spread = {"value": folds.mean(axis=1), "low": level.min(axis=1), "high": level.max(axis=1)}
    return settings_of(design).loc[folds.index].assign(**spread)


def worth(design: Design, table: pd.DataFrame, metric: str) -> pd.DataFrame:
    """For each setting and value, best and mean of the cells with it: setting, value, best, mean, cells.

    Values of a range are put into at most six groups, each told by its median. Cells that do not read a
    setting are a group of their own, whose value is None.
    """
    cells = cell_values(design, table, metric)
    rows = [
        (name, level, group["value"].max(), group["value"].mean(), len(group))
        for name in design.names
        for level, group in _groups(design, cells, name)
    ]
    return pd.DataFrame(rows, columns=["setting", "value", "best", "mean", "cells"]).astype({"value": object})


def shares(design: Design, table: pd.DataFrame, metric: str) -> pd.DataFrame:
    """The share of the variance of cells that each setting accounts for by itself: setting, share, exact.

    The variance between the means at its values over that of all cells. It is exact for a grid whose cells
    are all there, and what the shares lack of 1 is then in settings together. For others ("exact" is False)
    it is corrected for what values without any effect would seem to account for, ε² = 1 − (1 − η²)(n − 1)/(n
    − k), and not below 0. NaN where all cells are equal or fewer than two, or each has a value of its own.
    """
    cells = cell_values(design, table, metric)
    exact = KINDS[design.kind].complete and len(cells) == KINDS[design.kind].count(design)
    found = [_share(cells["value"], _levels(design, cells, name), exact) for name in design.names]
    return pd.DataFrame({"setting": design.names, "share": found, "exact": exact})


def curves(
    design: Design, table: pd.DataFrame, metric: str, setting: str, lines: str | None = None
) -> pd.DataFrame:
    """The metric against one setting, a line for each value of another, all other settings at their best.

    A row a value of both: setting, lines (where asked for), mean over folds of the best cell there, low and
    high (of its folds, see `cell_values`), cell (its number) and cells (how many it is the best of). Cells
    that do not read a setting, or have None for it, have no place. `SettingError` for what is no axis.
    """
    cells = cell_values(design, table, metric)
    names = [name for name in (setting, lines) if name]
    levels = pd.DataFrame({name: _levels(design, cells, name) for name in names}, index=cells.index)
    rows = []
    for place, group in cells.groupby([levels[name] for name in names], sort=False):
        best = int(group.index[int(group["value"].to_numpy().argmax())])
        told = (group[column][best] for column in ("value", "low", "high"))
        rows.append((*place, *told, best, len(group)))
    found = pd.DataFrame(rows, columns=[*names, "mean", "low", "high", "cell", "cells"])
    places = pd.DataFrame({name: _places(design, name, found[name]) for name in reversed(names)})
    return found.loc[places.sort_values(list(places.columns)).index].reset_index(drop=True)


def _levels(design: Design, cells: pd.DataFrame, name: str) -> pd.Series[Any]:
    """The value of a setting in each cell; of a range, the median of the group it is put into."""
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
    """The cells with each value of a setting, in the order of its axis; those without one come last."""
    levels = _levels(design, cells, name)
    groups = [(level, cells[levels == level]) for level in levels.dropna().unique()]
    places = _places(design, name, pd.Series([level for level, _ in groups], dtype=object))
    found = [groups[row] for row in places.sort_values().index]
    return found + ([(None, cells[levels.isna()])] if levels.isna().any() else [])


def _places(design: Design, name: str, values: pd.Series[Any]) -> pd.Series[Any]:
    """What orders the values of a setting: their place on its axis, numbers by their size."""
    axis = design.axis(name)
    return values.astype(float) if isinstance(axis, Range) else values.map(axis.ordered.index)
