"""Dots with intervals, one per row, in stacked panels: the base of comparison figures."""

from __future__ import annotations

from typing import Any

import pandas as pd
import plotly.graph_objects as go

from rankviz.plots.labels import harmless
from rankviz.plots.style import EVEN_COLOUR, finished, style_of

ROW = 26
"""Height of a row in pixels."""
HEAD = 42
"""Pixels between panels, for their titles."""
COLUMNS = ["panel", "label", "method", "value", "low", "high", "full", "reference"]


def dot_intervals(table: pd.DataFrame, title: str, hover: pd.Series, **layout: Any) -> go.Figure:
    """Draw a panel per `panel`, with a row per `label` and a line at its `reference`.

    Columns as `COLUMNS`: value, low and high have the method's colour, hollow unless `full`. `hover` has the
    row's text at the same index. All panels share the horizontal axis.
    """
    panels = list(dict.fromkeys(table["panel"]))
    rows = {panel: int((table["panel"] == panel).sum()) for panel in panels}
    height = 110 + sum(ROW * n + HEAD for n in rows.values())
    figure, ends = go.Figure(), _domains([rows[panel] for panel in panels])
    below = {"anchor": f"y{len(panels)}" if len(panels) > 1 else "y"}
    axes: dict[str, Any] = {"xaxis": {"title": title, "zeroline": False} | below | layout.pop("xaxis", {})}
    for number, (panel, end) in enumerate(zip(panels, ends, strict=True), start=1):
        own = table[table["panel"] == panel].reset_index()
        suffix = "" if number == 1 else str(number)
        axes[f"yaxis{suffix}"] = _rows(own, end)
        _reference(figure, own, f"y{suffix}")
        for place, row in own.iterrows():
            figure.add_trace(_dot(row, int(str(place)), f"y{suffix}", hover[row["index"]]))
        figure.add_annotation(text=f"<b>{harmless(str(panel))}</b>", y=end[1], yanchor="bottom", **_TITLE)
    return finished(figure, height=height, showlegend=False, margin=_MARGIN, **axes, **layout)


_TITLE: dict[str, Any] = {"x": 0, "xref": "paper", "yref": "paper", "xanchor": "left", "showarrow": False}
_MARGIN = {"l": 20, "r": 20, "t": 34, "b": 55}


def _domains(rows: list[int]) -> list[tuple[float, float]]:
    """Return start and end of each panel from the top, as shares of the height."""
    total = sum(ROW * n for n in rows) + HEAD * (len(rows) - 1)
    found, top = [], float(total)
    for n in rows:
        found.append(((top - ROW * n) / total, top / total))
        top -= ROW * n + HEAD
    return [(max(0.0, low), min(1.0, high)) for low, high in found]


def _rows(own: pd.DataFrame, domain: tuple[float, float]) -> dict[str, Any]:
    return {
        "domain": list(domain),
        "range": [len(own) - 0.5, -0.5],
        "tickvals": list(range(len(own))),
        "ticktext": [harmless(str(label)) for label in own["label"]],
        "showgrid": False,
        "zeroline": False,
        "automargin": True,
    }


def _reference(figure: go.Figure, own: pd.DataFrame, axis: str) -> None:
    at = own["reference"].iloc[0]
    if pd.notna(at):
        figure.add_scatter(
            x=[at, at],
            y=[-0.5, len(own) - 0.5],
            yaxis=axis,
            mode="lines",
            line={"color": EVEN_COLOUR, "width": 1, "dash": "dash"},
            hoverinfo="skip",
        )


def _dot(row: pd.Series, place: int, axis: str, hover: str) -> go.Scatter:
    style = style_of(str(row["method"]))
    known = pd.notna(row["low"])
    reach = {
        "type": "data",
        "symmetric": False,
        "array": [row["high"] - row["value"] if known else 0.0],
        "arrayminus": [row["value"] - row["low"] if known else 0.0],
        "thickness": 2,
        "width": 0,
        "color": style.colour,
    }
    outline = {"width": 2, "color": style.colour}
    symbol = style.symbol if row["full"] else f"{style.symbol}-open"
    return go.Scatter(
        x=[row["value"]],
        y=[place],
        yaxis=axis,
        name=harmless(str(row["label"])),
        mode="markers",
        error_x=reach,
        marker={"color": style.colour, "symbol": symbol, "size": 10, "line": outline},
        hovertemplate=f"{hover}<extra></extra>",
    )
