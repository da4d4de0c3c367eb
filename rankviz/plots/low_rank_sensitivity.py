"""Metric against K of the factorised and both weights of the regularised model (xu2019 Tables 7, 8)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from rankviz.plots.axes import share_range
from rankviz.plots.low_rank_style import marker_of, translucent_of
from rankviz.plots.style import CHOSEN_COLOUR, finished, snapped_range, style_of
from rankviz.runs.record import RunRecord, training_seconds

OBJECTIVE = "objective"
"""In place of a metric: the model's own objective, on the training part."""
COLOUR_STEP = 0.02
"""The colour range is a multiple of this, so that negligible differences look negligible."""
COLOURS = ["#f8edf3", "#c46a97"]
"""Light enough for dark text, in the regularised model's hue."""
CLIPPED = 0.1
"""Cells below this quantile share the palest colour; else one very bad cell hides all differences."""
CELL_SIZE = 11
"""Pixels of the numbers in cells: three decimals fit on a phone; the hover text has four."""
TICKS = {"tickformat": "~g", "nticks": 6}
SETTINGS = {"factorized": ["factors", "seed"], "regularized": ["nuclear", "coupling"]}
"""Swept settings of each model."""


def data(records: Iterable[RunRecord], part: str, metric: str) -> pd.DataFrame:
    """Return one row per run of both models: its own settings, value (`value_of`), all_zero, seconds.

    all_zero is True if every A of a regularised model is 0.
    """
    rows = []
    for record in records:
        row = {name: getattr(record.spec, name) for name in SETTINGS[record.spec.method]}
        low = record.solution.get("low_rank")
        row |= {"value": value_of(record, part, metric)}
        row |= {"all_zero": low is not None and not low.any(), "seconds": training_seconds(record)}
        rows.append(row)
    return pd.DataFrame(rows)


def value_of(record: RunRecord, part: str, metric: str) -> float:
    """Return the mean of a metric over the queries of a part, or the objective, independent of the part."""
    return record.objective if metric == OBJECTIVE else float(record.metrics[part][metric].mean())


def over_seeds(table: pd.DataFrame) -> pd.DataFrame:
    """Return columns factors, mean, low, high (least and greatest of the seeds) and seeds, by K."""
    grouped = table.groupby("factors")["value"]
    return grouped.agg(mean="mean", low="min", high="max", seeds="size").reset_index()


def figure_of_factors(
    table: pd.DataFrame,
    look: str,
    metric: str,
    *,
    plain: float | None,
    grid: Sequence[int],
    printed: pd.Series[float] | None = None,
) -> go.Figure:
    """Draw the mean and range over seeds, and the plain hinge's `plain` as a level if given.

    `look` is the plain model's; `printed` are published values by K, drawn as hollow diamonds.
    """
    fig, lines = go.Figure(), over_seeds(table)
    _add_factors(fig, lines, look, metric)
    values = [*lines["low"], *lines["high"]]
    if plain is not None:
        _add_plain(fig, plain, look, grid)
        values.append(plain)
    if printed is not None:
        values += list(printed)
        marker = {"symbol": "diamond-open", "size": 10, "color": CHOSEN_COLOUR, "line": {"width": 2}}
        fig.add_scatter(x=printed.index, y=printed, mode="markers", name="xu2019, Table 7", marker=marker)
    fig.update_xaxes(
        type="log",
        title_text="number of factors (log scale)",
        tickvals=list(grid),
        range=[math.log10(0.85 * min(grid)), math.log10(1.18 * max(grid))],
    )
    if metric == OBJECTIVE:
        fig.update_yaxes(title_text="objective, ½‖w‖² − Σα (lower is better)", tickformat=",.7~g")
    else:
        ends = share_range(min(values), max(values))
        fig.update_yaxes(title_text=f"mean {metric} over queries", range=ends, tickformat=".2f")
    return finished(fig, height=420)


def _add_factors(fig: go.Figure, lines: pd.DataFrame, look: str, metric: str) -> None:
    for column in ("high", "low"):
        fig.add_scatter(
            x=lines["factors"],
            y=lines[column],
            mode="lines",
            line={"width": 0},
            fill="tonexty" if column == "low" else None,
            fillcolor=translucent_of("factorized"),
            showlegend=False,
            hoverinfo="skip",
        )
    fig.add_scatter(
        x=lines["factors"],
        y=lines["mean"],
        mode="lines+markers",
        name="factorised, mean over seeds",
        line={"color": style_of("factorized").colour, "width": 2.5},
        marker=marker_of("factorized", look, size=9),
        customdata=lines[["low", "high", "seeds"]],
        hovertemplate="factors %{x}: %{y:FORM}<br>%{customdata[0]:FORM} to %{customdata[1]:FORM} over "
        "%{customdata[2]} seeds<extra></extra>".replace("FORM", ",.7~g" if metric == OBJECTIVE else ".4f"),
    )


def _add_plain(fig: go.Figure, plain: float, look: str, grid: Sequence[int]) -> None:
    fig.add_scatter(
        x=[0.5 * min(grid), 2 * max(grid)],
        y=[plain, plain],
        mode="lines",
        name="plain, with the hinge",
        line={"color": style_of(look).colour, "width": 2, "dash": "dash"},
        hovertemplate="plain, with the hinge: %{y:.4f}<extra></extra>",
    )


def figure_of_weights(
    table: pd.DataFrame, metric: str, nuclear: Sequence[float], coupling: Sequence[float]
) -> go.Figure:
    """Draw a cell per pair of weights with its value; cells of missing runs are empty."""
    wide = table.pivot_table(index="nuclear", columns="coupling", values="value")
    wide = wide.reindex(index=list(nuclear), columns=list(coupling))
    zero = {(row["nuclear"], row["coupling"]) for _, row in table[table["all_zero"]].iterrows()}
    values = wide.to_numpy(np.float64).tolist()
    text = [
        [_cell(value, (n, c) in zero) for c, value in zip(coupling, row, strict=True)]
        for n, row in zip(nuclear, values, strict=True)
    ]
    low, high = colour_range(table["value"])
    fig = go.Figure(
        go.Heatmap(
            x=[f"{c:g}" for c in coupling],
            y=[f"{n:g}" for n in nuclear],
            z=values,
            text=text,
            texttemplate="%{text}",
            zmin=low,
            zmax=high,
            colorscale=COLOURS,
            textfont={"color": "#1a1a1a", "size": CELL_SIZE},
            colorbar={"title": {"text": metric, "side": "top"}, "thickness": 10, "xpad": 4} | TICKS,
            hovertemplate=f"nuclear %{{y}}, coupling %{{x}}: {metric} %{{z:.4f}}<extra></extra>",
            hoverongaps=False,
            xgap=2,
            ygap=2,
        )
    )
    fig.update_xaxes(type="category", title_text="coupling (λ)", showgrid=False)
    fig.update_yaxes(type="category", title_text="nuclear (γ)", showgrid=False)
    return finished(fig, height=420, margin={"l": 60, "r": 10, "t": 30, "b": 55})


def colour_range(
    values: pd.Series[float], clipped: float = CLIPPED, step: float = COLOUR_STEP
) -> list[float]:
    """Return the colour range, from the quantile `clipped` to the largest value, on whole steps."""
    low = float(values.quantile(clipped, "higher"))
    return snapped_range(low, float(values.max()), step)


def _cell(value: float, zero: bool) -> str:
    if math.isnan(value):
        return ""
    return f"{value:.3f}" + ("<br>A = 0" if zero else "")
