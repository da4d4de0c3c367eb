"""Validation curves of a sweep: the metric against one setting, a line for each value of another."""

from __future__ import annotations

import pandas as pd
import plotly.graph_objects as go
from plotly.colors import sample_colorscale

from rankviz.plots.setting_words import on_a_scale, scale_title, setting_words, ticks, value_words
from rankviz.plots.style import CHOSEN_COLOUR, DATA_COLOUR, LOW_TO_HIGH, finished
from rankviz.sweeps.designs import Design
from rankviz.sweeps.worth import curves

BAND = "rgba(0, 158, 115, 0.16)"
"""`DATA_COLOUR`, translucent."""
MOST_LINES = 6


def data(
    design: Design, table: pd.DataFrame, metric: str, setting: str, lines: str | None = None
) -> pd.DataFrame:
    """The table of `rankviz.sweeps.worth.curves`, and "best": whether a row is on the line of the best cell.

    Of more than six lines those are kept whose best cells are. Raises `SettingError` as `curves`.
    """
    found = curves(design, table, metric, setting, lines)
    if lines is None or not len(found):
        return found.assign(best=True)
    tops = found.groupby(lines, sort=False)["mean"].max().sort_values(ascending=False)
    kept = found[found[lines].isin(tops.index[:MOST_LINES])]
    return kept.assign(best=kept[lines] == tops.index[0]).reset_index(drop=True)


def figure(
    table: pd.DataFrame, design: Design, metric: str, setting: str, lines: str | None = None
) -> go.Figure:
    """A line a value of `lines`; around that of the best cell a band over its folds, moved to one level."""
    fig = go.Figure()
    best = table[table["best"]]
    places = on_a_scale(design, setting, best[setting])
    fig.add_scatter(
        x=[*places, *places[::-1]],
        y=[*best["high"], *best["low"][::-1]],
        fill="toself",
        fillcolor=BAND,
        line={"width": 0},
        mode="lines",
        name="spread over folds" + (" of the best line" if lines else ""),
        hoverinfo="skip",
    )
    groups = list(table.groupby(lines, sort=False)) if lines else [(None, table)]
    tones = sample_colorscale(list(LOW_TO_HIGH), [k / max(len(groups) - 1, 1) for k in range(len(groups))])
    for (value, rows), tone in zip(groups, tones, strict=True):
        _add_line(fig, rows.reset_index(drop=True), design, metric, (setting, lines), value, tone)
    _mark_best(fig, table, design, setting)
    fig.update_xaxes(title_text=scale_title(design, setting), zeroline=False, **ticks(design, setting))
    fig.update_yaxes(title_text=f"mean {metric} over folds", tickformat=".3f")
    return finished(fig, height=430)


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
    colour = DATA_COLOUR if best else tone
    fig.add_scatter(
        x=on_a_scale(design, setting, rows[setting]),
        y=rows["mean"],
        name=label,
        mode="lines+markers",
        line={"color": colour, "width": 3 if best else 1.5},
        marker={"size": 7 if best else 5, "color": colour},
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
