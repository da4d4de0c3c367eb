"""One metric of two models, a point per query: one against the other, and their differences in order.

Points carry the query id as `customdata`, and both figures show one selection of queries.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from rankviz.datasets.types import RankingData
from rankviz.experiments.record import RunRecord
from rankviz.plots.style import EVEN_COLOUR, METHODS, finished

ROUNDING = 1e-12  # two ways to sum one metric differ by 1e-15, two rankings by 1e-6 or more


def data(left: RunRecord, right: RunRecord, part: RankingData, where: str, metric: str) -> pd.DataFrame:
    """Columns query, documents, left, right, difference (left − right) of a metric on part `where`.

    Queries keep their order; differences below 1e-12 are rounding and count as 0.
    """
    a, b = (record.metrics[where][metric].to_numpy() for record in (left, right))
    difference = np.where(np.abs(a - b) > ROUNDING, a - b, 0.0)
    columns = {"query": part.query_ids, "documents": np.diff(part.ptr), "left": a, "right": b}
    return pd.DataFrame(columns | {"difference": difference})


def figure(
    table: pd.DataFrame,
    methods: tuple[str, str],
    metric: str,
    selected: Collection[int] = (),
    chosen: int | None = None,
) -> go.Figure:
    """The left method's metric over the right one's: above the diagonal left is ahead; hollow means even."""
    left, right = (METHODS[method] for method in methods)
    fig = go.Figure()
    fig.add_scatter(
        x=[0, 1],
        y=[0, 1],
        mode="lines",
        line={"width": 1, "dash": "dash", "color": EVEN_COLOUR},
        hoverinfo="skip",
        showlegend=False,
    )
    size = 7 + 13 * np.sqrt(table["documents"] / max(1, table["documents"].max()))
    _add_points(fig, table, table["right"], table["left"], methods, metric, selected, size)
    _add_ring(fig, table[table["query"] == chosen], "right", "left", size)
    for text, colour, x, anchor in (
        (f"{left.name} ahead", left.colour, 0.02, "left"),
        (f"{right.name} ahead", right.colour, 0.98, "right"),
    ):
        y = 0.98 if anchor == "left" else 0.02
        fig.add_annotation(
            x=x,
            y=y,
            xref="paper",
            yref="paper",
            xanchor=anchor,
            text=text,
            showarrow=False,
            font_color=colour,
        )
    axis = {"range": [-0.04, 1.04], "tickformat": ".1f", "dtick": 0.2, "zeroline": False}
    return finished(
        fig,
        height=480,
        showlegend=False,
        xaxis=axis | {"title": f"{metric}, {right.name}"},
        yaxis=axis | {"title": f"{metric}, {left.name}"},
        margin={"l": 60, "r": 20, "t": 30, "b": 55},
    )


def strip(
    table: pd.DataFrame,
    methods: tuple[str, str],
    metric: str,
    selected: Collection[int] = (),
    chosen: int | None = None,
) -> go.Figure:
    """Differences of the queries from the smallest to the largest, each a point on a stem from 0."""
    left, right = (METHODS[method].name for method in methods)
    ordered = table.sort_values(["difference", "query"], ignore_index=True)
    ordered["place"] = np.arange(1, len(ordered) + 1)
    stems = {
        "type": "data",
        "symmetric": False,
        "array": (-ordered["difference"]).clip(lower=0),
        "arrayminus": ordered["difference"].clip(lower=0),
        "width": 0,
        "thickness": 1.2,
        "color": EVEN_COLOUR,
    }
    fig = go.Figure()
    size = pd.Series(9.0 if len(ordered) <= 100 else 6.0, index=ordered.index)
    _add_points(
        fig, ordered, ordered["place"], ordered["difference"], methods, metric, selected, size, error_y=stems
    )
    _add_ring(fig, ordered[ordered["query"] == chosen], "place", "difference", size)
    reach = max(0.1, np.ceil(10 * ordered["difference"].abs().max()) / 10) if len(ordered) else 1.0
    return finished(
        fig,
        height=480,
        showlegend=False,
        xaxis={"title": "queries, by difference", "showticklabels": False, "zeroline": False},
        yaxis={
            "title": f"{metric}, {left} − {right}",
            "range": [-1.05 * reach, 1.05 * reach],
            "tickformat": "+.2~f",
        },
        margin={"l": 60, "r": 20, "t": 30, "b": 55},
    )


def _add_points(
    fig: go.Figure,
    table: pd.DataFrame,
    x: pd.Series[Any],
    y: pd.Series[Any],
    methods: tuple[str, str],
    metric: str,
    selected: Collection[int],
    size: pd.Series[float],
    **more: Any,
) -> None:
    left, right = (METHODS[method] for method in methods)
    ahead = np.sign(table["difference"]).to_numpy()
    fig.add_scatter(
        x=x,
        y=y,
        mode="markers",
        name="queries",
        customdata=_listed(table[["query", "documents", "left", "right", "difference"]]),
        selectedpoints=np.flatnonzero(table["query"].isin(list(selected))) if selected else None,
        marker={
            "size": size,
            "color": np.select([ahead > 0, ahead < 0], [left.colour, right.colour], EVEN_COLOUR),
            "symbol": np.where(ahead == 0, "circle-open", "circle"),
            "opacity": 0.8,
            "line": {"width": np.where(ahead == 0, 2, 1), "color": "white"},
        },
        unselected={"marker": {"opacity": 0.15}},
        hovertemplate=(
            f"query %{{customdata[0]}}, %{{customdata[1]}} documents<br>{metric}: {left.name} "
            f"%{{customdata[2]:.4f}}, {right.name} %{{customdata[3]:.4f}}<br>difference "
            "%{customdata[4]:+.4f}<extra></extra>"
        ),
        **more,
    )


def _add_ring(fig: go.Figure, row: pd.DataFrame, x: str, y: str, size: pd.Series[float]) -> None:
    """A ring around the chosen query, which answers a click as the point within does."""
    fig.add_scatter(
        x=row[x],
        y=row[y],
        mode="markers",
        customdata=_listed(row[["query"]]),
        marker={
            "symbol": "circle-open",
            "size": size[row.index] + 9,
            "color": "#CC79A7",
            "line": {"width": 3},
        },
        unselected={"marker": {"opacity": 1}},
        hoverinfo="skip",
    )


def _listed(columns: pd.DataFrame) -> list[list[Any]]:
    """Rows as lists, which selection events give back as they are; typed arrays come back as mappings."""
    return columns.astype(object).to_numpy().tolist()
