"""Selection of a sweep's cell on validation parts; only the chosen cell's test metrics are read."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Self

import pandas as pd

from rankviz.common.errors import DataError, SettingError
from rankviz.common.numbers import counted
from rankviz.common.settings import one_of
from rankviz.metrics.evaluation import column_name
from rankviz.metrics.formulas import direction
from rankviz.metrics.significance import leader
from rankviz.runs.axes import Cell
from rankviz.runs.designs import CHOICE, Design
from rankviz.runs.sweep_table import TEST, by_fold, metric_column, results, wide

ROUNDING = 1e-12
"""Means that differ by less count as equal: the order of a sum changes its last digits."""
SIMPLER = ("n_components", "C")
"""Settings that order cells by simplicity, smaller first; a cell without them (linear) comes first."""
PerQuery = Mapping[str, "pd.Series[float]"]
"""Digest of a run -> its metric by validation query."""


@dataclass(frozen=True, eq=False)
class Selection:
    """A choice, its metric and rule, and its test metrics.

    Attributes
    ----------
    metric, rule : str
    per_fold : bool
        True if each fold has its own choice.
    settings : dict
        Fold -> the settings of its cell.
    chosen : DataFrame
        A row per fold: "cell" (its number), "validation" (mean over seeds) and "error" (the standard error
        used for the choice, NaN for none).
    test : DataFrame
        A row per fold: the test metrics of the chosen runs, means over seeds; no columns if there are none.
    left_out, cells : int
        Cells excluded somewhere because of missing runs; and all cells.
    notes : tuple of str
        Remarks on the choice, in sentences.
    """

    metric: str
    rule: str
    per_fold: bool
    settings: dict[str, Cell]
    chosen: pd.DataFrame
    test: pd.DataFrame
    left_out: int
    cells: int
    notes: tuple[str, ...]

    @property
    def validation(self) -> float:
        """Mean over folds on validation: optimistic, because it was used for the choice."""
        return float(self.chosen["validation"].mean())

    @property
    def test_means(self) -> pd.Series[float]:
        """Means over folds of the test metrics."""
        return self.test.mean(skipna=False)


def select(
    design: Design,
    table: pd.DataFrame,
    metric: str,
    *,
    per_fold: bool = False,
    rule: str = "best",
    simpler: Sequence[str] = SIMPLER,
    per_query: PerQuery | None = None,
) -> Selection:
    """Choose on validation by a metric: one cell for all folds, by the mean over them, or one for each.

    A cell qualifies if all its runs (all folds and seeds; with `per_fold` all seeds of the fold) are in the
    table with a number for the metric; `left_out` and `notes` count the others. Seeds are averaged. The
    standard error is over folds, s/√folds; with `per_query` it is over queries within each fold, √(Σ
    s_f²/n_f)/folds, and exists for a single fold too. `simpler` names settings or "seconds" that order cells
    by simplicity, smaller first.

    Raises `SettingError` for an unknown metric or rule, and for a rule without its standard error;
    `DataError` if no cell is complete.
    """
    one_of("rule", rule, RULES)
    runs, column = results(design, table), metric_column(table, metric)
    values = by_fold(runs, column)
    errors = None if per_query is None else query_errors(runs, per_query)
    simple = simplicity(design, runs, simpler)
    rows: dict[str, dict[str, float]] = {}
    partial: set[int] = set()
    for folds in [[fold] for fold in design.folds] if per_fold else [list(design.folds)]:
        cells = candidates(values[folds], errors, simple, metric)
        partial |= set(values.index) - set(cells.values.index)
        _check_there(len(cells.values), metric, folds)
        best = pick(cells, RULES[rule])
        error = float(cells.error[best])
        rows |= {f: {"cell": best, "validation": values[f][best], "error": error} for f in folds}
    chosen = pd.DataFrame.from_dict(rows, orient="index").rename_axis("fold").astype({"cell": int})
    test = _test_of(table, runs, chosen["cell"])
    return Selection(
        metric=metric,
        rule=rule,
        per_fold=per_fold,
        settings={str(fold): dict(design.plan.cells[cell]) for fold, cell in chosen["cell"].items()},
        chosen=chosen,
        test=test,
        left_out=len(partial),
        cells=len(values),
        notes=_notes(metric, len(partial), len(values), chosen, test),
    )


def _test_of(
    table: pd.DataFrame, runs: pd.DataFrame, chosen: Mapping[str, int] | pd.Series[int]
) -> pd.DataFrame:
    """Return the test metrics of the chosen runs, fold by fold; nothing else reads them."""
    tests = [column for column in table.columns if str(column).startswith(TEST)]
    means = {}
    for fold, cell in chosen.items():
        digests = runs.loc[(runs["cell"] == cell) & (runs["fold"] == fold), "digest"]
        means[fold] = table.loc[list(digests), tests].mean(skipna=False)
    found = pd.DataFrame(means).T.rename_axis("fold")
    return found.rename(columns=lambda name: str(name).removeprefix(TEST)).dropna(axis=1, how="all")


def _check_there(cells: int, metric: str, folds: Sequence[str]) -> None:
    if not cells:
        raise DataError(
            f"no cell has finished all runs with {metric} on {', '.join(folds)}",
            expected="at least one complete cell",
            remedy="Wait for more runs, or take fewer folds and seeds.",
        )


def _notes(
    metric: str, partial: int, cells: int, chosen: pd.DataFrame, test: pd.DataFrame
) -> tuple[str, ...]:
    notes = []
    if partial:
        notes.append(
            f"{partial:,} of {counted(cells, 'cell')} are left out: runs of theirs are missing or have no "
            f"{metric}"
        )
    if any(map(math.isnan, chosen["error"])):
        notes.append("there is no standard error: it takes several folds, or the metric by query")
    if test.empty:
        notes.append("the chosen runs tell nothing of a test part")
    return tuple(notes)


@dataclass(frozen=True)
class Choice:
    """A sweep's choice among its cells: arguments of `rankviz.runs.select`, kept with its study.

    Attributes
    ----------
    metric : str
        The column of a metric of the validation part; own gains and the like are in its name.
    rule : str
        A name in `rankviz.runs.RULES`.
    per_fold : bool
        True if each fold has its own choice.
    """

    metric: str = "NDCG@10"
    rule: str = "best"
    per_fold: bool = False

    @classmethod
    def of_study(cls, design: Mapping[str, Any]) -> Self | None:
        """Return the choice kept beside a study's design; None if there is none."""
        return cls(**design[CHOICE]) if CHOICE in design else None

    def beside(self, design: Design) -> dict[str, Any]:
        """Return the design as plain values, with this choice beside it."""
        return design.to_dict() | {CHOICE: asdict(self)}

    def check(self, design: Design) -> None:
        """Raise `SettingError` for an unknown metric or rule, and for a rule that needs more folds."""
        column_name(self.metric)
        one_of("rule", self.rule, RULES)
        folds, least = 1 if self.per_fold else len(design.folds), RULES[self.rule].least_folds
        if folds < least:
            raise SettingError(
                f"rule={self.rule!r} needs a standard error over {least} folds at least, and each choice is "
                f"made on {counted(folds, 'fold')}: use the rule 'best', or choose on more folds"
            )

    def __str__(self) -> str:
        many = "a cell for each fold" if self.per_fold else "one cell for all folds"
        return f"validation {self.metric}, rule {self.rule}, {many}"


@dataclass(frozen=True, eq=False)
class Candidates:
    """Complete cells, one row each.

    Attributes
    ----------
    metric : str
    values : DataFrame
        The metric, a column per fold.
    error : Series
        Standard error of the mean over folds; NaN if there is none.
    simple : DataFrame
        Columns that order cells by simplicity, smaller first.
    """

    metric: str
    values: pd.DataFrame
    error: pd.Series[float]
    simple: pd.DataFrame

    @property
    def mean(self) -> pd.Series[float]:
        """Means over folds."""
        return self.values.mean(axis=1)

    @property
    def best(self) -> int:
        """The cell with the best mean, the first one in a tie."""
        return int(leader(self.mean, self.metric))

    @property
    def top(self) -> float:
        """The best mean."""
        return float(self.mean[self.best])

    def near(self, margin: pd.Series[float]) -> pd.Series[bool]:
        """Return True for cells behind the best by at most a margin."""
        return direction(self.metric) * (self.top - self.mean) <= margin + ROUNDING


@dataclass(frozen=True, eq=False)
class Rule:
    """A rule that takes the simplest of the cells that count as good as the best.

    Attributes
    ----------
    label, help : str
    margin : (candidates, the best of them) -> Series
        The largest distance behind the best mean; NaN if unknown.
    least_folds : int
        Folds needed for the margin without the metric by query.
    """

    label: str
    help: str
    margin: Callable[[Candidates, int], pd.Series[float]]
    least_folds: int = 1


def _paired(cells: Candidates, best: int) -> pd.Series[float]:
    behind = cells.values.loc[best] - cells.values
    return behind.std(axis=1, ddof=1) / math.sqrt(behind.shape[1])


RULES = {
    "best": Rule(
        "best",
        "The best mean; among equal means the simplest cell.",
        lambda cells, best: pd.Series(0.0, index=cells.values.index),
    ),
    "one_standard_error": Rule(
        "one standard error",
        "The simplest cell whose mean is within one standard error of the best.",
        lambda cells, best: pd.Series(float(cells.error[best]), index=cells.values.index),
        least_folds=2,
    ),
    "one_paired_error": Rule(
        "one paired standard error",
        "The simplest cell whose difference to the best is within one standard error of the differences "
        "fold by fold. The difficulty of folds cancels.",
        _paired,
        least_folds=2,
    ),
}
"""Rules by name."""


def candidates(
    values: pd.DataFrame, errors: pd.DataFrame | None, simple: pd.DataFrame, metric: str
) -> Candidates:
    """Return the cells with a value of the metric on each of these folds.

    Their standard error is over folds, or combines `errors` (over the queries of each fold) if given.
    """
    values = values.dropna()
    folds = values.shape[1]
    if errors is not None:
        squares = errors.loc[values.index, values.columns] ** 2
        error = squares.sum(axis=1, skipna=False) ** 0.5 / folds
    else:
        error = values.std(axis=1, ddof=1) / math.sqrt(folds)  # NaN for one fold
    return Candidates(metric, values, error, simple.loc[values.index])


def pick(cells: Candidates, rule: Rule) -> int:
    """Return the cell that a rule takes. Raises `SettingError` if its standard error is missing."""
    best = cells.best
    margin = rule.margin(cells, best)
    if margin.isna().all() or math.isnan(margin[best]):
        folds = counted(cells.values.shape[1], "fold")
        raise SettingError(
            f"{folds} alone cannot give {rule.label}: use the best cell or more folds, or, for one standard "
            "error, the metric by query"
        )
    near = cells.near(margin)
    order = cells.simple[near].assign(_mean=-direction(cells.metric) * cells.mean[near])
    return int(order.sort_values(list(order.columns), kind="stable", na_position="first").index[0])


def simplicity(design: Design, runs: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    """Return a column per name and a row per cell; NaN (sorted first) if a cell has no such number."""
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
                f"simpler={name!r} is not a setting of these runs; choose seconds, {', '.join(known)}"
            )
    return table


def query_errors(runs: pd.DataFrame, per_query: PerQuery) -> pd.DataFrame:
    """Return standard errors over queries (means over seeds), a row per cell and a column per fold."""
    found: dict[Any, float] = {}
    for place, group in runs.groupby(["cell", "fold"], sort=False):
        known = [per_query[digest] for digest in group["digest"] if digest in per_query]
        if len(known) == len(group):
            values = pd.concat(known, axis=1).mean(axis=1, skipna=False).dropna()
            found[place] = float(values.std(ddof=1)) / math.sqrt(max(len(values), 1))
    places = pd.MultiIndex.from_frame(runs[["cell", "fold"]].drop_duplicates())
    return wide(pd.Series(found, dtype="float64").reindex(places))
