"""Parallel coordinates of a sweep: a line per complete cell through its settings, coloured by the metric.

They are drawn as ordinary lines: Plotly's own parallel coordinates need WebGL, which browsers without a
graphics card lack.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from plotly.colors import sample_colorscale

from rankviz.plots.setting_words import NOTHING, on_a_scale, setting_words, ticks, value_words
from rankviz.plots.style import CHOSEN_COLOUR, LOW_TO_HIGH, finished
from rankviz.plots.sweep_map import colours_between
from rankviz.runs.axes import Range, Values, is_logarithmic
from rankviz.runs.designs import Design
from rankviz.runs.worth import cell_values

TONES = 16
"""Number of line colours: one trace each."""
BELOW = -0.12
"""Crossing point on the axis of an unread setting."""
METRIC_TICKS = 5


def data(design: Design, table: pd.DataFrame, metric: str) -> pd.DataFrame:
    """Return one row per complete cell, the best last: settings, and "value", the validation mean over folds.

    Raises `SettingError` for a metric that is not in the table.
    """
    cells = cell_values(design, table, metric).drop(columns=["low", "high"])
    return cells.sort_values("value", kind="stable")


def figure(table: pd.DataFrame, design: Design, metric: str) -> go.Figure:
    """Draw an axis per setting and one for the metric, each from 0 to 1; the best cell is thick.

    A cell that does not read a setting crosses its axis below all values, at "–".
    """
    fig = go.Figure()
    ends = colours_between(table["value"])
    places = _places(table, design)
    shares = ((table["value"] - ends[0]) / ((ends[1] - ends[0]) or 1.0)).clip(0, 1)
    tones = (shares * (TONES - 1)).round().astype(int)
    colours = sample_colorscale(list(LOW_TO_HIGH), [tone / (TONES - 1) for tone in range(TONES)])
    words = [_words(design, metric, row) for _, row in table.iterrows()]
    for tone in sorted(set(tones)):
        rows = np.flatnonzero(tones == tone)
        _add_lines(fig, places[rows], [words[row] for row in rows], colours[tone], 1.2)
    if len(table):
        _add_lines(fig, places[-1:], words[-1:], CHOSEN_COLOUR, 3.5)
    names = [*(setting_words(design.settings[name]) for name in design.names), metric]
    _add_axes(fig, [*(_ticks(design, table, name) for name in design.names), _metric_ticks(table)])
    fig.update_xaxes(
        tickvals=list(range(len(names))),
        ticktext=names,
        side="top",
        range=[-0.35, len(names) - 0.75],
        showgrid=False,
        zeroline=False,
        fixedrange=True,
    )
    fig.update_yaxes(visible=False, range=[BELOW - 0.06, 1.06], fixedrange=True)
    return finished(fig, height=420, margin={"l": 30, "r": 30, "t": 50, "b": 10}, showlegend=False)


def _places(table: pd.DataFrame, design: Design) -> np.ndarray:
    """Return each cell's crossing point on each axis, from 0 to 1."""
    columns = [_share(design, name, table[name]) for name in design.names]
    values = table["value"].to_numpy(float)
    span = float(np.ptp(values)) if len(values) else 0.0
    columns.append((values - values.min()) / span if span else np.full(len(values), 0.5))
    return np.column_stack(columns)


def _share(design: Design, name: str, values: Any) -> np.ndarray:
    axis = design.axis(name)
    ends = on_a_scale(design, name, (axis.low, axis.high) if isinstance(axis, Range) else axis.values)
    low, span = float(ends.min()), float(np.ptp(ends))
    found = on_a_scale(design, name, values).to_numpy(float)
    return np.where(np.isnan(found), BELOW, (found - low) / span if span else 0.5)


def _add_lines(fig: go.Figure, places: np.ndarray, words: list[str], colour: str, width: float) -> None:
    """Add lines of one colour as one trace, with gaps between."""
    axes = places.shape[1]
    gapped = np.column_stack([places, np.full(len(places), np.nan)])
    fig.add_scatter(
        x=np.tile([*range(axes), np.nan], len(places)),
        y=gapped.ravel(),
        mode="lines+markers",
        line={"color": colour, "width": width},
        marker={"size": 4},
        text=np.repeat(words, axes + 1).tolist(),
        hovertemplate="%{text}<extra></extra>",
    )


def _words(design: Design, metric: str, row: pd.Series[Any]) -> str:
    known = design.settings
    told = [f"{setting_words(known[name])} = {value_words(known[name], row[name])}" for name in design.names]
    return f"{', '.join(told)}<br>{metric} {row['value']:.4f}"


def _add_axes(fig: go.Figure, marks: list[list[tuple[float, str]]]) -> None:
    for place, ticks_there in enumerate(marks):
        fig.add_vline(place, line={"width": 1, "color": "#8a8a8a"}, layer="below")
        for at, words in ticks_there:
            fig.add_annotation(x=place, y=at, text=words, showarrow=False, xanchor="right", xshift=-6)


def _metric_ticks(table: pd.DataFrame) -> list[tuple[float, str]]:
    low, high = (float(end) for end in (table["value"].min(), table["value"].max()))
    if not len(table) or low == high:
        return [(0.5, f"{low:.3f}")] if len(table) else []
    return [(share, f"{low + share * (high - low):.3f}") for share in np.linspace(0, 1, METRIC_TICKS)]


def _ticks(design: Design, table: pd.DataFrame, name: str) -> list[tuple[float, str]]:
    """Return ticks: at most ten values of a list; whole powers of a range if it has any."""
    setting, axis = design.settings[name], design.axis(name)
    marks = [(BELOW, NOTHING)] if table[name].isna().any() else []
    if isinstance(axis, Values):
        words = ticks(design, name)
        last = max(len(axis.values) - 1, 1)
        at = [place / last if len(axis.values) > 1 else 0.5 for place in words["tickvals"]]
        return marks + list(zip(at, words["ticktext"], strict=True))
    values: list[Any]
    if is_logarithmic(setting):
        low, high = math.log2(axis.low), math.log2(axis.high)
        exponents = np.arange(math.ceil(low), math.floor(high) + 1)
        shown = exponents[:: math.ceil(len(exponents) / 8)] if len(exponents) > 1 else [low, high]
        values = [2.0 ** float(one) for one in shown]
    else:
        values = sorted({type(axis.low)(place) for place in np.linspace(axis.low, axis.high, 5)})
    at = _share(design, name, values).tolist()
    return marks + [(place, value_words(setting, value)) for place, value in zip(at, values, strict=True)]
