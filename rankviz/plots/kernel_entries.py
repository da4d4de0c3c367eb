"""Entries κ(x, z) of the kernel matrix against approximations κ̃ = φ(x)·φ(z): densities, one per map."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from rankviz.common.arrays import FloatArray
from rankviz.plots.style import finished, snapped_range, style_of, translucent

BINS = 100
"""Squares per side over the common range of κ and κ̃."""


def data(K: FloatArray, features: Mapping[str, FloatArray], bins: int = BINS) -> pd.DataFrame:
    """Count pairs of different documents per square: columns map, exact, approximate, pairs.

    exact and approximate are the middles of squares; empty squares are left out. K (N, N), Φ (N, m) for each
    map: all N(N − 1)/2 pairs are counted, with the same squares for every map.
    """
    upper = np.triu_indices(len(K), 1)
    exact = K[upper]
    found = {name: (Phi @ Phi.T)[upper] for name, Phi in features.items()}
    if len(exact) == 0:
        return pd.DataFrame(columns=["map", "exact", "approximate", "pairs"])
    edges = np.linspace(*_ends([exact, *found.values()]), bins + 1)
    return pd.concat([_counted(name, exact, values, edges) for name, values in found.items()])


def deviations(K: FloatArray, features: Mapping[str, FloatArray]) -> pd.DataFrame:
    """Return κ̃ − κ over pairs of different documents: columns map, rms, largest (absolute)."""
    upper = np.triu_indices(len(K), 1)
    rows = []
    for name, Phi in features.items():
        difference = (Phi @ Phi.T - K)[upper]
        rms = float(np.sqrt(np.mean(difference**2))) if len(difference) else math.nan
        rows.append({"map": name, "rms": rms, "largest": float(np.abs(difference).max(initial=0.0))})
    return pd.DataFrame(rows)


def figure(table: pd.DataFrame) -> go.Figure:
    """Draw one panel per map, darker for more pairs, with the line of equality; same axes."""
    names = list(dict.fromkeys(table["map"]))
    step = _step(table)
    values = table[["exact", "approximate"]].to_numpy()
    ends = [float(values.min() - step / 2), float(values.max() + step / 2)]
    fig = make_subplots(
        cols=len(names),
        shared_yaxes=True,
        horizontal_spacing=0.06,
        subplot_titles=[style_of(name).name for name in names],
    )
    for column, name in enumerate(names, start=1):
        fig.add_trace(_density(table[table["map"] == name], name, step), row=1, col=column)
        fig.add_scatter(
            x=ends,
            y=ends,
            mode="lines",
            line={"color": "#999999", "width": 1},
            hoverinfo="skip",
            showlegend=False,
            row=1,
            col=column,
        )
    fig.update_xaxes(title_text="exact κ(x, z)", range=ends, nticks=6)
    fig.update_yaxes(range=ends, nticks=8)
    fig.update_yaxes(title_text="approximation κ̃(x, z) = φ(x)·φ(z)", row=1, col=1)
    return finished(fig, height=460)


def _counted(name: str, exact: FloatArray, approximate: FloatArray, edges: FloatArray) -> pd.DataFrame:
    counts = np.histogram2d(exact, approximate, (edges, edges))[0].astype(int)
    middles = (edges[:-1] + edges[1:]) / 2
    i, j = np.nonzero(counts)
    columns = {"map": name, "exact": middles[i], "approximate": middles[j], "pairs": counts[i, j]}
    return pd.DataFrame(columns)


def _ends(values: list[FloatArray]) -> tuple[float, float]:
    """Return the range of all values, rounded outwards to a tenth of its power of ten, for stable axes."""
    low, high = min(v.min() for v in values), max(v.max() for v in values)
    span = max(high - low, 1e-6 * max(abs(high), 1.0))
    left, right = snapped_range(low, high, 10.0 ** math.floor(math.log10(span)) / 10)
    return left, right


def _step(table: pd.DataFrame) -> float:
    """Return the side of a square, from the middles of nonempty ones."""
    middles = np.unique(table[["exact", "approximate"]].to_numpy().round(12))
    return float(np.diff(middles).min()) if len(middles) > 1 else 0.01


def _density(rows: pd.DataFrame, name: str, step: float) -> go.Heatmap:
    x, y = (np.arange(rows[c].min(), rows[c].max() + step / 2, step) for c in ("exact", "approximate"))
    i, j = (((rows[c] - rows[c].min()) / step).round().astype(int) for c in ("exact", "approximate"))
    counts = np.full((len(y), len(x)), np.nan)
    counts[j, i] = rows["pairs"]
    return go.Heatmap(
        x=x,
        y=y,
        z=np.log10(counts),
        customdata=counts,
        colorscale=[[0.0, translucent(name, 0.25)], [1.0, style_of(name).colour]],
        showscale=False,
        hovertemplate="κ ≈ %{x:.3f}, κ̃ ≈ %{y:.3f}<br>%{customdata:,} pairs<extra></extra>",
    )
