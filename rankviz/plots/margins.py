"""Margins t = f_i − f_j of preference pairs: losses and a histogram, and a film of Newton iterations."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from rankviz.common.arrays import FloatArray
from rankviz.common.numbers import percent
from rankviz.datasets.types import RankingData
from rankviz.learning.losses import EVERY_LOSS, LOSSES, OTHER_NAMES, Loss, PiecewiseQuadratic
from rankviz.metrics.pairwise import histogram, summary
from rankviz.plots.style import (
    GUIDE,
    IN_PERCENT,
    add_note,
    evenly,
    finished,
    grade_colour,
    loss_line,
    ranks_of,
    shown_documents,
    style_of,
)

MOST_BINS = 80
CURVE_POINTS = 241
MARGIN = "margin t = f(preferred) − f(other)"
LEAST_LOW, LEAST_HIGH = -1.0, 2.0
"""Losses are drawn at least over these margins."""


def bin_edges(low: float, high: float) -> FloatArray:
    """Return at most about `MOST_BINS` bins of a round width from low to high; 0 and mostly 1 are edges."""
    span = max(high - low, 1e-9)
    power = 10.0 ** math.floor(math.log10(span / MOST_BINS))
    width = next(power * digit for digit in (1, 2, 5, 10) if span / (power * digit) <= MOST_BINS)
    edges: FloatArray = width * np.arange(math.floor(low / width), math.floor(high / width) + 2.0)
    return edges


def bins_data(scores: FloatArray, part: RankingData, edges: FloatArray | None = None) -> pd.DataFrame:
    """Count the margins of all pairs of a part in bins, exactly: columns left, right, pairs, share.

    Without `edges` they span all margins, 0 and 1.
    """
    found = summary(scores, part)
    if edges is None:
        edges = bin_edges(min(found.low, 0.0), max(found.high, 1.0))
    counts = histogram(scores, part, edges)
    share = counts / max(found.n_pairs, 1)
    return pd.DataFrame({"left": edges[:-1], "right": edges[1:], "pairs": counts, "share": share})


def curves(table: pd.DataFrame, losses: Mapping[str, Loss] = LOSSES, chosen: str = "") -> pd.DataFrame:
    """Return losses over the margins of a table of bins: columns loss, t, value, slope.

    `chosen` is drawn too if it has a name of `OTHER_NAMES`.
    """
    losses = dict(losses) | {name: loss for name, loss in OTHER_NAMES.items() if name == chosen}
    low = min(LEAST_LOW, float(table["left"].min()))
    high = max(LEAST_HIGH, float(table["right"].max()))
    t = np.linspace(low, high, CURVE_POINTS)
    t = np.union1d(t, [-1e-9, 0.0, 1.0 - 1e-9, 1.0])  # where slopes jump
    with np.errstate(over="ignore"):
        frames = [
            pd.DataFrame({"loss": name, "t": t, "value": loss.value(t), "slope": loss.derivative(t)})
            for name, loss in losses.items()
        ]
    return pd.concat(frames, ignore_index=True)


def histogram_figure(table: pd.DataFrame, method: str) -> go.Figure:
    """Draw only the share of pairs over the margins, for a model without a loss that bends at 1."""
    fig = go.Figure()
    fig.add_bar(**bars(table, method))
    _guides(fig, "y domain", (0.0,))
    fig.update_yaxes(title_text="share of pairs", **IN_PERCENT, rangemode="tozero")
    fig.update_xaxes(title_text=MARGIN)
    return finished(fig, height=360, bargap=0, margin={"l": 70, "r": 20, "t": 40, "b": 55})


def losses_figure(table: pd.DataFrame, lines: pd.DataFrame, method: str, loss: str) -> go.Figure:
    """Draw losses, derivatives and the share of pairs over one axis of margins; the model's loss is bold."""
    fig = make_subplots(rows=3, shared_xaxes=True, vertical_spacing=0.05, row_heights=[0.36, 0.26, 0.38])
    for name, rows in lines.groupby("loss", sort=False):
        _add_loss(fig, rows, str(name), chosen=name == loss)
    fig.add_bar(**bars(table, method), row=3, col=1)
    _guides(fig, "y3 domain")
    own = lines[lines["loss"] == loss]
    like_hinges = lines[[isinstance(EVERY_LOSS[name], PiecewiseQuadratic) for name in lines["loss"]]]
    fig.update_yaxes(title_text="loss ℓ(t)", range=_room(own["value"], 0.0, like_hinges["value"]), row=1)
    fig.update_yaxes(title_text="slope ℓ'(t)", range=_room(own["slope"], -1.0, like_hinges["slope"]), row=2)
    fig.update_yaxes(title_text="share of pairs", **IN_PERCENT, rangemode="tozero", row=3)
    fig.update_xaxes(title_text=MARGIN, row=3)
    return finished(fig, height=680, bargap=0, margin={"l": 70, "r": 20, "t": 90, "b": 55})


def _guides(fig: go.Figure, panel: str, at: tuple[float, ...] = (0.0, 1.0)) -> None:
    """Add lines at margins, and a label on the misordered side of 0."""
    for t in at:
        fig.add_vline(x=t, line=GUIDE)
    add_note(fig, "misordered ←", 0.0, 1.0, "right", "top", yref=panel)


def bars(table: pd.DataFrame, method: str) -> dict[str, Any]:
    """Return keyword arguments for the bars of a table of bins."""
    left, right, share = (table[name].to_numpy() for name in ("left", "right", "share"))
    return {
        "x": (left + right) / 2,
        "y": share,
        "width": right - left,
        "name": "preference pairs",
        "marker": {"color": style_of(method).colour, "opacity": 0.55, "line": {"width": 0}},
        "customdata": table[["pairs", "left", "right", "share"]],
        "hovertemplate": "margin %{customdata[1]:.4g} to %{customdata[2]:.4g}<br>"
        "%{customdata[0]:,} pairs (%{customdata[3]:.2%})<extra></extra>",
    }


def _add_loss(fig: go.Figure, rows: pd.DataFrame, name: str, *, chosen: bool) -> None:
    colour, dash = loss_line(name)
    line = {"color": colour, "dash": "solid" if chosen else dash, "width": 4 if chosen else 1.6}
    label = EVERY_LOSS[name].label
    for row, column, symbol in ((1, "value", "ℓ"), (2, "slope", "ℓ'")):
        fig.add_scatter(
            x=rows["t"],
            y=rows[column],
            name=f"<b>{label}</b>" if chosen else label,
            legendgroup=name,
            showlegend=row == 1,
            mode="lines",
            line=line,
            opacity=1.0 if chosen else 0.8,
            hovertemplate=f"{label}: {symbol}(%{{x:.3g}}) = %{{y:.3g}}<extra></extra>",
            row=row,
            col=1,
        )


def _room(values: pd.Series[float], least: float, largest: pd.Series[float]) -> list[float]:
    """Return a range for the model's own curve, limited by `largest`; other curves may leave it.

    A loss such as e^−t would flatten all others, and is not finite at the ends.
    """
    own = values[np.isfinite(values)]
    low, high = min(least, float(own.min())), max(1.0 if least == 0.0 else 0.0, float(own.max()))
    if len(largest):
        low, high = max(low, min(least, float(largest.min()))), min(high, max(1.0, float(largest.max())))
    room = 0.06 * (high - low)
    return [low - room, high + room]


MILLISECONDS, SLOW = 700, 1600
MOST_FRAMES = 60


def shown_iterations(iterations: int) -> list[int]:
    """Return the shown iterations: all, or evenly spaced ones with the first and the last."""
    return [int(k) for k in evenly(iterations, MOST_FRAMES)]


def playback_documents(scores: Sequence[FloatArray], part: RankingData, query: int) -> pd.DataFrame:
    """Return ranks and scores of a query's documents in each shown iteration.

    Columns iteration, document, grade, score, rank (from 1, ties in file order), sorted by document within an
    iteration, so that each document keeps its row.
    """
    rows = part.query_slice(query)
    names, grades, frames = shown_documents(part, query), part.y[rows], []
    for k in shown_iterations(len(scores)):
        f = scores[k][rows]
        columns = {"iteration": k, "document": names, "grade": grades, "score": f, "rank": ranks_of(f)}
        frames.append(pd.DataFrame(columns))
    return pd.concat(frames, ignore_index=True)


def playback_bins(scores: Sequence[FloatArray], part: RankingData) -> pd.DataFrame:
    """Count the margins of all pairs in each shown iteration, with the same edges.

    Columns iteration, left, right, pairs, share.
    """
    shown = shown_iterations(len(scores))
    found = [summary(scores[k], part) for k in shown]
    edges = bin_edges(min(0.0, *(s.low for s in found)), max(1.0, *(s.high for s in found)))
    frames = [bins_data(scores[k], part, edges).assign(iteration=k) for k in shown]
    return pd.concat(frames, ignore_index=True)


def playback_figure(
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
    most = _tallest(counts)
    fig.add_bar(**_cut_bars(counts[counts["iteration"] == shown[0]], method, most), row=1, col=2)
    fig.frames = [
        go.Frame(
            name=str(k),
            data=[
                *(go.Scatter(**_documents(table, k, grade)) for grade in grades),
                go.Bar(**_cut_bars(counts[counts["iteration"] == k], method, most)),
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
    names = rows["document"].to_numpy()  # Plotly takes arrays in half the time
    return {
        "x": rows["score"].to_numpy(),
        "y": rows["rank"].to_numpy(),
        "ids": names,
        "mode": "markers",
        "marker": {"size": 15, "color": grade_colour(grade), "line": {"width": 1, "color": "#5a6b7b"}},
        "customdata": names,
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
    fig.update_yaxes(**IN_PERCENT, range=[0.0, 1.15 * _tallest(counts)], row=1, col=2)
    for t in (0.0, 1.0):
        fig.add_vline(x=t, line=GUIDE, row=1, col=2)


def _tallest(counts: pd.DataFrame) -> float:
    """Return the largest share of a bin, but at the start: then all margins are 0, in one bar."""
    later = counts[counts["iteration"] > 0]
    return float((later if len(later) else counts)["share"].max()) or 1.0


def _cut_bars(counts: pd.DataFrame, method: str, most: float) -> dict[str, Any]:
    """Return the bars of an iteration; one that is higher than the axis ends with its share."""
    share = counts["share"].to_numpy()
    parts = [percent(one) if one > most else "" for one in share]
    drawn = {"y": np.minimum(share, 1.02 * most), "text": parts, "textposition": "outside", "textangle": 0}
    return bars(counts, method) | drawn | {"constraintext": "none"}


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
