"""Marked documents of a ranked list: the two clicked last, also in the address.

A chart of documents gets a new key after each change of the marks, because the browser reports a click only
if it differs from the last one.

See docs/decisions/0025-state-shared-by-pages.md.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

import streamlit as st

from ui.controls import selection

LAST, BEFORE = "document", "document2"
"""Keys of the document clicked last and of the one before it, in the session and in the address."""
_CHANGES = "document-changes"


def documents(names: Collection[str]) -> list[str]:
    """Return the marked documents of a list with these names, the last clicked one first."""
    found = []
    for key in (LAST, BEFORE):
        name = st.session_state.setdefault(key, st.query_params.get(key))
        if name in names:
            st.query_params[key] = name
            found.append(str(name))
        else:
            st.query_params.pop(key, None)
    return found


def mark(name: str | None) -> None:
    """Mark a document besides the last one; unmark all if it is the last one."""
    state = st.session_state
    last = state.get(LAST)
    state[LAST], state[BEFORE] = (None, None) if name in (None, last) else (name, last)
    state[_CHANGES] = state.get(_CHANGES, 0) + 1


def chart_key(name: str) -> str:
    """Return the key of a chart or table of documents."""
    number = st.session_state.get(_CHANGES, 0)
    return selection.chart_key(f"{name}-{number}" if number else name)


def clicked(key: str) -> Callable[[], None]:
    """Return a callback for a click on a document of a chart."""

    def take() -> None:
        points = st.session_state[key]["selection"]["points"]
        names = [point["customdata"][0] for point in points if point.get("customdata")]
        mark(names[0] if names else None)

    return take


def ticked(key: str, names: Sequence[str]) -> Callable[[], None]:
    """Return a callback for ticking a row of a table of these documents."""

    def take() -> None:
        rows = st.session_state[key]["selection"]["rows"]
        mark(names[rows[0]] if rows else st.session_state.get(LAST))

    return take
