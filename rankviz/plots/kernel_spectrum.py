"""Eigenvalues of the exact kernel matrix and of its approximations, largest first."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from rankviz._typing import FloatArray
from rankviz.kernel_spectrum import eigenvalues, kernel_eigenvalues
from rankviz.plots.style import METHODS, finished

ROUNDING = 1e-13  # eigenvalues below this share of the largest are rounding and are left out
EXACT = {"color": "#000000", "dash": "dash", "width": 2}


def data(K: FloatArray, features: Mapping[str, FloatArray]) -> pd.DataFrame:
    """Columns map ("exact" for K itself), i (from 1), eigenvalue; K (N, N), Φ (N, m) for each map."""
    spectra = {n: eigenvalues(Phi) for n, Phi in features.items()} | {"exact": kernel_eigenvalues(K)}
    least = ROUNDING * len(K)  # no eigenvalue of K is above its trace, N
    frames = [
        pd.DataFrame({"map": name, "i": np.arange(1, len(values) + 1), "eigenvalue": values})[values > least]
        for name, values in spectra.items()
    ]
    return pd.concat(frames, ignore_index=True)


def mth_eigenvalue(table: pd.DataFrame, m: int) -> float | None:
    """The m-th eigenvalue of K, or None where K has fewer above rounding."""
    found = table.loc[(table["map"] == "exact") & (table["i"] == m), "eigenvalue"]
    return float(found.iloc[0]) if len(found) else None


def figure(table: pd.DataFrame, m: int) -> go.Figure:
    """Both axes logarithmic; the exact spectrum dashed, its m-th eigenvalue marked."""
    fig = go.Figure()
    for name, rows in table.groupby("map", sort=False):
        method, exact = METHODS[str(name)], name == "exact"
        label = method.name if exact else f"{method.name}, m = {m}"
        fig.add_scatter(
            x=rows["i"],
            y=rows["eigenvalue"],
            name=label,
            mode="lines",
            line=EXACT if exact else {"color": method.colour, "width": 2.5},
            hovertemplate=f"{label}<br>eigenvalue %{{x}}: %{{y:.3g}}<extra></extra>",
        )
    marked = mth_eigenvalue(table, m)
    if marked is not None:
        fig.add_scatter(
            x=[m],
            y=[marked],
            name=f"eigenvalue {m} of K",
            mode="markers",
            marker={"symbol": "circle-open", "size": 14, "color": EXACT["color"], "line": {"width": 2}},
            hovertemplate=f"eigenvalue {m} of K: {marked:.3g}<extra></extra>",
        )
    low, high = table["eigenvalue"].min(), table["eigenvalue"].max()
    return finished(
        fig,
        xaxis={"title": "position of the eigenvalue, largest first (log scale)", "type": "log", "dtick": 1},
        yaxis={
            "title": "eigenvalue (log scale)",
            "type": "log",
            "exponentformat": "power",
            "range": [math.floor(math.log10(low)), math.floor(math.log10(high)) + 1],
        },
    )
