"""Initial values of the sidebar's settings for the chosen data set, with undo.

A widget's initial value depends on the data set only, not on its fold. So an address without other values
always shows the same. A new data set changes only settings for which it has its own values.

See docs/decisions/0024-the-address-is-the-state.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import streamlit as st

from rankviz.common.errors import DataError
from rankviz.common.settings import Setting
from rankviz.datasets import Dataset
from rankviz.datasets.folds import BUNDLED
from rankviz.runs.spec import RunSpec
from rankviz.runs.starting_points import NO_START, StartingPoint, starting_point
from ui.shared.controls import STARTS, control_of, first, held
from ui.shared.runs import fold_of
from ui.shared.settings import BASELINE_C, FIRST_FOLD, OF_DATA, SET_FOR

MOST_BYTES = 32e6
"""Largest size in bytes of a first fold that is read for initial values."""


@dataclass(frozen=True)
class Brought:
    """Settings changed by a data set: the reason, and the widgets' values before and since."""

    source: str
    before: Mapping[str, Any]
    since: Mapping[str, Any]


def start_from(dataset: Dataset) -> None:
    """Use a data set's initial values, and set the settings to them after a change of the data set.

    Call it before their widgets are drawn. Settings without own values of the data set stay.
    """
    state = st.session_state
    before = {key: state[key] for key in _held(state) if key in state}
    source, state[STARTS] = _start(dataset)
    state[_SOURCE] = source
    if state.setdefault(SET_FOR, dataset.name) == dataset.name or not before:
        return
    state[SET_FOR] = dataset.name
    own = _held(state, state[STARTS])
    # includes unchanged ones: the address omits values relative to the initial ones
    since = {key: own.get(key, raw) for key, raw in before.items()}
    _set(since)
    state[_BROUGHT] = Brought(source, before, since) if since != before else None


def say_what_was_brought() -> None:
    """Show one line about the data set's settings, with undo, until one of them is changed."""
    brought = st.session_state.get(_BROUGHT)
    if brought is None or any(st.session_state.get(key) != raw for key, raw in brought.since.items()):
        return
    st.button(
        f":small[:gray[{brought.source}] – restore mine]",
        key="back-to-mine",
        help=f"Now: {_in_words(brought.since)}. Before: {_in_words(brought.before)}.",
        on_click=_back,
        type="tertiary",
    )


def whence(setting: Setting) -> str:
    """Explain a setting's initial value on the chosen data set, for its help; "" if it is the default."""
    source = st.session_state.get(_SOURCE, "")
    if setting not in OF_DATA or setting.name not in st.session_state.get(STARTS, {}) or not source:
        return ""
    return f"Default here: {setting.told(first(setting, st.session_state))} ({source})."


def _back() -> None:
    """Restore the settings changed by the data set (a callback)."""
    _set(st.session_state.pop(_BROUGHT).before)


def _set(values: Mapping[str, Any]) -> None:
    for key, raw in values.items():
        st.session_state[key] = raw


def _held(state: Mapping[str, Any], values: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return the widgets' initial values of these settings, by key; only those in `values`, if given."""
    found: dict[str, Any] = {}
    for setting in OF_DATA:
        if values is None or setting.name in values:
            found |= held(setting, first(setting, state))
    return found


def _in_words(raws: Mapping[str, Any]) -> str:
    """Describe the settings of widgets' values."""
    told = []
    for setting in OF_DATA:
        if setting.key in raws:
            words = setting.told(control_of(setting).taken(raws[setting.key]))
            told.append(f"linear baseline {words}" if setting is BASELINE_C else words)
    return ", ".join(told)


def _start(dataset: Dataset) -> tuple[str, dict[str, Any]]:
    """Return a data set's initial values by name, with a description."""
    if dataset.folder.is_relative_to(BUNDLED.resolve()):
        return "Settings of the bundled folds", {setting.name: setting.first for setting in OF_DATA}
    fold = FIRST_FOLD if FIRST_FOLD in dataset.folds else next(iter(dataset.folds))
    seen = [(str(path), path.stat()) for path in dataset.folds[fold].values()]
    files = tuple((path, stat.st_size, stat.st_mtime_ns) for path, stat in seen)
    if sum(size for _, size, _ in files) > MOST_BYTES:
        return NO_START.source, {}
    point = _found(files, RunSpec(dataset.name, fold))
    own = {} if point.linear is None else {BASELINE_C.name: point.linear}
    return point.source, {**point.values, **own}


@st.cache_resource(max_entries=256, show_spinner=False)
def _found(files: tuple[tuple[str, int, int], ...], _spec: RunSpec) -> StartingPoint:
    """Return the initial values of a data set, cached by the state of its first fold's files."""
    try:
        return starting_point(fold_of(_spec))
    except DataError:  # the page reports it for the chosen fold
        return NO_START


_BROUGHT, _SOURCE = "brought-by-data", "source-of-starts"
