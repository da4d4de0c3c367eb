"""Learning curves of the factorised and the regularised model, by two solvers each (xu2019 Figure 4)."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from rankviz.common.numbers import small
from rankviz.plots.low_rank_style import NAMES
from rankviz.plots.style import finished, style_of
from rankviz.runs.record import RunRecord
from rankviz.runs.spec import RunSpec

LEAST = 1e-5
"""Smallest drawn distance, far below the solvers' tolerance."""
AXES = {"iteration": "iterations of its own kind, the start counted as 1", "seconds": "seconds of training"}
_FEW = 30
"""Most points of a curve with markers."""


def printed_way(spec: RunSpec) -> bool:
    """Return True if a low-rank run uses the paper's algorithm."""
    return bool(getattr(spec.option("solver"), "printed", False))


def label_of(spec: RunSpec) -> str:
    """Return a curve's label: "factorised, L-BFGS-B", "regularised, paper's steps"."""
    solver = spec.option("solver")
    return f"{NAMES[spec.method]}, {getattr(solver, 'short', solver.label)}"


def data(records: Sequence[RunRecord]) -> pd.DataFrame:
    """Return the traces of runs, one row per evaluation of the objective.

    Columns label, model, printed (the paper's algorithm), iteration, seconds (of training, with a start but
    without features), objective, gap (see `StepRow`) and above = (objective − best)/|best|. best is the
    lowest objective of all runs of the same model.
    """
    best = {
        r.spec.method: min(o.objective for o in records if o.spec.method == r.spec.method) for r in records
    }
    return pd.concat([_trace(record, best[record.spec.method]) for record in records], ignore_index=True)


def _trace(record: RunRecord, best: float) -> pd.DataFrame:
    trace, spec = record.trace, record.spec
    before = max(record.seconds.get("newton", 0.0) - float(trace["seconds"].iloc[-1]), 0.0)
    return pd.DataFrame(
        {
            "label": label_of(spec),
            "model": spec.method,
            "printed": printed_way(spec),
            "iteration": trace["iteration"].astype(np.int64),
            "seconds": before + trace["seconds"],
            "objective": trace["objective"],
            "gap": trace["gap"],
            "above": (trace["objective"] - best) / abs(best) if best else trace["objective"] - best,
        }
    )


def ends(table: pd.DataFrame) -> pd.DataFrame:
    """Return the last row of every run."""
    return table.groupby("label", sort=False).tail(1).reset_index(drop=True)


def reached(table: pd.DataFrame, within: float) -> pd.DataFrame:
    """Return each run's first row within a share of the best objective; omit runs without one."""
    near = table[table["above"] <= within]
    return near.groupby("label", sort=False).head(1).reset_index(drop=True)


def figure(table: pd.DataFrame, x: str) -> go.Figure:
    """Draw the distance above the same model's best objective against an axis of `AXES`, both logarithmic."""
    fig = go.Figure()
    for label, rows in table.groupby("label", sort=False):
        style, printed = style_of(str(rows["model"].iloc[0])), bool(rows["printed"].iloc[0])
        fig.add_scatter(
            x=rows[x] + (x == "iteration"),
            y=rows["above"].clip(lower=LEAST),
            mode="lines+markers" if len(rows) <= _FEW else "lines",
            name=str(label),
            line={"color": style.colour, "width": 2.5, "dash": "dash" if printed else "solid"},
            marker={"symbol": f"{style.symbol}{'-open' if printed else ''}", "size": 7},
            customdata=rows[["iteration", "seconds", "objective", "gap"]],
            hovertemplate=f"{label}, iteration %{{customdata[0]}}, %{{customdata[1]:.2f}} s<br>objective "
            "%{customdata[2]:.6g}, %{y:.1e} above the best<br>gap %{customdata[3]:.1e}<extra></extra>",
        )
    top = max(float(table["above"].max()), 10 * LEAST)
    fig.update_xaxes(type="log", title_text=f"{AXES[x]} (log scale)", dtick="D2" if _narrow(table, x) else 1)
    fig.update_xaxes(tickformat="~g")
    fig.update_yaxes(
        type="log",
        title_text="(objective − best)/|best| (log scale)",
        range=[math.log10(LEAST) - 0.2, math.log10(top) + 0.2],
        dtick=1,
        exponentformat="power",
    )
    return finished(fig, height=440, margin={"l": 70, "r": 10, "t": 60, "b": 55})


def _narrow(table: pd.DataFrame, x: str) -> bool:
    """Return True if an axis spans less than one and a half powers of ten."""
    values = table[x] + (x == "iteration")
    return float(values.max()) < 30 * max(float(values.min()), 1e-9)


def race(table: pd.DataFrame, within: float = 0.01) -> str:
    """Describe when each run comes within a share of its model's best objective (seconds, iterations)."""
    came = reached(table, within).sort_values("seconds")
    words = [
        f"{row['label']}, after {row['seconds']:.2g} s (iteration {int(row['iteration'])})"
        for _, row in came.iterrows()
    ]
    missed = [label for label in table["label"].unique() if label not in set(came["label"])]
    never = f"; {' and '.join(missed)} not at all" if missed else ""
    return f"Within {small(100 * within)} % of the best objective of its model: {'; '.join(words)}{never}"
