"""Factorised and regularised models: metrics against their settings, learning curves (xu2019 §6)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from rankviz.common.numbers import small
from rankviz.metrics.formulas import direction
from rankviz.models.methods import USUAL
from rankviz.plots.style import (
    CHOSEN_COLOUR,
    STYLES,
    MethodStyle,
    colour_range,
    finished,
    metric_range,
    powers_axis,
    style_of,
    translucent,
)
from rankviz.runs.record import RunRecord, training_seconds
from rankviz.runs.spec import RunSpec

MODELS = (USUAL, "factorized", "regularized")
MODEL_NAMES = {USUAL: "plain"} | {name: STYLES[name].name for name in MODELS[1:]}
"""Names of the three models in legends, tables and sentences."""


def is_plain(spec: RunSpec) -> bool:
    """Return True for the plain model of the three."""
    return spec.method == USUAL


def model_style(method: str, look: str) -> MethodStyle:
    """Return the style of a model in `MODELS`; the plain one has its own look."""
    return style_of(look if method == USUAL else method)


def marker_of(method: str, look: str, **more: Any) -> dict[str, Any]:
    """Return a model's marker."""
    style = model_style(method, look)
    return {"color": style.colour, "symbol": style.symbol, "size": 8} | more


OBJECTIVE = "objective"
"""In place of a metric: the model's own objective, on the training part."""
COLOURS = ["#f8edf3", "#c46a97"]
"""Light enough for dark text, in the regularised model's hue."""
CELL_SIZE = 11
"""Pixels of the numbers in cells: three decimals fit on a phone; the hover text has four."""
TICKS = {"tickformat": "~g", "nticks": 6}
SETTINGS = {"factorized": ["factors", "seed"], "regularized": ["nuclear", "coupling"]}
"""Swept settings of each model."""


def sensitivity_data(records: Iterable[RunRecord], part: str, metric: str) -> pd.DataFrame:
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


def factors_figure(
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
        fig.add_scatter(
            x=[0.5 * min(grid), 2 * max(grid)],
            y=[plain, plain],
            mode="lines",
            name="plain, with the hinge",
            line={"color": style_of(look).colour, "width": 2, "dash": "dash"},
            hovertemplate="plain, with the hinge: %{y:.4f}<extra></extra>",
        )
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
        ends = metric_range(min(values), max(values), metric)
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
            fillcolor=translucent("factorized", 0.25),
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


def weights_figure(
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
    low, high = colour_range(table["value"], metric)
    fig = go.Figure(
        go.Heatmap(
            x=[f"{c:g}" for c in coupling],
            y=[f"{n:g}" for n in nuclear],
            z=values,
            text=text,
            texttemplate="%{text}",
            zmin=low,
            zmax=high,
            colorscale=COLOURS[:: direction(metric)],
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


def _cell(value: float, zero: bool) -> str:
    if math.isnan(value):
        return ""
    return f"{value:.3f}" + ("<br>A = 0" if zero else "")


LEAST_DISTANCE = 1e-5
"""Smallest drawn distance, far below the solvers' tolerance."""
CURVE_AXES = {
    "iteration": "iterations of its own kind, the start counted as 1",
    "seconds": "seconds of training",
}
_FEW = 30
"""Most points of a curve with markers."""


def label_of(spec: RunSpec) -> str:
    """Return a curve's label: "factorised, L-BFGS-B", "regularised, paper's steps"."""
    solver = spec.option("solver")
    return f"{MODEL_NAMES[spec.method]}, {getattr(solver, 'short', solver.label)}"


def curves_data(records: Sequence[RunRecord]) -> pd.DataFrame:
    """Return the traces of runs, one row per evaluation of the objective.

    Columns label, model, printed (the paper's algorithm), iteration, seconds (of training, with a start but
    without features), objective, gap (see `StepRow`) and above = (objective − best)/|best|. best is the
    lowest objective of all runs of the same model.
    """
    best: dict[str, float] = {}
    for record in records:
        best[record.spec.method] = min(best.get(record.spec.method, math.inf), record.objective)
    return pd.concat([_trace(record, best[record.spec.method]) for record in records], ignore_index=True)


def _trace(record: RunRecord, best: float) -> pd.DataFrame:
    trace, spec = record.trace, record.spec
    before = max(record.seconds.get("newton", 0.0) - float(trace["seconds"].iloc[-1]), 0.0)
    return pd.DataFrame(
        {
            "label": label_of(spec),
            "model": spec.method,
            "printed": bool(getattr(spec.option("solver"), "printed", False)),
            "iteration": trace["iteration"].astype(np.int64),
            "seconds": before + trace["seconds"],
            "objective": trace["objective"],
            "gap": trace["gap"],
            "above": (trace["objective"] - best) / abs(best) if best else trace["objective"] - best,
        }
    )


def last_rows(table: pd.DataFrame) -> pd.DataFrame:
    """Return the last row of every run."""
    return table.groupby("label", sort=False).tail(1).reset_index(drop=True)


def first_within(table: pd.DataFrame, within: float) -> pd.DataFrame:
    """Return each run's first row within a share of the best objective; omit runs without one."""
    near = table[table["above"] <= within]
    return near.groupby("label", sort=False).head(1).reset_index(drop=True)


def curves_figure(table: pd.DataFrame, x: str) -> go.Figure:
    """Draw the distance above the model's best objective against an axis of `CURVE_AXES`, on log axes."""
    fig = go.Figure()
    for label, rows in table.groupby("label", sort=False):
        style, printed = style_of(str(rows["model"].iloc[0])), bool(rows["printed"].iloc[0])
        fig.add_scatter(
            x=rows[x] + (x == "iteration"),
            y=rows["above"].clip(lower=LEAST_DISTANCE),
            mode="lines+markers" if len(rows) <= _FEW else "lines",
            name=str(label),
            line={"color": style.colour, "width": 2.5, "dash": "dash" if printed else "solid"},
            marker={"symbol": f"{style.symbol}{'-open' if printed else ''}", "size": 7},
            customdata=rows[["iteration", "seconds", "objective", "gap"]],
            hovertemplate=f"{label}, iteration %{{customdata[0]}}, %{{customdata[1]:.2f}} s<br>objective "
            "%{customdata[2]:.6g}, %{y:.1e} above the best<br>gap %{customdata[3]:.1e}<extra></extra>",
        )
    top = max(float(table["above"].max()), 10 * LEAST_DISTANCE)
    values = table[x] + (x == "iteration")
    narrow = float(values.max()) < 30 * max(float(values.min()), 1e-9)  # one and a half powers of ten
    fig.update_xaxes(type="log", title_text=f"{CURVE_AXES[x]} (log scale)", dtick="D2" if narrow else 1)
    fig.update_xaxes(tickformat="~g")
    ends = [math.log10(LEAST_DISTANCE) - 0.2, math.log10(top) + 0.2]
    fig.update_yaxes(powers_axis("(objective − best)/|best| (log scale)", ends))
    return finished(fig, height=440, margin={"l": 70, "r": 10, "t": 60, "b": 55})


def race_sentence(table: pd.DataFrame, within: float = 0.01) -> str:
    """Describe when each run comes within a share of its model's best objective (seconds, iterations)."""
    came = first_within(table, within).sort_values("seconds")
    words = [
        f"{row['label']}, after {small(row['seconds'])} s (iteration {int(row['iteration'])})"
        for _, row in came.iterrows()
    ]
    missed = [label for label in table["label"].unique() if label not in set(came["label"])]
    never = f"; {' and '.join(missed)} not at all" if missed else ""
    return f"Within {small(100 * within)} % of the best objective of its model: {'; '.join(words)}{never}"
