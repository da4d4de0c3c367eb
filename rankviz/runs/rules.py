"""How one of several cells is taken, by the names that `select(rule=...)` uses; and what rules look at."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from rankviz.common.errors import SettingError
from rankviz.common.numbers import counted
from rankviz.runs.designs import Design
from rankviz.runs.sweep_table import wide

ROUNDING = 1e-12
"""Means that differ by less are equal: two ways to sum one do."""
SIMPLER = ("n_components", "C")
"""The fewer features the simpler, then the smaller C; a cell that draws none (linear) is simpler still."""
PerQuery = Mapping[str, "pd.Series[float]"]
"""Digest of a run -> its metric by validation query."""


@dataclass(frozen=True, eq=False)
class Candidates:
    """Complete cells, a row each.

    Attributes
    ----------
    values : DataFrame
        The metric, a column a fold.
    error : Series
        Standard error of the mean over folds, NaN where there is none.
    simple : DataFrame
        What says how simple a cell is, smaller first.
    """

    values: pd.DataFrame
    error: pd.Series[float]
    simple: pd.DataFrame

    @property
    def mean(self) -> pd.Series[float]:
        """Means over folds."""
        return self.values.mean(axis=1)


@dataclass(frozen=True, eq=False)
class Rule:
    """How one of several cells is taken: the simplest of those that count as good as the best.

    Attributes
    ----------
    label, help : str
    margin : (candidates, the best of them) -> Series
        How far below the best mean each may lie; NaN where that is not known.
    least_folds : int
        So many folds it takes to know the margin without the metric by query.
    """

    label: str
    help: str
    margin: Callable[[Candidates, int], pd.Series[float]]
    least_folds: int = 1


def _none(cells: Candidates, best: int) -> pd.Series[float]:
    return pd.Series(0.0, index=cells.values.index)


def _error(cells: Candidates, best: int) -> pd.Series[float]:
    return pd.Series(float(cells.error[best]), index=cells.values.index)


def _paired(cells: Candidates, best: int) -> pd.Series[float]:
    behind = cells.values.loc[best] - cells.values
    return behind.std(axis=1, ddof=1) / math.sqrt(behind.shape[1])


RULES = {
    "best": Rule("best", "The largest mean; of equal ones the simplest.", _none),
    "one_standard_error": Rule(
        "one standard error",
        "The simplest of the cells whose mean is at most one standard error of the best one below it.",
        _error,
        least_folds=2,
    ),
    "one_paired_error": Rule(
        "one paired standard error",
        "The simplest of the cells that are behind the best one by at most one standard error of the "
        "differences fold by fold: what makes a fold easy or hard for all cells cancels.",
        _paired,
        least_folds=2,
    ),
}
"""Rules by name."""


def candidates(values: pd.DataFrame, errors: pd.DataFrame | None, simple: pd.DataFrame) -> Candidates:
    """The cells that have a value on each of these folds.

    Their standard error is over folds, or made of `errors` over queries of each fold where these are given.
    """
    values = values.dropna()
    folds = values.shape[1]
    if errors is not None:
        squares = errors.loc[values.index, values.columns] ** 2
        error = squares.sum(axis=1, skipna=False) ** 0.5 / folds
    else:
        error = values.std(axis=1, ddof=1) / math.sqrt(folds)  # NaN for one fold
    return Candidates(values, error, simple.loc[values.index])


def pick(cells: Candidates, rule: Rule) -> int:
    """The cell that a rule takes; `SettingError` where it needs a standard error and there is none."""
    mean = cells.mean
    best = int(mean.index[int(mean.to_numpy().argmax())])
    margin = rule.margin(cells, best)
    if margin.isna().all() or math.isnan(margin[best]):
        folds = counted(cells.values.shape[1], "fold")
        raise SettingError(
            f"by {folds} alone there is no {rule.label}: take the best cell or more folds, or give the "
            "metric by query, for one standard error"
        )
    near = mean >= mean[best] - margin - ROUNDING
    order = cells.simple[near].assign(_mean=-mean[near])
    return int(order.sort_values(list(order.columns), kind="stable", na_position="first").index[0])


def simplicity(design: Design, runs: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    """A column a name, a row a cell; NaN for a cell that has no such number, which comes first."""
    specs = {run.cell: run.spec for run in reversed(design.plan.runs)}
    known = list(dict.fromkeys(name for spec in specs.values() for name in spec.values))
    table = pd.DataFrame(index=pd.RangeIndex(len(specs), name="cell"))
    for name in names:
        if name == "seconds":
            table[name] = runs.groupby("cell")["seconds"].mean()
        elif name in known or name in SIMPLER:
            found = pd.Series({cell: spec.get(name) for cell, spec in specs.items()}, dtype=object)
            table[name] = pd.to_numeric(found, errors="coerce")
        else:
            raise SettingError(
                f"simpler={name!r} is no setting of these runs; take seconds, {', '.join(known)}"
            )
    return table


def query_errors(runs: pd.DataFrame, per_query: PerQuery) -> pd.DataFrame:
    """Standard errors over queries, a row a cell, a column a fold; queries are averaged over seeds first."""
    found: dict[Any, float] = {}
    for place, group in runs.groupby(["cell", "fold"], sort=False):
        known = [per_query[digest] for digest in group["digest"] if digest in per_query]
        if len(known) == len(group):
            values = pd.concat(known, axis=1).mean(axis=1, skipna=False).dropna()
            found[place] = float(values.std(ddof=1)) / math.sqrt(max(len(values), 1))
    places = pd.MultiIndex.from_frame(runs[["cell", "fold"]].drop_duplicates())
    return wide(pd.Series(found, dtype="float64").reindex(places))
