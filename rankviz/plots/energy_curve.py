"""Energy of the first k singular values, over the queries (PE of xu2019 §4)."""

from __future__ import annotations

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from rankviz.analysis.spectra import Spectra
from rankviz.common.arrays import BoolArray
from rankviz.plots.style import CHOSEN_COLOUR, finished, line_of, snapped_range, translucent

LOW, HIGH = 0.1, 0.9  # quantiles over queries at the band's edges
NEARLY_ALL, SHORTEST = 0.9999, 5  # energy at the curve's end, and its least last k
MOST_TICKS = 12  # most values of k with a tick each; beyond, Plotly's own ticks are whole numbers
NAMES = {"model": "this model", "shuffled": "the same α, shuffled"}


def data(found: Spectra, inside: BoolArray) -> pd.DataFrame:
    """Return columns k, mean, low, high (10 % and 90 % quantiles) over queries `inside`, k = 1, 2, …"""
    curves = found.energies[inside]
    return pd.DataFrame(
        {
            "k": np.arange(1, curves.shape[1] + 1),
            "mean": curves.mean(axis=0),
            "low": np.quantile(curves, LOW, axis=0),
            "high": np.quantile(curves, HIGH, axis=0),
        }
    )


def together(model: pd.DataFrame, shuffled: pd.DataFrame) -> pd.DataFrame:
    """Join both tables with a column `of` ("model", "shuffled"), up to nearly all energy of the model."""
    last = max(SHORTEST, 1 + int(np.argmax(model["low"] >= NEARLY_ALL)))
    frames = [table[table["k"] <= last] for table in (model, shuffled)]
    return pd.concat(frames, keys=list(NAMES), names=["of", None]).reset_index("of")


def figure(table: pd.DataFrame, method: str, share: float) -> go.Figure:
    """Draw means with bands of four fifths of the queries; the energy share to keep as a level."""
    fig = go.Figure()
    dashed = {"line": {"color": CHOSEN_COLOUR, "dash": "dash", "width": 2}, "marker": {"size": 5}}
    _add_curve(fig, table, "shuffled", dashed, "rgba(204, 121, 167, 0.15)")
    _add_curve(fig, table, "model", line_of(method), translucent(method))
    guide = {"width": 1, "dash": "dash", "color": "#999999"}
    fig.add_hline(
        y=share, line=guide, annotation_text=f"{100 * share:.4g} %", annotation_position="bottom right"
    )
    last, low = int(table["k"].max()), max(0.0, snapped_range(float(table["low"].min()), 1.0)[0])
    return finished(
        fig,
        xaxis={"title": "number of singular values kept, k", "dtick": 1 if last <= MOST_TICKS else None},
        yaxis={
            "title": "share of the energy Σσ² kept",
            "range": [low, 1 + 0.03 * (1 - low)],
            "tickformat": ".0%",
        },
    )


def _add_curve(fig: go.Figure, table: pd.DataFrame, of: str, look: dict[str, object], fill: str) -> None:
    rows, name = table[table["of"] == of], NAMES[of]
    fig.add_scatter(
        x=[*rows["k"], *rows["k"][::-1]],
        y=[*rows["low"], *rows["high"][::-1]],
        mode="lines",
        line={"width": 0},
        fill="toself",
        fillcolor=fill,
        name=f"{name}: four fifths of the queries",
        showlegend=False,
        hoverinfo="skip",
    )
    fig.add_scatter(
        x=rows["k"],
        y=rows["mean"],
        mode="lines+markers",
        name=f"{name}, mean and four fifths of the queries",
        **look,
        customdata=rows[["low", "high"]],
        hovertemplate=f"{name}: first %{{x}} keep %{{y:.2%}}<br>four fifths of the queries: "
        "%{customdata[0]:.2%} to %{customdata[1]:.2%}<extra></extra>",
    )
