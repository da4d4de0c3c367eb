"""One query on the Side by side page: both lists, both scores, the documents that moved farthest."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from rankviz.plots import ranked_list
from ui.controls import selection
from ui.shell.figures import show_figure, show_table
from ui.side_by_side import words
from ui.side_by_side.words import Compared, Pair, marked_document, one_query
from ui.why.choices import CURRENT
from ui.why.link import offer as offer_why

LENGTHS = (10, 20)
SHORTEST = 420  # pixels of the score scatter next to a short list
MOST = 8


def show(what: Compared) -> int:
    """Draw one query and return it."""
    row = st.container(horizontal=True, vertical_alignment="bottom", gap="large")
    with row:
        chosen = selection.query(what.table)
        length, scale = _settings()
    position = int((what.table["query"] == chosen).argmax())
    row = what.table.iloc[position]
    scores = what.pair.left.scores[what.part], what.pair.right.scores[what.part]
    documents = ranked_list.scatter_data(*scores, what.data, position, scale)
    moved = ranked_list.largest_moves(documents, MOST)
    st.markdown(one_query(row, moved, what.pair))
    chosen_documents = selection.marked_documents(set(documents["document"]))
    k = min(length, len(documents))
    lists, points = st.columns(2, gap="medium")
    with lists:
        _lists(what, row, documents, k, chosen_documents)
        _why(what.pair, chosen, documents, chosen_documents)
    with points:
        _points(what, row, documents, scale, max(SHORTEST, ranked_list.list_height(k)), chosen_documents)
    for name in chosen_documents:
        st.markdown(marked_document(documents[documents["document"] == name].iloc[0], what.pair))
    _documents(what.pair, documents, moved, chosen_documents)
    return chosen


def _settings() -> tuple[int, str]:
    length = st.segmented_control(
        "First documents",
        LENGTHS,
        default=LENGTHS[0],
        required=True,
        key="first",
        bind="query-params",
        help=words.FIRST_HELP,
    )
    scale = st.segmented_control(
        "Scores",
        list(ranked_list.SCALES),
        default="centred",
        required=True,
        key="scores",
        bind="query-params",
        help=words.SCORES_HELP,
    )
    return int(length or LENGTHS[0]), str(scale or "centred")


def _lists(what: Compared, row: pd.Series, documents: pd.DataFrame, k: int, chosen: Sequence[str]) -> None:
    key, query, names = selection.document_chart_key("ranked-lists"), f"{row['query']:.0f}", what.pair.names
    values = f"{what.metric}: {names[0]} {row['left']:.4f}, {names[1]} {row['right']:.4f}"
    show_figure(
        ranked_list.list_figure(documents, *what.pair.labels, k, chosen),
        documents,
        key=key,
        alt=words.LISTS_ALT.format(query=query, k=k),
        caption=words.LISTS.format(query=query, k=k, n=len(documents), values=values, about=what.about),
        on_select=selection.on_document_click(key),
    )


def _why(pair: Pair, query: int, documents: pd.DataFrame, chosen: Sequence[str]) -> None:
    """Draw links to the Why page for either list."""
    row = st.container(horizontal=True)
    for side, name in zip(("left", "right"), pair.names, strict=True):
        ranked = documents.sort_values(f"{side}_rank")["document"].tolist()
        of = st.session_state.get(side, CURRENT)  # the menus above have the Why page's names of models
        with row:
            offer_why(query, ranked, key=f"why-{side}", of=of, whose=name, marked=chosen)


def _points(
    what: Compared, row: pd.Series, documents: pd.DataFrame, scale: str, height: int, chosen: Sequence[str]
) -> None:
    key, query, names = (
        selection.document_chart_key("score-against-score"),
        f"{row['query']:.0f}",
        what.pair.names,
    )
    said = {
        "centred": "scores minus their mean",
        "standardised": words.STANDARDISED,
    }[scale]
    show_figure(
        ranked_list.scatter_figure(documents, *names, scale, chosen, height),
        documents,
        key=key,
        alt=words.SCORES_ALT.format(query=query, left=names[0], right=names[1]),
        caption=words.SCORES.format(documents=len(documents), query=query, said=said, about=what.about),
        on_select=selection.on_document_click(key),
    )


def _documents(pair: Pair, documents: pd.DataFrame, moved: pd.DataFrame, chosen: Sequence[str]) -> None:
    """Draw the documents with the largest changes of rank, or all of them if chosen."""
    names = dict(zip(("left_rank", "right_rank"), (f"{name} rank" for name in pair.names), strict=True))
    if len(moved):
        st.markdown(words.LARGEST)
        key, listed = selection.document_chart_key("moved"), moved["document"].tolist()
        show_table(
            moved.rename(columns=names),
            hide_index=True,
            width="content",
            key=key,
            on_select=selection.on_document_tick(key, listed),
            selection_mode="single-row",
            selection_default={
                "selection": {"rows": [n for n, name in enumerate(listed) if name in chosen[:1]]},
            },
            column_config={"change": st.column_config.NumberColumn(format="%+d")},
        )
    with st.expander(f"All {len(documents)} documents"):
        drawn = documents.drop(columns=["left_value", "right_value"])
        names |= {"left_score": f"{pair.names[0]} score", "right_score": f"{pair.names[1]} score"}
        show_table(drawn.rename(columns=names), hide_index=True)
