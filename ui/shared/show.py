"""How figures and captions are put on a page: the same way everywhere, with their data to take away."""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from typing import Any, Literal

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st
from plotly.io import from_json
from streamlit.delta_generator import DeltaGenerator

from rankviz.datasets import RankingData
from rankviz.experiments.record import RunRecord
from rankviz.experiments.spec import RunSpec
from rankviz.metrics import evaluate
from rankviz.plots.style import GRADE_COLOURS, second_tone
from ui.shared.foreign import as_csv, describe, plain

TILE_WIDTH = 165  # pixels: two fit on the narrowest screen

# colours of methods and guides, lightened where a dark background asks for it (as in .streamlit/config.toml)
ON_DARK = {"#0072B2": "#3d9bd9", "#D55E00": "#e8742a", "#7f7f7f": "#a6a6a6", "#CC79A7": "#d891b8"}
ON_DARK |= {"#009E73": "#2bb58c", "#000000": "#ffffff", "#882255": "#c75a88"}
ON_DARK |= {second_tone(light): second_tone(dark, "#10201e", 0.7) for light, dark in ON_DARK.items()}
ON_DARK |= {"#fefefe": "#10201e"}  # letters on what is dark in the light theme, and light in the dark one
# grades run dark to light there, so that a higher one stands out more on either background
ON_DARK |= dict(zip(GRADE_COLOURS, ("#2c4a6b", "#3f77a6", "#64a4d4", "#a5cdef", "#e6f2fc"), strict=True))


def show_figure(
    figure: go.Figure,
    table: pd.DataFrame,
    *,
    key: str,
    alt: str,
    caption: str,
    on_select: Literal["ignore", "rerun"] | Callable[[], None] = "ignore",
) -> Any:
    """A figure with a text for those who cannot see it, its caption, and its data and page to download.

    Returns what is selected in it where `on_select` is "rerun" or what to call when the selection changes.
    """
    config = {"displaylogo": False, "toImageButtonOptions": {"format": "svg", "filename": key}}
    event = st.plotly_chart(
        _themed(figure), width="stretch", key=key, alt=alt, config=config, on_select=on_select
    )
    row = st.container(horizontal=True, wrap=False, vertical_alignment="center")
    row.caption(caption, width="stretch")
    with row.popover("Save", help="Download the figure or its numbers."):
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
        st.caption("As a picture (SVG): the camera in the figure's toolbar.")
    return event


def _page(figure: go.Figure, caption: str) -> str:
    """The figure with its caption as a page that needs no network: Plotly itself is inside."""
    body = figure.to_html(include_plotlyjs=True, full_html=False)
    return f'<!doctype html><meta charset="utf-8"><title>rankviz</title>{body}<p>{escape(plain(caption))}</p>'


def _themed(figure: go.Figure) -> go.Figure:
    """The figure with its colours for the theme in use."""
    if st.context.theme.type != "dark":
        return figure
    text = figure.to_json()
    for light, dark in ON_DARK.items():
        text = text.replace(light, dark)
    return from_json(text)


def tiles(n: int) -> list[DeltaGenerator]:
    """Places for n metric tiles in a row that wraps to two or three to a line on narrow screens."""
    row = st.container(horizontal=True, gap="medium")
    return [row.container(width=TILE_WIDTH) for _ in range(n)]


def bold_sentence(text: str) -> str:
    """The reading under a figure: one sentence in bold, beginning with a capital and ending with a stop."""
    return f"**{capital(text).rstrip('.')}.**"


def capital(text: str) -> str:
    """A text that begins with a capital, the rest as it is; λ and other symbols stay what they are."""
    return text[0].upper() + text[1:] if text[0].isascii() else text


def what_is_shown(spec: RunSpec, part: str) -> None:
    """The line at the top of a page that says in words what is shown."""
    st.markdown(f":gray[{describe(spec, part)}]")


def definition_caption(data: RankingData) -> str:
    """Which definition the metrics follow, over how many queries, and what empty queries count."""
    return evaluate(np.zeros(data.n_documents), data, at=[10]).caption


def say_if_nothing_was_learned(record: RunRecord) -> None:
    """That there was no preference pair to train on, where there was none."""
    if record.n_pairs == 0 and record.spec.offers.pair_objective:
        st.info(
            "No query of the training part has two documents of different grades, so there was nothing to "
            "learn: every score is the same, and documents stay in the order of the file.",
            icon=":material/info:",
        )
