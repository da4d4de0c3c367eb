"""One selection of queries that charts, a table and buttons of a page share; it is part of the address.

Each view shows the shared selection and writes to it. Keys of views carry a number that rises with every
change of the selection, so that a view always starts afresh from what is selected: the browser tells of a
click only where it differs from the last one that it told of, and keeps outlines that were drawn. The table
keeps its key while it is itself the one that changes the selection, and so its place.

A selection belongs to a data set, fold and part: numbers of queries mean others elsewhere. On other data it
is put aside, and taken up again when they come back.

See docs/decisions/0030-streamlit-traps.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from ui.shared import words

KEY = "picked"
QUERY = "query"
CLICK = "click"
TOOLS = {CLICK: "a click", "select": "a box", "lasso": "a lasso"}
"""Names of the tools that select queries in charts, by Plotly's name of the drag mode."""
_CHANGES, _CHANGES_ELSEWHERE = "selection-changes", "selection-changes-elsewhere"
_OF, _ASIDE = "selection-of", "selections-aside"
_DIGITS = 18
"""A number of a query with more digits is none: it would not fit into 64 bits."""


def turn_to(part: str = "") -> None:
    """Put the selection of other data aside and take up that of a part of the sidebar's fold.

    `picked` does so too; where there is something to train before, the address must not wait for that. The
    selection of the address is that of the data that are shown first.
    """
    state = st.session_state
    of = (state.get("data"), state.get("fold"), part)
    if state.setdefault(_OF, of) != of:
        aside = state.setdefault(_ASIDE, {})
        aside[state[_OF]] = state.get(KEY, [])
        state[_OF] = of
        mark(aside.get(of, []))
        _write_address()
    elif KEY not in state:
        texts = st.query_params.get(KEY, "").split(".")
        state[KEY] = [int(text) for text in texts if text.isdecimal() and len(text) <= _DIGITS]


def picked(table: pd.DataFrame, part: str = "") -> list[int]:
    """The selected queries of a part that are in `table`, which has a column query."""
    turn_to(part)
    known = set(table["query"])
    kept = [query for query in st.session_state[KEY] if query in known]
    st.session_state[KEY] = kept
    _write_address()
    return kept


def _write_address() -> None:
    if st.session_state[KEY]:
        st.query_params[KEY] = ".".join(map(str, st.session_state[KEY]))
    elif KEY in st.query_params:
        del st.query_params[KEY]


def query(table: pd.DataFrame) -> int:
    """A select box with the query of `table` that is shown; empty it shows the one that differs most.

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
        placeholder=f"{widest} (largest difference)" if sizes.max() > 0 else f"{widest} (no difference)",
        width=260,
        help=words.QUERY,
    )
    return widest if chosen is None else chosen


def toolbar(selected: int, of: int, tools: Sequence[str], how: str) -> str:
    """Says what a gesture in the charts does, how many queries are selected, and how to be rid of that.

    Returns the chosen one of `tools`, which are keys of `TOOLS`; `how` explains them.
    """
    row = st.container(horizontal=True, vertical_alignment="center")
    row.markdown("Select queries by", width="content")
    tool = row.segmented_control(
        "Select queries by",
        tools,
        label_visibility="collapsed",
        format_func=TOOLS.__getitem__,
        default=tools[0],
        required=True,
        key="tool",
        bind="query-params",
        help=how,
    )
    count(row, selected, of)
    return str(tool)


def count(row: DeltaGenerator, selected: int, of: int) -> None:
    """How many queries are selected, and a button to be rid of that."""
    row.button("Clear selection", key="clear-selection", on_click=clear, disabled=not selected)
    noun = "query" if of == 1 else "queries"
    said = f"**{selected} of {of} {noun} selected**" if selected else ":gray[no query selected]"
    row.markdown(said, width="content")


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
    """A callback for a chart whose selection changes: the queries marked in it become the shared selection.

    A click on the query that alone is selected ends its selection.
    """

    def take() -> None:
        marked = st.session_state[key]["selection"]
        chosen = {int(point["customdata"][0]) for point in marked["points"] if point.get("customdata")}
        brushed = marked.get("box") or marked.get("lasso")
        again = not brushed and chosen == set(st.session_state[KEY])
        select([] if again else chosen, table)

    return take


def taken_from_bars(key: str, members: Callable[[Iterable[int]], list[int]]) -> Callable[[], None]:
    """A callback for a histogram whose bars carry their number: `members` of those marked become selected.

    A click on the bar whose queries alone are selected ends their selection.
    """

    def take() -> None:
        marked = st.session_state[key]["selection"]
        chosen = members({int(point["customdata"][0]) for point in marked["points"] if "customdata" in point})
        again = not marked.get("box") and set(chosen) == set(st.session_state[KEY])
        mark([] if again else chosen)

    return take


def taken_from_rows(
    key: str, shown: Sequence[int], take_over: Callable[[list[int]], None]
) -> Callable[[], None]:
    """A callback for a table whose rows are the queries `shown`: those ticked are handed to `take_over`."""

    def take() -> None:
        rows = st.session_state[key]["selection"]["rows"]
        elsewhere = st.session_state.get(_CHANGES_ELSEWHERE, 0)
        take_over([shown[row] for row in rows])
        st.session_state[_CHANGES_ELSEWHERE] = elsewhere

    return take


def only(query: int, table: pd.DataFrame) -> None:
    """Select one query and nothing else."""
    select([query], table)


def clear() -> None:
    """Forget the selection, and the outlines in the charts."""
    mark([])


def mark(queries: Iterable[int]) -> None:
    """Make these the selected queries; charts and tables start afresh from them."""
    st.session_state[KEY] = list(queries)
    for counter in (_CHANGES, _CHANGES_ELSEWHERE):
        st.session_state[counter] = st.session_state.get(counter, 0) + 1


def select(queries: Iterable[int], table: pd.DataFrame) -> None:
    """Make these the selected queries of a `table` with columns query and difference.

    The query that is shown becomes the one of them with the largest difference, unless it is among them.
    """
    rows = table[table["query"].isin(list(queries))]
    mark(int(query) for query in rows["query"])
    if len(rows) and st.session_state.get(QUERY) not in st.session_state[KEY]:
        st.session_state[QUERY] = int(rows.loc[rows["difference"].abs().idxmax(), "query"])
