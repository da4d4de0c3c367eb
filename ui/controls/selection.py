"""A selection of queries shared by charts, a table and buttons of a page; part of the address.

Each view shows the shared selection and changes it. Keys of views contain a number that grows with every
change of the selection, so each view restarts from the selection. The reason: the browser reports a click
only if it differs from the last one, and keeps drawn outlines. The table keeps its key, and its scroll
position, when the change was made in the table.

A selection belongs to a data set, fold and part, because query numbers differ elsewhere. On other data it is
put aside, and restored when they return.

Documents of a ranked list are marked in the same way: the two clicked last are in the address.

See docs/decisions/0030-streamlit-traps.md and docs/decisions/0025-state-shared-by-pages.md.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from ui.controls.widgets import Bound, write_address
from ui.shell import words

KEY = "picked"
QUERY = "query"
CLICK = "click"
TOOLS = {CLICK: "a click", "select": "a box", "lasso": "a lasso"}
"""Names of the selection tools in charts, by Plotly's drag mode."""
_CHANGES, _CHANGES_ELSEWHERE = "selection-changes", "selection-changes-elsewhere"
_OF, _ASIDE = "selection-of", "selections-aside"
_DIGITS = 18
"""Most digits of a query number, which must fit into 64 bits."""


def switch_to(part: str = "") -> None:
    """Put the selection of other data aside, and restore that of a part of the sidebar's fold.

    `selected` does this too, but the address must not wait for training. The selection in the address belongs
    to the data shown first.
    """
    state = st.session_state
    of = (state.get("data"), state.get("fold"), part)
    if state.setdefault(_OF, of) != of:
        aside = state.setdefault(_ASIDE, {})
        aside[state[_OF]] = state.get(KEY, [])
        state[_OF] = of
        mark(aside.get(of, []))
        write_address(KEY, ".".join(map(str, state[KEY])))
    elif KEY not in state:
        texts = st.query_params.get(KEY, "").split(".")
        state[KEY] = [int(text) for text in texts if text.isdecimal() and len(text) <= _DIGITS]


def selected(table: pd.DataFrame, part: str = "") -> list[int]:
    """Return the selected queries of a part that are in `table`, which has a column query."""
    switch_to(part)
    known = set(table["query"])
    kept = [query for query in st.session_state[KEY] if query in known]
    st.session_state[KEY] = kept
    write_address(KEY, ".".join(map(str, kept)))
    return kept


def query(table: pd.DataFrame) -> int:
    """Draw a select box with the queries of `table`; by default it shows the one with the largest difference.

    The default is among the selected queries, or among all if none is selected.
    """
    queries = [int(query) for query in table["query"]]
    selected = table["query"].isin(st.session_state[KEY])
    sizes = table.loc[selected if selected.any() else table.index, "difference"].abs().fillna(0.0)
    widest = int(table.loc[sizes.idxmax(), "query"])
    shown = f"{widest} (largest difference)" if sizes.max() > 0 else f"{widest} (no difference)"
    chosen = Bound().optional_menu(QUERY, "Query", queries, shown, width=260, help=words.QUERY)
    return widest if chosen is None else chosen


def toolbar(selected: int, of: int, tools: Sequence[str], how: str) -> str:
    """Draw the selection tools, the number of selected queries, and a button to clear them.

    Return the chosen one of `tools`, which are keys of `TOOLS`; `how` explains them.
    """
    row = st.container(horizontal=True, vertical_alignment="center")
    row.markdown("Select queries by", width="content")
    options = {tool: TOOLS[tool] for tool in tools}
    tool = Bound(row).buttons("tool", "Select queries by", options, label_visibility="collapsed", help=how)
    count(row, selected, of)
    return str(tool)


def count(row: DeltaGenerator, selected: int, of: int) -> None:
    """Draw the number of selected queries, and a button to clear them."""
    row.button("Clear selection", key="clear-selection", on_click=mark, args=([],), disabled=not selected)
    noun = "query" if of == 1 else "queries"
    said = f"**{selected} of {of} {noun} selected**" if selected else ":gray[no query selected]"
    row.markdown(said, width="content")


def chart_key(name: str) -> str:
    """Return the key of a chart; it changes with each change of the selection."""
    return _numbered(name, _CHANGES)


def table_key(name: str) -> str:
    """Return the key of a table; it changes with changes of the selection made elsewhere."""
    return _numbered(name, _CHANGES_ELSEWHERE)


def _numbered(name: str, counter: str) -> str:
    number = st.session_state.get(counter, 0)
    return f"{name}-{number}" if number else name


def on_chart(key: str, table: pd.DataFrame) -> Callable[[], None]:
    """Return a callback for a chart: the queries marked in it become the shared selection.

    A click on the only selected query deselects it.
    """

    def take() -> None:
        marked = st.session_state[key]["selection"]
        chosen = {int(point["customdata"][0]) for point in marked["points"] if point.get("customdata")}
        brushed = marked.get("box") or marked.get("lasso")
        again = not brushed and chosen == set(st.session_state[KEY])
        select([] if again else chosen, table)

    return take


def on_bars(key: str, members: Callable[[Iterable[int]], list[int]]) -> Callable[[], None]:
    """Return a callback for a histogram: `members` of the marked bars become selected.

    A click on the bar of exactly the selected queries deselects them.
    """

    def take() -> None:
        marked = st.session_state[key]["selection"]
        chosen = members({int(point["customdata"][0]) for point in marked["points"] if "customdata" in point})
        again = not marked.get("box") and set(chosen) == set(st.session_state[KEY])
        mark([] if again else chosen)

    return take


def on_rows(key: str, shown: Sequence[int], take_over: Callable[[list[int]], None]) -> Callable[[], None]:
    """Return a callback for a table with the queries `shown` as rows; `take_over` gets ticked ones."""

    def take() -> None:
        rows = st.session_state[key]["selection"]["rows"]
        elsewhere = st.session_state.get(_CHANGES_ELSEWHERE, 0)
        take_over([shown[row] for row in rows])
        st.session_state[_CHANGES_ELSEWHERE] = elsewhere

    return take


def mark(queries: Iterable[int]) -> None:
    """Select these queries; charts and tables restart from them."""
    st.session_state[KEY] = list(queries)
    for counter in (_CHANGES, _CHANGES_ELSEWHERE):
        st.session_state[counter] = st.session_state.get(counter, 0) + 1


def select(queries: Iterable[int], table: pd.DataFrame) -> None:
    """Select these queries of a `table` with columns query and difference.

    The shown query becomes the one with the largest difference, unless it is already selected.
    """
    rows = table[table["query"].isin(list(queries))]
    mark(int(query) for query in rows["query"])
    if len(rows) and st.session_state.get(QUERY) not in st.session_state[KEY]:
        st.session_state[QUERY] = int(rows.loc[rows["difference"].abs().fillna(0.0).idxmax(), "query"])


LAST, BEFORE = "document", "document2"
"""Keys of the document clicked last and of the one before it, in the session and in the address."""
_DOCUMENT_CHANGES = "document-changes"


def marked_documents(names: Collection[str]) -> list[str]:
    """Return the marked documents of a list with these names, the last clicked one first."""
    found = []
    for key in (LAST, BEFORE):
        name = st.session_state.setdefault(key, st.query_params.get(key))
        found += [str(name)] if name in names else []
        write_address(key, name if name in names else "")
    return found


def mark_document(name: str | None) -> None:
    """Mark a document besides the last one; unmark all if it is the last one."""
    state = st.session_state
    last = state.get(LAST)
    state[LAST], state[BEFORE] = (None, None) if name in (None, last) else (name, last)
    state[_DOCUMENT_CHANGES] = state.get(_DOCUMENT_CHANGES, 0) + 1


def document_chart_key(name: str) -> str:
    """Return the key of a chart or table of documents."""
    return chart_key(_numbered(name, _DOCUMENT_CHANGES))


def on_document_click(key: str) -> Callable[[], None]:
    """Return a callback for a click on a document of a chart."""

    def take() -> None:
        points = st.session_state[key]["selection"]["points"]
        names = [point["customdata"][0] for point in points if point.get("customdata")]
        mark_document(names[0] if names else None)

    return take


def on_document_tick(key: str, names: Sequence[str]) -> Callable[[], None]:
    """Return a callback for ticking a row of a table of these documents."""

    def take() -> None:
        rows = st.session_state[key]["selection"]["rows"]
        mark_document(names[rows[0]] if rows else st.session_state.get(LAST))

    return take
