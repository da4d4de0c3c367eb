"""Histograms of documents, relevant documents and pairs per query, and of documents per grade."""

from __future__ import annotations

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from rankviz.plots.axes import whole_ticks
from rankviz.plots.style import DATA_COLOUR, finished, grade_colour

BINS = 24
# short, because two panels stand side by side even on narrow screens
QUANTITIES = {
    "documents": "documents",
    "relevant": "graded above 0",
    "pairs": "pairs",
}


def data(queries: pd.DataFrame) -> pd.DataFrame:
    """Count queries in bins of each quantity of `query_table`: columns quantity, left, right, queries."""
    relevant = 1 - queries.get("grade 0", 0 * queries["documents"]) / queries["documents"]
    values = {"documents": queries["documents"], "relevant": relevant, "pairs": queries["pairs"]}
    frames = []
    for quantity, column in values.items():
        counts, edges = _histogram(column.to_numpy(np.float64), whole=quantity != "relevant")
        frames.append(
            pd.DataFrame({"quantity": quantity, "left": edges[:-1], "right": edges[1:], "queries": counts})
        )
    return pd.concat(frames, ignore_index=True)


def _histogram(values: np.ndarray, *, whole: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return counts and edges of about `BINS` bins: from 0 to 1 for shares, of integer width for integers."""
    if not whole:
        return np.histogram(values, bins=20, range=(0.0, 1.0))
    low, high = (values.min(), values.max()) if len(values) else (0.0, 0.0)
    width = max(1.0, np.ceil((high - low + 1) / BINS))
    return np.histogram(values, bins=np.arange(low, high + width + 0.5, width))


def grade_totals(queries: pd.DataFrame) -> pd.DataFrame:
    """Count documents of each grade: columns grade, documents, share."""
    columns = [name for name in queries if str(name).startswith("grade ")]
    totals = queries[columns].sum()
    return pd.DataFrame(
        {
            "grade": [int(str(name).split()[1]) for name in columns],
            "documents": totals.to_numpy(),
            "share": (totals / max(int(totals.sum()), 1)).to_numpy(),
        }
    )


def figure(table: pd.DataFrame, grades: pd.DataFrame) -> go.Figure:
    """Draw four panels: documents by grade, then the three histograms over queries."""
    fig = make_subplots(rows=2, cols=2, horizontal_spacing=0.24, vertical_spacing=0.22)
    fig.add_bar(
        x=[str(grade) for grade in grades["grade"]],
        y=grades["documents"],
        marker={"color": [grade_colour(grade) for grade in grades["grade"]]},
        customdata=grades["share"],
        hovertemplate="grade %{x}: %{y:,} documents (%{customdata:.1%})<extra></extra>",
        row=1,
        col=1,
    )
    fig.update_xaxes(title_text="grade", type="category", row=1, col=1)
    fig.update_yaxes(title_text="documents", **whole_ticks(0, grades["documents"].max()), row=1, col=1)
    for place, (quantity, title) in enumerate(QUANTITIES.items(), 1):
        row, col = place // 2 + 1, place % 2 + 1
        bins = table[table["quantity"] == quantity]
        _add_histogram(fig, bins, row, col, share=quantity == "relevant")
        fig.update_xaxes(title_text=title, row=row, col=col)
        fig.update_yaxes(title_text="queries", **whole_ticks(0, bins["queries"].max()), row=row, col=col)
    return finished(
        fig, height=560, showlegend=False, bargap=0.04, margin={"l": 60, "r": 20, "t": 20, "b": 55}
    )


def _add_histogram(fig: go.Figure, bins: pd.DataFrame, row: int, col: int, *, share: bool) -> None:
    last = bins["right"] if share else bins["right"] - 1
    fig.add_bar(
        x=(bins["left"] + last) / 2,
        y=bins["queries"],
        width=(bins["right"] - bins["left"]) * 0.96,
        marker={"color": DATA_COLOUR},
        customdata=np.column_stack([bins["left"], last]) if len(bins) else None,
        hovertemplate=(
            "%{customdata[0]:.0%} to %{customdata[1]:.0%}: %{y} queries<extra></extra>"
            if share
            else "%{customdata[0]:,} to %{customdata[1]:,}: %{y} queries<extra></extra>"
        ),
        row=row,
        col=col,
    )
    if share:
        fig.update_xaxes(tickformat=".0%", range=[0, 1], row=row, col=col)
    else:
        fig.update_xaxes(**whole_ticks(bins["left"].min(), last.max()), row=row, col=col)
