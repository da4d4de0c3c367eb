"""Display of figures and captions, in the same way everywhere, with downloads of their data.

See docs/decisions/0032-how-a-page-is-built.md.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, Literal

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from rankviz.common.spreadsheets import as_csv
from rankviz.datasets import RankingData
from rankviz.metrics import NDCG, evaluate
from rankviz.runs.record import RunRecord
from ui.shared import words
from ui.shared.ends import end_page
from ui.shared.foreign import describe, escaped, plain
from ui.shared.look import ALONE, dressed, is_on
from ui.shared.pictures import offer
from ui.shared.terms import papers_in, terms_in

TILE_WIDTH = 165  # pixels: two fit on the narrowest screen
Selecting = Literal["ignore", "rerun"] | Callable[[], None]
"""What a selection in a figure does: nothing, rerun the page, or call a function before the rerun."""
CONFIG = {
    "displaylogo": False,
    "modeBarButtonsToRemove": [
        "toImage",
        "zoom2d",
        "pan2d",
        "select2d",
        "lasso2d",
        "zoomIn2d",
        "zoomOut2d",
        "autoScale2d",
        "resetScale2d",
    ],
}
"""Plotly's toolbar keeps only Streamlit's full screen. A double click resets the axes, and "Save" makes
pictures that contain their font (the camera's do not)."""


@dataclass(frozen=True)
class Figures:
    """Shows the figures of a page, whose descriptions and captions are templates by the figure's key.

    Attributes
    ----------
    alts, captions : mapping of str to str
        Texts with names in braces, as in `str.format`.
    """

    alts: Mapping[str, str]
    captions: Mapping[str, str]

    def show(
        self,
        key: str,
        figure: go.Figure,
        table: pd.DataFrame,
        answer: str = "",
        *,
        texts: str = "",
        on_select: Selecting = "ignore",
        **told: object,
    ) -> Any:
        """Draw a figure with its texts; return its selection, as `show_figure` does.

        `told` fills the names in both templates. `texts` is their key if it differs from the figure's.
        """
        alt, caption = (found[texts or key].format(**told) for found in (self.alts, self.captions))
        return show_figure(
            figure, table, key=key, alt=alt, caption=caption, answer=answer, on_select=on_select
        )


def show_figure(
    figure: go.Figure,
    table: pd.DataFrame,
    *,
    key: str,
    alt: str,
    caption: str,
    answer: str = "",
    on_select: Selecting = "ignore",
) -> Any:
    """Draw a figure below its answer, with a popover for description, picture and numbers.

    `alt` is a text for screen readers. Return the selection in the figure if `on_select` is "rerun" or a
    callback. If only the first figure is wanted, the page ends here.
    """
    if answer:
        show_answer(answer)
    event = st.plotly_chart(
        dressed(figure), width="stretch", key=key, alt=alt, config=CONFIG, on_select=on_select
    )
    row = st.container(horizontal=True, wrap=False, gap="small", horizontal_alignment="right")
    with row.popover("About this figure", icon=":material/info:", help="What the figure shows."):
        st.caption(caption)
        if more := [told for told in (terms_in(caption), papers_in(caption)) if told]:
            st.caption("\n\n".join(["---", *more]))
    with row.popover("Save", icon=":material/download:", help="Download the figure or its numbers."):
        st.download_button(
            "Figure (HTML, works offline)",
            lambda: _page(figure, caption),
            f"{key}.html",
            "text/html",
            key=f"{key}-html",
            on_click="ignore",
            width="stretch",
        )
        st.download_button(
            "Numbers (CSV)",
            lambda: as_csv(table),
            f"{key}.csv",
            "text/csv",
            key=f"{key}-csv",
            on_click="ignore",
            width="stretch",
        )
        offer(figure, key, caption)
    if is_on(ALONE):
        end_page()
    return event


def show_answer(answer: str) -> None:
    """Draw the result of a page or figure as a heading, a sentence that explains its terms."""
    st.header(sentence(answer), anchor=False, help=terms_in(answer))


def show_table(table: pd.DataFrame, **how: Any) -> Any:
    """Draw a table, with a dash for missing values."""
    return st.dataframe(table, placeholder="–", **how)


def _page(figure: go.Figure, caption: str) -> str:
    """Return the figure with its caption as an HTML page that needs no network; it contains Plotly."""
    body = figure.to_html(include_plotlyjs=True, full_html=False)
    return f'<!doctype html><meta charset="utf-8"><title>rankviz</title>{body}<p>{escape(plain(caption))}</p>'


def tiles(n: int) -> list[DeltaGenerator]:
    """Return places for n metric tiles in a row that wraps on narrow screens."""
    row = st.container(horizontal=True, gap="medium")
    return [row.container(width=TILE_WIDTH) for _ in range(n)]


def two_places() -> list[DeltaGenerator]:
    """Return two places next to each other for figures; the full width if only the first is wanted."""
    return [st.container()] * 2 if is_on(ALONE) else st.columns(2, gap="medium")


def sentence(text: str) -> str:
    """Return an answer as a sentence, with a capital and a full stop."""
    return f"{capital(text).rstrip('.')}."


def capital(text: str) -> str:
    """Return a text with a capital first letter; λ and other symbols stay unchanged."""
    return text[0].upper() + text[1:] if text[0].isascii() else text


def definition_caption(data: RankingData) -> str:
    """Describe the definition of the metrics, the number of queries, and the treatment of empty ones."""
    return evaluate(np.zeros(data.n_documents), data, at=[10]).caption


def say_if_ties_decide(records: Sequence[RunRecord], data: RankingData, part: str) -> None:
    """Say how far NDCG@10 of models on a part depends on the order of tied documents, if it does."""
    for record in records:
        told = NDCG(10, "letor").ties(record.scores[part], data)
        if told:
            st.caption(f"{escaped(describe(record.spec, part))}: {escaped(told)}")


def say_if_nothing_was_learned(record: RunRecord) -> None:
    """Say that there was no preference pair to train on, if so."""
    if record.n_pairs == 0 and record.spec.offers.pair_objective:
        st.info(
            words.NOTHING_LEARNED,
            icon=":material/info:",
        )
