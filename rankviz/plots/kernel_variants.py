"""How kernel maps and their other ways to draw look: one colour, another dash and hollow markers."""

from __future__ import annotations

from typing import Any

import pandas as pd
import plotly.graph_objects as go

from rankviz.analysis.kernel_error import PAPERS, Variant
from rankviz.features import FEATURE_MAPS
from rankviz.plots.style import line_of, style_of

OTHER_DASH = "dashdot"


def choice_name(variant: Variant) -> str:
    """How it draws: "k-means++ landmarks"."""
    choice = FEATURE_MAPS[variant.map].draws_by
    return "" if choice is None else f"{choice.options[variant.choice].label} {choice.name}"


def name(variant: Variant) -> str:
    """The map, and how it draws where the papers draw otherwise: "Nyström, k-means++ landmarks"."""
    method = style_of(variant.map).name
    return method if variant in PAPERS else f"{method}, {choice_name(variant)}"


def variants_in(table: pd.DataFrame) -> list[Variant]:
    """The maps of a table with columns map and choice, in its order."""
    pairs = table[["map", "choice"]].drop_duplicates()
    return [Variant(*pair) for pair in pairs.itertuples(index=False, name=None)]


def rows_of(table: pd.DataFrame, variant: Variant) -> pd.DataFrame:
    """The rows of one map and choice."""
    return table[(table["map"] == variant.map) & (table["choice"] == variant.choice)]


def look(variant: Variant) -> dict[str, Any]:
    """Keyword arguments for a trace of this map."""
    style = line_of(variant.map)
    if variant not in PAPERS:
        style["line"] |= {"dash": OTHER_DASH, "width": 2}
        style["marker"] |= {
            "symbol": f"{style_of(variant.map).symbol}-open",
            "size": 10,
            "line": {"width": 2},
        }
    return style


def add_mark(fig: go.Figure, variant: Variant, x: float, y: float) -> None:
    """A ring around the point of the model that the sidebar names."""
    fig.add_scatter(
        x=[x],
        y=[y],
        name="the sidebar's model",
        mode="markers",
        marker={
            "symbol": "circle-open",
            "size": 20,
            "color": style_of(variant.map).colour,
            "line": {"width": 2.5},
        },
        hoverinfo="skip",
    )
