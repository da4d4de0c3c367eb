"""The margin of two documents by feature, from 0 to f(A) − f(B), the largest share first."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from rankviz.common.arrays import FloatArray
from rankviz.common.numbers import alike, with_minus
from rankviz.plots.labels import harmless
from rankviz.plots.style import CHOSEN_COLOUR, DATA_COLOUR, EVEN_COLOUR, finished

ABOVE_COLOUR, BELOW_COLOUR = DATA_COLOUR, CHOSEN_COLOUR
"""Colours of documents A and B, and of contributions to each."""
PITCH = 25
"""Pixels per row."""
MOST = 12
"""Features with their own rows."""


def data(values: FloatArray, names: Sequence[str], a: FloatArray, b: FloatArray) -> pd.DataFrame:
    """Return one row per feature, the largest share first: number (from 1), name, value_A, value_B, share."""
    table = pd.DataFrame(
        {
            "number": np.arange(1, len(values) + 1),
            "name": list(names),
            "value_A": a,
            "value_B": b,
            "share": values,
        }
    )
    return table.iloc[np.argsort(-np.abs(values), kind="stable")].reset_index(drop=True)


def rows(table: pd.DataFrame, k: int = MOST) -> pd.DataFrame:
    """Return bars: k features with a share, then all others summed; columns label, share, start, told."""
    said = table[table["share"] != 0.0]
    own = said.head(k if len(said) > k + 1 else k + 1)
    rest = said.iloc[len(own) :]
    bars = pd.DataFrame({"label": [harmless(name) for name in own["name"]], "share": own["share"]})
    bars["told"] = [
        f"{with_minus(x, '.4g')} against {with_minus(z, '.4g')}"
        for x, z in own[["value_A", "value_B"]].to_numpy().tolist()
    ]
    if len(rest):
        others = {"label": f"{len(rest)} others", "share": rest["share"].sum(), "told": "summed"}
        bars = pd.concat((bars, pd.DataFrame([others])), ignore_index=True)
    bars["start"] = bars["share"].cumsum() - bars["share"]
    return bars.reset_index(drop=True)


def height(n: int) -> int:
    """Return the pixels of the figure with n bars and the margin below them."""
    return 70 + PITCH * (n + 1)


def figure(table: pd.DataFrame, margin: float, k: int = MOST) -> go.Figure:
    """Draw bars end to end, A's to the right, B's to the left; the margin at the bottom."""
    bars = rows(table, k)
    shares = [*bars["share"], margin]
    fig = go.Figure()
    fig.add_bar(
        orientation="h",
        y=list(range(len(shares))),
        x=shares,
        base=[*bars["start"], 0.0],
        marker={"color": [*(_colour(share) for share in bars["share"]), EVEN_COLOUR], "line": {"width": 0}},
        customdata=[[*pair] for pair in zip(bars["label"], bars["told"], strict=True)] + [["margin", ""]],
        hovertemplate="%{customdata[0]}: %{x:+.4g}<br>%{customdata[1]}<extra></extra>",
    )
    ends = [*(bars["start"] + bars["share"])]
    for row, end in enumerate(ends):
        fig.add_shape(
            type="line", x0=end, x1=end, y0=row - 0.4, y1=row + 1.4, line={"width": 1, "color": EVEN_COLOUR}
        )
    fig.add_vline(x=0.0, line={"width": 1, "color": "#7f7f7f"})
    add_numbers(fig, shares)
    return finished(
        fig,
        height=height(len(bars)),
        showlegend=False,
        bargap=0.25,
        xaxis={"title": "f(A) − f(B), share by share"},
        yaxis={
            "tickvals": list(range(len(shares))),
            "ticktext": [*bars["label"], "<b>margin</b>"],
            "range": [len(shares) - 0.5, -0.5],
            "showgrid": False,
            "zeroline": False,
        },
        margin={"l": 60, "r": 15, "t": 8, "b": 45},
    )


def _colour(share: float) -> str:
    return ABOVE_COLOUR if share > 0 else BELOW_COLOUR


def add_numbers(fig: go.Figure, shares: Sequence[float]) -> None:
    """Write the numbers of bars at the right edge; beside the bars they would overlap."""
    fig.add_scatter(x=[0.0], y=[0], yaxis="y2", mode="none", hoverinfo="skip", showlegend=False)
    fig.update_layout(
        yaxis2={
            "overlaying": "y",
            "side": "right",
            "tickvals": list(range(len(shares))),
            "ticktext": alike(shares),
            "range": [len(shares) - 0.5, -0.5],
            "showgrid": False,
            "zeroline": False,
        }
    )
