"""Residual κ̃ − κ among a few documents: heat maps side by side, one per map, on one colour scale."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from rankviz.common.arrays import FloatArray, IntArray
from rankviz.common.numbers import small
from rankviz.plots.style import DIVERGING, finished, style_of


def data(K: FloatArray, features: Mapping[str, FloatArray], grades: IntArray) -> pd.DataFrame:
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


def apart(table: pd.DataFrame) -> pd.DataFrame:
    """Return root mean squares of the residual by map: on the diagonal, and off it if possible."""
    squares = table.assign(square=table["residual"] ** 2)
    itself = squares["row"] == squares["column"]
    means = {
        where: squares[rows].groupby("map", sort=False)["square"].mean() ** 0.5
        for where, rows in (("itself", itself), ("between", ~itself))
    }
    return pd.DataFrame(means)


def figure(table: pd.DataFrame) -> go.Figure:
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
    told = " off the diagonal, ".join(largest) + " on it" if len(largest) > 1 else largest[0]
    return f"{style_of(name).name}<br><span style='font-size:12px'>largest |κ̃ − κ|: {told}</span>"


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
