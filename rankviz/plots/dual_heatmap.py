"""Heat map of one query's dual variables: preferred documents down, the others across, best first."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from rankviz.common.arrays import FloatArray, IntArray
from rankviz.models.dual_variables import DualBlock
from rankviz.plots.style import DIVERGING, NO_VALUE, finished

MOST = 400
"""Most rows or columns drawn; of more, an evenly spaced selection."""

ORDERS: dict[str, Callable[[DualBlock], IntArray]] = {
    "grade": lambda block: np.lexsort((-block.f, -block.y)),
    "score": lambda block: np.argsort(-block.f, kind="stable"),
}
"""Orders of a query's documents, best first: by grade and then score, or by score alone."""

SIDES: dict[str, Callable[[DualBlock], tuple[IntArray, IntArray]]] = {
    "block": lambda block: (block.winners, block.losers),
    "symmetrised": lambda block: (np.arange(len(block.y)), np.arange(len(block.y))),
}
"""Row and column documents of each matrix of `rankviz.analysis.spectra.MATRICES`."""

FULL: dict[str, Callable[[DualBlock], FloatArray]] = {
    "block": DualBlock.full,
    "symmetrised": DualBlock.symmetrised,
}


def data(block: DualBlock, matrix: str, order: str) -> pd.DataFrame:
    """Return one row per drawn entry of a pair.

    Columns row, column (places in the order, from 1), grade and score of both documents, and alpha.
    """
    place = np.argsort(ORDERS[order](block))
    rows, columns = (_drawn(side[np.argsort(place[side])]) for side in SIDES[matrix](block))
    y, f, alpha = block.y, block.f, FULL[matrix](block)[np.ix_(rows, columns)]
    gap = y[rows][:, None] - y[columns]
    at, across = np.nonzero(gap > 0 if matrix == "block" else gap != 0)
    return pd.DataFrame(
        {
            "row": at + 1,
            "column": across + 1,
            "row_grade": y[rows][at],
            "column_grade": y[columns][across],
            "row_score": f[rows][at],
            "column_score": f[columns][across],
            "alpha": alpha[at, across],
        }
    )


def _drawn(documents: IntArray) -> IntArray:
    if len(documents) <= MOST:
        return documents
    return documents[np.linspace(0, len(documents) - 1, MOST).round().astype(np.int64)]


def reach(table: pd.DataFrame) -> tuple[float, float]:
    """Return min(0, smallest α) and the largest α (1 if it is 0)."""
    return min(0.0, float(table["alpha"].min())), float(table["alpha"].max()) or 1.0


def figure(
    table: pd.DataFrame, matrix: str, order: str, limits: tuple[float, float], name: str = "α"
) -> go.Figure:
    """Draw a heat map in Cividis, or in two hues for limits symmetric about 0; blank without a pair.

    The colour bar omits `name`, so that compared maps have equal widths.
    """
    shape = int(table["row"].max()), int(table["column"].max())
    alpha = np.full(shape, np.nan, np.float32)  # half the bytes to send
    alpha[table["row"] - 1, table["column"] - 1] = table["alpha"]
    y_labels, x_labels = (_labels(table, side, n) for side, n in zip(("row", "column"), shape, strict=True))
    fig = go.Figure()
    fig.add_heatmap(
        z=alpha,
        x=x_labels,
        y=y_labels,
        colorscale=DIVERGING if limits[0] == -limits[1] else "Cividis",
        zmin=limits[0],
        zmax=limits[1],
        colorbar={"title": "α", "thickness": 14, "exponentformat": "power"},
        hoverongaps=False,
        hovertemplate=f"%{{y}}<br>over %{{x}}<br>{name} = %{{z:.4g}}<extra></extra>",
    )
    rows, columns = _SIDE_WORDS[matrix]
    by = "by falling grade, then score" if order == "grade" else "by falling score"
    ticks = {"showgrid": False, "zeroline": False}
    return finished(
        fig,
        height=380,
        plot_bgcolor=NO_VALUE,
        xaxis={"title": f"{columns} →<br>both {by}"} | ticks | _grade_ticks(table, "column", x_labels, order),
        yaxis={"title": f"← {rows}", "autorange": "reversed"}
        | ticks
        | _grade_ticks(table, "row", y_labels, order),
        margin={"l": 60, "r": 10, "t": 30, "b": 55},
    )


_SIDE_WORDS = {
    "block": ("preferred document", "other document"),
    "symmetrised": ("document", "document"),
}


def _labels(table: pd.DataFrame, side: str, n: int) -> list[str]:
    """Label each row or column by place, grade and score; without a drawn pair by place only."""
    labels = [str(place) for place in range(1, n + 1)]
    known = table.drop_duplicates(side)
    for place, grade, score in zip(known[side], known[f"{side}_grade"], known[f"{side}_score"], strict=True):
        labels[place - 1] = f"{place}: grade {grade}, score {score:.4g}"
    return labels


def _grade_ticks(table: pd.DataFrame, side: str, labels: list[str], order: str) -> dict[str, object]:
    """Return ticks in the middle of each grade if documents are sorted by grade, else none."""
    if order != "grade":
        return {"showticklabels": False, "ticks": ""}
    places = table.groupby(f"{side}_grade")[side].agg(lambda p: int((p.min() + p.max()) // 2))
    return {"tickvals": [labels[p - 1] for p in places], "ticktext": [f"grade {g}" for g in places.index]}
