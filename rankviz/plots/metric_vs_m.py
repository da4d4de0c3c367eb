"""Metrics, and distances to the exact model, against the number of features m."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from rankviz.features import FEATURE_MAPS
from rankviz.plots.style import (
    EVEN_COLOUR,
    GUIDE,
    add_band,
    add_line,
    add_note,
    approximations,
    error_bars,
    finished,
    line_of,
    metric_range,
    powers_axis,
    style_of,
    translucent,
)
from rankviz.runs.description import look_of, method_label
from rankviz.runs.record import RunRecord, training_seconds
from rankviz.runs.spec import RunSpec

AXES = {"m": "number of features m (log scale)", "seconds": "training seconds (log scale)"}
_SHORT = {"m": "features m (log)", "seconds": "training seconds (log)"}
_COLUMNS = ["metric", "method", "label", "m", "fold", "seed", "value", "seconds", "spec"]


def metric_data(
    records: Iterable[RunRecord], part: str, metrics: Sequence[str] = ("NDCG@10",)
) -> pd.DataFrame:
    """Return mean metrics of each run on a part.

    Columns metric, method (its look), label, m, fold, seed, value, seconds, spec (its hash). m is 0 except
    for RankSVM on an approximation: for the linear model, the exact kernel, other methods.
    """
    curves = approximations()
    rows = [
        (
            metric,
            look_of(record.spec),
            label_of(record.spec),
            record.spec.get("n_components", 0) if look_of(record.spec) in curves else 0,
            record.spec.fold,
            record.spec.get("seed", 0),
            float(record.metrics[part][metric].mean()),
            training_seconds(record),
            record.spec.hash,
        )
        for record in records
        for metric in metrics
    ]
    return pd.DataFrame(rows, columns=_COLUMNS)


def label_of(spec: RunSpec) -> str:
    """Label a curve or a level; a level shows its own m, or that it has none.

    "Nyström", "linear (no m)", "factorised RankSVM, 5 factors, m = 50".
    """
    look = look_of(spec)
    name = style_of(look).name if look in FEATURE_MAPS else method_label(spec)
    if look in approximations():
        return name
    return f"{name}, m = {spec.n_components}" if spec.offers.components else f"{name} (no m)"


def curves(table: pd.DataFrame) -> pd.DataFrame:
    """Summarise folds and seeds: metric, method, label, m, mean, low, high, runs, seconds (median), spec."""
    grouped = table.groupby(["metric", "method", "label", "m"], sort=False)
    values = grouped["value"]
    columns = {"mean": values.mean(), "low": values.min(), "high": values.max(), "runs": values.size()}
    columns |= {"seconds": grouped["seconds"].median(), "spec": grouped["spec"].first()}
    return pd.DataFrame(columns).reset_index()  # `agg` with names takes twice as long


def metric_figure(
    table: pd.DataFrame, current: int | None = None, grid: Sequence[int] = (), x: str = "m"
) -> go.Figure:
    """Draw one panel per metric over m or seconds; bands show the range of runs.

    `current` marks the selected m, even without a point there. The axis spans `grid` if given, and so stays
    fixed while the curve grows. Against seconds a bar at each point replaces the band, as seconds vary too.
    """
    metrics, lines = list(dict.fromkeys(table["metric"])), curves(table)
    columns = min(2, max(1, len(metrics)))
    rows = math.ceil(max(1, len(metrics)) / columns)
    titles = metrics if len(metrics) > 1 else None
    fig = make_subplots(rows, columns, subplot_titles=titles, vertical_spacing=0.18, horizontal_spacing=0.1)
    ends = _ends(lines, [*grid, *filter(None, [current])], x)
    for panel, metric in enumerate(metrics):
        place: dict[str, Any] = {"row": panel // columns + 1, "col": panel % columns + 1}
        shown = lines[lines["metric"] == metric]
        _panel(fig, shown, metric, ends, x, place, legend=panel == 0)
        if current is not None and x == "m" and (shown["m"] > 0).any():
            fig.add_vline(x=current, line=GUIDE, **place)
            side = "right" if current > math.sqrt(ends[0] * ends[1]) else "left"  # more space there
            add_note(fig, f" m = {current} ", math.log10(current), 0, side, yref="y domain", **place)
    if x == "m" and (lines.loc[lines["m"] > 0, "runs"] > 1).any():
        square = {"symbol": "square", "size": 13, "color": "rgba(128, 128, 128, 0.35)"}
        name = "bands: lowest to highest run"  # not intervals of the mean
        fig.add_scatter(x=[None], y=[None], mode="markers", marker=square, name=name, hoverinfo="skip")
    if len(metrics) == 1:
        fig.update_yaxes(title_text=f"mean {metrics[0]} over queries")
    _axis(fig, lines, grid, x, ends)
    fig.update_xaxes(title_text=(AXES if columns == 1 else _SHORT)[x], row=rows)
    height, legend = (440, 1.02) if rows == 1 else (330 * rows + 60, 1.06)
    return finished(fig, height=height, legend_y=legend)


def _ends(lines: pd.DataFrame, grid: Sequence[int], x: str) -> tuple[float, float]:
    """Return the ends of the axis."""
    drawn = lines[lines["seconds"] > 0] if x == "seconds" else lines[lines["m"] > 0]
    values = [*drawn[x], *(grid if x == "m" else ())] or [1.0, 2.0]
    return float(min(values)), float(max(values))


def _axis(
    fig: go.Figure, lines: pd.DataFrame, grid: Sequence[int], x: str, ends: tuple[float, float]
) -> None:
    low, high = (math.log10(max(end, 1e-4)) for end in ends)
    room = max(0.06, 0.02 * (high - low))
    fig.update_xaxes(type="log", range=[low - room, high + room])
    if x == "m":
        drawn = lines.loc[lines["m"] > 0, "m"]
        fig.update_xaxes(tickvals=sorted(set(grid) or set(drawn)))
    else:
        fig.update_xaxes(dtick="D2", tickformat="~g")


def _panel(
    fig: go.Figure,
    lines: pd.DataFrame,
    metric: str,
    ends: tuple[float, float],
    x: str,
    place: dict[str, Any],
    *,
    legend: bool,
) -> None:
    for _, level in lines[lines["m"] == 0].iterrows():
        _level(fig, level, ends, x, place, legend=legend)
    for place_in_turn, (method, line) in enumerate(lines[lines["m"] > 0].groupby("method", sort=False)):
        rising = line.sort_values("m")
        if x == "m" and rising["runs"].max() > 1:
            colour, group = translucent(str(method)), str(method)
            add_band(fig, rising["m"], rising["low"], rising["high"], colour, legendgroup=group, **place)
        _line(fig, str(method), rising, x, place, legend=legend, above=place_in_turn == 0)
    span = metric_range(lines["low"].min(), lines["high"].max(), metric)
    fig.update_yaxes(range=span, tickformat=".2f", **place)


def _level(
    fig: go.Figure,
    level: pd.Series,
    ends: tuple[float, float],
    x: str,
    place: dict[str, Any],
    *,
    legend: bool,
) -> None:
    """Add a model's level across the panel, with a marker at its seconds or at the right end."""
    method, name, style = str(level["method"]), str(level["label"]), line_of(str(level["method"]))
    timed = level["seconds"] > 0
    at = float(level["seconds"]) if x == "seconds" and timed else ends[1]
    style["marker"]["size"] = [0, 9 if timed or x == "m" else 0, 0]
    about = [level["spec"], level["low"], level["high"], level["runs"], level["seconds"]]
    fig.add_scatter(
        x=[ends[0], at, ends[1]],
        y=[float(level["mean"])] * 3,
        name=name,
        legendgroup=method,
        showlegend=legend,
        mode="lines+markers",
        customdata=[about] * 3,
        hovertemplate=_hover(name, str(level["metric"]), timed=bool(timed), several=level["runs"] > 1),
        **style,
        **place,
    )


def _hover(name: str, metric: str, m: str = "", *, timed: bool = True, several: bool = True) -> str:
    seconds = "<br>trained in %{customdata[4]:.3g} s (median)" if timed else ""
    ranged = (
        ", from %{customdata[1]:.4f} to %{customdata[2]:.4f} over %{customdata[3]} runs" if several else ""
    )
    return f"{name}{m}<br>{metric} = %{{y:.4f}}{ranged}{seconds}<extra></extra>"


def _line(
    fig: go.Figure,
    method: str,
    line: pd.DataFrame,
    x: str,
    place: dict[str, Any],
    *,
    legend: bool,
    above: bool,
) -> None:
    name = style_of(method).name
    several = bool(line["runs"].max() > 1)
    look = {"thickness": 1, "width": 3, "visible": x == "seconds" and several}
    fig.add_scatter(
        x=line[x],
        y=line["mean"],
        name=name,
        legendgroup=method,
        showlegend=legend,
        mode="lines+markers+text" if x == "seconds" else "lines+markers",
        text=[f"m = {m}" if m in (line["m"].min(), line["m"].max()) else "" for m in line["m"]],
        textposition="top left" if above else "bottom right",  # without overlap
        textfont={"color": style_of(method).colour},
        cliponaxis=False,
        error_y=error_bars(line["mean"], line["low"], line["high"], **look),
        customdata=line[["spec", "low", "high", "runs", "seconds", "m"]],
        hovertemplate=_hover(name, str(line["metric"].iloc[0]), ", m = %{customdata[5]}", several=several),
        **line_of(method),
        **place,
    )


MEASURES = {"tau": "Kendall's τ to the exact ranking", "overlap": "share of the exact first 10"}
LEAST_DISTANCE = 1e-12
"""Smallest drawn distance of objectives."""
NEAR = 100
"""The tolerance is drawn if a distance is below this many times it."""
_KEYS = ["map", "m"]
_QUARTILES = {"q25": 0.25, "median": 0.5, "q75": 0.75}


def agreement_data(errors: pd.DataFrame) -> pd.DataFrame:
    """Average quartiles over queries across seeds: map, m, measure, q25, median, q75, low, high, seeds.

    `errors` is the result of `reference_runs.ranking_error_table`; low and high are the least and the
    greatest median of a seed. Queries without a τ are left out.
    """
    long = errors.melt([*_KEYS, "seed", "query"], list(MEASURES), "measure", "value").dropna(subset="value")
    by_seed = long.groupby([*_KEYS, "measure", "seed"], sort=False)["value"]
    quartiles = {name: by_seed.quantile(share) for name, share in _QUARTILES.items()}
    each = pd.DataFrame(quartiles).reset_index()
    return (
        each.groupby([*_KEYS, "measure"], sort=False)
        .agg(
            q25=("q25", "mean"),
            median=("median", "mean"),
            q75=("q75", "mean"),
            low=("median", "min"),
            high=("median", "max"),
            seeds=("seed", "nunique"),
        )
        .reset_index()
    )


def agreement_figure(
    table: pd.DataFrame, measure: str, grid: Sequence[int], current: int | None = None
) -> go.Figure:
    """Draw the median over queries as a line, its range over seeds as a band, the quartiles thin."""
    fig = go.Figure()
    rows = table[table["measure"] == measure]
    for name, line in rows.groupby("map", sort=False):
        _method(fig, str(name), line.sort_values("m"), measure)
    nowhere: dict[str, Any] = {"x": [None], "y": [None]}
    thin = {"color": EVEN_COLOUR, "width": 1}
    fig.add_scatter(**nowhere, mode="lines", name="thin: quartiles over queries", line=thin)
    if len(rows) and rows["seeds"].max() > 1:
        square = {"color": EVEN_COLOUR, "symbol": "square", "size": 12, "opacity": 0.4}
        fig.add_scatter(**nowhere, mode="markers", name="band: medians of the seeds", marker=square)
    low = min(0.0, math.floor(10 * float(rows["q25"].min())) / 10) if len(rows) else 0.0
    return _over_m(fig, grid, current, yaxis={"title": MEASURES[measure], "range": [low - 0.03, 1.05]})


def _method(fig: go.Figure, name: str, line: pd.DataFrame, measure: str) -> None:
    style, method = line_of(name), style_of(name)
    if line["seeds"].max() > 1:
        add_band(fig, line["m"], line["low"], line["high"], translucent(name, 0.25), legendgroup=name)
    for quartile in ("q25", "q75"):
        add_line(fig, line["m"], line[quartile], method.colour, dash=None, opacity=0.7, legendgroup=name)
    fig.add_scatter(
        x=line["m"],
        y=line["median"],
        name=method.name,
        legendgroup=name,
        mode="lines+markers",
        customdata=line[["q25", "q75", "low", "high", "seeds"]],
        hovertemplate=(
            f"{method.name}, m = %{{x}}<br>median {'τ' if measure == 'tau' else 'share'} %{{y:.3f}}, "
            "middle half of the queries %{customdata[0]:.3f} to %{customdata[1]:.3f}<br>"
            "medians of %{customdata[4]} seed(s) %{customdata[2]:.3f} to %{customdata[3]:.3f}<extra></extra>"
        ),
        **style,
    )


def objective_data(table: pd.DataFrame) -> pd.DataFrame:
    """Summarise distances of objectives over seeds: map, m, distance (mean), low, high, seeds.

    `table` is the result of `rankviz.analysis.reference_runs.objective_table`.
    """
    grouped = table.groupby(_KEYS, sort=False)["distance"]
    return grouped.agg(distance="mean", low="min", high="max", seeds="size").reset_index()


def objective_figure(
    table: pd.DataFrame, tol: float, grid: Sequence[int], current: int | None = None
) -> go.Figure:
    """Draw |F̃ − F|/F on a log axis, hollow if F̃ is lower, and the tolerance if near."""
    fig = go.Figure()
    for name, line in table.groupby("map", sort=False):
        _distance(fig, str(name), line.sort_values("m"))
    sizes = table["distance"].abs().clip(lower=LEAST_DISTANCE)
    low, high = (float(sizes.min()), float(sizes.max())) if len(table) else (1e-2, 1.0)
    if low < NEAR * tol:
        low = min(low, tol)
        fig.add_hline(y=tol, line=GUIDE)
        add_note(fig, "tolerance", 0, math.log10(tol), xref="paper")
    ends: list[float] = [math.floor(math.log10(low) - 0.1), math.ceil(math.log10(high) + 0.1)]
    return _over_m(fig, grid, current, yaxis=powers_axis("distance of objectives |F̃ − F| / F", ends))


def _distance(fig: go.Figure, name: str, line: pd.DataFrame) -> None:
    style, method = line_of(name), style_of(name)
    symbol = style["marker"]["symbol"]
    style["marker"]["symbol"] = np.where(line["distance"] < 0, f"{symbol}-open", symbol)
    several = line["seeds"].max() > 1
    ranged = (
        ", from %{customdata[1]:.3g} to %{customdata[2]:.3g} over %{customdata[3]} runs" if several else ""
    )
    fig.add_scatter(
        x=line["m"],
        y=line["distance"].abs().clip(lower=LEAST_DISTANCE),
        name=method.name,
        mode="lines+markers",
        customdata=line[["distance", "low", "high", "seeds"]],
        hovertemplate=f"{method.name}, m = %{{x}}<br>(F̃ − F)/F = %{{customdata[0]:.3g}}"
        f"{ranged}<extra></extra>",
        **style,
    )


def _over_m(fig: go.Figure, grid: Sequence[int], current: int | None, **layout: Any) -> go.Figure:
    """Finish both figures: the logarithmic axis of m, and the selected m."""
    ticks = sorted(grid)
    axis: dict[str, Any] = {"title": "number of features m (log scale)", "type": "log", "tickvals": ticks}
    if len(ticks) > 1:
        axis["range"] = [math.log10(ticks[0]) - 0.06, math.log10(ticks[-1]) + 0.06]
    if current is not None:
        fig.add_vline(x=current, line=GUIDE)
    return finished(fig, xaxis=axis, height=400, margin={"l": 70, "r": 20, "t": 50, "b": 55}, **layout)
