"""Studies in a comparison: the cell that a sweep chooses on validation, marked as chosen."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from rankviz.common.numbers import counted
from rankviz.experiments.spec import RunSpec
from rankviz.store import StudyStatus
from rankviz.store.study import DONE
from rankviz.sweeps.designs import Design
from rankviz.sweeps.selection import select
from rankviz.sweeps.table import results
from ui.shared.run_store import run_store
from ui.shared.visitors import visitor


@dataclass(frozen=True)
class ChosenBy:
    """A study's part of a comparison: runs, a note about them, its baseline's digest."""

    specs: tuple[RunSpec, ...]
    note: str
    baseline: str = ""


def chosen_by(study: str, metric: str) -> ChosenBy:
    """Return the runs of the cell that a study chooses on validation by a metric, the mean over its folds.

    Raises `NoSuchStudy` if this visitor may not see it, `DataError` if no cell is complete.
    """
    status = run_store().studies.seen(study, visitor())
    digests, note = _cell(study, status.done, metric, status.study.title, status)
    specs = tuple(spec for spec in _specs(study, status.total) if spec.hash in digests)
    return ChosenBy(specs, note, status.baseline)


@st.cache_resource(max_entries=64, show_spinner=False)
def _specs(study: str, total: int) -> list[RunSpec]:
    return run_store().studies.specs(study)


@st.cache_resource(max_entries=64, show_spinner="Choosing on validation …")
def _cell(study: str, done: int, metric: str, title: str, _status: StudyStatus) -> tuple[frozenset[str], str]:
    """Return the digests of the chosen cell's runs, and a note about the choice."""
    design = Design.from_dict(_status.study.design)
    table = run_store().listing.of_study(study, _status.study.owner)
    found = select(design, table[table["state"] == DONE], metric)
    runs = results(design, table)
    digests = runs["digest"][runs["cell"] == runs["fold"].map(found.chosen["cell"])]
    note = (
        f"Of the study “{title}”, the best of {counted(found.cells, 'cell')} by validation "
        f"{metric}, the mean over {counted(len(design.folds), 'fold')}, is compared."
    )
    return frozenset(digests.dropna()), note
