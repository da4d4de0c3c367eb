"""The documents of a ranked list that are marked: the two clicked last, which the address has.

A chart of documents is drawn under another key after each change of what is marked: the browser tells of a
click only where it differs from the last one that it told of.

See docs/decisions/0025-state-shared-by-pages.md.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

import streamlit as st

from ui.shared import selection

LAST, BEFORE = "document", "document2"
"""Keys of the document that was clicked last and of the one before it, in the session and in the address."""
_CHANGES = "document-changes"


def documents(names: Collection[str]) -> list[str]:
    """Those marked of a list with these names, the one clicked last first."""
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
    """Mark a document beside the one marked last, or none any more where it is that one."""
    state = st.session_state
    last = state.get(LAST)
    state[LAST], state[BEFORE] = (None, None) if name in (None, last) else (name, last)
    state[_CHANGES] = state.get(_CHANGES, 0) + 1


def chart_key(name: str) -> str:
    """Key of a chart or table of documents."""
    number = st.session_state.get(_CHANGES, 0)
    return selection.chart_key(f"{name}-{number}" if number else name)


def clicked(key: str) -> Callable[[], None]:
    """A callback for a chart: one of its documents was clicked."""

    def take() -> None:
        points = st.session_state[key]["selection"]["points"]
        names = [point["customdata"][0] for point in points if point.get("customdata")]
        mark(names[0] if names else None)

    return take


def ticked(key: str, names: Sequence[str]) -> Callable[[], None]:
    """A callback for a table of these documents: one of its rows is ticked, or no longer is."""

    def take() -> None:
        rows = st.session_state[key]["selection"]["rows"]
        mark(names[rows[0]] if rows else st.session_state.get(LAST))

    return take
