"""Validation curves of a sweep: the metric against one setting, a line per value of another."""

from __future__ import annotations

from typing import Any

import pandas as pd
import plotly.graph_objects as go
from plotly.colors import hex_to_rgb, sample_colorscale

from rankviz.models.settings import FEATURE_MAP
from rankviz.plots.setting_words import on_a_scale, scale_title, setting_words, ticks, value_words
from rankviz.plots.style import CHOSEN_COLOUR, DATA_COLOUR, LOW_TO_HIGH, finished, style_of
from rankviz.runs.designs import Design
from rankviz.runs.worth import curves

MOST_LINES = 6


def data(
    design: Design, table: pd.DataFrame, metric: str, setting: str, lines: str | None = None
) -> pd.DataFrame:
    """Return the table of `rankviz.runs.worth.curves`, and "best": True on the best cell's line.

    Of more than six lines, keep those with the best cells. Raises `SettingError` as `curves`.
    """
    found = curves(design, table, metric, setting, lines)
    if lines is None or not len(found):
        return found.assign(best=True)
    tops = found.groupby(lines, sort=False)["mean"].max().sort_values(ascending=False)
    kept = found[found[lines].isin(tops.index[:MOST_LINES])]
    return kept.assign(best=kept[lines] == tops.index[0]).reset_index(drop=True)


def nothing(setting: str) -> pd.DataFrame:
    """Return the table of `data` before any run is finished."""
    return pd.DataFrame(columns=[setting, "mean", "low", "high", "cell", "cells", "best"]).astype(
        dict.fromkeys(("mean", "low", "high"), float)
    )


def figure(
    table: pd.DataFrame, design: Design, metric: str, setting: str, lines: str | None = None
) -> go.Figure:
    """Draw a line per value of `lines`; the best one has a band over its folds, moved to one level."""
    fig = go.Figure()
    groups = list(table.groupby(lines, sort=False)) if lines else [(None, table)]
    tones = _tones(lines, [value for value, _ in groups])
    for (_, rows), tone in zip(groups, tones, strict=True):
        if rows["best"].any():
            _add_band(fig, rows, design, setting, tone)
    for (value, rows), tone in zip(groups, tones, strict=True):
        _add_line(fig, rows, design, metric, (setting, lines), value, tone)
    _mark_best(fig, table, design, setting)
    fig.update_xaxes(title_text=scale_title(design, setting), zeroline=False, **ticks(design, setting))
    fig.update_yaxes(title_text=f"mean {metric} over folds", tickformat=".3f")
    return finished(fig, height=430)


def _tones(lines: str | None, values: list[Any]) -> list[str]:
    """Return colours of lines: feature maps keep their own, others run from low to high."""
    if lines is None:
        return [f"rgb{hex_to_rgb(DATA_COLOUR)}"]
    if lines == FEATURE_MAP.name:
        return [f"rgb{hex_to_rgb(style_of(value).colour)}" for value in values]
    places = [k / max(len(values) - 1, 1) for k in range(len(values))]
    tones: list[str] = sample_colorscale(list(LOW_TO_HIGH), places)
    return tones


def _add_band(fig: go.Figure, rows: pd.DataFrame, design: Design, setting: str, tone: str) -> None:
    places = on_a_scale(design, setting, rows[setting])
    fig.add_scatter(
        x=[*places, *places[::-1]],
        y=[*rows["high"], *rows["low"][::-1]],
        fill="toself",
        fillcolor=tone.replace("rgb(", "rgba(").replace(")", ", 0.2)"),
        line={"width": 0},
        mode="lines",
        name="spread over folds, of the best",
        hoverinfo="skip",
    )


def _add_line(
    fig: go.Figure,
    rows: pd.DataFrame,
    design: Design,
    metric: str,
    names: tuple[str, str | None],
    value: object,
    tone: str,
) -> None:
    setting, lines = names
    own = design.settings[setting]
    label = metric if lines is None else _label(design, lines, value)
    words = [value_words(own, one) for one in rows[setting]]
    best = bool(rows["best"].all())
    fig.add_scatter(
        x=on_a_scale(design, setting, rows[setting]),
        y=rows["mean"],
        name=label,
        mode="lines+markers",
        line={"color": tone, "width": 3.5 if best else 1.5},
        marker={"size": 7 if best else 5, "color": tone},
        customdata=list(zip(words, rows["low"], rows["high"], rows["cells"], strict=True)),
        hovertemplate=f"{label}<br>{setting_words(own)} = %{{customdata[0]}}: {metric} %{{y:.4f}}"
        "<br>folds, moved to one level, %{customdata[1]:.4f} to %{customdata[2]:.4f}<br>"
        "best of %{customdata[3]} cells<extra></extra>",
    )


def _label(design: Design, name: str, value: object) -> str:
    setting = design.settings[name]
    return f"{setting_words(setting)} = {value_words(setting, value)}"


def _mark_best(fig: go.Figure, table: pd.DataFrame, design: Design, setting: str) -> None:
    if not len(table):
        return
    row = table.loc[[table["mean"].idxmax()]]
    marker = {"symbol": "circle-open", "size": 15, "color": CHOSEN_COLOUR, "line": {"width": 3}}
    x = on_a_scale(design, setting, row[setting])
    fig.add_scatter(x=x, y=row["mean"], mode="markers", name="best", marker=marker, hoverinfo="skip")
