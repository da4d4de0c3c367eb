"""Rank of the dual variables, and the share of active pairs, against C."""

from __future__ import annotations

import math

import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from rankviz.common.numbers import power_of_two
from rankviz.plots.style import CHOSEN_COLOUR, finished, line_of, translucent

LOW, HIGH = 0.1, 0.9


def data(ranks: pd.DataFrame) -> pd.DataFrame:
    """Return one row per C of `rankviz.analysis.rank_laws.ranks_of_fits`, rising.

    Columns C; rank (median over queries), low, high (10 % and 90 % quantiles), law and largest_rank
    (medians), active_share (mean), lawful (share of queries with every pair active).
    """
    every = (ranks["active"] == ranks["pairs"]).rename("lawful")
    groups = pd.concat([ranks, every], axis=1).groupby("C")
    return pd.DataFrame(
        {
            "rank": groups["rank"].median(),
            "low": groups["rank"].quantile(LOW),
            "high": groups["rank"].quantile(HIGH),
            "law": groups["law"].median(),
            "largest_rank": groups["largest_rank"].median(),
            "active_share": groups["active_share"].mean(),
            "lawful": groups["lawful"].mean(),
        }
    ).reset_index()


def figure(table: pd.DataFrame, method: str, chosen: float) -> go.Figure:
    """Draw the rank with its band, the bounds of squared hinge and grades; below, active shares."""
    fig = make_subplots(rows=2, cols=1, shared_xaxes=True, vertical_spacing=0.07, row_heights=[0.62, 0.38])
    x = [math.log2(C) for C in table["C"]]
    fig.add_scatter(
        x=[*x, *x[::-1]],
        y=[*table["low"], *table["high"][::-1]],
        mode="lines",
        line={"width": 0},
        fill="toself",
        fillcolor=translucent(method),
        showlegend=False,
        hoverinfo="skip",
    )
    levels = (
        ("largest_rank", "the grades allow (median)", "solid"),
        ("law", "the law allows (median)", "dash"),
    )
    for column, name, dash in levels:
        line = {"color": "#7f7f7f", "dash": dash, "width": 1.5}
        fig.add_scatter(x=x, y=table[column], mode="lines", line=line, name=name, hoverinfo="skip")
    hover = [f"C = {power_of_two(C)}" for C in table["C"]]
    fig.add_scatter(
        x=x,
        y=table["rank"],
        mode="lines+markers",
        name="median rank",
        **line_of(method),
        text=hover,
        hovertemplate="%{text}: median rank %{y}<extra></extra>",
    )
    _add_shares(fig, table, method)
    fig.add_vline(x=math.log2(chosen), line={"width": 1.5, "dash": "dot", "color": CHOSEN_COLOUR})
    fig.update_yaxes(row=1, title="numerical rank", rangemode="tozero")
    fig.update_yaxes(row=2, title="share", range=[-0.05, 1.1], tickformat=".0%", dtick=0.5)
    ticks = [exponent for exponent in range(-15, 16, 5) if min(x) <= exponent <= max(x)]
    fig.update_xaxes(tickvals=ticks, ticktext=[power_of_two(2.0**e) for e in ticks], zeroline=False)
    fig.update_xaxes(row=2, title="C")
    return finished(fig, height=430, margin={"l": 60, "r": 10, "t": 70, "b": 50})


def _add_shares(fig: go.Figure, table: pd.DataFrame, method: str) -> None:
    """Add the active shares to the lower panel."""
    x, hover = [math.log2(C) for C in table["C"]], [f"C = {power_of_two(C)}" for C in table["C"]]
    for column, name, symbol in (
        ("active_share", "pairs active", "circle"),
        ("lawful", "queries all active", "x"),
    ):
        fig.add_scatter(
            row=2,
            col=1,
            x=x,
            y=table[column],
            mode="lines+markers",
            name=name,
            line={"color": line_of(method)["line"]["color"], "width": 1, "dash": "dot"},
            marker={"color": line_of(method)["line"]["color"], "symbol": symbol, "size": 7},
            text=hover,
            hovertemplate=f"%{{text}}: %{{y:.1%}} {name}<extra></extra>",
        )
