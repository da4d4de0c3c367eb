"""Parallel coordinates of a sweep: a line a complete cell through its settings, coloured by the metric."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from rankviz.plots.setting_words import NOTHING, on_a_scale, setting_words, ticks, value_words
from rankviz.plots.style import LOW_TO_HIGH, finished
from rankviz.plots.sweep_map import colours_between
from rankviz.sweeps.axes import Range, Values, is_logarithmic
from rankviz.sweeps.designs import Design
from rankviz.sweeps.worth import cell_values


def data(design: Design, table: pd.DataFrame, metric: str) -> pd.DataFrame:
    """One row a complete cell, the best last: its settings, and "value", the mean on validation over folds.

    Raises `SettingError` for a metric that the table has not.
    """
    cells = cell_values(design, table, metric).drop(columns=["low", "high"])
    return cells.sort_values("value", kind="stable")


def figure(table: pd.DataFrame, design: Design, metric: str) -> go.Figure:
    """An axis a setting and one for the metric; on each a piece may be chosen by dragging.

    A cell that does not read a setting crosses its axis below all values, at "–".
    """
    ends = colours_between(table["value"])
    dimensions = [_dimension(table, design, name) for name in design.names]
    dimensions.append({"label": metric, "values": table["value"], "tickformat": ".3f"})
    fig = go.Figure(
        go.Parcoords(
            dimensions=dimensions,
            line={"color": table["value"], "colorscale": LOW_TO_HIGH, "cmin": ends[0], "cmax": ends[1]},
            labelangle=0,
        )
    )
    return finished(fig, height=420, margin={"l": 110, "r": 50, "t": 60, "b": 30})


def _dimension(table: pd.DataFrame, design: Design, name: str) -> dict[str, Any]:
    """One axis; its ticks say values as they are, whatever stands for them."""
    values, setting, axis = on_a_scale(design, name, table[name]), design.settings[name], design.axis(name)
    ends = (axis.low, axis.high) if isinstance(axis, Range) else axis.values
    places = on_a_scale(design, name, ends)
    low, span = float(places.min()), float(np.ptp(places)) or 1.0
    marks, below = _ticks(design, name), low - span / 8
    if values.isna().any():
        marks = [(below, NOTHING), *marks]
    return {
        "label": setting_words(setting),
        "values": values.fillna(below),
        "tickvals": [place for place, _ in marks],
        "ticktext": [words for _, words in marks],
        "range": [below if values.isna().any() else low, low + span],
    }


def _ticks(design: Design, name: str) -> list[tuple[float, str]]:
    """Places and words of ticks: of a list at most ten values; of a range whole powers where it has some."""
    setting, axis = design.settings[name], design.axis(name)
    if isinstance(axis, Values):
        told = ticks(design, name)
        return [(float(place), words) for place, words in zip(*told.values(), strict=True)]
    low, high = on_a_scale(design, name, [axis.low, axis.high])
    if not is_logarithmic(setting):
        places = sorted({type(axis.low)(place) for place in np.linspace(low, high, 5)})
        return [(float(place), value_words(setting, place)) for place in places]
    exponents = np.arange(math.ceil(low), math.floor(high) + 1)
    if len(exponents) < 2:
        return [(place, value_words(setting, 2.0**place)) for place in (low, high)]
    shown = exponents[:: math.ceil(len(exponents) / 8)]
    return [(float(place), value_words(setting, 2.0 ** int(place))) for place in shown]
