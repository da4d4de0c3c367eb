"""Spectrum of one query's dual variables: singular values on a log axis, and their energy."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from rankviz.analysis.spectra import RANK_TOLERANCE, energy
from rankviz.common.arrays import FloatArray
from rankviz.plots.style import CHOSEN_COLOUR, finished, style_of

FLOOR = -17.5  # power of ten below which all values are rounding
SHORTEST = 12
GUIDE = {"width": 1, "dash": "dash", "color": "#999999"}


def data(values: FloatArray) -> pd.DataFrame:
    """Return columns k, sigma, relative (σ_k/σ₁) and energy (PE(k)) of falling singular values."""
    return pd.DataFrame(
        {
            "k": np.arange(1, len(values) + 1),
            "sigma": values,
            "relative": values / values[0],
            "energy": energy(values),
        }
    )


def last_drawn(values: FloatArray) -> int:
    """Return the last k on the axis: twice the number above rounding, or all."""
    counted = int((values > RANK_TOLERANCE * values[0]).sum())
    return max(SHORTEST, min(2 * counted, len(values)))


def figure(
    table: pd.DataFrame, method: str, *, tolerance: float, share: float, chosen: int, last: int
) -> go.Figure:
    """Draw σ_k/σ₁ above PE(k), with the zero tolerance, the energy share and its k, and the chosen rank."""
    fig = make_subplots(rows=2, cols=1, shared_xaxes=True, vertical_spacing=0.06)
    shown = table[table["k"] <= last]
    _add_line(fig, 1, shown[shown["relative"] > 10**FLOOR], "relative", method)
    _add_line(fig, 2, shown, "energy", method)
    late = int((shown["relative"] > tolerance).sum()) > 0.7 * last  # the line passes the right corner
    fig.add_hline(
        row=1,
        y=tolerance,
        line=GUIDE,
        annotation_text="counts as zero below",
        annotation_position="bottom left" if late else "bottom right",
        annotation_y=math.log10(tolerance),  # log axes place annotations by exponent
    )
    k = int((table["energy"] < share - 1e-12).sum()) + 1
    fig.add_hline(row=2, y=share, line=GUIDE)
    place, side = _clear_of(k, chosen, last)
    fig.add_annotation(
        row=2,
        col=1,
        x=k,
        y=share,
        text=f"k = {k} for {100 * share:.4g} %",
        axref="x2",
        ayref="y2",
        ax=place,
        ay=max(share - 0.28, 0.08),
        xanchor=side,
        arrowhead=2,
        arrowcolor="#999999",
    )
    fig.add_vline(x=chosen, line={"width": 1.5, "dash": "dot", "color": CHOSEN_COLOUR})
    fig.update_yaxes(row=1, title="σ<sub>k</sub> / σ<sub>1</sub> (log)", type="log", range=[FLOOR, 0.7])
    fig.update_yaxes(row=1, exponentformat="power", dtick=3)
    fig.update_yaxes(row=2, title="energy kept, PE(k)", range=[0, 1.06], tickformat=".0%")
    fig.update_xaxes(range=[0.4, last + 0.6], zeroline=False)
    fig.update_xaxes(row=2, title="k")
    return finished(fig, height=460, showlegend=False, margin={"l": 65, "r": 15, "t": 30, "b": 55})


def _clear_of(k: int, chosen: int, last: int) -> tuple[float, str]:
    """Return position and anchor of a label for k, beyond the line of the chosen k if near."""
    near, gap = 0.25 * last, 0.02 * last
    if k < 0.7 * last:
        return (chosen if k <= chosen <= k + near else k) + gap, "left"
    return (chosen if k - near <= chosen <= k else k) - gap, "right"


def _add_line(fig: go.Figure, row: int, table: pd.DataFrame, column: str, method: str) -> None:
    style = style_of(method)
    fig.add_scatter(
        row=row,
        col=1,
        x=table["k"],
        y=table[column],
        mode="lines+markers",
        line={"color": style.colour, "width": 1},
        marker={"color": style.colour, "symbol": style.symbol, "size": 6},
        customdata=table[["sigma", "relative", "energy"]],
        hovertemplate="σ of %{x}: %{customdata[0]:.4g}, %{customdata[1]:.2g} of the largest<br>"
        "energy up to here %{customdata[2]:.4%}<extra></extra>",
    )
