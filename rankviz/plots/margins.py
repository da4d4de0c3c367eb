"""Margins t = f_i − f_j of preference pairs and their losses: values, slopes, histogram."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from rankviz.common.arrays import FloatArray
from rankviz.datasets.types import RankingData
from rankviz.learning.losses import LOSSES, Loss, PiecewiseQuadratic
from rankviz.metrics.margins import histogram, summary
from rankviz.plots.style import finished, loss_line, style_of

MOST_BINS = 80
CURVE_POINTS = 241
MARGIN = "margin t = f(preferred) − f(other)"
LEAST_LOW, LEAST_HIGH = -1.0, 2.0
"""Losses are drawn at least over these margins."""


def bin_edges(low: float, high: float) -> FloatArray:
    """Return at most about `MOST_BINS` bins of a round width from low to high; 0 and mostly 1 are edges."""
    span = max(high - low, 1e-9)
    power = 10.0 ** math.floor(math.log10(span / MOST_BINS))
    width = next(power * digit for digit in (1, 2, 5, 10) if span / (power * digit) <= MOST_BINS)
    edges: FloatArray = width * np.arange(math.floor(low / width), math.floor(high / width) + 2.0)
    return edges


def data(scores: FloatArray, part: RankingData, edges: FloatArray | None = None) -> pd.DataFrame:
    """Count the margins of all pairs of a part in bins, exactly: columns left, right, pairs, share.

    Without `edges` they span all margins, 0 and 1.
    """
    found = summary(scores, part)
    if edges is None:
        edges = bin_edges(min(found.low, 0.0), max(found.high, 1.0))
    counts = histogram(scores, part, edges)
    share = counts / max(found.n_pairs, 1)
    return pd.DataFrame({"left": edges[:-1], "right": edges[1:], "pairs": counts, "share": share})


def curves(table: pd.DataFrame, losses: dict[str, Loss] = LOSSES) -> pd.DataFrame:
    """Return losses over the margins of a table of bins: columns loss, t, value, slope."""
    low = min(LEAST_LOW, float(table["left"].min()))
    high = max(LEAST_HIGH, float(table["right"].max()))
    t = np.linspace(low, high, CURVE_POINTS)
    t = np.union1d(t, [-1e-9, 0.0, 1.0 - 1e-9, 1.0])  # where slopes jump
    with np.errstate(over="ignore"):
        frames = [
            pd.DataFrame({"loss": name, "t": t, "value": loss.value(t), "slope": loss.derivative(t)})
            for name, loss in losses.items()
        ]
    return pd.concat(frames, ignore_index=True)


def histogram_figure(table: pd.DataFrame, method: str) -> go.Figure:
    """Draw only the share of pairs over the margins, for a model without a loss that bends at 1."""
    fig = go.Figure()
    fig.add_bar(**bars(table, method))
    _guides(fig, "y domain", (0.0,))
    fig.update_yaxes(title_text="share of pairs", tickformat=".0%", rangemode="tozero")
    fig.update_xaxes(title_text=MARGIN)
    return finished(fig, height=360, bargap=0, margin={"l": 70, "r": 20, "t": 40, "b": 55})


def figure(table: pd.DataFrame, lines: pd.DataFrame, method: str, loss: str) -> go.Figure:
    """Draw losses, derivatives and the share of pairs over one axis of margins; the model's loss is bold."""
    fig = make_subplots(rows=3, shared_xaxes=True, vertical_spacing=0.05, row_heights=[0.36, 0.26, 0.38])
    for name, rows in lines.groupby("loss", sort=False):
        _add_loss(fig, rows, str(name), chosen=name == loss)
    fig.add_bar(**bars(table, method), row=3, col=1)
    _guides(fig, "y3 domain")
    own = lines[lines["loss"] == loss]
    like_hinges = lines[[isinstance(LOSSES[name], PiecewiseQuadratic) for name in lines["loss"]]]
    fig.update_yaxes(title_text="loss ℓ(t)", range=_room(own["value"], 0.0, like_hinges["value"]), row=1)
    fig.update_yaxes(title_text="slope ℓ'(t)", range=_room(own["slope"], -1.0, like_hinges["slope"]), row=2)
    fig.update_yaxes(title_text="share of pairs", tickformat=".0%", rangemode="tozero", row=3)
    fig.update_xaxes(title_text=MARGIN, row=3)
    return finished(fig, height=680, bargap=0, margin={"l": 70, "r": 20, "t": 90, "b": 55})


def _guides(fig: go.Figure, panel: str, at: tuple[float, ...] = (0.0, 1.0)) -> None:
    """Add lines at margins, and a label on the misordered side of 0."""
    for t in at:
        fig.add_vline(x=t, line={"width": 1, "dash": "dash", "color": "#999999"})
    place = {"x": 0.0, "y": 1.0, "yref": panel, "xanchor": "right", "yanchor": "top"}
    fig.add_annotation(text="misordered ←", showarrow=False, **place)


def bars(table: pd.DataFrame, method: str) -> dict[str, Any]:
    """Return keyword arguments for the bars of a table of bins."""
    return {
        "x": (table["left"] + table["right"]) / 2,
        "y": table["share"],
        "width": table["right"] - table["left"],
        "name": "preference pairs",
        "marker": {"color": style_of(method).colour, "opacity": 0.55, "line": {"width": 0}},
        "customdata": table[["pairs", "left", "right"]],
        "hovertemplate": "margin %{customdata[1]:.4g} to %{customdata[2]:.4g}<br>"
        "%{customdata[0]:,} pairs (%{y:.2%})<extra></extra>",
    }


def _add_loss(fig: go.Figure, rows: pd.DataFrame, name: str, *, chosen: bool) -> None:
    colour, dash = loss_line(name)
    line = {"color": colour, "dash": "solid" if chosen else dash, "width": 4 if chosen else 1.6}
    label = LOSSES[name].label
    for row, column, symbol in ((1, "value", "ℓ"), (2, "slope", "ℓ'")):
        fig.add_scatter(
            x=rows["t"],
            y=rows[column],
            name=f"<b>{label}</b>" if chosen else label,
            legendgroup=name,
            showlegend=row == 1,
            mode="lines",
            line=line,
            opacity=1.0 if chosen else 0.8,
            hovertemplate=f"{label}: {symbol}(%{{x:.3g}}) = %{{y:.3g}}<extra></extra>",
            row=row,
            col=1,
        )


def _room(values: pd.Series[float], least: float, largest: pd.Series[float]) -> list[float]:
    """Return a range for the model's own curve, limited by `largest`; other curves may leave it.

    A loss such as e^−t would flatten all others, and is not finite at the ends.
    """
    own = values[np.isfinite(values)]
    low, high = min(least, float(own.min())), max(1.0 if least == 0.0 else 0.0, float(own.max()))
    if len(largest):
        low, high = max(low, min(least, float(largest.min()))), min(high, max(1.0, float(largest.max())))
    room = 0.06 * (high - low)
    return [low - room, high + room]
