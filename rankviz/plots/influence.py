"""Metrics and effort against a setting: C (chapelle2010 Figure 1), or a cost λ (he2009 Figures 3 and 4)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from rankviz.common.numbers import interval_in_words, power_of_two
from rankviz.metrics.significance import Comparison, compare, interval
from rankviz.plots.axes import share_range
from rankviz.plots.style import CHOSEN_COLOUR, DATA_COLOUR, finished, line_of, translucent
from rankviz.runs.record import RunRecord

TICKS_EVERY = 4
"""Powers of two between the ticks of C."""


def pooled(records: Sequence[RunRecord], part: str, metric: str) -> pd.Series[float]:
    """A metric of every query of runs on different folds, by fold and query."""
    found: pd.Series[float] = pd.concat({r.spec.fold: r.metrics[part][metric] for r in records})
    return found


def data(groups: dict[float, list[RunRecord]], part: str, metric: str) -> pd.DataFrame:
    """One row per value of a setting, whose runs are one per fold.

    Columns value, mean, low, high (95 % interval over the queries of all folds), queries, folds, and of
    all folds together seconds and products with the features (of the Newton steps from where each run starts;
    NaN where training does not tell them).
    """
    rows = []
    for value, records in sorted(groups.items()):
        found = interval(pooled(records, part, metric))
        seconds = sum(record.seconds.get("newton", math.nan) for record in records)
        ends = (found.mean, found.low, found.high, found.n_queries)
        products = sum(map(_products, records))
        rows.append((value, *ends, len(records), seconds, products))
    columns = ["value", "mean", "low", "high", "queries", "folds", "seconds", "products"]
    return pd.DataFrame(rows, columns=columns)


def _products(record: RunRecord) -> float:
    """Products with the features that a run took, NaN where its trace does not tell them."""
    return float(record.trace["products"].sum()) if "products" in record.trace else math.nan


def against(
    groups: dict[float, list[RunRecord]], value: float, part: str, metric: str
) -> dict[float, Comparison]:
    """Every value of the setting compared with one of them, query by query."""
    fixed = pooled(groups[value], part, metric)
    return {
        other: compare(pooled(records, part, metric), fixed)
        for other, records in sorted(groups.items())
        if other != value
    }


BESIDE_BEST = {
    "alike": "not distinguishable",
    "worse": "worse than the best",
    "best": "best",
}
"""How a value stands beside the best one, as legends say it: briefly, for large type leaves them two rows."""


def beside_best(table: pd.DataFrame, found: dict[float, Comparison], best: float) -> pd.DataFrame:
    """The table of `data` with how each value stands beside the best, a name in `BESIDE_BEST`."""
    worse = {value for value, one in found.items() if one.distinguishable}
    beside = ["best" if best == C else "worse" if C in worse else "alike" for C in table["value"]]
    return table.assign(beside_best=beside)


def figure_of_C(table: pd.DataFrame, method: str, metric: str, chosen: float) -> go.Figure:
    """The metric with its interval above, products below where known, against C; a line marks the chosen C.

    The best value has a ring, and those that are worse are hollow (`beside_best`). Products and not seconds,
    which differ from one run to the next.
    """
    heights = [0.66, 0.34] if table["products"].notna().all() else [1.0]
    last = len(heights)
    fig = make_subplots(rows=last, shared_xaxes=True, vertical_spacing=0.07, row_heights=heights)
    _add_metric(fig, table, method, row=1, col=1)
    _mark_values(fig, table, method)
    if last == 2:
        _add_products(fig, table, method)
    exponents = range(math.ceil(math.log2(table["value"].min())), int(math.log2(table["value"].max())) + 1)
    ticks = [2.0**c for c in exponents if c % TICKS_EVERY == 0]
    words = [power_of_two(value) for value in ticks]
    fig.update_xaxes(type="log", tickvals=ticks, ticktext=words)
    fig.update_xaxes(title_text="C", row=last, col=1)
    _finish_metric(fig, table, metric, row=1, col=1)
    fig.add_vline(x=chosen, line={"width": 1, "dash": "dash", "color": "#999999"})
    # on a log axis an annotation is placed by exponent
    fig.add_annotation(
        text=f"C = {power_of_two(chosen)}",
        x=math.log10(chosen),
        y=0,
        yref="y domain",
        xanchor="left",
        yanchor="bottom",
        xshift=3,
        showarrow=False,
    )
    return finished(fig, height=450, margin={"l": 70, "r": 20, "t": 40, "b": 50})


def _mark_values(fig: go.Figure, table: pd.DataFrame, method: str) -> None:
    """Markers that say which values are worse than the best one, and a ring around that."""
    line = line_of(method)
    fig.update_traces(mode="lines", selector={"name": "mean over queries"})
    shape = line["marker"]["symbol"]
    symbols = {"alike": shape, "worse": f"{shape}-open", "best": shape}
    for name, symbol in symbols.items():
        rows = table[table["beside_best"] == name]
        if not len(rows):
            continue
        ring = {"line": {"width": 2, "color": CHOSEN_COLOUR}, "size": 13} if name == "best" else {}
        fig.add_scatter(
            x=rows["value"],
            y=rows["mean"],
            name=BESIDE_BEST[name],
            mode="markers",
            marker=line["marker"] | {"symbol": symbol} | ring,
            hoverinfo="skip",
            row=1,
            col=1,
        )


def _add_products(fig: go.Figure, table: pd.DataFrame, method: str) -> None:
    fig.add_scatter(
        x=table["value"],
        y=table["products"],
        name="products",
        showlegend=False,
        mode="lines+markers",
        hovertemplate="C = %{x:.4g}: %{y:,.0f} products<extra></extra>",
        **line_of(method),
        row=2,
        col=1,
    )
    fig.update_yaxes(title_text="products", rangemode="tozero", row=2, col=1)


def figure_of_cost(
    table: pd.DataFrame, method: str, metric: str, name: str, chosen: float, plain: float
) -> go.Figure:
    """The metric with its interval against one λ; lines mark the chosen λ and what no costs give."""
    fig = go.Figure()
    _add_metric(fig, table, method)
    fig.add_scatter(
        x=[table["value"].min(), table["value"].max()],
        y=[plain, plain],
        name="every pair costs 1",
        mode="lines",
        line={"width": 2, "dash": "dash", "color": DATA_COLOUR},
        hovertemplate="every pair costs 1: %{y:.4f}<extra></extra>",
    )
    fig.add_vline(x=chosen, line={"width": 1, "dash": "dash", "color": "#999999"})
    fig.update_xaxes(title_text=name)
    _finish_metric(fig, table, metric)
    return finished(fig)


def _add_metric(fig: go.Figure, table: pd.DataFrame, method: str, **place: Any) -> None:
    colour, known = translucent(method), table.dropna(subset=["low"])
    fig.add_scatter(
        x=[*known["value"], *known["value"][::-1]],
        y=[*known["high"], *known["low"][::-1]],
        fill="toself",
        fillcolor=colour,
        line={"width": 0},
        mode="lines",
        name="95 % interval",
        hoverinfo="skip",
        **place,
    )
    fig.add_scatter(
        x=table["value"],
        y=table["mean"],
        name="mean over queries",
        mode="lines+markers",
        customdata=[
            [interval_in_words(row["low"], row["high"], ".4f"), row["queries"]] for _, row in table.iterrows()
        ],
        hovertemplate="%{x:.4g}: %{y:.4f}<br>%{customdata[0]}, %{customdata[1]} queries<extra></extra>",
        **line_of(method),
        **place,
    )


def _finish_metric(fig: go.Figure, table: pd.DataFrame, metric: str, **place: Any) -> None:
    low, high = table[["low", "mean"]].min().min(), table[["high", "mean"]].max().max()
    fig.update_yaxes(
        title_text=f"mean {metric}", range=share_range(float(low), float(high)), tickformat=".2f", **place
    )
