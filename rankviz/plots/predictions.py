"""Predictions of a class: how far they were from the answer."""

from __future__ import annotations

import math
from collections.abc import Mapping

import pandas as pd
import plotly.graph_objects as go

from rankviz.plots.style import DATA_COLOUR, finished

MOST_BARS = 9
"""Most bars of the histogram, also empty ones: their labels then fit."""
_DECIMALS, _MOST_TICKS = 3, 5
HEIGHT = 125
"""Height of the figure in pixels: it stands above a page."""


def gap_data(gaps: Mapping[float, int]) -> pd.DataFrame:
    """Return one row per bar: its first and last gap, low and high, and students; also empty bars.

    Bars are 1, 2 or 5 times a power of ten wide, and hold at least one value of the gaps' last decimal.
    """
    digits = max((len(f"{gap:.{_DECIMALS}f}".rstrip("0").partition(".")[2]) for gap in gaps), default=0)
    smallest, span = 10.0**-digits, max(gaps, default=0.0) - min(gaps, default=0.0)
    widths = (times * smallest * 10**power for power in range(10) for times in (1, 2, 5))
    width = next(one for one in widths if span / one < MOST_BARS - 1)
    at = {gap: math.floor(gap / width + 1e-6) for gap in gaps}
    counts = dict.fromkeys(range(min(at.values()), max(at.values()) + 1) if gaps else (), 0)
    for gap, students in gaps.items():
        counts[at[gap]] += students
    rows = [
        (round(k * width, _DECIMALS), round((k + 1) * width - smallest, _DECIMALS), n)
        for k, n in counts.items()
    ]
    return pd.DataFrame(rows, columns=["low", "high", "students"])


def gap_figure(table: pd.DataFrame, axis: str) -> go.Figure:
    """Draw the bars with their counts; `axis` says what the gap is, with its unit."""
    middle = (table["low"] + table["high"]) / 2
    width = float(table["low"].diff().iloc[-1]) if len(table) > 1 else 1.0
    every = round(width * math.ceil(len(table) / _MOST_TICKS), _DECIMALS)
    bars = go.Bar(
        x=middle,
        y=table["students"],
        width=0.9 * width,
        text=table["students"].astype(str).replace("0", ""),
        textposition="outside",
        cliponaxis=False,
        marker_color=DATA_COLOUR,
    )
    ends = [middle.min() - width, middle.max() + width]
    across = {"title": {"text": axis, "standoff": 2}, "range": ends, "tick0": 0, "dtick": every}
    up = {"title": "students", "range": [0, table["students"].max()], "showticklabels": False}
    return finished(
        go.Figure(bars),
        height=HEIGHT,
        margin={"l": 30, "r": 10, "t": 26, "b": 30},
        minreducedheight=20,
        xaxis=across | {"showgrid": False},
        yaxis=up | {"showgrid": False},
        meta={"alone": HEIGHT},
    )
