"""Studies in a comparison: the cell that a sweep chooses on validation, marked as chosen."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from rankviz.runs.choice import Choice
from rankviz.runs.designs import Design
from rankviz.runs.selection import select
from rankviz.runs.spec import RunSpec
from rankviz.runs.sweep_table import results
from rankviz.store import StudyStatus
from rankviz.store.study import DONE
from ui.compare import words
from ui.shared.run_store import run_store
from ui.shared.visitors import visitor


@dataclass(frozen=True)
class ChosenBy:
    """A study's part of a comparison: runs, a note about them, its baseline's digest."""

    specs: tuple[RunSpec, ...]
    note: str
    baseline: str = ""


def chosen_by(study: str, metric: str) -> ChosenBy:
    """Return the runs of the cell that a study chooses on validation, the mean over its folds.

    The study's stored metric and rule apply; without them, the best cell by this metric is chosen. Models
    have the same settings on all folds, so a choice for each fold becomes one for all folds here.
    Raises `NoSuchStudy` if this visitor may not see it, `DataError` if no cell is complete.
    """
    status = run_store().studies.seen(study, visitor())
    choice = Choice.of_study(status.study.design) or Choice(metric)
    digests, note = _cell(study, status.done, choice, status.study.title, status)
    specs = tuple(spec for spec in _specs(study, status.total) if spec.hash in digests)
    return ChosenBy(specs, note, status.baseline)


@st.cache_resource(max_entries=64, show_spinner=False)
def _specs(study: str, total: int) -> list[RunSpec]:
    return run_store().studies.specs(study)


@st.cache_resource(max_entries=64, show_spinner=words.CHOOSING)
def _cell(
    study: str, done: int, choice: Choice, title: str, _status: StudyStatus
) -> tuple[frozenset[str], str]:
    """Return the digests of the chosen cell's runs, and a note about the choice."""
    design = Design.from_dict(_status.study.design)
    table = run_store().listing.of_study(study, _status.study.owner)
    made = table[table["state"] == DONE]
    found = select(design, made, choice.metric, rule=choice.rule)
    runs = results(design, table)
    digests = runs["digest"][runs["cell"] == runs["fold"].map(found.chosen["cell"])]
    return frozenset(digests.dropna()), words.study_note(title, choice, found.cells, len(design.folds))
