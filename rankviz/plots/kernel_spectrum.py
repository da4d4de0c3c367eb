"""Eigenvalues of the exact kernel matrix and its approximations, largest first, as shares of the trace.

K/N of N random documents has eigenvalues near those of K/n of all n, so the shares hold for all.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from rankviz.analysis.kernel_spectrum import eigenvalues, kernel_eigenvalues
from rankviz.common.arrays import FloatArray
from rankviz.features import EXACT
from rankviz.plots.style import finished, style_of

ROUNDING = 1e-13  # eigenvalues below this share of the trace are rounding and are left out
LINE = {"color": style_of(EXACT).colour, "dash": style_of(EXACT).dash, "width": 2}
"""Line of K itself."""


def data(K: FloatArray, features: Mapping[str, FloatArray]) -> pd.DataFrame:
    """Return columns map (`EXACT` for K), i (from 1), eigenvalue, share; K (N, N), Φ (N, m) for each map.

    share is the eigenvalue over the trace of K. Empty if K is 0.
    """
    spectra = {n: eigenvalues(Phi) for n, Phi in features.items()} | {EXACT: kernel_eigenvalues(K)}
    trace = float(np.trace(K))
    least = ROUNDING * trace  # the trace bounds every eigenvalue of K
    frames = [
        pd.DataFrame({"map": name, "i": np.arange(1, len(values) + 1), "eigenvalue": values})[values > least]
        for name, values in spectra.items()
    ]
    table = pd.concat(frames, ignore_index=True)
    return table.assign(share=table["eigenvalue"] / trace) if trace > 0 else table[:0].assign(share=0.0)


def mth_eigenvalue(table: pd.DataFrame, m: int) -> float | None:
    """Return the m-th eigenvalue of K, or None if fewer exceed rounding."""
    found = table.loc[(table["map"] == EXACT) & (table["i"] == m), "eigenvalue"]
    return float(found.iloc[0]) if len(found) else None


def figure(table: pd.DataFrame, m: int, regularisation: float | None = None) -> go.Figure:
    """Draw on log axes: the exact spectrum dashed, its m-th eigenvalue marked.

    `regularisation` is 1/(2C) over the trace of K of all documents: learning shrinks directions with smaller
    eigenvalues by more than half.
    """
    fig = go.Figure()
    for name, rows in table.groupby("map", sort=False):
        _add_spectrum(fig, str(name), rows, m)
    marked = mth_eigenvalue(table, m)
    if marked is not None:
        fig.add_scatter(
            x=[m],
            y=[marked / _trace(table)],
            name=f"eigenvalue {m} of K",
            mode="markers",
            marker={"symbol": "circle-open", "size": 16, "color": LINE["color"], "line": {"width": 2}},
            hovertemplate=f"eigenvalue {m} of K: {marked:.3g}<extra></extra>",
        )
    if regularisation is not None:
        _add_regularisation(fig, table, regularisation)
    return finished(
        fig,
        height=460,
        xaxis={"title": "position of the eigenvalue, largest first (log scale)", "type": "log", "dtick": 1},
        yaxis={
            "title": "eigenvalue as a share of the trace (log scale)",
            "type": "log",
            "exponentformat": "power",
            "range": _decades(table["share"]),
        },
        margin={"l": 70, "r": 20, "t": 50, "b": 55},
    )


def _add_spectrum(fig: go.Figure, name: str, rows: pd.DataFrame, m: int) -> None:
    exact, label = name == EXACT, style_of(name).name
    label = label if exact else f"{label}, m = {m}"
    fig.add_scatter(
        x=rows["i"],
        y=rows["share"],
        name=label,
        mode="lines" if len(rows) > 1 else "markers",
        line=LINE if exact else {"color": style_of(name).colour, "width": 2.5},
        customdata=rows["eigenvalue"],
        hovertemplate=(
            f"{label}<br>eigenvalue %{{x}}: %{{customdata:.3g}}, %{{y:.2g}} of the trace<extra></extra>"
        ),
    )


def _add_regularisation(fig: go.Figure, table: pd.DataFrame, share: float) -> None:
    low, high = (10.0**end for end in _decades(table["share"]))
    if low < share < high:
        fig.add_hline(y=share, line={"color": "#999999", "width": 1, "dash": "dash"})
        fig.add_annotation(
            x=0,
            xref="paper",
            y=math.log10(share),
            text="1/(2C)",
            showarrow=False,
            xanchor="left",
            yanchor="bottom",
        )


def _trace(table: pd.DataFrame) -> float:
    first = table.iloc[0]
    return float(first["eigenvalue"] / first["share"])


def _decades(shares: pd.Series) -> list[float]:
    return [math.floor(math.log10(shares.min())), math.floor(math.log10(shares.max()) - 1e-9) + 1]
