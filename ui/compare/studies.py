"""Whole studies in a comparison: the cell that a sweep's validation parts choose, told as chosen."""

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
from ui.compare import words
from ui.shared.run_store import run_store
from ui.shared.visitors import visitor


@dataclass(frozen=True)
class ChosenBy:
    """What a study brings into a comparison: runs, what to say of them, its baseline's digest."""

    specs: tuple[RunSpec, ...]
    note: str
    baseline: str = ""


def chosen_by(study: str, metric: str) -> ChosenBy:
    """The runs of the cell that a study chooses on validation by a metric, the mean over its folds.

    Raises `NoSuchStudy` where it is not this visitor's to see, `DataError` where no cell is complete.
    """
    status = run_store().studies.seen(study, visitor())
    digests, note = _cell(study, status.done, metric, status.study.title, status)
    specs = tuple(spec for spec in _specs(study, status.total) if spec.hash in digests)
    return ChosenBy(specs, note, status.baseline)


@st.cache_resource(max_entries=64, show_spinner=False)
def _specs(study: str, total: int) -> list[RunSpec]:
    return run_store().studies.specs(study)


@st.cache_resource(max_entries=64, show_spinner=words.CHOOSING)
def _cell(study: str, done: int, metric: str, title: str, _status: StudyStatus) -> tuple[frozenset[str], str]:
    """Digests of the runs of the cell that is chosen, and what to say of the choice."""
    design = Design.from_dict(_status.study.design)
    table = run_store().listing.of_study(study, _status.study.owner)
    found = select(design, table[table["state"] == DONE], metric)
    runs = results(design, table)
    digests = runs["digest"][runs["cell"] == runs["fold"].map(found.chosen["cell"])]
    note = words.STUDY_NOTE.format(
        title=title,
        cells=counted(found.cells, "cell"),
        metric=metric,
        folds=counted(len(design.folds), "fold"),
    )
    return frozenset(digests.dropna()), note
