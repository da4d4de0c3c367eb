"""Locked views of a lecture: all widgets show their values, and nobody can move them.

Streamlit has no such state of a page, so each element gets it here when it is drawn. Links, downloads, and
what is drawn in `unlocked()`, stay free. Components of ours have it in their data.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

LOCKED = "controls-locked"
"""Session key: True if widgets are locked, as a view of a lecture may ask."""
_FREE = ("page_link", "link_button", "download_button")
"""Streamlit's names of elements that change nothing on the page."""
_unlocked = ContextVar("unlocked", default=False)
_plain = DeltaGenerator._enqueue


def locked() -> bool:
    """Return True if controls cannot be moved."""
    return bool(st.session_state.get(LOCKED)) and not _unlocked.get()


@contextmanager
def unlocked() -> Iterator[None]:
    """Draw widgets that stay free: they change only what a visitor sees of the app, or keeps of it."""
    before = _unlocked.set(True)
    try:
        yield
    finally:
        _unlocked.reset(before)


def _enqueue(self: DeltaGenerator, kind: str, element: Any, *given: Any, **how: Any) -> DeltaGenerator:
    """Draw an element as Streamlit does, but disabled and without selections in a locked view."""
    fields = element.DESCRIPTOR.fields_by_name
    movable = {"disabled", "selection_mode"} & set(fields)
    if movable and kind not in _FREE and locked():
        for name in movable:
            element.ClearField(name)
        if "disabled" in movable:
            element.disabled = True
    return _plain(self, kind, element, *given, **how)


DeltaGenerator._enqueue = _enqueue  # type: ignore[method-assign]
