"""The effect of leaving out single training queries on the margin of two documents."""

from __future__ import annotations

import pandas as pd
import plotly.graph_objects as go

from rankviz.common.numbers import with_minus
from rankviz.plots.labels import harmless
from rankviz.plots.margin_waterfall import ABOVE_COLOUR, BELOW_COLOUR, PITCH, add_numbers
from rankviz.plots.style import finished

FARTHEST = 4.0
"""Largest distance of the drawn reversal line, in lengths of the longest bar."""


def refitted(table: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of `margins_without_queries` with a refit, which have bars."""
    return table[table["refit"].notna()].reset_index(drop=True)


def within(table: pd.DataFrame) -> bool:
    """Return True if the reversal line is near enough to be drawn."""
    rows = refitted(table)
    return 0.0 < abs(float(rows["margin"].iloc[0])) <= FARTHEST * _longest(rows)


def figure(table: pd.DataFrame) -> go.Figure:
    """Draw a bar per refitted query, its estimate as a tick, and the line where the order reverses."""
    rows = refitted(table)
    y = list(range(len(rows)))
    fig = go.Figure()
    fig.add_bar(
        orientation="h",
        y=y,
        x=rows["refit"],
        name="trained again",
        marker={"color": [ABOVE_COLOUR if change > 0 else BELOW_COLOUR for change in rows["refit"]]},
        customdata=[
            [harmless(str(query)), pairs, with_minus(after, ".4g")]
            for query, pairs, after in rows[["query", "pairs", "after"]].itertuples(index=False)
        ],
        hovertemplate="without query %{customdata[0]}, %{customdata[1]:,} pairs: %{x:+.4g}<br>"
        "margin %{customdata[2]}<extra></extra>",
    )
    fig.add_scatter(
        x=rows["estimate"],
        y=y,
        mode="markers",
        name="estimate",
        marker={"symbol": "line-ns", "size": 0.7 * PITCH, "line": {"width": 2, "color": "#000000"}},
        hovertemplate="estimate %{x:+.4g}<extra></extra>",
    )
    fig.add_vline(x=0.0, line={"width": 1, "color": "#7f7f7f"})
    if within(table):
        turn = -rows["margin"].iloc[0]
        fig.add_vline(x=turn, line={"width": 2, "dash": "dash", "color": "#7f7f7f"})
        fig.add_annotation(
            x=turn, y=1.0, yref="paper", yanchor="bottom", text="the order turns", showarrow=False
        )
    add_numbers(fig, rows["refit"].tolist())
    return finished(
        fig,
        height=95 + PITCH * len(rows),
        showlegend=False,
        bargap=0.25,
        xaxis={"title": "change of f(A) − f(B) without the query", "range": _range(table)},
        yaxis={
            "tickvals": y,
            "ticktext": [harmless(f"query {query}") for query in rows["query"]],
            "range": [len(rows) - 0.5, -0.5],
            "showgrid": False,
            "zeroline": False,
        },
        margin={"l": 60, "r": 15, "t": 28, "b": 45},
    )


def _longest(rows: pd.DataFrame) -> float:
    """Return the largest distance of a bar or a tick from 0."""
    return float(rows[["refit", "estimate"]].abs().max().max())


def _range(table: pd.DataFrame) -> list[float] | None:
    """Return the range of all drawn values, with a margin; None if all are 0."""
    rows = refitted(table)
    ends = [0.0, *rows["refit"], *rows["estimate"]]
    if within(table):
        ends.append(-rows["margin"].iloc[0])
    low, high = min(ends), max(ends)
    room = 0.06 * (high - low)
    return [low - room, high + room] if room else None
