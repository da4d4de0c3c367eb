"""Each feature's correlation with the grade, and its range."""

from __future__ import annotations

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from rankviz.common.arrays import FloatArray
from rankviz.datasets.statistics import feature_table
from rankviz.datasets.types import RankingData
from rankviz.plots.style import DATA_COLOUR, finished

WIDE = 50.0
"""Ratio of ranges beyond which the scale is logarithmic away from 0."""
_GUIDE = "#999999"


def data(part: RankingData) -> pd.DataFrame:
    """Return the columns of `feature_table`, and "label": "feature 3", or "feature 3 (its name)"."""
    table = feature_table(part)
    named = zip(table["number"], table["name"], strict=True)
    labels = [f"feature {number} ({name})" if name else f"feature {number}" for number, name in named]
    return table.assign(label=labels)


def figure(table: pd.DataFrame) -> go.Figure:
    """Draw correlation with the grade (above; a cross if undefined) and minimum, mean, maximum (below)."""
    fig = make_subplots(rows=2, shared_xaxes=True, row_heights=[0.55, 0.45], vertical_spacing=0.08)
    undefined = table[table["correlation"].isna()]
    fig.add_bar(
        x=table["number"],
        y=table["correlation"],
        name="correlation",
        marker={"color": DATA_COLOUR},
        customdata=table["label"],
        hovertemplate="%{customdata}<br>correlation %{y:.3f}<extra></extra>",
        row=1,
        col=1,
    )
    fig.add_scatter(
        x=undefined["number"],
        y=np.zeros(len(undefined)),
        name="constant in every query, so undefined",
        mode="markers",
        marker={"symbol": "x", "size": 8, "color": _GUIDE},
        customdata=undefined["label"],
        hovertemplate="%{customdata}<br>no correlation: constant in every query<extra></extra>",
        showlegend=len(undefined) > 0,
        row=1,
        col=1,
    )
    _add_ranges(fig, table)
    fig.update_yaxes(title_text="correlation with grade", row=1, col=1)
    fig.update_xaxes(title_text="feature number", row=2, col=1)
    return finished(fig, height=520)


def _add_ranges(fig: go.Figure, table: pd.DataFrame) -> None:
    signed_log = uses_signed_log(table)
    low, mean, high = (_scaled(table[name].to_numpy(), signed_log) for name in ("min", "mean", "max"))
    fig.add_bar(
        x=table["number"],
        y=high - low,
        base=low,
        name="minimum to maximum",
        marker={"color": _GUIDE, "opacity": 0.5},
        customdata=table[["label", "min", "max"]],
        hovertemplate="%{customdata[0]}<br>%{customdata[1]:.4g} to %{customdata[2]:.4g}<extra></extra>",
        row=2,
        col=1,
    )
    fig.add_scatter(
        x=table["number"],
        y=mean,
        name="mean",
        mode="markers",
        marker={"color": DATA_COLOUR, "size": 6},
        customdata=table[["label", "mean"]],
        hovertemplate="%{customdata[0]}<br>mean %{customdata[1]:.4g}<extra></extra>",
        row=2,
        col=1,
    )
    fig.update_yaxes(title_text="value (log away from 0)" if signed_log else "value", row=2, col=1)
    if signed_log:
        ticks = _ticks(float(table["min"].min()), float(table["max"].max()))
        fig.update_yaxes(tickvals=_scaled(ticks, True), ticktext=[f"{t:g}" for t in ticks], row=2, col=1)


def uses_signed_log(table: pd.DataFrame) -> bool:
    """Return True if the widest range exceeds `WIDE` times the median nonzero one."""
    widths = (table["max"] - table["min"]).to_numpy()
    widths = widths[widths > 0]
    return len(widths) > 0 and bool(widths.max() > WIDE * np.median(widths))


def _scaled(values: FloatArray, signed_log: bool) -> FloatArray:
    """Return x itself, or sign(x)·log₁₀(1 + |x|)."""
    out: FloatArray = np.sign(values) * np.log10(1 + np.abs(values)) if signed_log else values
    return out


def _ticks(low: float, high: float) -> FloatArray:
    """Return 0 and powers of 10 from 1 (every second or third of many), within the range."""
    most = int(np.log10(1 + max(abs(low), abs(high))))
    powers = 10.0 ** np.arange(0, most + 1, max(1, -(-most // 4)))
    ticks = np.concatenate([-powers[::-1], [0.0], powers])
    return ticks[(ticks >= low - 1) & (ticks <= high + 1)]
