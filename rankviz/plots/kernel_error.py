"""Relative error of the approximate kernel against m: maps and variants, bands over seeds, fitted slopes."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from rankviz.analysis.kernel_error import KernelErrors, Variant
from rankviz.analysis.kernel_summary import FLOOR, Slope, at, over_seeds
from rankviz.features import FEATURE_MAPS
from rankviz.plots import kernel_variants
from rankviz.plots.style import finished, style_of, translucent

NORM_NAMES = {"frobenius": "Frobenius", "spectral": "spectral", "maximum": "maximum-entry"}
GUIDE = {"color": "#999999", "width": 1}
LEAST = FLOOR / 10  # lowest end of the axis: smaller errors are rounding
GUIDE_BELOW = 0.7  # start of the guide as a share of its map's least error, clear of its line


def data(errors: KernelErrors, norm: str) -> pd.DataFrame:
    """Return errors in one norm, as `over_seeds`: columns map, choice, m, used, mean, low, high."""
    return over_seeds(errors.table, norm)


def figure(
    table: pd.DataFrame,
    slopes: Mapping[Variant, Slope | None],
    norm: str,
    current: int,
    named: Variant | None = None,
) -> go.Figure:
    """Draw on log axes: means as lines, ranges over seeds as bands, fits thin and dotted.

    A line marks `current`, the selected m; a ring marks the current model `named`, if it is one of the maps.
    """
    fig = go.Figure()
    variants = kernel_variants.variants_in(table)
    for variant in variants:
        _add_band(fig, variant, kernel_variants.rows_of(table, variant))
    for variant in variants:
        _add_map(fig, variant, kernel_variants.rows_of(table, variant), slopes.get(variant))
    averages = [variant for variant in variants if averages_terms(variant)]
    if averages:
        _add_guide(fig, kernel_variants.rows_of(table, averages[0]))
    if named is not None and at(table, named, current)["mean"] > LEAST:
        kernel_variants.add_mark(fig, named, current, at(table, named, current)["mean"])
    fig.add_vline(x=current, line=GUIDE | {"dash": "dash"})
    fig.add_annotation(
        x=math.log10(current), y=1, yref="paper", text=f" m = {current}", showarrow=False, xanchor="left"
    )
    return finished(
        fig,
        height=480,
        xaxis={
            "title": "number of features m (log scale)",
            "type": "log",
            "tickvals": sorted(set(table["m"])),
        },
        yaxis=error_axis(table, norm),
        margin={"l": 70, "r": 20, "t": 50, "b": 55},
    )


def error_axis(table: pd.DataFrame, norm: str) -> dict[str, object]:
    """Return the logarithmic axis of errors: whole powers of ten around them, at least LEAST."""
    finite = table[np.isfinite(table["high"])]
    low = max(float(finite["low"].min()), LEAST) if len(finite) else LEAST
    high = max(float(finite["high"].max()), low) if len(finite) else 1.0
    return {
        "title": f"relative {NORM_NAMES[norm]} error ‖K − K̃‖ / ‖K‖",
        "type": "log",
        "range": [math.floor(math.log10(low) + 1e-9), math.floor(math.log10(high) - 1e-9) + 1],
        "dtick": 1,
        "exponentformat": "power",
    }


def averages_terms(variant: Variant) -> bool:
    """Return True if κ̃ is a mean over m random terms, with error ~ 1/√m: random, but without documents."""
    kind = FEATURE_MAPS[variant.map]
    return kind.draws and not kind.expands


def _add_band(fig: go.Figure, variant: Variant, rows: pd.DataFrame) -> None:
    fig.add_scatter(
        x=[*rows["m"], *rows["m"][::-1]],
        y=[*rows["high"], *rows["low"][::-1]],
        fill="toself",
        fillcolor=translucent(variant.map),
        line={"width": 0},
        mode="lines",
        hoverinfo="skip",
        legendgroup=kernel_variants.name(variant),
        showlegend=False,
    )


def _add_map(fig: go.Figure, variant: Variant, rows: pd.DataFrame, slope: Slope | None) -> None:
    name = kernel_variants.name(variant)
    if slope is not None:
        ends = [slope.first, slope.last]
        fig.add_scatter(
            x=ends,
            y=[slope.at(m) for m in ends],
            mode="lines",
            line={"color": style_of(variant.map).colour, "width": 1, "dash": "dot"},
            hoverinfo="skip",
            legendgroup=name,
            showlegend=False,
        )
    fig.add_scatter(
        x=rows["m"],
        y=rows["mean"],
        name=_label(name, slope),
        mode="lines+markers",
        legendgroup=name,
        customdata=rows[["used", "low", "high"]],
        hovertemplate=(
            f"{name}, m = %{{x}} (%{{customdata[0]}} used)<br>error %{{y:.3g}}, "
            "over seeds %{customdata[1]:.3g} to %{customdata[2]:.3g}<extra></extra>"
        ),
        **kernel_variants.look(variant),
    )


def _label(name: str, slope: Slope | None) -> str:
    """Label a map with its fitted power of m and the range of the fit."""
    if slope is None:
        return name
    fitted = "level" if slope.level else f"m<sup>{slope.exponent:.2f}</sup>"
    return f"{name}: {fitted.replace('-', '−')} (m {slope.first}–{slope.last:,})"


def _add_guide(fig: go.Figure, rows: pd.DataFrame) -> None:
    """Add a line that falls as 1/√m, just below a map's errors."""
    ends = [rows["m"].min(), rows["m"].max()]
    start = GUIDE_BELOW * float(rows.sort_values("m")["low"].iloc[0])
    fig.add_scatter(
        x=ends,
        y=[start * math.sqrt(ends[0] / m) for m in ends],
        mode="lines",
        line=GUIDE,
        name="guide: m<sup>−1/2</sup>",
        hoverinfo="skip",
    )
