"""Rank of each query's dual variables under the hinge, against their number of stairs."""

from __future__ import annotations

import pandas as pd
import plotly.graph_objects as go

from rankviz.plots.style import CHOSEN_COLOUR, finished, style_of


def figure(table: pd.DataFrame, method: str) -> go.Figure:
    """Draw rank and k for 90 % of `rank_laws.staircases` against the stairs, with the diagonal."""
    fig, style = go.Figure(), style_of(method)
    top = max(int(table[["stairs", "rank"]].to_numpy().max()), 1) if len(table) else 1
    fig.add_scatter(
        x=[0, top],
        y=[0, top],
        mode="lines",
        line={"width": 1, "dash": "dash", "color": "#999999"},
        name="as many as stairs",
        hoverinfo="skip",
    )
    for column, name, colour, symbol in (
        ("rank", "numerical rank", style.colour, style.symbol),
        ("k_90", "k for 90 % of the energy", CHOSEN_COLOUR, f"{style.symbol}-open"),
    ):
        fig.add_scatter(
            x=table["stairs"],
            y=table[column],
            mode="markers",
            name=name,
            marker={"color": colour, "symbol": symbol, "size": 8, "opacity": 0.8},
            customdata=table[["query", "pairs", "boundary"]],
            hovertemplate=f"query %{{customdata[0]}}: %{{x}} stairs, {name} %{{y}}<br>%{{customdata[2]:,}} "
            "of %{customdata[1]:,} pairs between 0 and C<extra></extra>",
        )
    return finished(
        fig,
        height=380,
        xaxis={"title": "stairs: different rows of α rounded to 0 or C", "rangemode": "tozero"},
        yaxis={"title": "dimensions", "rangemode": "tozero"},
        margin={"l": 60, "r": 10, "t": 60, "b": 50},
    )
