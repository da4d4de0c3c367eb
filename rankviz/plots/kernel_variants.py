"""Looks and names of kernel maps and their variants: same colour, other dash, hollow markers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pandas as pd
import plotly.graph_objects as go

from rankviz.analysis.kernel_error import Variant
from rankviz.features import FEATURE_MAPS
from rankviz.features.kernel_base import KernelFacts
from rankviz.plots.style import approximations, line_of, style_of

OTHER_DASH = "dashdot"


def ways(feature_map: str) -> list[Variant]:
    """Return all draws of a map, the papers' first; one if there is no choice."""
    choice = FEATURE_MAPS[feature_map].draws_by
    if choice is None:
        return [Variant(feature_map, "")]
    others = [name for name in choice.options if name != choice.default]
    return [Variant(feature_map, str(name)) for name in (choice.default, *others)]


def as_printed(kernel: KernelFacts) -> list[Variant]:
    """Return the maps that approximate a kernel, each with the papers' draw."""
    return [first for first, *_ in map(ways, approximations()) if first.takes(kernel)]


def other_ways(kernel: KernelFacts) -> list[Variant]:
    """Return their other draws."""
    return [one for _, *more in map(ways, approximations()) for one in more if one.takes(kernel)]


def is_as_printed(variant: Variant) -> bool:
    """Return True for the papers' draw."""
    return variant == ways(variant.map)[0]


def choice_name(variant: Variant) -> str:
    """Return the name of the draw: "k-means++ landmarks"; "" if there is no choice."""
    choice = FEATURE_MAPS[variant.map].draws_by
    return "" if choice is None else choice.told(variant.choice)


def name(variant: Variant) -> str:
    """Return the map's name, with a draw that differs from the papers': "Nyström, k-means++ landmarks"."""
    method = style_of(variant.map).name
    return method if is_as_printed(variant) else f"{method}, {choice_name(variant)}"


def names(variants: Iterable[Variant], last: str = "and") -> str:
    """Join the names of several maps for a sentence."""
    *first, end = map(name, variants)
    return f"{', '.join(first)} {last} {end}" if first else end


def variants_in(table: pd.DataFrame) -> list[Variant]:
    """Return the maps of a table with columns map and choice, in its order."""
    pairs = table[["map", "choice"]].drop_duplicates()
    return [Variant(*pair) for pair in pairs.itertuples(index=False, name=None)]


def rows_of(table: pd.DataFrame, variant: Variant) -> pd.DataFrame:
    """Return the rows of one map and choice."""
    return table[(table["map"] == variant.map) & (table["choice"] == variant.choice)]


def look(variant: Variant) -> dict[str, Any]:
    """Return keyword arguments for a trace of this map."""
    style = line_of(variant.map)
    if not is_as_printed(variant):
        style["line"] |= {"dash": OTHER_DASH, "width": 2}
        style["marker"] |= {
            "symbol": f"{style_of(variant.map).symbol}-open",
            "size": 10,
            "line": {"width": 2},
        }
    return style


def add_mark(fig: go.Figure, variant: Variant, x: float, y: float) -> None:
    """Add a ring around the sidebar's current model."""
    fig.add_scatter(
        x=[x],
        y=[y],
        name="the current model",
        mode="markers",
        marker={
            "symbol": "circle-open",
            "size": 20,
            "color": style_of(variant.map).colour,
            "line": {"width": 2.5},
        },
        hoverinfo="skip",
    )
