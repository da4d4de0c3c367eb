"""Film of Newton iterations: the ranked list of one query and the margins of all pairs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from rankviz.common.arrays import FloatArray
from rankviz.datasets.types import RankingData
from rankviz.metrics.pairwise import summary
from rankviz.plots import margins
from rankviz.plots.labels import shown_documents
from rankviz.plots.style import finished, grade_colour

MILLISECONDS, SLOW = 700, 1600
MOST_FRAMES = 60


def kept(iterations: int) -> list[int]:
    """Return the shown iterations: all, or evenly spaced ones with the first and the last."""
    if iterations <= MOST_FRAMES:
        return list(range(iterations))
    return [int(k) for k in np.unique(np.linspace(0, iterations - 1, MOST_FRAMES).round())]


def documents(scores: Sequence[FloatArray], part: RankingData, query: int) -> pd.DataFrame:
    """Return ranks and scores of a query's documents in each shown iteration.

    Columns iteration, document, grade, score, rank (from 1, ties in file order), sorted by document within an
    iteration, so that each document keeps its row.
    """
    rows = part.query_slice(query)
    names, grades, frames = shown_documents(part, query), part.y[rows], []
    for k in kept(len(scores)):
        f = scores[k][rows]
        rank = np.empty(len(f), np.int64)
        rank[np.argsort(-f, kind="stable")] = np.arange(1, len(f) + 1)
        columns = {"iteration": k, "document": names, "grade": grades, "score": f, "rank": rank}
        frames.append(pd.DataFrame(columns))
    return pd.concat(frames, ignore_index=True)


def bins(scores: Sequence[FloatArray], part: RankingData) -> pd.DataFrame:
    """Count the margins of all pairs in each shown iteration, with the same edges.

    Columns iteration, left, right, pairs, share.
    """
    shown = kept(len(scores))
    found = [summary(scores[k], part) for k in shown]
    edges = margins.bin_edges(min(0.0, *(s.low for s in found)), max(1.0, *(s.high for s in found)))
    frames = [margins.data(scores[k], part, edges).assign(iteration=k) for k in shown]
    return pd.concat(frames, ignore_index=True)


def figure(
    table: pd.DataFrame, counts: pd.DataFrame, titles: dict[int, str], method: str, top: int
) -> go.Figure:
    """Draw the film: documents at (score, rank) on the left, margins on the right; `titles` name the frames.

    Play, pause and slider work in the browser alone; the figure holds all data.
    """
    shown = sorted(titles)
    grades = sorted(set(table["grade"]))
    columns = {
        "cols": 2,
        "column_widths": [0.5, 0.5],
        "horizontal_spacing": 0.16,
    }  # space for the right panel's ticks, also on a phone
    fig = make_subplots(**columns, subplot_titles=("rank by score", "share of pairs by margin"))
    for grade in grades:
        fig.add_scatter(**_documents(table, shown[0], grade), name=f"grade {grade}", row=1, col=1)
    fig.add_bar(**margins.bars(counts[counts["iteration"] == shown[0]], method), row=1, col=2)
    fig.frames = [
        go.Frame(
            name=str(k),
            data=[
                *(go.Scatter(**_documents(table, k, grade)) for grade in grades),
                go.Bar(**margins.bars(counts[counts["iteration"] == k], method)),
            ],
            layout={"title": {"text": f"<b>{titles[k]}</b>"}},
        )
        for k in shown
    ]
    _axes(fig, table, counts, top)
    return finished(
        fig,
        height=_height(top) + 312,
        bargap=0,
        title={
            "text": titles[shown[0]],
            "font": {"size": 14},
            "x": 0,
            "xanchor": "left",
            "y": 0.97,
            "yanchor": "top",
        },
        legend={"orientation": "h", "yanchor": "top", "y": -52 / _height(top), "x": 0},
        updatemenus=[_buttons(-110 / _height(top))],
        sliders=[_slider(shown, -144 / _height(top))],
        margin={"l": 50, "r": 20, "t": 100, "b": 212},
        uirevision=None,
    )


def _height(top: int) -> int:
    """Return the pixels of the panels, which place the controls below them."""
    return 24 * max(top, 10)


def _documents(table: pd.DataFrame, iteration: int, grade: int) -> dict[str, Any]:
    rows = table[(table["iteration"] == iteration) & (table["grade"] == grade)]
    return {
        "x": rows["score"],
        "y": rows["rank"],
        "ids": rows["document"],
        "mode": "markers",
        "marker": {"size": 15, "color": grade_colour(grade), "line": {"width": 1, "color": "#5a6b7b"}},
        "customdata": rows["document"],
        "hovertemplate": f"%{{customdata}}, grade {grade}<br>rank %{{y}}, score %{{x:.4f}}<extra></extra>",
    }


def _axes(fig: go.Figure, table: pd.DataFrame, counts: pd.DataFrame, top: int) -> None:
    """Set ranges for the whole film, so that the axes stay fixed."""
    low, high = float(table["score"].min()), float(table["score"].max())
    room = 0.06 * (high - low) or 0.5
    fig.update_xaxes(title_text="score", range=[low - room, high + room], row=1, col=1)
    fig.update_yaxes(title_text="rank", range=[top + 0.6, 0.4], dtick=1 if top <= 20 else 5, row=1, col=1)
    ends = [float(counts["left"].min()), float(counts["right"].max())]
    fig.update_xaxes(title_text="margin t", range=ends, row=1, col=2)
    # at the start all margins are 0: that one bar would flatten all others
    later = counts[counts["iteration"] > 0]
    tallest = float((later if len(later) else counts)["share"].max())
    fig.update_yaxes(tickformat=".0%", range=[0.0, 1.08 * (tallest or 1.0)], row=1, col=2)
    for t in (0.0, 1.0):
        fig.add_vline(x=t, line={"width": 1, "dash": "dash", "color": "#999999"}, row=1, col=2)


def _buttons(y: float) -> dict[str, Any]:
    def animate(milliseconds: int) -> list[Any]:
        move = {"duration": milliseconds // 2, "easing": "cubic-in-out"}
        frame = {"duration": milliseconds, "redraw": True}
        return [None, {"frame": frame, "transition": move, "fromcurrent": True}]

    pause = [[None], {"frame": {"duration": 0, "redraw": True}, "mode": "immediate"}]
    names = (("Play", animate(MILLISECONDS)), ("Slowly", animate(SLOW)), ("Pause", pause))
    return {
        "type": "buttons",
        "direction": "right",
        "x": 0.0,
        "xanchor": "left",
        "y": y,
        "yanchor": "top",
        "showactive": False,
        "buttons": [{"label": name, "method": "animate", "args": args} for name, args in names],
    }


def _slider(shown: list[int], y: float) -> dict[str, Any]:
    step = {"mode": "immediate", "frame": {"duration": 0, "redraw": True}, "transition": {"duration": 300}}
    return {
        "active": 0,
        "x": 0.0,
        "len": 1.0,
        "y": y,
        "pad": {"t": 10},
        "currentvalue": {"visible": False},
        "steps": [{"label": str(k), "method": "animate", "args": [[str(k)], step]} for k in shown],
    }
