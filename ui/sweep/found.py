"""A sweep as shown on the page: progress, design, table of runs, and chosen cell."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property

import pandas as pd

from rankviz.common.errors import DataError, SettingError
from rankviz.runs.designs import Design
from rankviz.runs.selection import (
    ROUNDING,
    RULES,
    SIMPLER,
    Candidates,
    Choice,
    Selection,
    candidates,
    select,
    simplicity,
)
from rankviz.runs.spec import RunSpec
from rankviz.runs.sweep_table import by_fold, results
from rankviz.store import StudyStatus
from ui.shell.visitors import visitor
from ui.sweep.starting import design_from
from ui.sweep.words import NO_SWEEP
from ui.work.run_store import run_store


@dataclass(frozen=True)
class Sweep:
    """A study that is a sweep, with the table of its runs.

    Attributes
    ----------
    status : StudyStatus
    design : Design
    table : DataFrame
        As returned by `RunStore.listing`.
    metric, rule : str
    per_fold : bool
        True to choose a cell for each fold separately.
    """

    status: StudyStatus
    design: Design
    table: pd.DataFrame
    metric: str = "MAP"
    rule: str = "best"
    per_fold: bool = False

    @property
    def column(self) -> str:
        """The column of the choice."""
        return f"vali:{self.metric}"

    @cached_property
    def done(self) -> pd.DataFrame:
        """Its finished runs."""
        return self.table[self.table["state"] == "done"]

    @cached_property
    def folds(self) -> pd.DataFrame:
        """The metric, one row per complete cell, one column per fold."""
        if self.column not in self.done:
            return pd.DataFrame(columns=list(self.design.folds), dtype=float)
        return by_fold(results(self.design, self.done), self.column).dropna()

    @cached_property
    def candidates(self) -> Candidates:
        """Its complete cells, as input of the rules."""
        runs = results(self.design, self.done)
        return candidates(self.folds, None, simplicity(self.design, runs, SIMPLER))

    @property
    def cells(self) -> int:
        """Number of cells."""
        return len(self.design.plan.cells)

    @cached_property
    def chosen(self) -> Selection | None:
        """The choice on validation; None without complete cells."""
        if not len(self.folds):
            return None
        return select(self.design, self.done, self.metric, per_fold=self.per_fold, rule=self.rule)

    @property
    def near(self) -> int:
        """Number of other cells within one standard error of the best; 0 without such an error."""
        mean = self.candidates.mean
        best = int(mean.index[int(mean.to_numpy().argmax())])
        margin = float(RULES["one_standard_error"].margin(self.candidates, best)[best])
        return int((mean >= mean[best] - margin - ROUNDING).sum()) - 1 if margin == margin else 0

    def spec(self, cell: int, fold: str) -> RunSpec:
        """Return the run of a cell on a fold, with the first of its seeds."""
        return next(run.spec for run in self.design.plan.runs if (run.cell, run.fold) == (cell, fold))


def opened(study: str, metric: str = "", rule: str = "", per_fold: bool | None = None) -> Sweep:
    """Return a sweep that this visitor may see; raise `NoSuchStudy` or `DataError` otherwise.

    An empty metric or rule, or None for `per_fold`, means the study's stored choice.
    """
    store = run_store()
    status = store.studies.seen(study, visitor())
    design = design_of(status)
    kept = Choice.of_study(status.study.design) or Choice()
    each = kept.per_fold if per_fold is None else per_fold
    table = store.listing.of_study(study, visitor())
    return Sweep(status, design, table, metric or kept.metric, rule or kept.rule, each)


def design_of(status: StudyStatus) -> Design:
    """Return the design of a study; `DataError` if this version cannot read it."""
    try:
        return design_from(json.dumps(dict(status.study.design), sort_keys=True))
    except (ValueError, SettingError, TypeError, KeyError) as error:
        raise DataError(
            NO_SWEEP.format(error=error),
            expected="a study started here",
            remedy="See its runs on Runs.",
        ) from error
