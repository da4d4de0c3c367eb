"""Entries κ(x, z) of the kernel matrix against their approximations φ(x)·φ(z), one panel per map."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from rankviz._typing import FloatArray
from rankviz.plots.style import METHODS, finished, snapped_range

PAIRS = 2000  # points per panel: dense enough to read, light enough to draw


def data(
    K: FloatArray, features: Mapping[str, FloatArray], pairs: int = PAIRS, seed: int = 0
) -> pd.DataFrame:
    """Pairs of different documents: columns map, i, j, exact, approximate; all of them, or `pairs` drawn.

    `features` has Φ (N, m) for each map; positions i < j count documents of K (N, N) from 0.
    """
    i, j = np.triu_indices(len(K), 1)
    if len(i) > pairs:
        drawn = np.sort(np.random.default_rng(seed).choice(len(i), pairs, replace=False))
        i, j = i[drawn], j[drawn]
    frames = [
        pd.DataFrame(
            {
                "map": name,
                "i": i,
                "j": j,
                "exact": K[i, j],
                "approximate": np.einsum("ij,ij->i", Phi[i], Phi[j]),
            }
        )
        for name, Phi in features.items()
    ]
    return pd.concat(frames, ignore_index=True)


def figure(table: pd.DataFrame) -> go.Figure:
    """One panel per map with the diagonal on which both are equal; the same axes in both."""
    names = list(dict.fromkeys(table["map"]))
    ends = snapped_range(table["exact"].min(), table["exact"].max())
    fig = make_subplots(
        cols=len(names),
        shared_yaxes=True,
        horizontal_spacing=0.05,
        subplot_titles=[METHODS[name].name for name in names],
    )
    for column, name in enumerate(names, start=1):
        rows = table[table["map"] == name]
        fig.add_scatter(
            x=rows["exact"],
            y=rows["approximate"],
            mode="markers",
            marker={"color": METHODS[name].colour, "size": 4, "opacity": 0.45},
            hovertemplate="κ = %{x:.4f}<br>approximation %{y:.4f}<extra></extra>",
            showlegend=False,
            row=1,
            col=column,
        )
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
    fig.update_xaxes(title_text="exact κ(x, z)", range=ends)
    values = table[["exact", "approximate"]].to_numpy()
    fig.update_yaxes(range=snapped_range(values.min(), values.max()))
    fig.update_yaxes(title_text="approximation φ(x)·φ(z)", row=1, col=1)
    return finished(fig)
