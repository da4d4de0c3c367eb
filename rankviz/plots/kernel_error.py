"""Relative error of approximate kernels against m and against seconds; maps and variants."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from rankviz.analysis.kernel_error import (
    FLOOR,
    KernelErrors,
    Slope,
    Variant,
    draws_of,
    over_seeds,
    summary_at,
)
from rankviz.features import FEATURE_MAPS
from rankviz.features.kernel_base import KernelFacts
from rankviz.plots.style import (
    GUIDE,
    add_band,
    add_line,
    add_marks,
    add_note,
    approximations,
    decades,
    error_bars,
    finished,
    line_of,
    powers_axis,
    ring,
    style_of,
    translucent,
)

OTHER_DASH = "dashdot"


def paper_variants(kernel: KernelFacts) -> list[Variant]:
    """Return the maps that approximate a kernel, each with the papers' draw."""
    return [first for first, *_ in map(draws_of, approximations()) if first.takes(kernel)]


def other_variants(kernel: KernelFacts) -> list[Variant]:
    """Return their other draws."""
    return [one for _, *more in map(draws_of, approximations()) for one in more if one.takes(kernel)]


def is_paper_variant(variant: Variant) -> bool:
    """Return True for the papers' draw."""
    return variant == draws_of(variant.map)[0]


def choice_name(variant: Variant) -> str:
    """Return the name of the draw: "k-means++ landmarks"; "" if there is no choice."""
    choice = FEATURE_MAPS[variant.map].draws_by
    return "" if choice is None else choice.format(variant.choice)


def variant_name(variant: Variant) -> str:
    """Return the map's name, with a draw that differs from the papers': "Nyström, k-means++ landmarks"."""
    method = style_of(variant.map).name
    return method if is_paper_variant(variant) else f"{method}, {choice_name(variant)}"


def joined_names(variants: Iterable[Variant], last: str = "and") -> str:
    """Join the names of several maps for a sentence."""
    *first, end = map(variant_name, variants)
    return f"{', '.join(first)} {last} {end}" if first else end


def variants_in(table: pd.DataFrame) -> list[Variant]:
    """Return the maps of a table with columns map and choice, in its order."""
    pairs = table[["map", "choice"]].drop_duplicates()
    return [Variant(*pair) for pair in pairs.itertuples(index=False, name=None)]


def rows_of(table: pd.DataFrame, variant: Variant) -> pd.DataFrame:
    """Return the rows of one map and choice."""
    return table[(table["map"] == variant.map) & (table["choice"] == variant.choice)]


def variant_look(variant: Variant) -> dict[str, Any]:
    """Return keyword arguments for a trace of this map."""
    style = line_of(variant.map)
    if not is_paper_variant(variant):
        style["line"] |= {"dash": OTHER_DASH, "width": 2}
        symbol = f"{style_of(variant.map).symbol}-open"
        style["marker"] |= {"symbol": symbol, "size": 10, "line": {"width": 2}}
    return style


def add_mark(fig: go.Figure, variant: Variant, x: float, y: float) -> None:
    """Add a ring around the sidebar's current model."""
    marker = ring(20, 2.5) | {"color": style_of(variant.map).colour}
    add_marks(fig, [x], [y], marker, name="the current model")


NORM_NAMES = {"frobenius": "Frobenius", "spectral": "spectral", "maximum": "maximum-entry"}
LEAST = FLOOR / 10  # lowest end of the axis: smaller errors are rounding
GUIDE_BELOW = 0.7  # start of the guide as a share of its map's least error, clear of its line


def error_data(errors: KernelErrors, norm: str) -> pd.DataFrame:
    """Return errors in one norm, as `over_seeds`: columns map, choice, m, used, mean, low, high."""
    return over_seeds(errors.table, norm)


def error_figure(
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
    variants = variants_in(table)
    for variant in variants:
        rows, colour = rows_of(table, variant), translucent(variant.map)
        add_band(fig, rows["m"], rows["high"], rows["low"], colour, legendgroup=variant_name(variant))
    for variant in variants:
        _add_map(fig, variant, rows_of(table, variant), slopes.get(variant))
    # κ̃ is a mean over m random terms, with error ~ 1/√m, if the map draws without documents
    kinds = {variant: FEATURE_MAPS[variant.map] for variant in variants}
    averages = [variant for variant, kind in kinds.items() if kind.draws and not kind.expands]
    if averages:
        _add_guide(fig, rows_of(table, averages[0]))
    if named is not None and summary_at(table, named, current)["mean"] > LEAST:
        add_mark(fig, named, current, summary_at(table, named, current)["mean"])
    fig.add_vline(x=current, line=GUIDE)
    add_note(fig, f" m = {current}", math.log10(current), 1, yanchor=None, yref="paper")
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
    ends = [math.floor(math.log10(low) + 1e-9), math.floor(math.log10(high) - 1e-9) + 1]
    return powers_axis(f"relative {NORM_NAMES[norm]} error ‖K − K̃‖ / ‖K‖", ends)


def _add_map(fig: go.Figure, variant: Variant, rows: pd.DataFrame, slope: Slope | None) -> None:
    name = variant_name(variant)
    if slope is not None:
        ends = [slope.first, slope.last]
        add_line(
            fig, ends, [slope.at(m) for m in ends], style_of(variant.map).colour, dash="dot", legendgroup=name
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
        **variant_look(variant),
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
    falling = [start * math.sqrt(ends[0] / m) for m in ends]
    add_line(fig, ends, falling, dash=None, showlegend=None, name="guide: m<sup>−1/2</sup>")


def seconds_data(summary: pd.DataFrame, seconds: pd.DataFrame) -> pd.DataFrame:
    """Join errors over seeds (see `over_seeds`) with a column seconds, for every map and m with both."""
    return summary.merge(seconds, on=["map", "choice", "m"], how="inner")


def seconds_figure(table: pd.DataFrame, norm: str, current: int, named: Variant | None = None) -> go.Figure:
    """Draw on log axes; points of one map are joined by m, the last one labelled."""
    fig, variants = go.Figure(), variants_in(table)
    thin = {"symmetric": False, "thickness": 1, "width": 0}
    for variant in variants:
        rows, name = rows_of(table, variant).sort_values("m"), variant_name(variant)
        fig.add_scatter(
            x=rows["seconds"],
            y=rows["mean"],
            name=name,
            mode="lines+markers+text",
            text=_labels(variant, rows["m"].tolist()),
            textposition="bottom left" if variant.map == variants[0].map else "top right",
            textfont={"color": style_of(variant.map).colour},
            cliponaxis=False,
            customdata=rows[["m", "low", "high"]],
            error_y=error_bars(rows["mean"], rows["low"], rows["high"], **thin),
            hovertemplate=(
                f"{name}, m = %{{customdata[0]}}<br>%{{x:.2g}} s, error %{{y:.3g}} "
                "(%{customdata[1]:.3g} to %{customdata[2]:.3g} over seeds)<extra></extra>"
            ),
            **variant_look(variant),
        )
    if named is not None:
        rows = rows_of(table, named)
        for point in rows[(rows["m"] == current) & (rows["mean"] > LEAST)].to_dict("records"):
            add_mark(fig, named, point["seconds"], point["mean"])
    return finished(
        fig,
        height=460,
        xaxis=powers_axis("seconds for all training documents (log scale)", decades(table["seconds"])),
        yaxis=error_axis(table, norm),
        margin={"l": 70, "r": 20, "t": 50, "b": 55},
    )


def _labels(variant: Variant, ms: list[int]) -> list[str]:
    """Label the last point of the papers' maps; their variants lie too close for labels."""
    last = f"m = {ms[-1]:,}" if is_paper_variant(variant) else ""
    return [""] * (len(ms) - 1) + [last]
