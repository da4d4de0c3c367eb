"""Controls above the first figure of the Low rank page: one row, with rare ones in a popover."""

from __future__ import annotations

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from rankviz.analysis.spectra import MATRICES, RANK_TOLERANCE
from rankviz.plots import dual_energy
from ui.low_rank import words
from ui.low_rank.work import BLOCK, RANKS, SHARES, ZEROS, Choice, Shown

ORDERS = {"grade": "grade, then score", "score": "score"}
BESIDE = {"cut": "cut to rank k", "rest": "what that leaves out"}
WIDTH = 175
"""Width in pixels: three controls and a button fit in one row on a laptop, two controls on a phone."""


def chosen(row: DeltaGenerator) -> Choice:
    """Draw the row and return its choices; the menu of queries comes later, once they are known."""
    k = row.container(width=WIDTH).select_slider(
        "Keep rank k",
        RANKS,
        1,
        key="k",
        bind="query-params",
        help=words.HELP["k"],
    )
    share = row.container(width=WIDTH).select_slider(
        "Share of the energy",
        SHARES,
        90,
        format_func=lambda share: f"{share} %",
        key="t",
        bind="query-params",
        help=words.HELP["t"],
    )
    more = row.popover("More", help=words.HELP["more"])
    with more:
        matrix, zero, order, beside, scale = _more()
    return Choice(
        matrix=str(matrix or "block"),
        share=share / 100,
        tolerance=float(zero or RANK_TOLERANCE),
        scale=str(scale or "documents"),
        k=int(k),
        order=str(order or "grade"),
        beside=str(beside or "cut"),
    )


def _more() -> tuple[str | None, float | None, str | None, str | None, str | None]:
    matrix = st.segmented_control(
        "Matrix of α",
        list(MATRICES),
        format_func=lambda name: MATRICES[name].label,
        key="matrix",
        default="block",
        required=True,
        bind="query-params",
        help=words.HELP["matrix"],
    )
    order = st.segmented_control(
        "Documents sorted by",
        list(ORDERS),
        format_func=ORDERS.__getitem__,
        key="order",
        default="grade",
        required=True,
        bind="query-params",
        help=words.HELP["order"],
    )
    beside = st.segmented_control(
        "Beside it",
        list(BESIDE),
        format_func=BESIDE.__getitem__,
        key="beside",
        default="cut",
        required=True,
        bind="query-params",
        help=words.HELP["beside"],
    )
    zero = st.segmented_control(
        "Zero: σ up to … of the largest",
        ZEROS,
        format_func=words.power_of_ten,
        default=RANK_TOLERANCE,
        required=True,
        key="zero",
        bind="query-params",
        help=words.HELP["zero"],
    )
    scale = st.segmented_control(
        "Dimensions counted as",
        list(dual_energy.SCALES),
        format_func=lambda name: dual_energy.SCALES[name].label,
        default="documents",
        required=True,
        key="counted",
        bind="query-params",
        help=words.HELP["counted"],
    )
    return matrix, zero, order, beside, scale


def query(place: DeltaGenerator, what: Shown) -> None:
    """Draw the menu of queries, of the selected ones if any; its value is `what.query`."""
    queries = [int(query) for query in what.only_picked(what.needs)["query"]]
    if st.session_state.get(BLOCK) not in queries:
        st.session_state[BLOCK] = what.query
    of = f"the {len(queries)} selected" if what.picked else f"{len(queries)}"
    place.selectbox(
        f"Query, of {of}",
        queries,
        key=BLOCK,
        bind="query-params",
        help=words.HELP["block"],
    )
