"""Numerical rank of each query's dual variables against its share of active pairs."""

from __future__ import annotations

import pandas as pd
import plotly.graph_objects as go

from rankviz.plots.style import finished, snapped_range, style_of


def data(table: pd.DataFrame) -> pd.DataFrame:
    """Return columns query, documents, pairs, active, active_share, rank, law; only active_share is new."""
    table = table[["query", "documents", "pairs", "active", "rank", "law"]]
    return table.assign(active_share=table["active"] / table["pairs"])


def figure(table: pd.DataFrame, method: str) -> go.Figure:
    """Draw hollow markers if every pair is active: then the squared hinge bounds the rank (dashed level)."""
    style, fig = style_of(method), go.Figure()
    lawful = table["active"] == table["pairs"]
    for rows, symbol, name in (
        (table[~lawful], style.symbol, "some pairs inactive"),
        (table[lawful], f"{style.symbol}-open", "every pair active"),
    ):
        fig.add_scatter(
            x=rows["active_share"],
            y=rows["rank"],
            mode="markers",
            name=f"{name} ({len(rows)})",
            marker={"color": style.colour, "symbol": symbol, "size": 9, "opacity": 0.8},
            customdata=rows[["query", "documents", "pairs"]],
            hovertemplate="query %{customdata[0]}, %{customdata[1]} documents<br>%{x:.1%} of "
            "%{customdata[2]:,} pairs active, rank %{y}<extra></extra>",
        )
    low = snapped_range(float(table["active_share"].min()), 1.0)[0] if len(table) else 0.0
    if len(table):
        fig.add_scatter(
            x=[low - 1, 2],
            y=[float(table["law"].max())] * 2,
            mode="lines",
            name=f"the law's largest of all queries ({int(table['law'].max())})",
            line={"width": 1.5, "dash": "dash", "color": "#7f7f7f"},
            hoverinfo="skip",
        )
    return finished(
        fig,
        xaxis={
            "title": "share of the query's pairs that are active",
            "range": [low - 0.02 * (1 - low), 1 + 0.03 * (1 - low)],
            "tickformat": ".0%",
        },
        yaxis={"title": "numerical rank", "rangemode": "tozero"},
    )
