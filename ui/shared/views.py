"""The tabs of a page: the open one is in the address, and only that one is drawn."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import streamlit as st

from ui.shared.navigation import TITLE
from ui.shared.runs import errors_as_sentences

VIEW = "view"
"""The query parameter that names the open tab."""
_OF = "view-of-page"


def tabs(draw: Mapping[str, Callable[[], object]]) -> None:
    """Draw tabs by their names; errors appear in their tab."""
    begin_with_the_first()
    places = st.tabs(list(draw), key=VIEW, bind="query-params", on_change="rerun")
    for tab, drawn in zip(places, draw.values(), strict=True):
        if tab.open:
            with tab, errors_as_sentences():
                drawn()


def begin_with_the_first() -> None:
    """Close a tab that was opened on another page, before tabs are drawn."""
    here = st.session_state.get(TITLE)
    if st.session_state.setdefault(_OF, here) != here and VIEW not in st.query_params:
        st.session_state.pop(VIEW, None)
    st.session_state[_OF] = here
