"""Relative error of the approximate kernel against m, both maps, with bands over seeds and fitted slopes."""

from __future__ import annotations

import math
from collections.abc import Mapping

import pandas as pd
import plotly.graph_objects as go

from rankviz.kernel_error import FLOOR, KernelErrors, Slope, over_seeds
from rankviz.plots.style import METHODS, finished, line_of, translucent

NORM_NAMES = {"frobenius": "Frobenius", "spectral": "spectral", "maximum": "maximum-entry"}
GUIDE = {"color": "#999999", "width": 1}
LEAST = FLOOR / 10  # the axis ends here at the latest: what is below is rounding
GUIDE_BELOW = 0.7  # where the guide starts, as a share of random Fourier's least error: clear of its line


def data(errors: KernelErrors, norm: str) -> pd.DataFrame:
    """Errors in one norm over seeds: columns map, choice, m, used, mean, low, high; see `over_seeds`."""
    return over_seeds(errors.table, norm)


def figure(table: pd.DataFrame, slopes: Mapping[str, Slope | None], norm: str, current: int) -> go.Figure:
    """Both axes logarithmic: means as lines, least to greatest over seeds as bands, fits thin and dashed."""
    fig = go.Figure()
    for name, rows in table.groupby("map", sort=False):
        _add_map(fig, str(name), rows, slopes.get(str(name)))
    _add_guide(fig, table[table["map"] == "fourier"])
    fig.add_vline(x=current, line=GUIDE | {"dash": "dash"})
    fig.add_annotation(
        x=math.log10(current), y=1, yref="paper", text=f" m = {current}", showarrow=False, xanchor="left"
    )
    return finished(
        fig,
        height=460,
        xaxis={
            "title": "number of features m (log scale)",
            "type": "log",
            "tickvals": sorted(set(table["m"])),
        },
        yaxis={
            "title": f"relative {NORM_NAMES[norm]} error ‖K − K̃‖ / ‖K‖",
            "type": "log",
            "range": _decades(table),
            "dtick": 1,
            "exponentformat": "power",
        },
        margin={"l": 70, "r": 20, "t": 50, "b": 55},
    )


def _add_map(fig: go.Figure, name: str, rows: pd.DataFrame, slope: Slope | None) -> None:
    style, method = line_of(name), METHODS[name]
    fig.add_scatter(
        x=[*rows["m"], *rows["m"][::-1]],
        y=[*rows["high"], *rows["low"][::-1]],
        fill="toself",
        fillcolor=translucent(name),
        line={"width": 0},
        mode="lines",
        hoverinfo="skip",
        legendgroup=name,
        showlegend=False,
    )
    if slope is not None:
        ends = [slope.first, slope.last]
        fig.add_scatter(
            x=ends,
            y=[slope.at(m) for m in ends],
            mode="lines",
            line={"color": method.colour, "width": 1, "dash": "dash"},
            hoverinfo="skip",
            legendgroup=name,
            showlegend=False,
        )
    fig.add_scatter(
        x=rows["m"],
        y=rows["mean"],
        name=_label(method.name, slope),
        mode="lines+markers",
        legendgroup=name,
        customdata=rows[["used", "low", "high"]],
        hovertemplate=(
            f"{method.name}, m = %{{x}} (%{{customdata[0]}} used)<br>error %{{y:.3g}}, "
            "over seeds %{customdata[1]:.3g} to %{customdata[2]:.3g}<extra></extra>"
        ),
        **style,
    )


def _label(name: str, slope: Slope | None) -> str:
    if slope is None or slope.level:
        return name
    return f"{name}, about m<sup>{slope.exponent:.1f}</sup>".replace("-", "−")


def _add_guide(fig: go.Figure, rows: pd.DataFrame) -> None:
    """A line that falls as 1/√m, a little below random Fourier's errors."""
    if rows.empty:
        return
    ends = [rows["m"].min(), rows["m"].max()]
    start = GUIDE_BELOW * float(rows.sort_values("m")["low"].iloc[0])
    fig.add_scatter(
        x=ends,
        y=[start * math.sqrt(ends[0] / m) for m in ends],
        mode="lines",
        line=GUIDE,
        name="guide m<sup>−1/2</sup>",
        hoverinfo="skip",
    )


def _decades(table: pd.DataFrame) -> list[float]:
    """Whole powers of ten around the errors, none below LEAST."""
    low = max(float(table["low"].min()), LEAST)
    high = max(float(table["high"].max()), low)
    return [math.floor(math.log10(low) + 1e-9), math.floor(math.log10(high) - 1e-9) + 1]
