"""Rankers that grow by rounds: NDCG@10 by round on training and validation, and importance of features."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from rankviz.plots.style import finished, line_of, style_of
from rankviz.runs.description import distinct_labels, look_of
from rankviz.runs.record import MEASURED, N_ROUNDS, ON_PARTS, SHARES, TREE_ROOTS, RunRecord

MOST_FEATURES = 20
"""Features in the figure of importance."""
WEIGHTS = "share of |w|"
"""Column with the shares of a linear model's weights."""


def rounds_data(records: Sequence[RunRecord]) -> pd.DataFrame:
    """Return the traces: columns method, label, part, round, NDCG@10, and kept (the model's own round)."""
    labels = distinct_labels([record.spec for record in records])
    frames = [
        pd.DataFrame({"round": record.trace["iteration"], MEASURED: record.trace[part]}).assign(
            method=look_of(record.spec), label=label, part=part, kept=_kept(record)
        )
        for record, label in zip(records, labels, strict=True)
        for part in ON_PARTS
        if part in record.trace
    ]
    table = pd.concat(frames, ignore_index=True)
    return table.assign(kept=table["round"] == table["kept"])


def _kept(record: RunRecord) -> int:
    """Return the number of rounds of a record's model."""
    own = record.solution
    return int(own[N_ROUNDS].item()) if N_ROUNDS in own else len(own[TREE_ROOTS])


def objective_of(record: RunRecord) -> tuple[str, str]:
    """Return the column of its trace with what its rounds minimise or raise, and words; "" for none."""
    column, words = getattr(record.spec.kind.make, "traced", ("", ""))
    return (column, words) if column in record.trace else ("", "")


def lowered_data(records: Sequence[RunRecord]) -> pd.DataFrame:
    """Return the objective of each round as `rounds_data`, in a column named by the objective.

    Models with another objective than the first one are left out, for values of two are not comparable.
    """
    (column, words), rows = objective_of(records[0]), []
    for record, label in zip(records, distinct_labels([one.spec for one in records]), strict=True):
        if objective_of(record) == (column, words):
            values = pd.DataFrame({"round": record.trace["iteration"], words: record.trace[column]})
            same = values["round"] == _kept(record)
            rows.append(values.assign(method=look_of(record.spec), label=label, part=ON_PARTS[0], kept=same))
    return pd.concat(rows, ignore_index=True)


def rounds_figure(table: pd.DataFrame, column: str = MEASURED) -> go.Figure:
    """Draw a line per model and part, training dotted; a marker shows the round that is kept."""
    fig = go.Figure()
    for (label, part), rows in table.groupby(["label", "part"], sort=False):
        look = line_of(str(rows["method"].iloc[0]))
        name, kept = f"{label}, {part}", rows[rows["kept"]]
        line = look["line"] | {"dash": "dot" if part == ON_PARTS[0] else "solid"}
        hover = f"{name}, round %{{x}}: %{{y:.4f}}<extra></extra>"
        fig.add_scatter(
            x=rows["round"], y=rows[column], name=name, mode="lines", line=line, hovertemplate=hover
        )
        fig.add_scatter(
            x=kept["round"],
            y=kept[column],
            name=f"{name}, kept",
            mode="markers",
            marker=look["marker"] | {"size": 12},
            showlegend=False,
            hovertemplate=hover,
        )
    fig.update_xaxes(title_text="round")
    fig.update_yaxes(title_text=column, tickformat=".2f" if column == MEASURED else ".3~g")
    return finished(fig)


def importance_data(record: RunRecord, names: Sequence[str], other: RunRecord | None = None) -> pd.DataFrame:
    """Return each feature's share of what rounds gain, the largest first: columns feature and share.

    And the column `WEIGHTS`, shares of Σ|w|, if the other model has weights of these features.
    """
    table = pd.DataFrame({"feature": list(names), "share": record.solution[SHARES]})
    if other is not None and other.spec.offers.input_weights and len(other.weights) == len(table):
        w = np.abs(other.weights)
        table[WEIGHTS] = w / max(float(w.sum()), np.finfo(np.float64).tiny)
    return table.sort_values("share", ascending=False, ignore_index=True, kind="stable")


def importance_figure(table: pd.DataFrame, look: str, other: str = "") -> go.Figure:
    """Draw the largest shares as bars, and the shares of |w| beside them."""
    shown = table.head(MOST_FEATURES).iloc[::-1]
    fig = go.Figure()
    drawn = [("share", "share of what the splits gain", look), (WEIGHTS, "share of Σ|w|, linear", other)]
    for column, name, style in [one for one in drawn if one[0] in table][::-1]:  # the first is on top
        fig.add_bar(
            x=shown[column],
            y=shown["feature"],
            name=name,
            orientation="h",
            marker_color=style_of(style).colour,
            hovertemplate=f"%{{y}}, {name}: %{{x:.1%}}<extra></extra>",
        )
    several = WEIGHTS in table
    title = "share" if several else "share of what the splits gain"
    fig.update_xaxes(title_text=title, tickformat=".0%", rangemode="tozero")
    fig.update_yaxes(type="category", automargin=True)
    return finished(fig, height=180 + (32 if several else 22) * len(shown), legend={"traceorder": "reversed"})
