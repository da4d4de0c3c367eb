"""Metric against training seconds, with the Pareto front."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from rankviz.analysis.front import Front
from rankviz.plots.labels import harmless
from rankviz.plots.style import CHOSEN_COLOUR, EVEN_COLOUR, finished, style_of

APART = (0.3, 0.06)
"""Size of labels as shares of width and height; a point nearer to a labelled one gets no label."""


def data(front: Front) -> pd.DataFrame:
    """Return `Front.table` with chosen: "best", "cheapest" within one standard error of it, or ""."""
    labels = front.table["label"]
    chosen = labels.map({front.best: "best"} | {front.cheapest: "cheapest"}).fillna("")
    return front.table.assign(chosen=chosen.where(labels != front.best, "best"))


def figure(table: pd.DataFrame, metric: str) -> go.Figure:
    """Draw a point per contestant; dotted: the best mean; bars: one standard error of the distance to it.

    A ring marks the cheapest whose bar reaches the dotted line.
    """
    fig, best = go.Figure(), float(table["mean"].max())
    fig.add_hline(y=best, line={"color": EVEN_COLOUR, "width": 1, "dash": "dot"})
    on_front = table[table["efficient"]]
    fig.add_scatter(
        x=on_front["seconds"],
        y=on_front["mean"],
        mode="lines",
        name="nobody is cheaper and better",
        line={"color": EVEN_COLOUR, "width": 1.5, "shape": "hv"},
        hoverinfo="skip",
    )
    low, high = math.log10(table["seconds"].min()), math.log10(table["seconds"].max())
    for (_, row), named in zip(table.iterrows(), _named(table), strict=True):
        side = "bottom right" if math.log10(row["seconds"]) < (low + high) / 2 else "bottom left"
        fig.add_trace(_point(row, metric, side if named else ""))
    cheapest = table[table["chosen"] == "cheapest"]
    cheapest = cheapest if len(cheapest) else table[table["chosen"] == "best"]
    fig.add_scatter(
        x=cheapest["seconds"],
        y=cheapest["mean"],
        mode="markers",
        name="cheapest within one standard error of the best",
        marker={"size": 20, "symbol": "circle-open", "color": CHOSEN_COLOUR, "line": {"width": 2.5}},
        hoverinfo="skip",
    )
    return finished(
        fig,
        height=440,
        xaxis=_seconds(low, high),
        yaxis={"title": f"mean {metric} over queries", "tickformat": ".3~f"},
    )


def _named(table: pd.DataFrame) -> list[bool]:
    """Return True for each labelled contestant: the best, then the front, then others without overlap."""
    places = [np.log10(table["seconds"].to_numpy()), table["mean"].to_numpy()]
    x, y = ((place - place.min()) / (np.ptp(place) or 1.0) for place in places)
    order = np.lexsort((-y, ~table["efficient"].to_numpy()))
    named: list[int] = []
    for one in order:
        if not any(abs(x[one] - x[k]) < APART[0] and abs(y[one] - y[k]) < APART[1] for k in named):
            named.append(int(one))
    return [place in named for place in range(len(table))]


def _seconds(low: float, high: float) -> dict[str, Any]:
    """Return the axis of seconds between two powers of ten, with margins; more ticks on a short axis."""
    room = max(0.1, 0.08 * (high - low))
    dtick = "D1" if high - low < 1 else "D2"
    ends = {"range": [low - room, high + room], "dtick": dtick, "tickformat": "~g"}
    return {"title": "training seconds (log scale)", "type": "log"} | ends


def _point(row: pd.Series, metric: str, side: str) -> go.Scatter:
    """Return a contestant's point, labelled if `side` is given."""
    style, label = style_of(str(row["method"])), harmless(str(row["label"]))
    bar: dict[str, Any] = {"array": [row["se"] if pd.notna(row["se"]) else 0.0], "arrayminus": [0.0]}
    return go.Scatter(
        x=[row["seconds"]],
        y=[row["mean"]],
        mode="markers+text" if side else "markers",
        text=[label],
        textposition=side or None,
        showlegend=False,
        error_y=bar | {"symmetric": False, "color": style.colour, "thickness": 1.5, "width": 3},
        marker={"color": style.colour, "symbol": style.symbol, "size": 11},
        hovertemplate=(
            f"{label}<br>{metric} {row['mean']:.4f} in %{{x:.3~g}} s<br>behind the best by "
            f"{row['behind']:.4f}, standard error {row['se']:.4f}<extra></extra>"
        ),
    )
