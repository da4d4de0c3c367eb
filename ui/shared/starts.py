"""Where the sidebar's settings start from on the data set that is chosen, and the way back from there.

The place that a widget starts from depends on the data set alone, not on its fold, so that an address which
names nothing else always shows the same. Another data set sets what it has settings of its own for.

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
from rankviz.experiments.spec import RunSpec
from rankviz.experiments.starting_points import NO_START, StartingPoint, starting_point
from ui.shared.controls import STARTS, control_of, first, held
from ui.shared.runs import fold_of
from ui.shared.settings import BASELINE_C, FIRST_FOLD, OF_DATA, SET_FOR

MOST_BYTES = 32e6
"""Data sets whose first fold takes more as files have no start of their own: it would have to be read."""


@dataclass(frozen=True)
class Brought:
    """What a data set has set: from where, what widgets held before, and what they hold since."""

    source: str
    before: Mapping[str, Any]
    since: Mapping[str, Any]


def start_from(dataset: Dataset) -> None:
    """Have settings start from those of a data set, and set them to these where another one was shown before.

    To be called before their widgets are drawn. What the data set has no setting of its own for stays.
    """
    state = st.session_state
    before = {key: state[key] for key in _held(state) if key in state}
    source, state[STARTS] = _start(dataset)
    state[_SOURCE] = source
    if state.setdefault(SET_FOR, dataset.name) == dataset.name or not before:
        return
    state[SET_FOR] = dataset.name
    own = _held(state, state[STARTS])
    # all of them, also those that stay: what is left out of the address depends on where widgets start
    since = {key: own.get(key, raw) for key, raw in before.items()}
    _set(since)
    state[_BROUGHT] = Brought(source, before, since) if since != before else None


def say_what_was_brought() -> None:
    """One line on what the data set has set, with the way back, until one of these settings is moved."""
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
    """Where a setting starts from on the data set that is chosen, for its help; "" where that is as usual."""
    source = st.session_state.get(_SOURCE, "")
    if setting not in OF_DATA or setting.name not in st.session_state.get(STARTS, {}) or not source:
        return ""
    return f"Default here: {setting.told(first(setting, st.session_state))} ({source})."


def _back() -> None:
    """Set what the data set has set to what it was before (a callback)."""
    _set(st.session_state.pop(_BROUGHT).before)


def _set(values: Mapping[str, Any]) -> None:
    for key, raw in values.items():
        st.session_state[key] = raw


def _held(state: Mapping[str, Any], values: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """What the widgets of these settings hold at their starts, by their keys; of `values` only, if given."""
    found: dict[str, Any] = {}
    for setting in OF_DATA:
        if values is None or setting.name in values:
            found |= held(setting, first(setting, state))
    return found


def _in_words(raws: Mapping[str, Any]) -> str:
    """The settings that widgets hold."""
    told = []
    for setting in OF_DATA:
        if setting.key in raws:
            words = setting.told(control_of(setting).taken(raws[setting.key]))
            told.append(f"linear baseline {words}" if setting is BASELINE_C else words)
    return ", ".join(told)


def _start(dataset: Dataset) -> tuple[str, dict[str, Any]]:
    """Where settings start from on a data set, in words and by their names."""
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
    """The starting point of a data set, by the files of its first fold as they are."""
    try:
        return starting_point(fold_of(_spec))
    except DataError:  # which the page says of the fold that is chosen
        return NO_START


_BROUGHT, _SOURCE = "brought-by-data", "source-of-starts"
