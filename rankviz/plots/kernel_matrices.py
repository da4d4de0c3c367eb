"""Exact and approximate kernel matrices: entries, residuals and eigenvalues.

Eigenvalues are shares of the trace. K/N of N random documents has eigenvalues near those of K/n of all n, so
the shares hold for all.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from rankviz.analysis.kernel_spectrum import eigenvalues, kernel_eigenvalues
from rankviz.common.arrays import FloatArray, IntArray
from rankviz.common.numbers import small
from rankviz.features import EXACT
from rankviz.plots.style import (
    DIVERGING,
    GUIDE,
    add_line,
    add_note,
    decades,
    finished,
    ring,
    snapped_range,
    style_of,
    translucent,
)

BINS = 100
"""Squares per side over the common range of κ and κ̃."""


def entries_data(K: FloatArray, features: Mapping[str, FloatArray], bins: int = BINS) -> pd.DataFrame:
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


def entries_figure(table: pd.DataFrame) -> go.Figure:
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
        add_line(fig, ends, ends, dash=None, row=1, col=column)
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


def residual_data(K: FloatArray, features: Mapping[str, FloatArray], grades: IntArray) -> pd.DataFrame:
    """Return columns map, row, column (from 1), row_grade, column_grade, exact, residual, for every pair.

    K (N, N), Φ (N, m) for each map, grades (N,).
    """
    row, column = np.indices(K.shape).reshape(2, -1)
    frames = [
        pd.DataFrame(
            {
                "map": name,
                "row": row + 1,
                "column": column + 1,
                "row_grade": grades[row],
                "column_grade": grades[column],
                "exact": K.ravel(),
                "residual": (Phi @ Phi.T - K).ravel(),
            }
        )
        for name, Phi in features.items()
    ]
    return pd.concat(frames, ignore_index=True)


def residual_rms(table: pd.DataFrame) -> pd.DataFrame:
    """Return root mean squares of the residual by map: on the diagonal, and off it if possible."""
    squares = table.assign(square=table["residual"] ** 2)
    itself = squares["row"] == squares["column"]
    means = {
        where: squares[rows].groupby("map", sort=False)["square"].mean() ** 0.5
        for where, rows in (("itself", itself), ("between", ~itself))
    }
    return pd.DataFrame(means)


def residual_figure(table: pd.DataFrame) -> go.Figure:
    """Draw one heat map per map, titled with its largest residual; one scale, symmetric about 0."""
    names = list(dict.fromkeys(table["map"]))
    fig = make_subplots(
        cols=len(names),
        shared_yaxes=True,
        horizontal_spacing=0.05,
        subplot_titles=[_title(table[table["map"] == name], name) for name in names],
    )
    for position, name in enumerate(names, start=1):
        fig.add_trace(_heat_map(table[table["map"] == name], name), row=1, col=position)
    largest = float(table["residual"].abs().max()) or 1.0
    fig.update_xaxes(title_text="document", constrain="domain")
    fig.update_yaxes(autorange="reversed", constrain="domain")
    fig.update_yaxes(title_text="document", row=1, col=1)
    bar = {
        "title": {"text": "κ̃ − κ", "side": "top"},
        "orientation": "h",
        "y": -0.22,
        "yanchor": "top",
        "thickness": 12,
        "nticks": 5,
        "exponentformat": "power",
    }
    return finished(
        fig,
        height=520,
        coloraxis={"colorscale": DIVERGING, "cmin": -largest, "cmax": largest, "colorbar": bar},
        margin={"l": 60, "r": 20, "t": 60, "b": 110},
    )


def _title(rows: pd.DataFrame, name: str) -> str:
    """Title a map with its largest residuals, which the common scale may hide."""
    itself = rows["row"] == rows["column"]
    largest = [
        small(float(some["residual"].abs().max())) for some in (rows[~itself], rows[itself]) if len(some)
    ]
    text = " off the diagonal, ".join(largest) + " on it" if len(largest) > 1 else largest[0]
    return f"{style_of(name).name}<br><span style='font-size:12px'>largest |κ̃ − κ|: {text}</span>"


def _heat_map(rows: pd.DataFrame, name: str) -> go.Heatmap:
    n = int(rows["row"].max())
    fields = rows[["row_grade", "column_grade", "exact"]].to_numpy().reshape(n, n, 3)
    return go.Heatmap(
        x=np.arange(1, n + 1),
        y=np.arange(1, n + 1),
        z=rows["residual"].to_numpy().reshape(n, n),
        customdata=fields,
        coloraxis="coloraxis",
        hovertemplate=(
            f"{style_of(name).name}<br>documents %{{y}} (grade %{{customdata[0]}}) and %{{x}} "
            "(grade %{customdata[1]})<br>κ = %{customdata[2]:.4f}, residual %{z:.3g}<extra></extra>"
        ),
    )


ROUNDING = 1e-13  # eigenvalues below this share of the trace are rounding and are left out
LINE = {"color": style_of(EXACT).colour, "dash": style_of(EXACT).dash, "width": 2}
"""Line of K itself."""


def spectrum_data(K: FloatArray, features: Mapping[str, FloatArray]) -> pd.DataFrame:
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


def spectrum_figure(table: pd.DataFrame, m: int, regularisation: float | None = None) -> go.Figure:
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
            marker=ring(16, 2) | {"color": LINE["color"]},
            hovertemplate=f"eigenvalue {m} of K: {marked:.3g}<extra></extra>",
        )
    if regularisation is not None:
        low, high = (10.0**end for end in decades(table["share"]))
        if low < regularisation < high:
            fig.add_hline(y=regularisation, line=GUIDE)
            add_note(fig, "1/(2C)", 0, math.log10(regularisation), xref="paper")
    return finished(
        fig,
        height=460,
        xaxis={"title": "position of the eigenvalue, largest first (log scale)", "type": "log", "dtick": 1},
        yaxis={
            "title": "eigenvalue as a share of the trace (log scale)",
            "type": "log",
            "exponentformat": "power",
            "range": decades(table["share"]),
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


def _trace(table: pd.DataFrame) -> float:
    first = table.iloc[0]
    return float(first["eigenvalue"] / first["share"])
