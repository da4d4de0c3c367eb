"""The head of a page: title, subject in one line, glossary, and the switch that reveals the test part."""

from __future__ import annotations

from collections.abc import Collection

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from ui.shared.terms import offer_terms


def head(title: str, about: str = "", *, first: Collection[str] = ()) -> DeltaGenerator:
    """Draw title, glossary and subject; return their row.

    `first` are the first terms of the page's glossary.
    """
    row = st.container(horizontal=True, vertical_alignment="center", gap="small")
    row.title(title, width="content", anchor=False)
    with row:
        offer_terms(first)
    if about:
        row.caption(about, width="content")
    return row
