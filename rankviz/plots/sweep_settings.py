"""Effects of a sweep's settings: validation curves, parallel coordinates, and the worth of each setting.

Parallel coordinates are ordinary lines: Plotly's own need WebGL, which browsers without a graphics card lack.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from plotly.colors import hex_to_rgb, sample_colorscale
from plotly.subplots import make_subplots

from rankviz.common.numbers import exact, power_of_two, span
from rankviz.common.settings import Powers, Setting
from rankviz.features.registry import FEATURE_MAP
from rankviz.metrics.formulas import direction
from rankviz.metrics.significance import leader
from rankviz.plots.style import (
    AT_THE_TOP,
    CHOSEN_COLOUR,
    DATA_COLOUR,
    EVEN_COLOUR,
    LOW_TO_HIGH,
    add_band,
    add_marks,
    add_note,
    colour_range,
    finished,
    ring,
    style_of,
    verbatim,
)
from rankviz.runs.axes import Range, Values, is_logarithmic
from rankviz.runs.designs import Design
from rankviz.runs.sweep_table import cell_values, curves, settings_of, shares, worth

CLIPPED, STEP = 0.25, 0.005
"""A quarter of the cells shares the worst colour, which leaves contrast for the better ones."""
MOST_TICKS = 10
NO_VALUE_TEXT = "–"
"""The value of a setting that is not read, or is None."""


def value_text(setting: Setting, value: Any) -> str:
    """Format a value alone, for ticks: "2⁻⁷", "RBF", "500"."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return NO_VALUE_TEXT
    if isinstance(value, str) and value in setting.options:
        return verbatim(str(setting.options[value].label))
    if isinstance(value, float):
        power = isinstance(setting.offer, Powers) and math.frexp(value)[0] == 0.5
        return power_of_two(value) if power else exact(float(f"{value:.3g}"))
    return verbatim(str(value))


def setting_name(setting: Setting) -> str:
    """Return a setting's name for axes and legends: its label if it has options, else its symbol."""
    return setting.label if setting.options else setting.symbol


def axis_positions(design: Design, name: str, values: Iterable[Any]) -> pd.Series[float]:
    """Return numbers for the values of an axis: log₂ on a logarithmic range, the place in a list.

    NaN for a cell that does not read the setting.
    """
    axis = design.axis(name)
    if isinstance(axis, Range):
        numbers = pd.Series(list(values), dtype=object).astype(float)
        by_powers = is_logarithmic(design.settings[name])
        return numbers.map(math.log2, na_action="ignore") if by_powers else numbers
    places = {value: float(place) for place, value in enumerate(listed_values(design, name))}
    return pd.Series([places.get(value, math.nan) for value in values], dtype=float)


def listed_values(design: Design, name: str) -> list[Any]:
    """Return the listed values of an axis, numbers by size; empty for a range."""
    axis = design.axis(name)
    return [] if isinstance(axis, Range) else list(axis.ordered)


def axis_title(design: Design, name: str) -> str:
    """Return the title of an axis of `axis_positions`."""
    return setting_name(design.settings[name])


def axis_ticks(design: Design, name: str) -> dict[str, Any]:
    """Return ticks of an axis of `axis_positions`: at most ten listed values, or powers."""
    values, setting, axis = listed_values(design, name), design.settings[name], design.axis(name)
    if isinstance(axis, Range) and is_logarithmic(setting):
        exponents = _exponents(axis)
        return {"tickvals": exponents, "ticktext": [value_text(setting, 2.0**one) for one in exponents]}
    shown = range(0, len(values), max(math.ceil(len(values) / MOST_TICKS), 1))
    words = [value_text(setting, values[place]) for place in shown]
    return {"tickvals": list(shown), "ticktext": words} if values else {}


def _exponents(axis: Range) -> list[float]:
    """Return at most eight exponents of powers of two within a range; its ends if there is at most one."""
    low, high = math.log2(axis.low), math.log2(axis.high)
    whole = [float(one) for one in range(math.ceil(low), math.floor(high) + 1)]
    return whole[:: math.ceil(len(whole) / 8)] if len(whole) > 1 else [low, high]


def colours_between(values: pd.Series[float], metric: str) -> list[float]:
    """Return the colour range of cells."""
    return colour_range(values, metric, CLIPPED, STEP) if len(values) else [0.0, 1.0]


def from_worst_to_best(metric: str) -> list[str]:
    """Return the colours of rising values: the best value has the last colour of `LOW_TO_HIGH`."""
    return list(LOW_TO_HIGH[:: direction(metric)])


MOST_LINES = 6


def curves_data(
    design: Design, table: pd.DataFrame, metric: str, setting: str, lines: str | None = None
) -> pd.DataFrame:
    """Return the table of `rankviz.runs.sweep_table.curves`, and "best": True on the best cell's line.

    Of more than six lines, keep those with the best cells. Raises `SettingError` as `curves`.
    """
    found = curves(design, table, metric, setting, lines)
    if lines is None or not len(found):
        return found.assign(best=True)
    best = found.groupby(lines, sort=False)["mean"].agg("max" if direction(metric) > 0 else "min")
    tops = best.sort_values(ascending=direction(metric) < 0)
    kept = found[found[lines].isin(tops.index[:MOST_LINES])]
    return kept.assign(best=kept[lines] == tops.index[0]).reset_index(drop=True)


def planned_curve(design: Design, metric: str, setting: str) -> tuple[pd.DataFrame, go.Figure]:
    """Return the planned values of a setting, and their figure, before any run is finished."""
    table, fig = settings_of(design)[[setting]].dropna().drop_duplicates(), go.Figure()
    look = {"symbol": "square-open", "size": 14, "color": EVEN_COLOUR, "line": {"width": 1}}
    add_marks(fig, axis_positions(design, setting, table[setting]), [0] * len(table), look)
    _add_axes(fig, design, metric, setting)
    return table, finished(fig.update_yaxes(tickvals=[], zeroline=False), height=430)


def curves_figure(
    table: pd.DataFrame, design: Design, metric: str, setting: str, lines: str | None = None
) -> go.Figure:
    """Draw a line per value of `lines`; the best one has a band over its folds, moved to one level."""
    fig = go.Figure()
    groups = list(table.groupby(lines, sort=False)) if lines else [(None, table)]
    tones = _tones(lines, [value for value, _ in groups])
    for (_, rows), tone in zip(groups, tones, strict=True):
        if rows["best"].any() and len(design.folds) > 1:
            places, colour = axis_positions(design, setting, rows[setting]), tone[4:-1]
            name = "spread over folds, of the best"
            shade = f"rgba({colour}, 0.2)"
            add_band(fig, places, rows["high"], rows["low"], shade, name=name, showlegend=None)
    for (value, rows), tone in zip(groups, tones, strict=True):
        _add_line(fig, rows, design, metric, (setting, lines), value, tone)
    if len(table):
        row = table.loc[[leader(table["mean"], metric)]]
        x = axis_positions(design, setting, row[setting])
        fig.add_scatter(x=x, y=row["mean"], mode="markers", name="best", marker=ring(15), hoverinfo="skip")
    _add_axes(fig, design, metric, setting)
    return finished(fig, height=430, legend=AT_THE_TOP)


def _add_axes(fig: go.Figure, design: Design, metric: str, setting: str) -> None:
    fig.update_xaxes(title_text=axis_title(design, setting), zeroline=False, **axis_ticks(design, setting))
    fig.update_yaxes(title_text=f"mean {metric} over folds", tickformat=".3f")


def _tones(lines: str | None, values: list[Any]) -> list[str]:
    """Return colours of lines: feature maps keep their own, others run from low to high."""
    if lines is None:
        return [f"rgb{hex_to_rgb(DATA_COLOUR)}"]
    if lines == FEATURE_MAP.name:
        return [f"rgb{hex_to_rgb(style_of(value).colour)}" for value in values]
    places = [k / max(len(values) - 1, 1) for k in range(len(values))]
    tones: list[str] = sample_colorscale(list(LOW_TO_HIGH), places)
    return tones


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
    label = metric if lines is None else _assignment(design, lines, value)
    words = [value_text(own, one) for one in rows[setting]]
    best = bool(rows["best"].all())
    spread = [span(*ends, ".4f") for ends in zip(rows["low"], rows["high"], strict=True)]
    moved = "<br>folds, moved to one level, %{customdata[1]}" if len(design.folds) > 1 else ""
    fig.add_scatter(
        x=axis_positions(design, setting, rows[setting]),
        y=rows["mean"],
        name=label,
        mode="lines+markers",
        line={"color": tone, "width": 3.5 if best else 1.5},
        marker={"size": 7 if best else 5, "color": tone},
        customdata=list(zip(words, spread, rows["cells"], strict=True)),
        hovertemplate=f"{label}<br>{setting_name(own)} = %{{customdata[0]}}: {metric} %{{y:.4f}}"
        f"{moved}<br>best of %{{customdata[2]}} cells<extra></extra>",
    )


def _assignment(design: Design, name: str, value: object) -> str:
    """Format a setting with a value: "C = 2⁻⁷"."""
    setting = design.settings[name]
    return f"{setting_name(setting)} = {value_text(setting, value)}"


TONES = 16
"""Number of line colours: one trace each."""
BELOW = -0.12
"""Crossing point on the axis of an unread setting."""
METRIC_TICKS = 5


def parallel_data(design: Design, table: pd.DataFrame, metric: str) -> pd.DataFrame:
    """Return one row per complete cell, the best last: settings, and "value", the validation mean over folds.

    Raises `SettingError` for a metric that is not in the table.
    """
    cells = cell_values(design, table, metric).drop(columns=["low", "high"])
    return cells.sort_values("value", ascending=direction(metric) > 0, kind="stable")


def parallel_figure(table: pd.DataFrame, design: Design, metric: str) -> go.Figure:
    """Draw an axis per setting and one for the metric, each from 0 to 1; the best cell is thick.

    A cell that does not read a setting crosses its axis below all values, at "–".
    """
    fig = go.Figure()
    ends = colours_between(table["value"], metric)
    places = _places(table, design)
    shares = ((table["value"] - ends[0]) / ((ends[1] - ends[0]) or 1.0)).clip(0, 1)
    tones = (shares * (TONES - 1)).round().astype(int)
    colours = sample_colorscale(from_worst_to_best(metric), [tone / (TONES - 1) for tone in range(TONES)])
    words = [
        ", ".join(_assignment(design, name, row[name]) for name in design.names)
        + f"<br>{metric} {row['value']:.4f}"
        for _, row in table.iterrows()
    ]
    for tone in sorted(set(tones))[:: direction(metric)]:  # the best last, above the others
        rows = np.flatnonzero(tones == tone)
        _add_lines(fig, places[rows], [words[row] for row in rows], colours[tone], 1.2)
    if len(table):
        _add_lines(fig, places[-1:], words[-1:], CHOSEN_COLOUR, 3.5)
    names = [*(setting_name(design.settings[name]) for name in design.names), metric]
    marks = [*(_ticks(design, table, name) for name in design.names), _metric_ticks(table)]
    for place, ticks in enumerate(marks):
        fig.add_vline(place, line={"width": 1, "color": "#8a8a8a"}, layer="below")
        side, shift = ("right", -6) if place < len(names) - 1 else ("left", 6)  # where no line crosses them
        for at, text in ticks:
            add_note(fig, text, place, at, side, None, xshift=shift)
    fig.update_xaxes(
        tickvals=list(range(len(names))),
        ticktext=names,
        side="top",
        range=[-0.35, len(names) - 0.65],
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
    ends = axis_positions(design, name, (axis.low, axis.high) if isinstance(axis, Range) else axis.values)
    low, span = float(ends.min()), float(np.ptp(ends))
    found = axis_positions(design, name, values).to_numpy(float)
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


def _metric_ticks(table: pd.DataFrame) -> list[tuple[float, str]]:
    low, high = (float(end) for end in (table["value"].min(), table["value"].max()))
    if not len(table) or low == high:
        return [(0.5, f"{low:.3f}")] if len(table) else []
    return [(share, f"{low + share * (high - low):.3f}") for share in np.linspace(0, 1, METRIC_TICKS)]


def _ticks(design: Design, table: pd.DataFrame, name: str) -> list[tuple[float, str]]:
    """Return ticks: at most ten values of a list; whole powers of a range if it has any."""
    setting, axis = design.settings[name], design.axis(name)
    marks = [(BELOW, NO_VALUE_TEXT)] if table[name].isna().any() else []
    if isinstance(axis, Values):
        words = axis_ticks(design, name)
        last = max(len(axis.values) - 1, 1)
        at = [place / last if len(axis.values) > 1 else 0.5 for place in words["tickvals"]]
        return marks + list(zip(at, words["ticktext"], strict=True))
    values: list[Any]
    if is_logarithmic(setting):
        values = [2.0**one for one in _exponents(axis)]
    else:
        values = sorted({type(axis.low)(place) for place in np.linspace(axis.low, axis.high, 5)})
    at = _share(design, name, values).tolist()
    return marks + [(place, value_text(setting, value)) for place, value in zip(at, values, strict=True)]


COLUMNS = 2
ROW = 260
"""Height of a row of panels in pixels."""


def worth_data(design: Design, table: pd.DataFrame, metric: str) -> pd.DataFrame:
    """Return the table of `rankviz.runs.sweep_table.worth` with each setting's variance share: share, exact.

    Settings with the largest share come first. Raises `SettingError` for a metric that is not in the table.
    """
    shown = shares(design, table, metric)
    joined = worth(design, table, metric).merge(shown, on="setting", how="left")
    order = shown.sort_values("share", ascending=False, kind="stable")["setting"].tolist()
    return joined.sort_values(
        "setting", key=lambda names: names.map(order.index), kind="stable", ignore_index=True
    )


def worth_figure(table: pd.DataFrame, design: Design, metric: str) -> go.Figure:
    """Draw the best cell per value filled, the mean hollow, all panels on one scale."""
    names = list(dict.fromkeys(table["setting"]))
    columns = min(COLUMNS, max(len(names), 1))
    rows = max(math.ceil(len(names) / columns), 1)
    titles = [_title(table, design, name) for name in names]
    spacing = {"vertical_spacing": 0.45 / rows, "horizontal_spacing": 0.04}
    fig = make_subplots(rows, columns, shared_yaxes="all", subplot_titles=titles, **spacing)
    for place, name in enumerate(names):
        at = {"row": place // columns + 1, "col": place % columns + 1}
        own = _separate_unread(table[table["setting"] == name])
        words = [value_text(design.settings[name], value) for value in own["value"]]
        for column, symbol in (("best", "circle"), ("mean", "circle-open")):
            fig.add_scatter(
                x=words,
                y=own[column],
                name=f"{column} of the cells with this value",
                legendgroup=column,
                showlegend=place == 0,
                mode="markers" if design.settings[name].options else "lines+markers",
                line={"color": DATA_COLOUR, "width": 1.5, "dash": "solid" if column == "best" else "dot"},
                marker={"symbol": symbol, "size": 9, "color": DATA_COLOUR},
                customdata=own["cells"],
                hovertemplate=f"{setting_name(design.settings[name])} = %{{x}}: {column} {metric} %{{y:.4f}}"
                " of %{customdata} cells<extra></extra>",
                **at,
            )
        fig.update_xaxes(type="category", nticks=10, **at)
    for row in range(1, rows + 1):
        fig.update_yaxes(title_text=f"mean {metric}", tickformat=".3f", row=row, col=1)
    fig.update_annotations(font_size=12)
    return finished(
        fig,
        height=110 + ROW * rows,
        margin={"l": 60, "r": 10, "t": 95, "b": 40},
        legend=AT_THE_TOP,
    )


def _separate_unread(rows: pd.DataFrame) -> pd.DataFrame:
    """Put the cells that do not read the setting after a gap, so that no line joins them."""
    unread = rows["value"].isna()
    gap = rows[unread].assign(best=math.nan, mean=math.nan)
    return pd.concat([rows[~unread], gap, rows[unread]]) if unread.any() else rows


def _title(table: pd.DataFrame, design: Design, name: str) -> str:
    """Title a panel with the setting and its share of the variance."""
    row = table[table["setting"] == name].iloc[0]
    symbol = setting_name(design.settings[name])
    if math.isnan(row["share"]):
        return symbol
    about = "" if row["exact"] else "about "
    return f"{symbol}<br>{about}{100 * row['share']:.0f} % of variance"
