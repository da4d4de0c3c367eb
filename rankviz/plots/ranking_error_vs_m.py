"""Distance of approximate models' rankings and objectives from the exact one's, against m."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from rankviz.plots.style import EVEN_COLOUR, finished, line_of, style_of, translucent

MEASURES = {"tau": "Kendall's τ to the exact ranking", "overlap": "share of the exact first 10"}
LEAST = 1e-12
"""Smallest drawn distance of objectives."""
NEAR = 100
"""The tolerance is drawn if a distance is below this many times it."""
GUIDE = {"color": "#999999", "width": 1, "dash": "dash"}
_KEYS = ["map", "m"]
_QUARTILES = {"q25": 0.25, "median": 0.5, "q75": 0.75}


def data(errors: pd.DataFrame) -> pd.DataFrame:
    """Average quartiles over queries across seeds: map, m, measure, q25, median, q75, low, high, seeds.

    `errors` is the result of `ranking_error.ranking_error_table`; low and high are the least and the greatest
    median of a seed. Queries without a τ are left out.
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


def figure(table: pd.DataFrame, measure: str, grid: Sequence[int], current: int | None = None) -> go.Figure:
    """Draw the median over queries as a line, its range over seeds as a band, the quartiles thin."""
    fig = go.Figure()
    rows = table[table["measure"] == measure]
    for name, line in rows.groupby("map", sort=False):
        _method(fig, str(name), line.sort_values("m"), measure)
    _explain(fig, several=bool(len(rows)) and int(rows["seeds"].max()) > 1)
    low = min(0.0, math.floor(10 * float(rows["q25"].min())) / 10) if len(rows) else 0.0
    return _over_m(
        fig, grid, current, yaxis={"title": MEASURES[measure], "range": [low - 0.03, 1.05]}, height=400
    )


def _method(fig: go.Figure, name: str, line: pd.DataFrame, measure: str) -> None:
    style, method = line_of(name), style_of(name)
    if line["seeds"].max() > 1:
        fig.add_scatter(
            x=[*line["m"], *line["m"][::-1]],
            y=[*line["low"], *line["high"][::-1]],
            mode="lines",
            fill="toself",
            fillcolor=translucent(name, 0.25),
            line={"width": 0},
            hoverinfo="skip",
            showlegend=False,
            legendgroup=name,
        )
    for quartile in ("q25", "q75"):
        fig.add_scatter(
            x=line["m"],
            y=line[quartile],
            mode="lines",
            line={"color": method.colour, "width": 1},
            opacity=0.7,
            hoverinfo="skip",
            showlegend=False,
            legendgroup=name,
        )
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


def _explain(fig: go.Figure, *, several: bool) -> None:
    """Add legend entries for the thin lines, and for the band if there are several seeds."""
    fig.add_scatter(
        x=[None],
        y=[None],
        mode="lines",
        name="thin: quartiles over queries",
        line={"color": EVEN_COLOUR, "width": 1},
    )
    if several:
        fig.add_scatter(
            x=[None],
            y=[None],
            mode="markers",
            name="band: medians of the seeds",
            marker={"color": EVEN_COLOUR, "symbol": "square", "size": 12, "opacity": 0.4},
        )


def objectives(table: pd.DataFrame) -> pd.DataFrame:
    """Summarise distances of objectives over seeds: map, m, distance (mean), low, high, seeds.

    `table` is the result of `rankviz.analysis.ranking_error.objective_table`.
    """
    grouped = table.groupby(_KEYS, sort=False)["distance"]
    found = grouped.agg(distance="mean", low="min", high="max", seeds="size")
    return found.reset_index()


def objective_figure(
    table: pd.DataFrame, tol: float, grid: Sequence[int], current: int | None = None
) -> go.Figure:
    """Draw |F̃ − F|/F on a log axis, hollow if F̃ is lower, and the tolerance if near."""
    fig = go.Figure()
    for name, line in table.groupby("map", sort=False):
        _distance(fig, str(name), line.sort_values("m"))
    sizes = table["distance"].abs().clip(lower=LEAST)
    low, high = (float(sizes.min()), float(sizes.max())) if len(table) else (1e-2, 1.0)
    if low < NEAR * tol:
        low = min(low, tol)
        _tolerance(fig, tol)
    ends = [math.floor(math.log10(low) - 0.1), math.ceil(math.log10(high) + 0.1)]
    axis = {"title": "distance of objectives |F̃ − F| / F", "type": "log", "range": ends, "dtick": 1}
    return _over_m(fig, grid, current, yaxis=axis | {"exponentformat": "power"}, height=400)


def _tolerance(fig: go.Figure, tol: float) -> None:
    fig.add_hline(y=tol, line=GUIDE)
    # log axes place annotations by exponent, lines by value
    place = {"x": 0, "xref": "paper", "y": math.log10(tol), "xanchor": "left", "yanchor": "bottom"}
    fig.add_annotation(text="tolerance", showarrow=False, **place)


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
        y=line["distance"].abs().clip(lower=LEAST),
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
    return finished(fig, xaxis=axis, margin={"l": 70, "r": 20, "t": 50, "b": 55}, **layout)
