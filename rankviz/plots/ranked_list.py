"""One query as two models rank it: their lists side by side, documents joined by lines."""

from __future__ import annotations

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from rankviz._typing import FloatArray, IntArray
from rankviz.datasets.statistics import document_names
from rankviz.datasets.types import RankingData
from rankviz.plots.style import finished, grade_colour


def data(left: FloatArray, right: FloatArray, part: RankingData, query: int) -> pd.DataFrame:
    """Ranks of the documents of the query at position `query` under two vectors of scores of the part.

    Columns document, grade, left_rank, left_score, right_rank, right_score; sorted by right_rank. Ranks
    count from 1, and ties keep file order, as in LETOR's evaluation.
    """
    rows = part.query_slice(query)
    table = pd.DataFrame(
        {
            "document": document_names(part, query),
            "grade": part.y[rows],
            "left_rank": _ranks(left[rows]),
            "left_score": left[rows],
            "right_rank": _ranks(right[rows]),
            "right_score": right[rows],
        }
    )
    return table.sort_values("right_rank", ignore_index=True)


def _ranks(scores: FloatArray) -> IntArray:
    ranks = np.empty(len(scores), np.int64)
    ranks[np.argsort(-scores, kind="stable")] = np.arange(1, len(scores) + 1)
    return ranks


def top(table: pd.DataFrame, k: int) -> pd.DataFrame:
    """The documents that either model puts among its first k."""
    return table[(table["left_rank"] <= k) | (table["right_rank"] <= k)]


def figure(table: pd.DataFrame, left: str, right: str, k: int) -> go.Figure:
    """Two columns of ranks 1 … k, top down; a document in one list only leaves through the bottom."""
    shown = top(table, k)
    fig = go.Figure()
    ends = shown[["left_rank", "right_rank"]].clip(upper=k + 1).to_numpy()
    for pair, grade in zip(ends, shown["grade"], strict=True):
        fig.add_scatter(
            x=[0, 1],
            y=pair,
            mode="lines",
            line={"color": grade_colour(int(grade)), "width": 2},
            opacity=0.6,
            hoverinfo="skip",
            showlegend=False,
        )
    for grade in sorted(set(shown["grade"]), reverse=True):
        _add_grade(fig, shown[shown["grade"] == grade], int(grade), k)
    return finished(
        fig,
        height=120 + 26 * k,
        xaxis={"tickvals": [0, 1], "ticktext": [left, right], "range": [-0.25, 1.25], "side": "top"},
        yaxis={
            "title": "rank",
            "range": [k + 1.6, 0.4],
            "tickvals": list(range(1, k + 1)),
            "zeroline": False,
        },
        legend={"orientation": "h", "yanchor": "top", "y": -0.02, "x": 0},
        margin={"l": 60, "r": 20, "t": 50, "b": 50},
    )


def _add_grade(fig: go.Figure, rows: pd.DataFrame, grade: int, k: int) -> None:
    for x, side in ((0, "left"), (1, "right")):
        ranked = rows[rows[f"{side}_rank"] <= k]
        fig.add_scatter(
            x=[x] * len(ranked),
            y=ranked[f"{side}_rank"],
            mode="markers",
            name=f"grade {grade}",
            legendgroup=f"grade {grade}",
            showlegend=x == 0 or not (rows["left_rank"] <= k).any(),
            marker={
                "size": 15,
                "color": grade_colour(grade),
                "line": {"width": 1, "color": "#5a6b7b"},
            },
            customdata=ranked[["document", f"{side}_score"]],
            hovertemplate=(
                f"%{{customdata[0]}}, grade {grade}<br>"
                "rank %{y}, score %{customdata[1]:.4f}<extra></extra>"
            ),
        )
