"""The documents of one query as two models score them: one score against the other, by grade."""

from __future__ import annotations

import pandas as pd
import plotly.graph_objects as go

from rankviz._typing import FloatArray
from rankviz.datasets.types import RankingData
from rankviz.plots import ranked_list
from rankviz.plots.style import EVEN_COLOUR, finished, grade_colour


def data(left: FloatArray, right: FloatArray, part: RankingData, query: int) -> pd.DataFrame:
    """The table of `ranked_list.data` with columns left_centred and right_centred.

    They are the scores less their mean over the query: only differences of scores within a query say
    anything, for pairs are all that was learned from.
    """
    table = ranked_list.data(left, right, part, query)
    for side in ("left", "right"):
        table[f"{side}_centred"] = table[f"{side}_score"] - table[f"{side}_score"].mean()
    return table


def figure(table: pd.DataFrame, left: str, right: str) -> go.Figure:
    """Left score over right score, darker for higher grades; on the diagonal both models agree."""
    values = table[["left_centred", "right_centred"]].to_numpy()
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
        fig.add_scatter(
            x=rows["right_centred"],
            y=rows["left_centred"],
            mode="markers",
            name=f"grade {grade}",
            marker={
                "size": 10,
                "color": grade_colour(int(str(grade))),
                "line": {"width": 1, "color": "#5a6b7b"},
            },
            customdata=rows[["document", "left_rank", "right_rank"]],
            hovertemplate=(
                f"%{{customdata[0]}}, grade {grade}<br>{left}: rank %{{customdata[1]}}, %{{y:.4f}}<br>"
                f"{right}: rank %{{customdata[2]}}, %{{x:.4f}}<extra></extra>"
            ),
        )
    axis = {"range": ends, "zeroline": False}
    return finished(
        fig,
        height=510,
        xaxis=axis | {"title": f"score less the query's mean, {right}"},
        yaxis=axis | {"title": f"score less the query's mean, {left}"},
    )
