"""Map of a metric over two settings of a sweep, by cell, also while the sweep is running (chen2017)."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from rankviz.metrics.formulas import direction
from rankviz.metrics.significance import leader
from rankviz.plots.style import CHOSEN_COLOUR, add_note, finished
from rankviz.plots.sweep_settings import (
    STEP,
    axis_positions,
    axis_ticks,
    axis_title,
    colours_between,
    from_worst_to_best,
    listed_values,
    value_text,
)
from rankviz.runs.designs import Design
from rankviz.runs.sweep_table import by_fold, metric_column, results, settings_of

Names = tuple[str, str]
"""The settings along x and y."""
TEXT_CELLS = 40
"""Most cells with written values."""
TICKS = 5
"""Most intervals between ticks of the colour bar."""
UNFINISHED_COLOUR = "#8a8a8a"
"""Colour of marks of incomplete cells, visible on light and dark pages."""


def map_data(
    design: Design, table: pd.DataFrame, metric: str, x: str = "C", y: str = "gamma"
) -> pd.DataFrame:
    """Return one row per cell that reads both settings: x, y, value, runs, done, best.

    value is the mean on validation over folds, NaN until all runs of the cell are finished; runs and done
    count them; best marks the best value, the first one in a tie. Raises `SettingError` for a metric that the
    table lacks.
    """
    runs, column = results(design, table), metric_column(table, metric)
    counted = np.isfinite(runs[column]).groupby(runs["cell"]).agg(["size", "sum"])
    cells = settings_of(design)[[x, y]].set_axis(["x", "y"], axis=1)
    cells["value"] = by_fold(runs, column).mean(axis=1, skipna=False)
    cells["runs"], cells["done"] = counted["size"], counted["sum"]
    cells = cells.dropna(subset=["x", "y"]).rename_axis("cell").reset_index()
    some = cells["value"].notna().any()
    return cells.assign(best=cells.index == (leader(cells["value"], metric) if some else -1))


def map_figure(table: pd.DataFrame, design: Design, metric: str, x: str = "C", y: str = "gamma") -> go.Figure:
    """Draw the map: complete cells in colour, the best ringed; others empty, with a dot once begun.

    Several cells in one place, which differ in other settings, show the best. Settings drawn from ranges are
    points in the plane.
    """
    fig = go.Figure()
    known = table.dropna(subset=["value"])
    ends = colours_between(known["value"], metric)
    bar = {"title": {"text": f"mean {metric}", "side": "top"}, "thickness": 10, "xpad": 4}
    colours = {"colorscale": from_worst_to_best(metric), "colorbar": bar | bar_ticks(known["value"], ends)}
    if listed_values(design, x) and listed_values(design, y):
        _add_cells(fig, table, design, metric, (x, y), {"zmin": ends[0], "zmax": ends[1]} | colours)
    else:
        _add_points(fig, known, design, metric, (x, y), {"cmin": ends[0], "cmax": ends[1]} | colours)
    _mark(fig, placed_at(table[table["value"].isna() & (table["done"] > 0)], design, (x, y)), "begun", size=4)
    written = len(table) <= TEXT_CELLS and fig.data[0].type == "heatmap"
    _mark(fig, placed_at(table[table["best"]], design, (x, y)), "best", size=40 if written else 17)
    _axes(fig, design, (x, y))
    return finished(fig, height=430, margin={"l": 60, "r": 10, "t": 40, "b": 55})


def bar_ticks(values: pd.Series[float], ends: list[float]) -> dict[str, list[Any]]:
    """Return ticks of the colour bar; an end shows ≤ or ≥ if values beyond it share its colour."""
    at = ticks_between(*ends)
    words = [f"{value:.3f}" for value in at]
    if len(values) and float(values.min()) < ends[0]:
        words[0] = f"≤ {words[0]}"
    if len(values) and float(values.max()) > ends[1]:
        words[-1] = f"≥ {words[-1]}"
    return {"tickvals": at, "ticktext": words}


def ticks_between(low: float, high: float) -> list[float]:
    """Return both ends, which are whole steps, and up to four places between them."""
    steps = round((high - low) / STEP)
    every = math.ceil(steps / TICKS)
    between = [round(low + k * STEP, 3) for k in range(0, steps, every) if steps - k >= every or not k]
    return [*between, round(high, 3)]


def _add_cells(
    fig: go.Figure,
    table: pd.DataFrame,
    design: Design,
    metric: str,
    names: Names,
    look: dict[str, Any],
) -> None:
    x, y = (listed_values(design, name) for name in names)
    best = _best_in_place(table, metric)
    at = {(row.x, row.y): float(str(row.value)) for row in best.itertuples()}
    values = [[at.get((one, other), math.nan) for one in x] for other in y]
    words = value_texts(design, names, (x, y))
    few = len(x) * len(y) <= TEXT_CELLS
    fig.add_heatmap(
        x=list(range(len(x))),
        y=list(range(len(y))),
        z=values,
        customdata=[[[one, other] for one in words[0]] for other in words[1]],
        texttemplate="%{z:.3f}" if few else None,
        textfont={"color": "#000"},  # readable on every colour, also on dark pages
        hovertemplate=hover_text(design, names) + f"{metric} %{{z:.4f}}<extra></extra>",
        hoverongaps=False,
        xgap=2,
        ygap=2,
        **look,
    )


def _best_in_place(table: pd.DataFrame, metric: str) -> pd.DataFrame:
    """Return the best complete cell of each place on the map."""
    ordered = table.dropna(subset=["value"]).sort_values("value", ascending=direction(metric) > 0)
    return ordered.drop_duplicates(["x", "y"], keep="last")


def _add_points(
    fig: go.Figure,
    known: pd.DataFrame,
    design: Design,
    metric: str,
    names: Names,
    look: dict[str, Any],
) -> None:
    placed = placed_at(known, design, names)
    words = value_texts(design, names, (known["x"], known["y"]))
    fig.add_scatter(
        x=placed["x"],
        y=placed["y"],
        mode="markers",
        showlegend=False,
        customdata=np.array([*words, known["value"]], dtype=object).T,
        marker={"size": 11, "color": known["value"], "line": {"width": 0.5, "color": UNFINISHED_COLOUR}}
        | look,
        hovertemplate=hover_text(design, names) + f"{metric} %{{customdata[2]:.4f}}<extra></extra>",
    )


def placed_at(table: pd.DataFrame, design: Design, names: Names) -> pd.DataFrame:
    """Return the positions of a table's cells on the axes."""
    x, y = (axis_positions(design, name, table[column]) for name, column in zip(names, "xy", strict=True))
    return pd.DataFrame({"x": x, "y": y})


def _mark(fig: go.Figure, placed: pd.DataFrame, name: str, size: int) -> None:
    if not len(placed):
        return
    ring = {"symbol": "circle-open", "color": CHOSEN_COLOUR, "line": {"width": 3}}
    marker = {"size": size} | (ring if name == "best" else {"color": UNFINISHED_COLOUR})
    fig.add_scatter(x=placed["x"], y=placed["y"], mode="markers", name=name, marker=marker, hoverinfo="skip")


def value_texts(design: Design, names: Names, values: tuple[Iterable[Any], Iterable[Any]]) -> list[list[str]]:
    """Format values of both settings."""
    pairs = zip(names, values, strict=True)
    return [[value_text(design.settings[name], value) for value in own] for name, own in pairs]


def _axes(fig: go.Figure, design: Design, names: Names) -> None:
    for name, update in zip(names, (fig.update_xaxes, fig.update_yaxes), strict=True):
        values = listed_values(design, name)
        update(title_text=axis_title(design, name), showgrid=not values, zeroline=False)
        update(axis_ticks(design, name) | ({"range": [-0.5, len(values) - 0.5]} if values else {}))
    title = fig.layout.yaxis.title
    if len(title.text) <= 2:  # one letter on its side cannot be read
        add_note(fig, title.text, 0, 1.01, "right", xref="paper", yref="paper", xshift=-10)
        title.text = ""


def hover_text(design: Design, names: Names, first: int = 0) -> str:
    """Format both settings for a label, with values from customdata `first` on."""
    symbols = (design.settings[name].symbol for name in names)
    return ", ".join(f"{symbol} = %{{customdata[{k}]}}" for k, symbol in enumerate(symbols, first)) + "<br>"


CLICKED = 22
"""Pixels of an invisible click target."""


def planned_cells(design: Design, x: str, y: str) -> pd.DataFrame:
    """Return the table of `rankviz.plots.sweep_map.map_data` before any run is finished."""
    cells = settings_of(design)[[x, y]].set_axis(["x", "y"], axis=1)
    cells["value"], cells["done"], cells["best"] = math.nan, 0, False
    cells["runs"] = pd.Series([run.cell for run in design.plan.runs]).value_counts()
    return cells.dropna(subset=["x", "y"]).rename_axis("cell").reset_index()


def partial_means(design: Design, table: pd.DataFrame, metric: str) -> pd.Series[float]:
    """Return the mean of each cell over its finished folds, each moved to one level by its mean over cells.

    NaN for a cell without any. Raises `SettingError` for a metric that is not in the table.
    """
    folds = by_fold(results(design, table), metric_column(table, metric))
    level = folds.mean()
    return (folds - level).mean(axis=1) + float(level.mean())


def colour_limits(table: pd.DataFrame, begun: pd.Series[float], metric: str) -> list[float]:
    """Return the colour range: of complete cells, or of begun ones before any is complete."""
    known = table["value"].dropna()
    return colours_between(known if len(known) else begun.dropna(), metric)


def add_unfinished(
    fig: go.Figure, table: pd.DataFrame, begun: pd.Series[float], design: Design, metric: str, names: Names
) -> go.Figure:
    """Add small squares for incomplete cells: hollow before any fold is finished, then coloured."""
    complete = pd.MultiIndex.from_frame(table.loc[table["value"].notna(), ["x", "y"]])
    coming = table[~pd.MultiIndex.from_frame(table[["x", "y"]]).isin(complete)]
    coming = coming.assign(begun=coming["cell"].map(begun))
    coming = coming.sort_values("begun", ascending=direction(metric) > 0, na_position="first")
    coming = coming.drop_duplicates(["x", "y"], keep="last")
    low, high = colour_limits(table, begun, metric)
    looks: dict[str, dict[str, Any]] = {
        "to come": {"symbol": "square-open", "color": UNFINISHED_COLOUR, "line": {"width": 1}},
        "so far": {"symbol": "square", "colorscale": from_worst_to_best(metric), "cmin": low, "cmax": high},
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


def add_click_targets(
    fig: go.Figure, table: pd.DataFrame, design: Design, metric: str, names: Names
) -> go.Figure:
    """Add a click target over each complete cell, with its number as the first customdata.

    Of several cells in one place it is the best.
    """
    known = _best_in_place(table, metric)
    at, words = placed_at(known, design, names), value_texts(design, names, (known["x"], known["y"]))
    rows = zip(known["cell"], *words, known["value"], strict=True)
    fig.update_traces(hoverinfo="skip", hovertemplate=None, selector={"type": "heatmap"})
    fig.update_traces(unselected={"marker": {"opacity": 1}}, selector={"type": "scatter"})
    fig.add_scatter(
        x=at["x"],
        y=at["y"],
        mode="markers",
        name="cells",
        customdata=list(map(list, rows)),
        marker={"size": CLICKED, "opacity": 0},
        hovertemplate=hover_text(design, names, 1) + f"{metric} %{{customdata[3]:.4f}}<extra></extra>",
    )
    return fig.update_layout(hovermode="closest", hoverdistance=-1, showlegend=False)


def mark_cell(fig: go.Figure, table: pd.DataFrame, design: Design, names: Names, cell: int) -> go.Figure:
    """Add a square around the selected cell."""
    at = placed_at(table[table["cell"] == cell], design, names)
    look = {"symbol": "square-open", "size": 46, "color": UNFINISHED_COLOUR, "line": {"width": 3}}
    fig.add_scatter(x=at["x"], y=at["y"], mode="markers", name="looked at", marker=look, hoverinfo="skip")
    return fig
