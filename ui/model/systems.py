"""The form that adds scores of a visitor's own system to the chosen data set."""

from __future__ import annotations

from typing import Any

import streamlit as st

from rankviz.common.errors import DataError
from rankviz.common.memory import return_freed_memory
from rankviz.datasets.archives import list_members
from rankviz.datasets.score_files import LIMITS
from rankviz.models.given import SYSTEM
from rankviz.runs.description import PART_NAMES, fold_title
from rankviz.runs.spec import RunSpec
from rankviz.store import StoreError
from ui.controls.compared import RUNS, add
from ui.controls.settings import METHOD, go_to
from ui.model import data_words as words
from ui.model import upload_memory
from ui.shell.texts import escaped
from ui.shell.visitors import keep_visitor
from ui.work.folds import datasets
from ui.work.runs import CHECKING, turn
from ui.work.systems import GIVEN, keep_system

_VERSION, _ERROR, _DONE = "scores-version", "scores-error", "scores-done"


def scores_form(dataset: str) -> None:
    """Draw the form."""
    version = st.session_state.setdefault(_VERSION, 0)
    key = f"scores-files-{version}"
    label = words.SCORES_FILES.format(dataset=escaped(dataset))
    files, missing = upload_memory.file_field(label, key, on_change=_forget, help=words.SCORES_FORMATS)
    if missing:
        _start_over(upload_memory.reason_missing())
    row = st.container(horizontal=True, vertical_alignment="bottom", key="wrapped-controls")
    later: dict[str, Any] = {"on_change": "ignore"}
    name = row.text_input("Name", key=f"scores-name-{version}", placeholder=words.UNNAMED, width=300, **later)
    folds = {"": words.BY_NAME} | {fold: fold_title(fold) for fold in datasets()[dataset].folds}
    parts = {"": words.BY_NAME} | PART_NAMES
    of_fold = later | {"help": words.OF_FOLD, "width": 200}
    of_part = later | {"help": words.OF_PART, "width": 200}
    fold = row.selectbox("Fold", folds, format_func=folds.get, key="scores-fold", **of_fold)
    part = row.selectbox("Part", parts, format_func=parts.get, key="scores-part", **of_part)
    if st.button("Add scores", type="primary", disabled=not files, key="scores-add"):
        _add(files, dataset, name, fold, part)
    if _ERROR in st.session_state:
        st.error(escaped(st.session_state[_ERROR]), icon=":material/error:")
        st.caption(words.NOTHING_ADDED)
    _added(dataset)


def _add(ids: list[str], dataset: str, name: str, fold: str, part: str) -> None:
    _forget()
    line, why = st.empty(), ""
    with turn(CHECKING, line, words.WAITING), st.spinner(words.READING):
        try:
            files = list_members(upload_memory.uploads(ids), LIMITS)
            given, specs = keep_system(files, dataset, name=name, fold=fold, part=part)
            keep_visitor()
            hidden = not any("vali" in parts for parts in given.scores.values())
            notes = (*map(escaped, given.notes), words.ONLY_TEST * hidden)
            said = " ".join((f"**{escaped(given.name)}**", *notes)).strip()
            st.session_state[_DONE] = specs, said
        except (DataError, StoreError) as error:
            why = str(error)
        finally:
            return_freed_memory()
    _start_over(why)


def _added(dataset: str) -> None:
    """Say what was added last, with buttons to show it."""
    specs, said = st.session_state.get(_DONE, ([], ""))
    if not specs or specs[0].dataset != dataset:
        return
    st.success(said, icon=":material/check:")
    row = st.container(horizontal=True)
    row.button("Show on Train", key="scores-train", on_click=_show, args=(specs[0],))
    row.button("Compare with other models", key="scores-compare", on_click=_compare, args=(specs,))


def _show(spec: RunSpec) -> None:
    """Make it the sidebar's model, and open Train (a callback)."""
    st.session_state.update({METHOD.key: GIVEN, SYSTEM.key: spec.system})
    go_to("train")


def _compare(specs: list[RunSpec]) -> None:
    """Add its runs to the comparison, and open it (a callback)."""
    add(RUNS, [spec.hash for spec in specs])
    go_to("compare")


def _start_over(why: str) -> None:
    """Run again with an empty form, and a sentence if the files were refused."""
    upload_memory.release_files()
    st.session_state[_VERSION] += 1
    if why:
        st.session_state[_ERROR] = why
    st.rerun()


def _forget() -> None:
    for key in (_ERROR, _DONE):
        st.session_state.pop(key, None)
