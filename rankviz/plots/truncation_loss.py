"""Losses in α, in w and in the ranking after truncation of dual variables to rank k."""

from __future__ import annotations

import math

import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from rankviz.plots.style import CHOSEN_COLOUR, finished, snapped_range, style_of

METRIC = "NDCG@10"
TICKS = (1, 2, 3, 5, 10, 20, 50, 100, 200)
LOWEST = -6
"""Power of ten below which losses are not drawn."""
SCOPES = {"query": "this query alone", "all": "every query"}
"""Truncated blocks, and their names."""


def data(one: pd.DataFrame, every: pd.DataFrame) -> pd.DataFrame:
    """Return columns scope, k, energy, alpha_error, w_error, NDCG@10 for one query's truncation and for all.

    Both are tables of `Truncation.ranked`; the last row of each truncates nothing.
    """
    columns = ["k", "energy", "alpha_error", "w_error", METRIC]
    frames = [frame[columns] for frame in (one, every)]
    return pd.concat(frames, keys=list(SCOPES), names=["scope", None]).reset_index("scope")


def figure(table: pd.DataFrame, method: str, part: str, *, chosen: int, last: int) -> go.Figure:
    """Draw relative errors of α and w above, the mean metric on a part below; mark the chosen k."""
    fig = make_subplots(rows=2, cols=1, shared_xaxes=True, vertical_spacing=0.06)
    for scope, dash in (("all", "solid"), ("query", "dash")):
        rows = table[(table["scope"] == scope) & (table["k"] <= max(last, chosen))]
        _add_line(fig, 1, rows, "alpha_error", f"α, {SCOPES[scope]}", CHOSEN_COLOUR, dash)
        _add_line(fig, 1, rows, "w_error", f"w, {SCOPES[scope]}", style_of(method).colour, dash)
        _add_line(fig, 2, rows, METRIC, f"{METRIC}, {SCOPES[scope]}", style_of(method).colour, dash)
    fig.data[2].showlegend = fig.data[5].showlegend = False
    whole = float(table[METRIC].iloc[-1])
    fig.add_hline(row=2, y=whole, line={"width": 1, "dash": "dot", "color": "#999999"})
    fig.add_vline(x=chosen, line={"width": 1.5, "dash": "dot", "color": CHOSEN_COLOUR})
    fig.update_yaxes(row=1, title="lost, relative (log)", type="log", range=[LOWEST, 1.3], dtick=2)
    fig.update_yaxes(row=1, exponentformat="power")
    low, high = snapped_range(float(table[METRIC].min()), float(table[METRIC].max()), 0.02)
    fig.update_yaxes(row=2, title=f"{METRIC}, {part}", range=[low, high])
    fig.update_xaxes(type="log", range=[-0.05, math.log10(1.1 * last)], tickvals=TICKS, zeroline=False)
    fig.update_xaxes(row=2, title="rank k of the blocks that are cut (log)")
    return finished(fig, height=460, margin={"l": 65, "r": 15, "t": 30, "b": 55})


def _add_line(
    fig: go.Figure, row: int, table: pd.DataFrame, column: str, name: str, colour: str, dash: str
) -> None:
    shown = ".2%" if column.endswith("error") else ".4f"
    fig.add_scatter(
        row=row,
        col=1,
        x=table["k"],
        y=table[column].where(table[column] > 10**LOWEST) if row == 1 else table[column],
        mode="lines+markers",
        name=name,
        line={"color": colour, "dash": dash, "width": 2},
        marker={"color": colour, "size": 6, "symbol": "circle" if dash == "solid" else "circle-open"},
        hovertemplate=f"{name}<br>rank %{{x}}: %{{y:{shown}}}<extra></extra>",
    )
