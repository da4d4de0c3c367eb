"""Histogram of the margins t = f_i − f_j of preference pairs, with the loss drawn over it."""

from __future__ import annotations

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from rankviz._typing import FloatArray
from rankviz.datasets.types import RankingData
from rankviz.losses import LOSSES
from rankviz.pairs import preference_pairs
from rankviz.plots.style import METHODS, finished

BINS = 80


def data(scores: FloatArray, part: RankingData, loss: str) -> pd.DataFrame:
    """Bins of all margins of a part: columns left, right, pairs, share, loss (at the middle of the bin)."""
    t = preference_pairs(part.y, part.ptr).margins(scores)
    low, high = (min(float(t.min()), 0.0), max(float(t.max()), 1.0)) if len(t) else (0.0, 1.0)
    counts, edges = np.histogram(t, bins=BINS, range=(low, high))
    middle = (edges[1:] + edges[:-1]) / 2
    return pd.DataFrame(
        {
            "left": edges[:-1],
            "right": edges[1:],
            "pairs": counts,
            "share": counts / max(len(t), 1),
            "loss": LOSSES[loss].value(middle),
        }
    )


def misordered(scores: FloatArray, part: RankingData) -> tuple[int, int]:
    """Pairs in the wrong order or tied (t ≤ 0), and all pairs, of a part."""
    t = preference_pairs(part.y, part.ptr).margins(scores)
    return int((t <= 0).sum()), len(t)


def figure(table: pd.DataFrame, method: str, loss: str) -> go.Figure:
    """Bars are pairs (left axis), the line the loss they pay (right axis); left of 0 pairs are misordered."""
    style, chosen = METHODS[method], LOSSES[loss]
    width, middle = table["right"] - table["left"], (table["left"] + table["right"]) / 2
    fig = go.Figure()
    fig.add_bar(
        x=middle,
        y=table["share"],
        width=width,
        name="preference pairs",
        marker={"color": style.colour, "opacity": 0.55, "line": {"width": 0}},
        customdata=table["pairs"],
        hovertemplate="margin about %{x:.2f}<br>%{customdata:,} pairs (%{y:.2%})<extra></extra>",
    )
    fig.add_scatter(
        x=middle,
        y=table["loss"],
        yaxis="y2",
        name=f"{chosen.label} ℓ(t) = {chosen.formula}",
        mode="lines",
        line={"color": "#CC79A7", "width": 2.5},
        hovertemplate="ℓ(%{x:.2f}) = %{y:.3g}<extra></extra>",
    )
    for t, text, side in ((0.0, "← misordered", "top left"), (1.0, "no loss →", "top right")):
        guide = {"width": 1, "dash": "dash", "color": "#999999"}
        fig.add_vline(x=t, line=guide, annotation_text=text, annotation_position=side)
    return finished(
        fig,
        bargap=0,
        xaxis={"title": "margin t = f(preferred) − f(other)"},
        yaxis={"title": "share of pairs", "tickformat": ".0%", "rangemode": "tozero"},
        yaxis2={
            "title": "loss per pair",
            "overlaying": "y",
            "side": "right",
            "rangemode": "tozero",
            "showgrid": False,
            "tickmode": "auto",
            "nticks": 6,
        },
        margin={"l": 60, "r": 60, "t": 60, "b": 55},
    )
