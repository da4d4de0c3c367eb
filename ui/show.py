"""How figures and captions are put on a page: the same way everywhere, with their data to take away."""

from __future__ import annotations

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from rankviz.datasets import RankingData
from rankviz.experiments.spec import RunSpec
from rankviz.metrics import evaluate
from rankviz.plots.style import describe


def show_figure(figure: go.Figure, table: pd.DataFrame, *, key: str, alt: str, caption: str) -> None:
    """A figure with a text for those who cannot see it, its caption, and its data and page to download."""
    config = {"displaylogo": False, "toImageButtonOptions": {"format": "svg", "filename": key}}
    st.plotly_chart(figure, width="stretch", key=key, alt=alt, config=config)
    text, menu = st.columns([6, 1], vertical_alignment="center")
    text.caption(caption)
    with menu.popover("Save", width="stretch", help="Take the figure or its numbers with you."):
        st.download_button(
            "Figure (HTML, works offline)",
            lambda: figure.to_html(include_plotlyjs=True),
            f"{key}.html",
            "text/html",
            key=f"{key}-html",
            on_click="ignore",
            width="stretch",
        )
        st.download_button(
            "Numbers (CSV)",
            lambda: table.to_csv(index=False),
            f"{key}.csv",
            "text/csv",
            key=f"{key}-csv",
            on_click="ignore",
            width="stretch",
        )


def what_is_shown(spec: RunSpec, part: str) -> None:
    """The line at the top of a page that says in words what is shown."""
    st.markdown(f":gray[{describe(spec, part)}]")


def definition_caption(data: RankingData) -> str:
    """Which definition the metrics follow, over how many queries, and what empty queries count."""
    return evaluate([0.0] * data.n_documents, data, at=[1]).caption
