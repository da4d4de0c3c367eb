"""The way to the Why page from a ranked list: two documents that were clicked, and a button."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from ui.shared.foreign import escaped
from ui.shared.settings import go_to, leave_if_asked
from ui.why.choices import CURRENT, OF, QUERY, choose, kept
from ui.why.words import button_help


def offer(
    query: int,
    documents: Sequence[str],
    *,
    key: str,
    of: str = CURRENT,
    whose: str = "",
    marked: Sequence[str] = (),
) -> None:
    """A button that asks why one document stands above another, and menus of others for it.

    `documents` has those of a query in the order of their ranks; of the `marked` ones the first two are asked
    about. `of` is what the Why page's menu of models holds for the model whose list it is, and `whose` names
    it where there are several.
    """
    leave_if_asked()
    if len(documents) < 2:
        return
    above, below = asked_about(documents, marked)
    ranks = [documents.index(name) + 1 for name in (above, below)]
    told = {name: f"{rank}. {name}" for rank, name in enumerate(documents, 1)}
    row = st.container(horizontal=True, vertical_alignment="center", gap="small")
    row.button(
        f"{escaped(whose)}: why {ranks[0]} above {ranks[1]}?"  # short, for it stands in half of the page
        if whose
        else f"Why is rank {ranks[0]} above rank {ranks[1]}?",
        key=f"{key}-go",
        icon=":material/help_center:",
        type="primary" if len(marked) == 2 else "secondary",
        on_click=_go,
        args=(query, above, below, of),
        help=button_help(escaped(above), escaped(below)),
    )
    with row.popover("Others", help="Choose two documents by name."):
        named = f"{key}-{query}-{above}-{below}"  # menus start afresh with other documents
        a = _menu("A", documents, above, told, f"{named}-above")
        b = _menu("B", documents, below, told, f"{named}-below")
        st.button("Show why", key=f"{key}-others", on_click=_go, args=(query, a, b, of), disabled=a == b)


def asked_about(documents: Sequence[str], marked: Sequence[str]) -> tuple[str, str]:
    """The two that are marked, else one and the next above it, else the two at the top; in their order."""
    at = sorted(documents.index(name) for name in marked[:2])
    if len(at) == 2:
        return documents[at[0]], documents[at[1]]
    below = max(at[0], 1) if at else 1
    return documents[below - 1], documents[below]


def _menu(label: str, documents: Sequence[str], first: str, told: dict[str, str], key: str) -> str:
    at = documents.index(first)
    return str(st.selectbox(label, documents, at, format_func=told.__getitem__, key=key))


def _go(query: int, above: str, below: str, of: str) -> None:
    """Choose both documents and go to the Why page (a callback)."""
    choose(above, below)
    st.session_state[kept(OF)] = of
    st.session_state[QUERY] = query
    go_to("why")
