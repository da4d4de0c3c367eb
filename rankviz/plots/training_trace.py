"""The unprocessed trace of one run: each of its quantities against the iterations."""

from __future__ import annotations

import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from rankviz.plots.style import finished, line_of, look_of
from rankviz.runs.description import method_label
from rankviz.runs.record import RunRecord

TITLES = {"objective": "Objective", "gap": "Gap / |objective|"}
"""Drawn quantities, with their titles."""
ITERATION = "iteration"


def data(record: RunRecord) -> pd.DataFrame:
    """Return columns method, label, iteration, and the quantities of `TITLES` with numbers in the trace."""
    trace = record.trace
    found = {name: trace[name] for name in TITLES if name in trace and trace[name].notna().any()}
    iteration = trace[ITERATION] if ITERATION in trace else pd.RangeIndex(len(trace)).to_series()
    table = pd.DataFrame({ITERATION: iteration.to_numpy()} | {k: v.to_numpy() for k, v in found.items()})
    return table.assign(method=look_of(record.spec), label=method_label(record.spec))


def quantities(table: pd.DataFrame) -> list[str]:
    """Return the quantities in a table of `data`."""
    return [name for name in TITLES if name in table]


def figure(table: pd.DataFrame) -> go.Figure:
    """Draw a panel per quantity; gaps, which shrink by factors, on a logarithmic axis."""
    names = quantities(table)
    fig = make_subplots(cols=len(names), subplot_titles=[TITLES[name] for name in names])
    label, method = str(table["label"].iloc[0]), str(table["method"].iloc[0])
    for column, name in enumerate(names, start=1):
        fig.add_scatter(
            x=table[ITERATION],
            y=table[name],
            name=label,
            mode="lines+markers",
            showlegend=column == 1,
            hovertemplate=f"{label}, iteration %{{x}}: %{{y:.6g}}<extra></extra>",
            row=1,
            col=column,
            **line_of(method),
        )
        if name == "gap" and (table[name] > 0).any():
            fig.update_yaxes(type="log", exponentformat="power", dtick=1, col=column)
    fig.update_xaxes(title_text=ITERATION)
    return finished(fig, legend={"orientation": "h", "yanchor": "bottom", "y": 1.12, "x": 0})
