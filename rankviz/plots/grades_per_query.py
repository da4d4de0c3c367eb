"""Documents per query by grade, and preference pairs, queries sorted by size."""

from __future__ import annotations

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from rankviz.plots.axes import whole_ticks
from rankviz.plots.style import DATA_COLOUR, finished, grade_colour

MOST = 500
"""Most queries drawn: bars of more would be narrower than a pixel."""


def data(queries: pd.DataFrame, most: int = MOST) -> pd.DataFrame:
    """Sort rows of `query_table`, largest query first, with "place" from 1 among all of them.

    Keep at most `most` queries, evenly spaced by place, including the first and the last.
    """
    order = queries.sort_values(["documents", "pairs"], ascending=False, kind="stable", ignore_index=True)
    order.insert(0, "place", np.arange(1, len(order) + 1))
    if len(order) <= most:
        return order
    return order.iloc[np.linspace(0, len(order) - 1, most).round().astype(int)].reset_index(drop=True)


def figure(table: pd.DataFrame) -> go.Figure:
    """Draw stacked bars of grades (above) and bars of preference pairs (below) on the same queries."""
    fig = make_subplots(rows=2, shared_xaxes=True, row_heights=[0.64, 0.36], vertical_spacing=0.06)
    for column in [name for name in table if str(name).startswith("grade ")]:
        fig.add_bar(
            x=table["place"],
            y=table[column],
            name=column,
            marker={"color": grade_colour(int(str(column).split()[1])), "line": {"width": 0}},
            customdata=table[["query", "documents"]],
            hovertemplate=f"query %{{customdata[0]}}<br>%{{y}} of %{{customdata[1]}} documents: {column}"
            "<extra></extra>",
            row=1,
            col=1,
        )
    fig.add_bar(
        x=table["place"],
        y=table["pairs"],
        name="preference pairs",
        marker={"color": DATA_COLOUR, "line": {"width": 0}},
        customdata=table["query"],
        hovertemplate="query %{customdata}<br>%{y:,} preference pairs<extra></extra>",
        row=2,
        col=1,
    )
    most = {name: float(table[name].max()) if len(table) else 0.0 for name in ("documents", "pairs", "place")}
    fig.update_yaxes(title_text="documents", **whole_ticks(0, most["documents"]), row=1, col=1)
    fig.update_yaxes(title_text="pairs", **whole_ticks(0, most["pairs"]), row=2, col=1)
    if most["pairs"] == 0:
        fig.update_yaxes(range=[0, 1], row=2, col=1)  # else the axis goes below zero
    fig.update_xaxes(**whole_ticks(1, most["place"]))
    fig.update_xaxes(title_text="queries, the largest first", row=2, col=1)
    return finished(fig, height=460, barmode="stack", bargap=0.08 if len(table) <= 150 else 0)
