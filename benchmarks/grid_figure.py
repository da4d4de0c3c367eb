"""The maps of chen2017's grids as the Sweep page draws them, side by side as one SVG for docs/grid.md."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from benchmarks.grid_choices import Tried
from benchmarks.scaling_figure import DOCS, svg
from rankviz.plots import sweep_map
from rankviz.plots.style import LOW_TO_HIGH
from tools.browser import AppError

WIDTH, HEIGHT = 900, 800


def figure(tried: Sequence[Tried], metric: str) -> go.Figure:
    """A row a set, a column a model; the cells of a row have their colours from one scale."""
    sets = list(dict.fromkeys(one.grid.dataset for one in tried))
    models = list(dict.fromkeys(one.grid.label for one in tried))
    titles = [f"{name}, {model}" for name in sets for model in models]
    about = {"horizontal_spacing": 0.08, "vertical_spacing": 0.12, "subplot_titles": titles}
    out = make_subplots(len(sets), len(models), **about)
    for row, name in enumerate(sets, start=1):
        own = [one for one in tried if one.grid.dataset == name]
        tables = [sweep_map.data(one.grid.design, one.table, metric) for one in own]
        ends = sweep_map.colours_between(pd.concat([table["value"] for table in tables]))
        _scale(out, row, len(sets), ends, metric)
        for one, table in zip(own, tables, strict=True):
            drawn = sweep_map.figure(table, one.grid.design, metric)
            _place(out, drawn, row, models.index(one.grid.label) + 1)
    return out.update_layout(
        template="plotly_white",
        width=WIDTH,
        height=HEIGHT,
        margin={"l": 60, "r": 20, "t": 40, "b": 55},
        showlegend=False,
        font={"family": "DejaVu Sans, Arial, sans-serif", "size": 13},
    )


def _place(out: go.Figure, drawn: go.Figure, row: int, column: int) -> None:
    drawn.update_traces(coloraxis=f"coloraxis{row}", selector={"type": "heatmap"})
    out.add_traces(drawn.data, rows=row, cols=column)
    for update, axis in ((out.update_xaxes, drawn.layout.xaxis), (out.update_yaxes, drawn.layout.yaxis)):
        update(axis.to_plotly_json(), row=row, col=column)


def _scale(out: go.Figure, row: int, rows: int, ends: Sequence[float], metric: str) -> None:
    """The colours of a row, with their bar at its right."""
    middle = 1 - (row - 0.5) / rows
    bar = {"title": {"text": metric}, "len": 0.9 / rows, "y": middle, "thickness": 12, "tickformat": ".3f"}
    scale = {"colorscale": LOW_TO_HIGH, "cmin": ends[0], "cmax": ends[1], "colorbar": bar}
    out.update_layout({f"coloraxis{row}": scale})


def draw(tried: Sequence[Tried], metric: str, path: Path = DOCS / "grid.svg") -> None:
    """Write the figure; without a browser it stays as it was, with a note."""
    try:
        path.write_text(svg(figure(tried, metric), WIDTH, HEIGHT))
    except AppError as error:
        print(f"{path.name} was not drawn anew: {error}")
