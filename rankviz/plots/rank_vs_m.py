"""One query's documents against m: each rank under one approximation, then under the exact model."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import pandas as pd
import plotly.graph_objects as go

from rankviz.datasets.types import RankingData
from rankviz.plots.labels import shown_documents
from rankviz.plots.style import finished, grade_colour
from rankviz.runs.record import RunRecord

EXACT = "exact"
OUTLINE = "#5a6b7b"
FEW = 20
"""Most ranks drawn large."""
_COLUMNS = ["row", "document", "grade", "place", "label", "rank", "score"]


def data(
    records: Sequence[RunRecord], exact: RunRecord | None, part_data: RankingData, part: str, query: int
) -> pd.DataFrame:
    """Rank the documents of the query at position `query`, one row per document and ranking.

    Columns row (of the document in the query, from 0), document, grade, place, label, rank, score. `records`
    are runs of one map, one for each m; places count them from 0 by m, and the exact model comes last. Ranks
    count from 1, ties keep file order.
    """
    ordered = sorted(records, key=lambda record: record.spec.n_components)
    columns = [(f"{record.spec.n_components}", record) for record in ordered]
    columns += [] if exact is None else [(EXACT, exact)]
    rows = part_data.query_slice(query)
    documents = {"document": shown_documents(part_data, query), "grade": part_data.y[rows]}
    tables = []
    for place, (label, record) in enumerate(columns):
        table = pd.DataFrame(documents | {"place": place, "label": label, "score": record.scores[part][rows]})
        table["rank"] = table["score"].rank(ascending=False, method="first").astype(int)
        tables.append(table.rename_axis("row").reset_index()[_COLUMNS])
    return pd.concat(tables, ignore_index=True) if tables else pd.DataFrame(columns=_COLUMNS)


def top(table: pd.DataFrame, k: int) -> pd.DataFrame:
    """Return the documents that any ranking has among its first k."""
    return table[table["row"].isin(table.loc[table["rank"] <= k, "row"])]


def kept(table: pd.DataFrame, k: int) -> pd.Series:
    """Count, by place, the last ranking's first k documents that are among the first k there."""
    last = table.loc[(table["place"] == table["place"].max()) & (table["rank"] <= k), "row"]
    there = table[(table["rank"] <= k) & table["row"].isin(last)]
    return there.groupby("place").size().reindex(sorted(table["place"].unique()), fill_value=0)


def figure(table: pd.DataFrame, k: int) -> go.Figure:
    """Draw lines of documents through the ranks 1 … k, from the top, coloured by grade.

    A line that leaves at the bottom goes to ranks below k.
    """
    shown = top(table, k)
    fig = go.Figure()
    for grade in sorted(set(shown["grade"])):
        within, leaving = stretches(shown[shown["grade"] == grade], k)
        _lines(fig, leaving, int(grade), width=1.2, opacity=0.6)
        _lines(fig, within, int(grade), width=3 if k <= FEW else 1.5, opacity=0.8)
    for grade in sorted(set(shown["grade"]), reverse=True):
        _markers(fig, shown[(shown["grade"] == grade) & (shown["rank"] <= k)], int(grade), k)
    labels = shown.drop_duplicates("place").sort_values("place")
    few = k <= FEW
    return finished(
        fig,
        height=140 + 30 * k if few else 720,
        xaxis={
            "title": "number of features m",
            "tickvals": labels["place"],
            "ticktext": labels["label"],
            "range": [-0.3, labels["place"].max() + 0.3],
            "zeroline": False,
            "showgrid": False,
        },
        yaxis={
            "title": "rank",
            "range": [k + 0.9, 0.4] if few else [k * 1.02 + 0.5, -0.02 * k],
            "tickvals": list(range(1, k + 1)) if few else None,
            "zeroline": False,
        },
        legend={"orientation": "h", "yanchor": "bottom", "y": 1.01, "x": 0, "itemsizing": "constant"},
    )


Stretch = tuple[tuple[int, int], tuple[int, int]]


def stretches(rows: pd.DataFrame, k: int) -> tuple[list[Stretch], list[Stretch]]:
    """Return (place, place) and (rank, rank) of each document between adjacent rankings.

    First those within the first k ranks, then those that enter or leave, with the other end at rank k + 1.
    """
    within: list[Stretch] = []
    leaving: list[Stretch] = []
    for _, line in rows.groupby("row", sort=False):
        points = list(zip(line["place"].tolist(), line["rank"].tolist(), strict=True))
        for (left, before), (right, after) in pairwise(points):
            if min(before, after) <= k:
                ends = min(before, k + 1), min(after, k + 1)
                (within if max(ends) <= k else leaving).append(((left, right), ends))
    return within, leaving


def _lines(fig: go.Figure, found: Sequence[Stretch], grade: int, *, width: float, opacity: float) -> None:
    """Add one trace for all stretches of a grade, with gaps between them."""
    fig.add_scatter(
        x=[x for places, _ in found for x in (*places, None)],
        y=[y for _, ranks in found for y in (*ranks, None)],
        mode="lines",
        line={"color": grade_colour(grade), "width": width},
        opacity=opacity,
        legendgroup=f"grade {grade}",
        hoverinfo="skip",
        showlegend=False,
    )


def _markers(fig: go.Figure, rows: pd.DataFrame, grade: int, k: int) -> None:
    size = 15 if k <= FEW else 7 if k <= 60 else 4
    fig.add_scatter(
        x=rows["place"],
        y=rows["rank"],
        mode="markers",
        name=f"grade {grade}",
        legendgroup=f"grade {grade}",
        marker={
            "size": size,
            "color": grade_colour(grade),
            "line": {"width": 1 if size > 4 else 0, "color": OUTLINE},
        },
        customdata=rows[["document", "label", "score"]],
        hovertemplate=(
            f"%{{customdata[0]}}, grade {grade}<br>rank %{{y}} at m = %{{customdata[1]}}, "
            "score %{customdata[2]:.4f}<extra></extra>"
        ),
    )
