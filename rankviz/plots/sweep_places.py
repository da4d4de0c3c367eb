"""Map of a running sweep: cells to come, and clickable cells."""

from __future__ import annotations

import math
from typing import Any

import pandas as pd
import plotly.graph_objects as go

from rankviz.plots.style import LOW_TO_HIGH
from rankviz.plots.sweep_map import (
    WAITING,
    Names,
    bar_ticks,
    colours_between,
    hover_words,
    placed_at,
    words_of,
)
from rankviz.runs.designs import Design
from rankviz.runs.sweep_table import by_fold, metric_column, results, settings_of

CLICKED = 22
"""Pixels of an invisible click target."""


def planned(design: Design, x: str, y: str) -> pd.DataFrame:
    """Return the table of `rankviz.plots.sweep_map.data` before any run is finished."""
    cells = settings_of(design)[[x, y]].set_axis(["x", "y"], axis=1)
    cells["value"], cells["done"], cells["best"] = math.nan, 0, False
    cells["runs"] = pd.Series([run.cell for run in design.plan.runs]).value_counts()
    return cells.dropna(subset=["x", "y"]).rename_axis("cell").reset_index()


def so_far(design: Design, table: pd.DataFrame, metric: str) -> pd.Series[float]:
    """Return the mean of each cell over its finished folds, each moved to one level by its mean over cells.

    NaN for a cell without any. Raises `SettingError` for a metric that is not in the table.
    """
    folds = by_fold(results(design, table), metric_column(table, metric))
    level = folds.mean()
    return (folds - level).mean(axis=1) + float(level.mean())


def colours(table: pd.DataFrame, begun: pd.Series[float]) -> list[float]:
    """Return the colour range: of complete cells, or of begun ones before any is complete."""
    known = table["value"].dropna()
    return colours_between(known if len(known) else begun.dropna())


def add_coming(
    fig: go.Figure, table: pd.DataFrame, begun: pd.Series[float], design: Design, names: Names
) -> go.Figure:
    """Add small squares for incomplete cells: hollow before any fold is finished, then coloured."""
    complete = pd.MultiIndex.from_frame(table.loc[table["value"].notna(), ["x", "y"]])
    coming = table[~pd.MultiIndex.from_frame(table[["x", "y"]]).isin(complete)]
    coming = coming.assign(begun=coming["cell"].map(begun)).sort_values("begun", na_position="first")
    coming = coming.drop_duplicates(["x", "y"], keep="last")
    low, high = colours(table, begun)
    looks: dict[str, dict[str, Any]] = {
        "to come": {"symbol": "square-open", "color": WAITING, "line": {"width": 1}},
        "so far": {"symbol": "square", "colorscale": LOW_TO_HIGH, "cmin": low, "cmax": high},
    }
    for name, rows in (("to come", coming["begun"].isna()), ("so far", coming["begun"].notna())):
        at, look = placed_at(coming[rows], design, names), {"size": 14} | looks[name]
        if name == "so far":
            look["color"] = coming.loc[rows, "begun"]
        fig.add_scatter(x=at["x"], y=at["y"], mode="markers", name=name, marker=look, hoverinfo="skip")
    ticks = bar_ticks(pd.concat([table["value"], coming["begun"]]).dropna(), [low, high])
    shown = {"zmin": low, "zmax": high, "showscale": bool(begun.notna().any()), "colorbar": ticks}
    fig.update_traces(**shown, selector={"type": "heatmap"})
    return fig


def add_clicks(fig: go.Figure, table: pd.DataFrame, design: Design, metric: str, names: Names) -> go.Figure:
    """Add a click target over each complete cell, with its number as the first customdata.

    Of several cells in one place it is the best.
    """
    known = table.dropna(subset=["value"]).sort_values("value").drop_duplicates(["x", "y"], keep="last")
    at, words = placed_at(known, design, names), words_of(design, names, (known["x"], known["y"]))
    told = zip(known["cell"], *words, known["value"], strict=True)
    fig.update_traces(hoverinfo="skip", hovertemplate=None, selector={"type": "heatmap"})
    fig.update_traces(unselected={"marker": {"opacity": 1}}, selector={"type": "scatter"})
    fig.add_scatter(
        x=at["x"],
        y=at["y"],
        mode="markers",
        name="cells",
        customdata=list(map(list, told)),
        marker={"size": CLICKED, "opacity": 0},
        hovertemplate=hover_words(design, names, 1) + f"{metric} %{{customdata[3]:.4f}}<extra></extra>",
    )
    return fig.update_layout(hovermode="closest", hoverdistance=-1, showlegend=False)


def mark_cell(fig: go.Figure, table: pd.DataFrame, design: Design, names: Names, cell: int) -> go.Figure:
    """Add a square around the selected cell."""
    at = placed_at(table[table["cell"] == cell], design, names)
    look = {"symbol": "square-open", "size": 46, "color": WAITING, "line": {"width": 3}}
    fig.add_scatter(x=at["x"], y=at["y"], mode="markers", name="looked at", marker=look, hoverinfo="skip")
    return fig
