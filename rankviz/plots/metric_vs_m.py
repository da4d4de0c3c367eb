"""Metrics against m or training seconds: lines and bands of approximations, levels of other models."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from rankviz.models.methods import USUAL
from rankviz.plots.axes import share_range
from rankviz.plots.style import approximations, finished, line_of, look_of, style_of, translucent
from rankviz.runs.description import method_label
from rankviz.runs.record import RunRecord, training_seconds
from rankviz.runs.spec import RunSpec

AXES = {"m": "number of features m (log scale)", "seconds": "training seconds (log scale)"}
_SHORT = {"m": "features m (log)", "seconds": "training seconds (log)"}
_COLUMNS = ["metric", "method", "label", "m", "fold", "seed", "value", "seconds", "spec"]


def data(records: Iterable[RunRecord], part: str, metrics: Sequence[str] = ("NDCG@10",)) -> pd.DataFrame:
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
    name = style_of(look).name if spec.method == USUAL else method_label(spec)
    if look in approximations():
        return name
    return f"{name}, m = {spec.n_components}" if spec.offers.components else f"{name} (no m)"


def curves(table: pd.DataFrame) -> pd.DataFrame:
    """Summarise folds and seeds: metric, method, label, m, mean, low, high, runs, seconds (median), spec."""
    grouped = table.groupby(["metric", "method", "label", "m"], sort=False)
    return grouped.agg(
        mean=("value", "mean"),
        low=("value", "min"),
        high=("value", "max"),
        runs=("value", "size"),
        seconds=("seconds", "median"),
        spec=("spec", "first"),
    ).reset_index()


def figure(
    table: pd.DataFrame, current: int | None = None, grid: Sequence[int] = (), x: str = "m"
) -> go.Figure:
    """Draw one panel per metric over m or seconds; bands show the range of runs.

    `current` marks the selected m. The axis spans `grid` if given, and so stays fixed while the curve grows.
    Against seconds a bar at each point replaces the band, because seconds vary too.
    """
    metrics, lines = list(dict.fromkeys(table["metric"])), curves(table)
    columns = min(2, max(1, len(metrics)))
    rows = math.ceil(max(1, len(metrics)) / columns)
    titles = metrics if len(metrics) > 1 else None
    fig = make_subplots(rows, columns, subplot_titles=titles, vertical_spacing=0.18, horizontal_spacing=0.1)
    ends = _ends(lines, grid, x)
    for panel, metric in enumerate(metrics):
        place = {"row": panel // columns + 1, "col": panel % columns + 1}
        shown = lines[lines["metric"] == metric]
        _panel(fig, shown, ends, x, place, legend=panel == 0)
        if current is not None and x == "m" and (shown["m"] > 0).any():
            _mark(fig, current, at_left=current > math.sqrt(ends[0] * ends[1]), place=place)
    if x == "m" and (lines.loc[lines["m"] > 0, "runs"] > 1).any():
        _name_the_bands(fig)
    if len(metrics) == 1:
        fig.update_yaxes(title_text=f"mean {metrics[0]} over queries")
    _axis(fig, lines, grid, x, ends)
    fig.update_xaxes(title_text=(AXES if columns == 1 else _SHORT)[x], row=rows)
    return finished(fig, height=440 if rows == 1 else 330 * rows + 60, legend=_legend(rows))


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
    ends: tuple[float, float],
    x: str,
    place: dict[str, int],
    *,
    legend: bool,
) -> None:
    for _, level in lines[lines["m"] == 0].iterrows():
        _level(fig, level, ends, x, place, legend=legend)
    for place_in_turn, (method, line) in enumerate(lines[lines["m"] > 0].groupby("method", sort=False)):
        rising = line.sort_values("m")
        if x == "m":
            _band(fig, str(method), rising, place)
        _line(fig, str(method), rising, x, place, legend=legend, above=place_in_turn == 0)
    fig.update_yaxes(range=share_range(lines["low"].min(), lines["high"].max()), tickformat=".2f", **place)


def _level(
    fig: go.Figure,
    level: pd.Series,
    ends: tuple[float, float],
    x: str,
    place: dict[str, int],
    *,
    legend: bool,
) -> None:
    """Add a model's level across the panel, with a marker at its seconds or at the right end."""
    method, name, style = str(level["method"]), str(level["label"]), line_of(str(level["method"]))
    told = level["seconds"] > 0
    at = float(level["seconds"]) if x == "seconds" and told else ends[1]
    style["marker"]["size"] = [0, 9 if told or x == "m" else 0, 0]
    about = [level["spec"], level["low"], level["high"], level["runs"], level["seconds"]]
    fig.add_scatter(
        x=[ends[0], at, ends[1]],
        y=[float(level["mean"])] * 3,
        name=name,
        legendgroup=method,
        showlegend=legend,
        mode="lines+markers",
        customdata=[about] * 3,
        hovertemplate=_hover(name, str(level["metric"]), told=bool(told), several=level["runs"] > 1),
        **style,
        **place,
    )


def _hover(name: str, metric: str, m: str = "", *, told: bool = True, several: bool = True) -> str:
    seconds = "<br>trained in %{customdata[4]:.3g} s (median)" if told else ""
    ranged = (
        ", from %{customdata[1]:.4f} to %{customdata[2]:.4f} over %{customdata[3]} runs" if several else ""
    )
    return f"{name}{m}<br>{metric} = %{{y:.4f}}{ranged}{seconds}<extra></extra>"


def _band(fig: go.Figure, method: str, line: pd.DataFrame, place: dict[str, int]) -> None:
    if line["runs"].max() < 2:
        return
    fig.add_scatter(
        x=[*line["m"], *line["m"][::-1]],
        y=[*line["low"], *line["high"][::-1]],
        mode="lines",
        fill="toself",
        fillcolor=translucent(method),
        line={"width": 0},
        hoverinfo="skip",
        showlegend=False,
        legendgroup=method,
        **place,
    )


def _name_the_bands(fig: go.Figure) -> None:
    """Add a legend entry that explains the bands: they are not intervals of the mean."""
    square = {"symbol": "square", "size": 13, "color": "rgba(128, 128, 128, 0.35)"}
    name = "bands: lowest to highest run"
    fig.add_scatter(x=[None], y=[None], mode="markers", marker=square, name=name, hoverinfo="skip")


def _line(
    fig: go.Figure,
    method: str,
    line: pd.DataFrame,
    x: str,
    place: dict[str, int],
    *,
    legend: bool,
    above: bool,
) -> None:
    name = style_of(method).name
    bars = {
        "type": "data",
        "array": line["high"] - line["mean"],
        "arrayminus": line["mean"] - line["low"],
        "thickness": 1,
        "width": 3,
        "visible": x == "seconds" and bool(line["runs"].max() > 1),
    }
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
        error_y=bars,
        customdata=line[["spec", "low", "high", "runs", "seconds", "m"]],
        hovertemplate=_hover(
            name, str(line["metric"].iloc[0]), ", m = %{customdata[5]}", several=line["runs"].max() > 1
        ),
        **line_of(method),
        **place,
    )


def _mark(fig: go.Figure, m: int, *, at_left: bool, place: dict[str, int]) -> None:
    """Add a line at the selected m, its label on the side with more space."""
    guide = {"width": 1, "dash": "dash", "color": "#999999"}
    fig.add_vline(x=m, line=guide, **place)
    # log axes place annotations by exponent, lines by value
    at = {"x": math.log10(m), "y": 0, "yref": "y domain"}
    side = "right" if at_left else "left"
    text = {"text": f" m = {m} ", "showarrow": False, "xanchor": side, "yanchor": "bottom"}
    fig.add_annotation(**at, **text, **place)


def _legend(rows: int) -> dict[str, object]:
    return {"orientation": "h", "yanchor": "bottom", "y": 1.02 if rows == 1 else 1.06, "x": 0, "title": None}
