"""How queries are selected on the Low rank page, and how many are."""

from __future__ import annotations

import streamlit as st

from ui.low_rank.work import Shown
from ui.shared import selection

PART = "train"
"""Whose queries are selected here: α belongs to them."""
HOW = (
    "Click a bar to select or deselect its queries; a box selects bars by their middle. The selection "
    "holds in every tab and in the menu of queries."
)


def toolbar(what: Shown) -> str:
    """The tool above figures in which queries are selected; returns what dragging does in these."""
    tool = selection.toolbar(len(what.picked), len(what.needs), ["click", "select"], HOW)
    return "pan" if tool == "click" else tool


def count(what: Shown) -> None:
    """How many queries are selected, where no figure selects any; nothing where none is."""
    if what.picked:
        row = st.container(horizontal=True, vertical_alignment="center")
        selection.count(row, len(what.picked), len(what.needs))
