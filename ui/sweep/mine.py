"""Sweeps that a visitor may see: progress and best value; open, name, note, share, delete."""

from __future__ import annotations

from datetime import datetime

import streamlit as st

from rankviz.common.errors import DataError, SettingError
from rankviz.runs.choice import Choice
from rankviz.runs.rules import RULES
from rankviz.store import NoSuchStudy, StudyStatus
from ui.shared.foreign import escaped
from ui.shared.run_store import run_store
from ui.shared.visitors import visitor
from ui.sweep import words
from ui.sweep.asking import LONGEST_TITLE
from ui.sweep.cells import CLICKED
from ui.sweep.found import opened
from ui.sweep.starting import KIND, STUDY
from ui.sweep.told import cell_words
from ui.sweep.trying import forget_what_was_refused, trying

SHOWN, LONGEST_NOTE = 8, 500
_DELETED = "sweep-deleted"


def sweeps() -> list[StudyStatus]:
    """Return own and shared sweeps, the latest first."""
    return [one for one in run_store().studies.of(visitor()) if one.study.kind == KIND]


def show_sweeps(title: str = "") -> None:
    """Draw a line for each sweep, below a title."""
    found = sweeps()
    if title and found:
        st.subheader(f"{title} ({len(found)})", anchor=False)
    if _DELETED in st.session_state:
        row = st.container(horizontal=True, vertical_alignment="center")
        title, study = st.session_state[_DELETED]
        row.markdown(words.DELETED.format(title=escaped(title)), width="content")
        row.button("Undo", key="undo-delete", on_click=trying(_restore), args=(study,))
    if not found:
        st.caption(words.NO_SWEEPS)
        return
    shown = found
    if len(found) > SHOWN and not st.toggle(f"All {len(found)}", key="all-sweeps"):
        shown = found[:SHOWN]
    for status in shown:
        _line(status)


def _line(status: StudyStatus) -> None:
    own = status.study.owner == visitor()
    row = st.container(horizontal=True, vertical_alignment="center", gap="small")
    row.button(
        escaped(status.study.title),
        key=f"open-{status.id}",
        type="tertiary",
        icon=":material/folder_open:",
        on_click=show,
        args=(status.id,),
        help="Open",
    )
    when = datetime.fromtimestamp(status.created)
    words = [
        status.in_words.rstrip("."),
        best_words(status.id, status.done, Choice.of_study(status.study.design) or Choice()),
        f"{when.day} {when:%b, %H:%M}",
    ]
    words += [] if own else ["shared by another visitor"]
    words += [escaped(status.note)] if status.note else []
    row.caption(" · ".join(filter(None, words)), width="content")
    if own:
        about = {"icon": ":material/more_horiz:", "help": "Title, note, share, delete."}
        with row.popover("", key=f"more-{status.id}", **about):
            _menu(status)


def _menu(status: StudyStatus) -> None:
    studies = run_store().studies
    name, note, shared = (f"{what}-{status.id}" for what in ("title", "note", "share"))
    st.text_input(
        "Title",
        status.study.title,
        max_chars=LONGEST_TITLE,
        key=name,
        on_change=trying(lambda: studies.rename(status.id, visitor(), st.session_state[name].strip())),
    )
    st.text_area(
        "Note",
        status.note,
        max_chars=LONGEST_NOTE,
        key=note,
        on_change=trying(lambda: studies.note(status.id, visitor(), st.session_state[note].strip())),
    )
    st.toggle(
        "Shared",
        status.study.shared,
        key=shared,
        help=words.SHARE_HELP,
        on_change=trying(lambda: studies.share(status.id, visitor(), st.session_state[shared])),
    )
    st.button(
        "Delete",
        key=f"delete-{status.id}",
        icon=":material/delete:",
        on_click=trying(_delete),
        args=(status.id, status.study.title),
        help=words.DELETE_HELP,
    )


def show(study: str) -> None:
    """Show a sweep (a callback)."""
    st.session_state[STUDY] = study
    st.session_state.pop(CLICKED, None)
    forget_what_was_refused()


def _delete(study: str, title: str) -> None:
    run_store().studies.delete(study, visitor())
    st.session_state[_DELETED] = title, study
    if st.session_state.get(STUDY) == study:
        st.session_state[STUDY] = ""


def _restore(study: str) -> None:
    run_store().studies.restore(study, visitor())
    st.session_state.pop(_DELETED, None)


@st.cache_data(max_entries=500, show_spinner=False)
def best_words(study: str, done: int, choice: Choice) -> str:
    """Describe a sweep's current choice, cached by the number of finished runs; "" without one."""
    try:
        sweep = opened(study, choice.metric, choice.rule, choice.per_fold)
        if sweep.chosen is None:
            return ""
    except (NoSuchStudy, DataError, SettingError):
        return ""
    which = "best" if choice.rule == "best" else f"within {RULES[choice.rule].label}"
    told = f"{which} {choice.metric} {sweep.chosen.validation:.3f}"
    if choice.per_fold and len(sweep.design.folds) > 1:
        return f"{told} in the mean, chosen for each fold"
    cell = int(sweep.chosen.chosen["cell"].iloc[0])
    return f"{told} at {cell_words(sweep.design, sweep.design.plan.cells[cell])}"
