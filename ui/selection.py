"""One selection of queries that charts, a table and buttons of a page share; it is part of the address.

Each view shows the shared selection and writes to it. Keys of views carry a number that rises with every
change of the selection, so that a view always starts afresh from what is selected: the browser tells of a
click only where it differs from the last one that it told of, and keeps outlines that were drawn. The table
keeps its key while it is itself the one that changes the selection, and so its place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import pandas as pd
import streamlit as st

KEY = "picked"
QUERY = "query"
_CHANGES, _CHANGES_ELSEWHERE = "selection-changes", "selection-changes-elsewhere"


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
    """A select box with the query that is shown; empty it shows the one that differs most.

    That is the one of the selected queries, or of all where none is selected, with the largest difference.
    """
    queries = [int(query) for query in table["query"]]
    selected = table["query"].isin(st.session_state[KEY])
    sizes = table.loc[selected if selected.any() else table.index, "difference"].abs()
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
        help="Circled in the figures above. Selecting queries there shows the one of them that differs most.",
    )
    return widest if chosen is None else chosen


def chart_key(name: str) -> str:
    """Key of a chart; a new one after each change of the selection."""
    return _numbered(name, _CHANGES)


def table_key(name: str) -> str:
    """Key of a table; a new one after each change of the selection that was not made in it."""
    return _numbered(name, _CHANGES_ELSEWHERE)


def _numbered(name: str, counter: str) -> str:
    number = st.session_state.get(counter, 0)
    return f"{name}-{number}" if number else name


def taken_from_chart(key: str, table: pd.DataFrame) -> Callable[[], None]:
    """What a chart calls when its selection changes: the queries marked in it become the shared selection.

    A click on the query that alone is selected ends its selection.
    """

    def take() -> None:
        marked = st.session_state[key]["selection"]
        chosen = {int(point["customdata"][0]) for point in marked["points"] if point.get("customdata")}
        brushed = marked.get("box") or marked.get("lasso")
        again = not brushed and chosen == set(st.session_state[KEY])
        _select([] if again else chosen, table)

    return take


def taken_from_rows(key: str, shown: Sequence[int], table: pd.DataFrame) -> Callable[[], None]:
    """What a table calls whose rows are the queries `shown`: those ticked become the shared selection."""

    def take() -> None:
        rows = st.session_state[key]["selection"]["rows"]
        elsewhere = st.session_state.get(_CHANGES_ELSEWHERE, 0)
        _select([shown[row] for row in rows], table)
        st.session_state[_CHANGES_ELSEWHERE] = elsewhere

    return take


def only(query: int, table: pd.DataFrame) -> None:
    """Select one query and nothing else."""
    _select([query], table)


def clear() -> None:
    """Forget the selection, and the outlines in the charts."""
    st.session_state[KEY] = []
    for counter in (_CHANGES, _CHANGES_ELSEWHERE):
        st.session_state[counter] = st.session_state.get(counter, 0) + 1


def _select(queries: Iterable[int], table: pd.DataFrame) -> None:
    """Make these the selected queries.

    The query that is shown becomes the one of them with the largest difference, unless it is among them.
    """
    clear()
    rows = table[table["query"].isin(list(queries))]
    st.session_state[KEY] = [int(query) for query in rows["query"]]
    if len(rows) and st.session_state.get(QUERY) not in st.session_state[KEY]:
        st.session_state[QUERY] = int(rows.loc[rows["difference"].abs().idxmax(), "query"])
