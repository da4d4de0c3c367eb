"""One selection of queries that several charts of a page share; it is part of the address.

Each chart shows the shared selection and writes to it. The charts' keys carry a number that `clear` raises,
so that they start afresh and forget the outlines drawn in them.
"""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd
import streamlit as st

KEY = "picked"
QUERY = "query"


def picked(table: pd.DataFrame) -> list[int]:
    """The selected queries among those of `table`, which has columns query and difference."""
    if KEY not in st.session_state:
        texts = st.query_params.get(KEY, "").split(".")
        st.session_state[KEY] = [int(text) for text in texts if text.isdecimal()]
    known = set(table["query"])
    kept = [query for query in st.session_state[KEY] if query in known]
    st.session_state[KEY] = kept
    if kept:
        st.query_params[KEY] = ".".join(map(str, kept))
    elif KEY in st.query_params:
        del st.query_params[KEY]
    return kept


def query(table: pd.DataFrame) -> int:
    """A select box with the query that is shown; empty it shows the one with the largest difference."""
    queries = [int(query) for query in table["query"]]
    sizes = table["difference"].abs()
    widest = int(table.loc[sizes.idxmax(), "query"])
    if st.session_state.get(QUERY) not in queries:
        st.session_state[QUERY] = None
    chosen = st.selectbox(
        "Query",
        queries,
        None,
        key=QUERY,
        bind="query-params",
        placeholder=f"{widest}, which differs most" if sizes.max() > 0 else f"{widest}; none differs",
        width=260,
        help="Circled in the figures above. Selecting points there chooses the one that differs most.",
    )
    return widest if chosen is None else chosen


def chart_key(name: str) -> str:
    """Key of a chart; a new one after each `clear`."""
    version = st.session_state.get("selection_version", 0)
    return f"{name}-{version}" if version else name


def taken_from(key: str, table: pd.DataFrame) -> Callable[[], None]:
    """What a chart calls when its selection changes: the queries marked in it become the shared selection.

    The query that is shown becomes the selected one with the largest difference, unless it is among them.
    """

    def take() -> None:
        points = st.session_state[key]["selection"]["points"]
        chosen = {int(point["customdata"][0]) for point in points if point.get("customdata")}
        st.session_state[KEY] = [query for query in table["query"] if query in chosen]
        if chosen and st.session_state.get(QUERY) not in chosen:
            rows = table[table["query"].isin(chosen)]
            st.session_state[QUERY] = int(rows.loc[rows["difference"].abs().idxmax(), "query"])

    return take


def clear() -> None:
    """Forget the selection, and the outlines in the charts."""
    st.session_state[KEY] = []
    st.session_state["selection_version"] = st.session_state.get("selection_version", 0) + 1
