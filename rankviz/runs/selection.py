"""Selection of a sweep's cell on validation parts; only the chosen cell's test metrics are read."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from rankviz.common.errors import DataError
from rankviz.common.numbers import counted
from rankviz.common.settings import one_of
from rankviz.runs.designs import Design
from rankviz.runs.kinds import Cell
from rankviz.runs.rules import RULES, SIMPLER, PerQuery, candidates, pick, query_errors, simplicity
from rankviz.runs.sweep_table import TEST, by_fold, metric_column, results


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
