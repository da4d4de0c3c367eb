"""The way to the Why page from a ranked list: two documents and a button."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from ui.shared.foreign import escaped
from ui.shared.settings import go_to
from ui.why.choices import CURRENT, OF, QUERY, choose, kept

TITLE = "Why is A above B?"


def offer(
    query: int,
    documents: Sequence[str],
    *,
    key: str,
    of: str = CURRENT,
    whose: str = "",
    first: str | None = None,
) -> None:
    """A button with menus of two documents of a query, which `documents` has in the order of their ranks.

    At first the two at the top, or `first` and the one above it. `of` is what the Why page's menu of models
    holds for the model whose list it is, and `whose` names it where there are several.
    """
    if len(documents) < 2:
        return
    label = f"{TITLE} ({escaped(whose)})" if whose else TITLE
    place = st.popover(
        label, icon=":material/help_center:", help="The share of every feature in their margin."
    )
    with place:
        at = documents.index(first) if first in documents else 1
        above, below = documents[max(at, 1) - 1], documents[max(at, 1)]
        ranks = {name: f"{rank}. {name}" for rank, name in enumerate(documents, 1)}
        named = f"{key}-{query}-{above}"  # menus start afresh with another query or document
        a = st.selectbox(
            "A", documents, documents.index(above), format_func=ranks.__getitem__, key=f"{named}-above"
        )
        b = st.selectbox(
            "B", documents, documents.index(below), format_func=ranks.__getitem__, key=f"{named}-below"
        )
        st.button(
            "Show why",
            key=f"{key}-go",
            type="primary",
            on_click=_go,
            args=(query, str(a), str(b), of),
            disabled=a == b,
        )


def _go(query: int, above: str, below: str, of: str) -> None:
    """Choose both documents and go to the Why page (a callback)."""
    choose(above, below)
    st.session_state[kept(OF)] = of
    st.session_state[QUERY] = query
    go_to("why")
