"""Selection of queries on the Low rank page, and its count."""

from __future__ import annotations

import streamlit as st

from ui.controls import selection
from ui.low_rank.work import Shown

PART = "train"
"""Part of the selected queries: α belongs to it."""
HOW = "Click a bar, or draw a box, to select queries in every tab."


def toolbar(what: Shown) -> str:
    """Draw the toolbar of figures that select queries; return the effect of dragging in them."""
    tool = selection.toolbar(len(what.picked), len(what.needs), ["click", "select"], HOW)
    return "pan" if tool == "click" else tool


def count(what: Shown) -> None:
    """Draw the number of selected queries on tabs without selection; nothing if none is selected."""
    if what.picked:
        row = st.container(horizontal=True, vertical_alignment="center")
        selection.count(row, len(what.picked), len(what.needs))
