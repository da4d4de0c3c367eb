"""The figure and the page of docs/ about how fits grow: drawn by plotly, written as SVG by Chromium."""

from __future__ import annotations

import urllib.parse
from pathlib import Path

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from benchmarks import report
from rankviz.common.numbers import with_minus
from rankviz.features import FEATURE_MAPS
from rankviz.plots.style import line_of
from tools.browser import AppError, chromium

DOCS = Path(__file__).resolve().parent.parent / "docs"
LABELS = {
    "seconds": "a fit, s",
    "features": "its feature map, s",
    "newton": "its Newton steps, s",
    "memory": "peak memory, MB",
}
SIZES = {"n": "documents n", "m": "landmarks or frequencies m"}
LEAST = {"seconds": 1e-3, "features": 1e-3, "newton": 1e-3, "memory": 1.0}
"""Below a millisecond or a megabyte a figure says more of clock and allocator than of the method."""

WIDTH, HEIGHT = 900, 1250


def telling(part: pd.DataFrame, quantity: str) -> pd.DataFrame:
    """The rows where a quantity is large enough to say something."""
    return part[part[quantity] >= LEAST[quantity]]


def figure(table: pd.DataFrame, slopes: pd.DataFrame) -> go.Figure:
    """Medians as markers, least-squares lines with their exponents: one row a quantity, one column a size."""
    out = make_subplots(
        len(LABELS), 2, shared_xaxes="columns", horizontal_spacing=0.1, vertical_spacing=0.025
    )
    for row, quantity in enumerate(LABELS, start=1):
        for column, growing in enumerate(SIZES, start=1):
            for place, (kind, part) in enumerate(
                table[table["growing"] == growing].groupby("map", sort=False)
            ):
                line = slopes[
                    (slopes[["growing", "map", "quantity"]] == [growing, kind, quantity]).all(axis=1)
                ]
                if len(line):
                    _draw(out, telling(part, quantity), line.iloc[0], row, column, place)
            sizes = sorted(table.loc[table["growing"] == growing, growing].unique())
            out.update_xaxes(
                type="log", tickvals=sizes, ticktext=[f"{size:,}" for size in sizes], row=row, col=column
            )
        out.update_yaxes(title_text=LABELS[quantity], row=row, col=1)
    for column, title in enumerate(SIZES.values(), start=1):
        out.update_xaxes(title_text=title, row=len(LABELS), col=column)
    out.update_yaxes(type="log", dtick=1, minor={"showgrid": True, "gridcolor": "#f2f2f2"}, tickformat=",~r")
    return out.update_layout(
        template="plotly_white",
        width=WIDTH,
        height=HEIGHT,
        margin={"l": 80, "r": 20, "t": 50, "b": 60},
        legend={"orientation": "h", "y": 1.01, "yanchor": "bottom", "x": 0},
        font={"family": "DejaVu Sans, Arial, sans-serif", "size": 13},
    )


def _draw(out: go.Figure, part: pd.DataFrame, line: pd.Series, row: int, column: int, place: int) -> None:
    kind, growing, quantity = line["map"], line["growing"], line["quantity"]
    name = FEATURE_MAPS[kind].label if kind in FEATURE_MAPS else kind
    look = line_of(kind) if kind in FEATURE_MAPS else {"line": {}, "marker": {}}
    sizes = part[growing].to_numpy(float)
    first = row == 1 and column == 1
    common = {"legendgroup": kind, "name": name}
    out.add_scatter(
        x=sizes,
        y=part[quantity],
        mode="markers",
        marker=look["marker"],
        showlegend=first,
        **common,
        row=row,
        col=column,
    )
    fitted = 2.0 ** (line["start"] + line["slope"] * np.log2(sizes))
    thin = dict(look["line"]) | {"width": 1.5}
    out.add_scatter(
        x=sizes, y=fitted, mode="lines", line=thin, showlegend=False, **common, row=row, col=column
    )
    axis = (row - 1) * 2 + column if (row, column) != (1, 1) else ""
    out.add_annotation(
        text=f"{growing}<sup>{with_minus(line['slope'], '.2f')}</sup>",
        font={"color": look["marker"].get("color"), "size": 15},
        showarrow=False,
        xref=f"x{axis} domain",
        yref=f"y{axis} domain",
        x=0.03 + 0.14 * place,
        y=0.98,
        xanchor="left",
        yanchor="top",
    )


def svg(drawing: go.Figure, width: int = WIDTH, height: int = HEIGHT) -> str:
    """The figure as SVG, by Chromium. Raises `AppError` where there is none."""
    size = {"width": width, "height": height}
    with chromium() as browser:
        page = browser.new_page(viewport=size)
        page.set_content(drawing.to_html(include_plotlyjs=True, div_id="figure"))
        page.wait_for_selector("#figure .main-svg")
        address = page.evaluate("size => Plotly.toImage('figure', {format: 'svg', ...size})", size)
    return urllib.parse.unquote(address.split(",", 1)[1])


def write_page(table: pd.DataFrame, slopes: pd.DataFrame, notes: list[str]) -> None:
    """Write docs/scaling.md and its figure; without a browser the figure stays as it was, with a note."""
    lines = [
        "# How a fit grows with the data",
        "",
        *_lead(notes),
        "![Seconds and memory against n and m](scaling.svg)",
    ]
    lines += ["", notes[-1], "", *(f"- {key}: {value}" for key, value in report.facts().items()), ""]
    lines += ["`make bench ARGS=scaling` measures it anew; the table is benchmarks/results/scaling.md.", ""]
    (DOCS / "scaling.md").write_text("\n".join(lines))
    try:
        (DOCS / "scaling.svg").write_text(svg(figure(table, slopes)))
    except AppError as error:
        print(f"docs/scaling.svg was not drawn anew: {error}")


def _lead(notes: list[str]) -> list[str]:
    return [line for note in notes[:-1] for line in (f"**{note}**", "")]
