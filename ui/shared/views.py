"""The tabs of a page: which one is open is in the address, and only that one is drawn."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from ui.shared.runs import errors_as_sentences

VIEW = "view"
"""The query parameter that names the open tab."""


def tabs(draw: Mapping[str, Callable[[], object]]) -> None:
    """Tabs by their names, with what draws each; what cannot be drawn is said in its tab."""
    name, place = opened(draw)
    with place, errors_as_sentences():
        draw[name]()


def opened(names: Iterable[str]) -> tuple[str, DeltaGenerator]:
    """Tabs; name and place of the open one, for pages that read its controls before they draw it."""
    told = list(names)
    places = st.tabs(told, key=VIEW, bind="query-params", on_change="rerun")
    return next((name, tab) for name, tab in zip(told, places, strict=True) if tab.open)
