"""The energy that the first k singular values keep, over the queries (PE of xu2019 §4)."""

from __future__ import annotations

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from rankviz.plots.style import finished, line_of, translucent
from rankviz.spectra import Spectra, energy_curves

LOW, HIGH = 0.1, 0.9  # quantiles over queries between which the band lies
NEARLY_ALL, SHORTEST = 0.9999, 5  # energy at which the curve may end, but not before this k
MOST_TICKS = 12  # values of k that each get a tick; more are sparse enough to be whole numbers anyway


def data(found: Spectra) -> pd.DataFrame:
    """Columns k, mean, low, high (10 % and 90 % quantiles over queries), up to where nearly all is kept."""
    k_max = max((len(values) for values in found.values), default=1)
    curves = energy_curves(found.values, k_max)
    low = np.quantile(curves, LOW, axis=0)
    last = max(SHORTEST, int(np.argmax(low >= NEARLY_ALL)))
    table = pd.DataFrame(
        {
            "k": np.arange(k_max + 1),
            "mean": curves.mean(axis=0),
            "low": low,
            "high": np.quantile(curves, HIGH, axis=0),
        }
    )
    return table[1 : last + 1].reset_index(drop=True)


def figure(table: pd.DataFrame, method: str) -> go.Figure:
    """The mean with a band that holds four fifths of the queries; 90 % of the energy as a dashed level."""
    fig = go.Figure()
    fig.add_scatter(
        x=[*table["k"], *table["k"][::-1]],
        y=[*table["low"], *table["high"][::-1]],
        mode="lines",
        line={"width": 0},
        fill="toself",
        fillcolor=translucent(method),
        name="four fifths of the queries",
        hoverinfo="skip",
    )
    fig.add_scatter(
        x=table["k"],
        y=table["mean"],
        mode="lines+markers",
        name="mean over queries",
        **line_of(method),
        customdata=table[["low", "high"]],
        hovertemplate="first %{x} keep %{y:.2%}<br>four fifths of the queries: %{customdata[0]:.2%} to "
        "%{customdata[1]:.2%}<extra></extra>",
    )
    guide = {"width": 1, "dash": "dash", "color": "#999999"}
    fig.add_hline(y=0.9, line=guide, annotation_text="90 %", annotation_position="bottom right")
    return finished(
        fig,
        xaxis={
            "title": "number of singular values kept, k",
            "dtick": 1 if len(table) <= MOST_TICKS else None,
        },
        yaxis={"title": "share of the energy Σσ² kept", "range": [0, 1.02], "tickformat": ".0%"},
    )
