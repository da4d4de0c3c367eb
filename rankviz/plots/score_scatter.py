"""One query's scores by two models against each other, by grade."""

from __future__ import annotations

from collections.abc import Collection

import pandas as pd
import plotly.graph_objects as go

from rankviz.common.arrays import FloatArray
from rankviz.datasets.types import RankingData
from rankviz.plots import ranked_list
from rankviz.plots.style import CHOSEN_COLOUR, EVEN_COLOUR, finished, grade_colour

SCALES = {"centred": "score less the query's mean", "standardised": "standardised score"}
"""Pairs determine only differences of scores within a query."""


def data(
    left: FloatArray, right: FloatArray, part: RankingData, query: int, scale: str = "centred"
) -> pd.DataFrame:
    """Return `ranked_list.data` with columns left_value and right_value, on a scale of `SCALES`.

    "centred": minus the mean over the query; "standardised": also divided by the standard deviation, 0 if all
    are equal.
    """
    table = ranked_list.data(left, right, part, query)
    for side in ("left", "right"):
        values = table[f"{side}_score"] - table[f"{side}_score"].mean()
        spread = float(values.std(ddof=0)) if scale == "standardised" else 1.0
        table[f"{side}_value"] = values / (spread or 1.0)
    return table


def figure(
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
    fig.add_scatter(
        x=ends,
        y=ends,
        mode="lines",
        line={"width": 1, "dash": "dash", "color": EVEN_COLOUR},
        hoverinfo="skip",
        showlegend=False,
    )
    for grade, rows in table.groupby("grade", sort=True):
        _add_grade(fig, rows, int(str(grade)), left, right, 10 if len(table) <= 100 else 7)
    _add_ring(fig, table[table["document"].isin(chosen)])
    axis = {"range": ends, "zeroline": False}
    return finished(
        fig,
        height=height,
        xaxis=axis | {"title": f"{SCALES[scale]}, {right}"},
        yaxis=axis | {"title": f"{SCALES[scale]}, {left}"},
    )


def _add_grade(fig: go.Figure, rows: pd.DataFrame, grade: int, left: str, right: str, size: int) -> None:
    columns = ["document", "left_rank", "right_rank", "left_score", "right_score"]
    fig.add_scatter(
        x=rows["right_value"],
        y=rows["left_value"],
        mode="markers",
        name=f"grade {grade}",
        marker={"size": size, "color": grade_colour(grade), "line": {"width": 1, "color": "#5a6b7b"}},
        customdata=rows[columns].astype(object).to_numpy().tolist(),
        hovertemplate=(
            f"%{{customdata[0]}}, grade {grade}<br>{left}: rank %{{customdata[1]}}, score "
            f"%{{customdata[3]:.4f}}<br>{right}: rank %{{customdata[2]}}, score %{{customdata[4]:.4f}}"
            "<extra></extra>"
        ),
    )


def _add_ring(fig: go.Figure, rows: pd.DataFrame) -> None:
    """Add rings around the chosen documents."""
    fig.add_scatter(
        x=rows["right_value"],
        y=rows["left_value"],
        mode="markers",
        marker={
            "symbol": "circle-open",
            "size": 20,
            "color": CHOSEN_COLOUR,
            "line": {"width": 3},
        },
        customdata=rows[["document"]].astype(object).to_numpy().tolist(),
        hoverinfo="skip",
        showlegend=False,
    )
