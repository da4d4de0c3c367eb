"""Link to the Why page from a ranked list: two clicked documents, and a button."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from ui.controls.settings import go_to, go_where_asked
from ui.shell.texts import escaped
from ui.why.choices import CURRENT, OF, QUERY, choose, kept
from ui.why.words import CHOOSE_BY_NAME, LINK, button_help


def offer(
    query: int,
    documents: Sequence[str],
    *,
    key: str,
    of: str = CURRENT,
    whose: str = "",
    marked: Sequence[str] = (),
) -> None:
    """Draw a button to the Why page for two documents, with menus to choose others.

    `documents` has those of a query in the order of ranks; the first two `marked` ones are the default. `of`
    is the Why page's menu value for the list's model; `whose` names the model if there are several.
    """
    go_where_asked()
    if len(documents) < 2:
        return
    above, below = asked_about(documents, marked)
    ranks = [documents.index(name) + 1 for name in (above, below)]
    told = {name: f"{rank}. {name}" for rank, name in enumerate(documents, 1)}
    row = st.container(horizontal=True, vertical_alignment="center", gap="small")
    row.button(
        f"{escaped(whose)}: why {ranks[0]} above {ranks[1]}?"  # short: it must fit into half of the page
        if whose
        else LINK.format(above=ranks[0], below=ranks[1]),
        key=f"{key}-go",
        icon=":material/help_center:",
        type="primary" if len(marked) == 2 else "secondary",
        on_click=_go,
        args=(query, above, below, of),
        help=button_help(escaped(above), escaped(below)),
    )
    with row.popover("Others", help=CHOOSE_BY_NAME):
        named = f"{key}-{query}-{above}-{below}"  # menus start afresh with other documents
        a = _menu("A", documents, above, told, f"{named}-above")
        b = _menu("B", documents, below, told, f"{named}-below")
        st.button("Show why", key=f"{key}-others", on_click=_go, args=(query, a, b, of), disabled=a == b)


def asked_about(documents: Sequence[str], marked: Sequence[str]) -> tuple[str, str]:
    """Return the two marked ones, else one and the next above it, else the top two; in their order."""
    at = sorted(documents.index(name) for name in marked[:2])
    if len(at) == 2:
        return documents[at[0]], documents[at[1]]
    below = max(at[0], 1) if at else 1
    return documents[below - 1], documents[below]


def _menu(label: str, documents: Sequence[str], first: str, told: dict[str, str], key: str) -> str:
    at = documents.index(first)
    return str(st.selectbox(label, documents, at, format_func=told.__getitem__, key=key))


def _go(query: int, above: str, below: str, of: str) -> None:
    """Choose both documents and open the Why page (a callback)."""
    choose(above, below)
    st.session_state[kept(OF)] = of
    st.session_state[QUERY] = query
    go_to("why")
