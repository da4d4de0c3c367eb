"""Whole studies in a comparison: the cell that a sweep's validation parts choose, told as chosen."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from rankviz.common.numbers import counted
from rankviz.experiments.spec import RunSpec
from rankviz.store import StudyStatus
from rankviz.store.study import DONE
from rankviz.sweeps.choice import Choice
from rankviz.sweeps.designs import Design
from rankviz.sweeps.rules import RULES
from rankviz.sweeps.selection import select
from rankviz.sweeps.table import results
from ui.shared.run_store import run_store
from ui.shared.visitors import visitor


@dataclass(frozen=True)
class ChosenBy:
    """What a study brings into a comparison: runs, what to say of them, its baseline's digest."""

    specs: tuple[RunSpec, ...]
    note: str
    baseline: str = ""


def chosen_by(study: str, metric: str) -> ChosenBy:
    """Return the runs of the cell that a study chooses on validation, the mean over its folds.

    The study keeps by which metric and rule; where it keeps none, it is the best by the metric given.
    Models have the same settings on all folds, so a choice for each fold is one for all folds here.
    Raises `NoSuchStudy` where it is not this visitor's to see, `DataError` where no cell is complete.
    """
    status = run_store().studies.seen(study, visitor())
    choice = Choice.of_study(status.study.design) or Choice(metric)
    digests, note = _cell(study, status.done, choice, status.study.title, status)
    specs = tuple(spec for spec in _specs(study, status.total) if spec.hash in digests)
    return ChosenBy(specs, note, status.baseline)


@st.cache_resource(max_entries=64, show_spinner=False)
def _specs(study: str, total: int) -> list[RunSpec]:
    return run_store().studies.specs(study)


@st.cache_resource(max_entries=64, show_spinner="Choosing on validation …")
def _cell(
    study: str, done: int, choice: Choice, title: str, _status: StudyStatus
) -> tuple[frozenset[str], str]:
    """Digests of the runs of the cell that is chosen, and what to say of the choice."""
    design = Design.from_dict(_status.study.design)
    table = run_store().listing.of_study(study, _status.study.owner)
    made = table[table["state"] == DONE]
    found = select(design, made, choice.metric, rule=choice.rule)
    runs = results(design, table)
    digests = runs["digest"][runs["cell"] == runs["fold"].map(found.chosen["cell"])]
    return frozenset(digests.dropna()), _told(title, choice, found.cells, len(design.folds))


def _told(title: str, choice: Choice, cells: int, folds: int) -> str:
    """Say which of the cells of a study is compared."""
    which = "the best" if choice.rule == "best" else f"the simplest within {RULES[choice.rule].label}"
    own = " The study itself chooses a cell for each fold." if choice.per_fold and folds > 1 else ""
    return (
        f"Of the study “{title}”, {which} of {counted(cells, 'cell')} by validation {choice.metric}, "
        f"the mean over {counted(folds, 'fold')}, is compared.{own}"
    )
