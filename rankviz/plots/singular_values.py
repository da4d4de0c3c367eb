"""The singular values of one query's dual variables, relative to the largest, on a logarithmic axis."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from rankviz._typing import FloatArray
from rankviz.plots.style import METHODS, finished
from rankviz.spectra import RANK_TOLERANCE, energy

FLOOR = -17.5  # power of ten below which nothing but rounding is found
SHORTEST = 12


def drawn(table: pd.DataFrame) -> pd.DataFrame:
    """The rows that are drawn: twice as many as count, for of the others all are rounding."""
    counted = int((table["relative"] > RANK_TOLERANCE).sum())
    return table[: max(SHORTEST, 2 * counted)]


def data(values: FloatArray) -> pd.DataFrame:
    """Columns k, sigma, relative (σ_k/σ₁) and energy (PE(k)) of singular values, falling."""
    return pd.DataFrame(
        {
            "k": np.arange(1, len(values) + 1),
            "sigma": values,
            "relative": values / values[0],
            "energy": energy(values),
        }
    )


def figure(table: pd.DataFrame, method: str) -> go.Figure:
    """σ_k/σ₁ against k; what lies under the dashed tolerance counts as zero."""
    style, fig = METHODS[method], go.Figure()
    shown = drawn(table)[lambda rows: rows["relative"] > 10**FLOOR]
    fig.add_scatter(
        x=shown["k"],
        y=shown["relative"],
        mode="lines+markers",
        line={"color": style.colour, "width": 1},
        marker={"color": style.colour, "symbol": style.symbol, "size": 7},
        customdata=shown[["sigma", "energy"]],
        hovertemplate="σ of %{x}: %{customdata[0]:.4g}, %{y:.2g} of the largest<br>"
        "energy up to here %{customdata[1]:.4%}<extra></extra>",
        showlegend=False,
    )
    fig.add_hline(
        y=RANK_TOLERANCE,
        line={"width": 1, "dash": "dash", "color": "#999999"},
        annotation_text="counts as zero below",
        annotation_position="bottom right",
        annotation_y=math.log10(RANK_TOLERANCE),  # on a log axis annotations are placed by exponent
    )
    return finished(
        fig,
        xaxis={"title": "k", "rangemode": "tozero"},
        yaxis={
            "title": "σ<sub>k</sub> / σ<sub>1</sub> (log scale)",
            "type": "log",
            "range": [FLOOR, 0.5],
            "exponentformat": "power",
            "dtick": 3,
        },
        margin={"l": 65, "r": 20, "t": 30, "b": 55},
    )
