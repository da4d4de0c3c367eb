"""One query's lists by two models side by side, documents joined by lines."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from rankviz.common.arrays import FloatArray, IntArray
from rankviz.datasets.types import RankingData
from rankviz.plots.labels import shown_documents
from rankviz.plots.style import CHOSEN_COLOUR, GRADE_COLOURS, finished, grade_colour

ON_LIGHT_GRADE, ON_DARK_GRADE = GRADE_COLOURS[-1], "#fefefe"
PITCH = 26  # pixels from rank to rank


def data(left: FloatArray, right: FloatArray, part: RankingData, query: int) -> pd.DataFrame:
    """Rank the documents of the query at position `query` by two vectors of the part's scores.

    Columns document, grade, left_rank, left_score, right_rank, right_score; sorted by right_rank. Ranks count
    from 1, and ties keep file order, as in LETOR's evaluation.
    """
    rows = part.query_slice(query)
    table = pd.DataFrame(
        {
            "document": shown_documents(part, query),
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
    """Return the documents among the first k of either model."""
    return table[(table["left_rank"] <= k) | (table["right_rank"] <= k)]


def moved(table: pd.DataFrame, n: int) -> pd.DataFrame:
    """Return the n documents with the largest rank changes above 0, ties by best rank.

    Columns document, grade, left_rank, right_rank, change (left_rank − right_rank, above 0 if the right list
    has it higher).
    """
    found = table[["document", "grade", "left_rank", "right_rank"]].copy()
    found["change"] = found["left_rank"] - found["right_rank"]
    found["size"], found["best"] = found["change"].abs(), found[["left_rank", "right_rank"]].min(axis=1)
    found = found[found["size"] > 0].sort_values(["size", "best"], ascending=[False, True], ignore_index=True)
    return found.head(n).drop(columns=["size", "best"])


def height(k: int) -> int:
    """Return the pixels of the figure of the first k ranks."""
    return 120 + PITCH * k


def figure(table: pd.DataFrame, left: str, right: str, k: int, chosen: Collection[str] = ()) -> go.Figure:
    """Draw two columns of ranks 1 … k, from the top; a document in only one list leaves at the bottom.

    Numbers beside the lists show a document's rise (▲) or fall (▼) from left to right; markers carry the
    grade. Chosen documents have a ring and a line of their own colour.
    """
    shown = top(table, k)
    fig = go.Figure()
    for grade, rows in shown.groupby("grade"):
        _add_lines(fig, rows, k, grade_colour(int(str(grade))), 2)
    _add_lines(fig, shown[shown["document"].isin(chosen)], k, CHOSEN_COLOUR, 4)
    for grade in sorted(set(shown["grade"])):
        _add_grade(fig, shown[shown["grade"] == grade], int(grade), k)
    _add_changes(fig, shown, k)
    _add_rings(fig, shown[shown["document"].isin(chosen)], k)
    return finished(
        fig,
        height=height(k),
        xaxis={
            "tickvals": [0, 1],
            "ticktext": [left, right],
            "range": [-0.5, 1.5],
            "side": "top",
            "zeroline": False,
        },
        yaxis={
            "title": "rank",
            "range": [k + 1.6, 0.4],
            "tickvals": list(range(1, k + 1)),
            "zeroline": False,
        },
        legend={"orientation": "h", "yanchor": "top", "y": -0.02, "x": 0},
        margin={"l": 60, "r": 20, "t": 50, "b": 50},
    )


def _add_lines(fig: go.Figure, rows: pd.DataFrame, k: int, colour: str, width: int) -> None:
    ends = rows[["left_rank", "right_rank"]].clip(upper=k + 1).to_numpy().tolist()
    fig.add_scatter(
        x=[x for _ in ends for x in (0, 1, None)],
        y=[y for pair in ends for y in (*pair, None)],
        mode="lines",
        line={"color": colour, "width": width},
        opacity=0.6,
        hoverinfo="skip",
        showlegend=False,
    )


def _add_grade(fig: go.Figure, rows: pd.DataFrame, grade: int, k: int) -> None:
    for x, side in ((0, "left"), (1, "right")):
        ranked = rows[rows[f"{side}_rank"] <= k]
        fig.add_scatter(
            x=[x] * len(ranked),
            y=ranked[f"{side}_rank"],
            mode="markers+text",
            name=f"grade {grade}",
            legendgroup=f"grade {grade}",
            showlegend=x == 0 or not (rows["left_rank"] <= k).any(),
            text=[str(grade)] * len(ranked),
            textfont={"size": 11, "color": ON_LIGHT_GRADE if grade < 2 else ON_DARK_GRADE},
            marker={
                "size": 18,
                "color": grade_colour(grade),
                "line": {"width": 1, "color": "#5a6b7b"},
            },
            customdata=_listed(ranked, f"{side}_score"),
            hovertemplate=(
                f"%{{customdata[0]}}, grade {grade}<br>"
                "rank %{y}, score %{customdata[1]:.4f}<extra></extra>"
            ),
        )


def _add_changes(fig: go.Figure, shown: pd.DataFrame, k: int) -> None:
    """Add each document's rise or fall on the right, and the new ranks of leaving ones on the left."""
    arrived = shown[(shown["right_rank"] <= k) & (shown["left_rank"] != shown["right_rank"])]
    left = shown[shown["right_rank"] > k]
    words = [_change(a, b, k) for a, b in arrived[["left_rank", "right_rank"]].to_numpy().tolist()]
    for x, side, rows, text in (
        (1.08, "right", arrived, words),
        (-0.08, "left", left, [f"to {rank} ▼" for rank in left["right_rank"]]),
    ):
        fig.add_scatter(
            x=[x] * len(rows),
            y=rows[f"{side}_rank"],
            mode="text",
            text=text,
            textposition=f"middle {side}",
            textfont={"size": 11, "color": "#7f7f7f"},
            customdata=_listed(rows),
            hoverinfo="skip",
            showlegend=False,
        )


def _change(left: int, right: int, k: int) -> str:
    """Describe the move from rank `left` to rank `right` among the first k."""
    if left > k:
        return f"▲ from {left}"
    return f"▲ {left - right}" if left > right else f"▼ {right - left}"


def _add_rings(fig: go.Figure, rows: pd.DataFrame, k: int) -> None:
    """Add rings around the chosen documents; they answer a click like the markers."""
    for x, side in ((0, "left"), (1, "right")):
        ranked = rows[rows[f"{side}_rank"] <= k]
        fig.add_scatter(
            x=[x] * len(ranked),
            y=ranked[f"{side}_rank"],
            mode="markers",
            marker={"symbol": "circle-open", "size": 25, "color": CHOSEN_COLOUR, "line": {"width": 3}},
            customdata=_listed(ranked),
            hoverinfo="skip",
            showlegend=False,
        )


def _listed(rows: pd.DataFrame, *columns: str) -> list[list[object]]:
    """Return names of documents and further columns as lists, which selection events return unchanged."""
    return rows[["document", *columns]].astype(object).to_numpy().tolist()
