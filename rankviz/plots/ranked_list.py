"""Rankings of one query: two models side by side, score against score, and ranks against m."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import pairwise

import pandas as pd
import plotly.graph_objects as go

from rankviz.common.arrays import FloatArray
from rankviz.datasets.types import RankingData
from rankviz.plots.style import (
    CHOSEN_COLOUR,
    GRADE_COLOURS,
    add_line,
    add_marks,
    as_lists,
    finished,
    grade_colour,
    ranks_of,
    ring,
    shown_documents,
)
from rankviz.runs.record import RunRecord

ON_LIGHT_GRADE, ON_DARK_GRADE = GRADE_COLOURS[-1], "#fefefe"
PITCH = 26  # pixels from rank to rank


def list_data(left: FloatArray, right: FloatArray, part: RankingData, query: int) -> pd.DataFrame:
    """Rank the documents of the query at position `query` by two vectors of the part's scores.

    Columns document, grade, left_rank, left_score, right_rank, right_score; sorted by right_rank. Ranks count
    from 1, and ties keep file order, as in LETOR's evaluation.
    """
    rows = part.query_slice(query)
    table = pd.DataFrame(
        {
            "document": shown_documents(part, query),
            "grade": part.y[rows],
            "left_rank": ranks_of(left[rows]),
            "left_score": left[rows],
            "right_rank": ranks_of(right[rows]),
            "right_score": right[rows],
        }
    )
    return table.sort_values("right_rank", ignore_index=True)


def largest_moves(table: pd.DataFrame, n: int) -> pd.DataFrame:
    """Return the n documents with the largest rank changes above 0, ties by best rank.

    Columns document, grade, left_rank, right_rank, change (left_rank − right_rank, above 0 if the right list
    has it higher).
    """
    found = table[["document", "grade", "left_rank", "right_rank"]].copy()
    found["change"] = found["left_rank"] - found["right_rank"]
    found["size"], found["best"] = found["change"].abs(), found[["left_rank", "right_rank"]].min(axis=1)
    found = found[found["size"] > 0].sort_values(["size", "best"], ascending=[False, True], ignore_index=True)
    return found.head(n).drop(columns=["size", "best"])


def list_height(k: int) -> int:
    """Return the pixels of the figure of the first k ranks."""
    return 120 + PITCH * k


def list_figure(
    table: pd.DataFrame, left: str, right: str, k: int, chosen: Collection[str] = ()
) -> go.Figure:
    """Draw two columns of ranks 1 … k, from the top; a document in only one list leaves at the bottom.

    Numbers beside the lists show a document's rise (▲) or fall (▼) from left to right; markers carry the
    grade. Chosen documents have a ring and a line of their own colour.
    """
    shown = table[(table["left_rank"] <= k) | (table["right_rank"] <= k)]
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
        height=list_height(k),
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
    add_line(
        fig,
        [x for _ in ends for x in (0, 1, None)],
        [y for pair in ends for y in (*pair, None)],
        colour,
        dash=None,
        width=width,
        opacity=0.6,
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
            customdata=as_lists(ranked[["document", f"{side}_score"]]),
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
            customdata=as_lists(rows[["document"]]),
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
        look = {"customdata": as_lists(ranked[["document"]]), "showlegend": False}
        add_marks(fig, [x] * len(ranked), ranked[f"{side}_rank"], ring(25), **look)


SCALES = {"centred": "score less the query's mean", "standardised": "standardised score"}
"""Pairs determine only differences of scores within a query."""


def scatter_data(
    left: FloatArray, right: FloatArray, part: RankingData, query: int, scale: str = "centred"
) -> pd.DataFrame:
    """Return `ranked_list.list_data` with columns left_value and right_value, on a scale of `SCALES`.

    "centred": minus the mean over the query; "standardised": also divided by the standard deviation, 0 if all
    are equal.
    """
    table = list_data(left, right, part, query)
    for side in ("left", "right"):
        values = table[f"{side}_score"] - table[f"{side}_score"].mean()
        spread = float(values.std(ddof=0)) if scale == "standardised" else 1.0
        table[f"{side}_value"] = values / (spread or 1.0)
    return table


def scatter_figure(
    table: pd.DataFrame,
    left: str,
    right: str,
    scale: str = "centred",
    chosen: Collection[str] = (),
    height: int = 510,
) -> go.Figure:
    """Draw left score over right score, darker for higher grades; both models agree on the diagonal."""
    values = table[["left_value", "right_value"]].to_numpy()
    low, high = (float(values.min()), float(values.max())) if len(table) else (0.0, 1.0)
    pad = 0.06 * (high - low) or 1.0
    ends = [low - pad, high + pad]
    fig = go.Figure()
    add_line(fig, ends, ends)
    for grade, rows in table.groupby("grade", sort=True):
        _add_grade_points(fig, rows, int(str(grade)), left, right, 10 if len(table) <= 100 else 7)
    rings = table[table["document"].isin(chosen)]
    look = {"customdata": as_lists(rings[["document"]]), "showlegend": False}
    add_marks(fig, rings["right_value"], rings["left_value"], ring(20), **look)
    axis = {"range": ends, "zeroline": False}
    return finished(
        fig,
        height=height,
        xaxis=axis | {"title": f"{SCALES[scale]}, {right}"},
        yaxis=axis | {"title": f"{SCALES[scale]}, {left}"},
    )


def _add_grade_points(
    fig: go.Figure, rows: pd.DataFrame, grade: int, left: str, right: str, size: int
) -> None:
    columns = ["document", "left_rank", "right_rank", "left_score", "right_score"]
    fig.add_scatter(
        x=rows["right_value"],
        y=rows["left_value"],
        mode="markers",
        name=f"grade {grade}",
        marker={"size": size, "color": grade_colour(grade), "line": {"width": 1, "color": "#5a6b7b"}},
        customdata=as_lists(rows[columns]),
        hovertemplate=(
            f"%{{customdata[0]}}, grade {grade}<br>{left}: rank %{{customdata[1]}}, score "
            f"%{{customdata[3]:.4f}}<br>{right}: rank %{{customdata[2]}}, score %{{customdata[4]:.4f}}"
            "<extra></extra>"
        ),
    )


EXACT = "exact"
OUTLINE = "#5a6b7b"
FEW = 20
"""Most ranks drawn large."""
_COLUMNS = ["row", "document", "grade", "place", "label", "rank", "score"]


def ranks_data(
    records: Sequence[RunRecord], exact: RunRecord | None, part_data: RankingData, part: str, query: int
) -> pd.DataFrame:
    """Rank the documents of the query at position `query`, one row per document and ranking.

    Columns row (of the document in the query, from 0), document, grade, place, label, rank, score. `records`
    are runs of one map, one for each m; places count them from 0 by m, and the exact model comes last. Ranks
    count from 1, ties keep file order.
    """
    ordered = sorted(records, key=lambda record: record.spec.n_components)
    columns = [(f"{record.spec.n_components}", record.scores[part]) for record in ordered]
    columns += [] if exact is None else [(EXACT, exact.scores[part])]
    return rankings_data(columns, part_data, query)


def rankings_data(
    columns: Sequence[tuple[str, FloatArray]], part_data: RankingData, query: int
) -> pd.DataFrame:
    """Rank a query's documents by each vector of the part's scores, as `ranks_data`; labels come first."""
    rows = part_data.query_slice(query)
    documents = {"document": shown_documents(part_data, query), "grade": part_data.y[rows]}
    tables = []
    for place, (label, scores) in enumerate(columns):
        table = pd.DataFrame(documents | {"place": place, "label": label, "score": scores[rows]})
        table["rank"] = ranks_of(table["score"].to_numpy())
        tables.append(table.rename_axis("row").reset_index()[_COLUMNS])
    return pd.concat(tables, ignore_index=True) if tables else pd.DataFrame(columns=_COLUMNS)


def in_any_top(table: pd.DataFrame, k: int) -> pd.DataFrame:
    """Return the documents that any ranking has among its first k."""
    return table[table["row"].isin(table.loc[table["rank"] <= k, "row"])]


def kept_in_top(table: pd.DataFrame, k: int) -> pd.Series:
    """Count, by place, the last ranking's first k documents that are among the first k there."""
    last = table.loc[(table["place"] == table["place"].max()) & (table["rank"] <= k), "row"]
    there = table[(table["rank"] <= k) & table["row"].isin(last)]
    return there.groupby("place").size().reindex(sorted(table["place"].unique()), fill_value=0)


def ranks_figure(table: pd.DataFrame, k: int) -> go.Figure:
    """Draw lines of documents through the ranks 1 … k, from the top, coloured by grade.

    A line that leaves at the bottom goes to ranks below k.
    """
    shown = in_any_top(table, k)
    fig = go.Figure()
    for grade in sorted(set(shown["grade"])):
        within, leaving = segments(shown[shown["grade"] == grade], k)
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


Segment = tuple[tuple[int, int], tuple[int, int]]


def segments(rows: pd.DataFrame, k: int) -> tuple[list[Segment], list[Segment]]:
    """Return (place, place) and (rank, rank) of each document between adjacent rankings.

    First those within the first k ranks, then those that enter or leave, with the other end at rank k + 1.
    """
    within: list[Segment] = []
    leaving: list[Segment] = []
    for _, line in rows.groupby("row", sort=False):
        points = list(zip(line["place"].tolist(), line["rank"].tolist(), strict=True))
        for (left, before), (right, after) in pairwise(points):
            if min(before, after) <= k:
                ends = min(before, k + 1), min(after, k + 1)
                (within if max(ends) <= k else leaving).append(((left, right), ends))
    return within, leaving


def _lines(fig: go.Figure, found: Sequence[Segment], grade: int, *, width: float, opacity: float) -> None:
    """Add one trace for all stretches of a grade, with gaps between them."""
    add_line(
        fig,
        [x for places, _ in found for x in (*places, None)],
        [y for _, ranks in found for y in (*ranks, None)],
        grade_colour(grade),
        dash=None,
        width=width,
        opacity=opacity,
        legendgroup=f"grade {grade}",
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
