"""Which cell of a sweep to take: chosen on validation parts, its test part told once and of no other cell."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from rankviz.common.errors import DataError
from rankviz.common.numbers import counted
from rankviz.common.settings import one_of
from rankviz.sweeps.designs import Design
from rankviz.sweeps.kinds import Cell
from rankviz.sweeps.rules import RULES, SIMPLER, PerQuery, candidates, pick, query_errors, simplicity
from rankviz.sweeps.table import TEST, by_fold, metric_column, results


@dataclass(frozen=True, eq=False)
class Selection:
    """What was chosen, by what, and what the test part says of it.

    Attributes
    ----------
    metric, rule : str
    per_fold : bool
        Whether each fold has a choice of its own.
    settings : dict
        Fold -> the settings of its cell.
    chosen : DataFrame
        A row a fold: "cell" (its number), "validation" (mean over seeds) and "error" (the standard error
        that the choice knew, NaN for none).
    test : DataFrame
        A row a fold: the test metrics of the chosen runs, means over seeds; no columns where they tell none.
    left_out, cells : int
        Cells that could not be chosen somewhere, for runs of theirs are missing; and all cells.
    notes : tuple of str
        What to know of the choice, in sentences.
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
        """Mean over folds on validation: an optimistic figure, for it is the one that was chosen by."""
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

    A cell can be chosen where all its runs (all folds and seeds; with `per_fold` all seeds of the fold) are
    in the table with a number for the metric; the others are counted in `left_out` and `notes`. Seeds are
    averaged. The standard error is that of a mean over folds, s/√folds; with `per_query` it is over queries
    within each fold, √(Σ s_f²/n_f)/folds, and there is one for a single fold too. `simpler` names what orders
    cells by how simple they are, smaller first: settings, or "seconds".

    Raises `SettingError` for an unknown metric or rule, and for one that needs a standard error where there
    is none; `DataError` where no cell is complete.
    """
    one_of("rule", rule, RULES)
    runs, column = results(design, table), metric_column(table, metric)
    values = by_fold(runs, column)
    errors = None if per_query is None else query_errors(runs, per_query)
    simple = simplicity(design, runs, simpler)
    rows: dict[str, dict[str, float]] = {}
    partial: set[int] = set()
    for folds in [[fold] for fold in design.folds] if per_fold else [list(design.folds)]:
        cells = candidates(values[folds], errors, simple)
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
    """The test metrics of the chosen runs, fold by fold: the one place that reads them."""
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
            f"no cell has all its runs with a {metric} on {', '.join(folds)}",
            expected="one complete cell at least",
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
