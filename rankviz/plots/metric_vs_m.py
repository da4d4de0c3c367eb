"""Metrics against the number of features m: a line and a band over seeds per method, linear dotted."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from rankviz.experiments.record import RunRecord
from rankviz.plots.axes import share_range
from rankviz.plots.style import METHODS, finished, line_of, translucent


def data(records: Iterable[RunRecord], part: str, metrics: Sequence[str] = ("NDCG@10",)) -> pd.DataFrame:
    """Mean metrics of each run on a part: columns metric, method, m, seed, value, spec (its hash).

    m is 0 for the linear model.
    """
    rows = [
        (
            metric,
            record.spec.feature_map,
            0 if record.spec.feature_map == "linear" else record.spec.n_components,
            record.spec.seed,
            float(record.metrics[part][metric].mean()),
            record.spec.hash,
        )
        for record in records
        for metric in metrics
    ]
    return pd.DataFrame(rows, columns=["metric", "method", "m", "seed", "value", "spec"])


def curves(table: pd.DataFrame) -> pd.DataFrame:
    """Over seeds: columns metric, method, m, mean, low, high, seeds, spec (of the first seed)."""
    kernels = table[table["method"] != "linear"]
    grouped = kernels.groupby(["metric", "method", "m"], sort=False)
    return grouped.agg(
        mean=("value", "mean"),
        low=("value", "min"),
        high=("value", "max"),
        seeds=("seed", "nunique"),
        spec=("spec", "first"),
    ).reset_index()


def figure(table: pd.DataFrame, current: int | None = None, grid: Sequence[int] = ()) -> go.Figure:
    """One panel per metric over m (log scale); bands run from the lowest to the highest seed.

    `current` marks the m that is set; the axis spans `grid` where it is given, so that it does not move while
    the curve grows.
    """
    metrics, lines = list(dict.fromkeys(table["metric"])), curves(table)
    columns = min(2, max(1, len(metrics)))
    rows = math.ceil(max(1, len(metrics)) / columns)
    titles = metrics if len(metrics) > 1 else None
    fig = make_subplots(rows, columns, subplot_titles=titles, vertical_spacing=0.18, horizontal_spacing=0.1)
    for panel, metric in enumerate(metrics):
        place = {"row": panel // columns + 1, "col": panel % columns + 1}
        _panel(fig, table[table["metric"] == metric], lines[lines["metric"] == metric], place, panel == 0)
        if current is not None and len(lines):
            _mark(fig, current, place)
    if len(metrics) == 1:
        fig.update_yaxes(title_text=f"mean {metrics[0]} over queries")
    ticks = sorted(set(grid) or set(lines["m"]))
    fig.update_xaxes(type="log", tickvals=ticks)
    if len(ticks) > 1:
        fig.update_xaxes(range=[math.log10(ticks[0]) - 0.06, math.log10(ticks[-1]) + 0.06])
    words = "number of features m (log scale)" if columns == 1 else "features m (log)"
    fig.update_xaxes(title_text=words, row=rows)
    return finished(fig, height=420 if rows == 1 else 330 * rows + 60, legend=_legend(rows))


def _panel(
    fig: go.Figure, table: pd.DataFrame, lines: pd.DataFrame, place: dict[str, int], legend: bool
) -> None:
    metric = table["metric"].iloc[0]
    ends = [lines["m"].min(), lines["m"].max()] if len(lines) else [1, 2]
    for value in table.loc[table["method"] == "linear", "value"].head(1):
        fig.add_scatter(
            x=ends,
            y=[value, value],
            name="linear (no m)",
            legendgroup="linear",
            showlegend=legend,
            mode="lines",
            hovertemplate=f"linear<br>{metric} = {value:.4f}<extra></extra>",
            line=line_of("linear")["line"],
            **place,
        )
    for method, line in lines.groupby("method", sort=False):
        _band(fig, str(method), line.sort_values("m"), place)
        _line(fig, str(method), line.sort_values("m"), place, legend)
    low, high = table["value"].min(), table["value"].max()
    fig.update_yaxes(range=share_range(low, high), tickformat=".2f", **place)


def _band(fig: go.Figure, method: str, line: pd.DataFrame, place: dict[str, int]) -> None:
    if line["seeds"].max() < 2:
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


def _line(fig: go.Figure, method: str, line: pd.DataFrame, place: dict[str, int], legend: bool) -> None:
    name, metric = METHODS[method].name, line["metric"].iloc[0]
    fig.add_scatter(
        x=line["m"],
        y=line["mean"],
        name=name,
        legendgroup=method,
        showlegend=legend,
        mode="lines+markers",
        customdata=line[["spec", "low", "high", "seeds"]],
        hovertemplate=(
            f"{name}, m = %{{x}}<br>{metric} = %{{y:.4f}}, from %{{customdata[1]:.4f}} to "
            "%{customdata[2]:.4f} over %{customdata[3]} seed(s)<extra></extra>"
        ),
        **line_of(method),
        **place,
    )


def _mark(fig: go.Figure, m: int, place: dict[str, int]) -> None:
    guide = {"width": 1, "dash": "dash", "color": "#999999"}
    fig.add_vline(x=m, line=guide, **place)
    # on a log axis an annotation is placed by exponent, a line by value
    at = {"x": math.log10(m), "y": 0, "yref": "y domain"}
    text = {"text": f" m = {m}", "showarrow": False, "xanchor": "left", "yanchor": "bottom"}
    fig.add_annotation(**at, **text, **place)


def _legend(rows: int) -> dict[str, object]:
    return {"orientation": "h", "yanchor": "bottom", "y": 1.02 if rows == 1 else 1.06, "x": 0, "title": None}
