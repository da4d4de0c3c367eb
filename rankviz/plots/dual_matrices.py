"""One query's dual variables: heat map, spectrum, and losses after truncation to rank k."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from rankviz.analysis.spectra import RANK_TOLERANCE, energy
from rankviz.common.arrays import FloatArray, IntArray
from rankviz.models.dual_variables import DualBlock
from rankviz.plots.style import (
    CHOSEN_COLOUR,
    DIVERGING,
    GUIDE,
    IN_PERCENT,
    NO_VALUE,
    evenly,
    finished,
    snapped_range,
    style_of,
)

FLOOR = -17.5  # power of ten below which all values are rounding
SHORTEST = 12


def spectrum_data(values: FloatArray) -> pd.DataFrame:
    """Return columns k, sigma, relative (σ_k/σ₁) and energy (PE(k)) of falling singular values."""
    return pd.DataFrame(
        {
            "k": np.arange(1, len(values) + 1),
            "sigma": values,
            "relative": values / values[0],
            "energy": energy(values),
        }
    )


def last_drawn(values: FloatArray) -> int:
    """Return the last k on the axis: twice the number above rounding, or all."""
    counted = int((values > RANK_TOLERANCE * values[0]).sum())
    return max(SHORTEST, min(2 * counted, len(values)))


def spectrum_figure(
    table: pd.DataFrame, method: str, *, tolerance: float, share: float, chosen: int, last: int
) -> go.Figure:
    """Draw σ_k/σ₁ above PE(k), with the zero tolerance, the energy share and its k, and the chosen rank."""
    fig = make_subplots(rows=2, cols=1, shared_xaxes=True, vertical_spacing=0.06)
    shown = table[table["k"] <= last]
    _add_spectrum(fig, 1, shown[shown["relative"] > 10**FLOOR], "relative", method)
    _add_spectrum(fig, 2, shown, "energy", method)
    late = int((shown["relative"] > tolerance).sum()) > 0.7 * last  # the line passes the right corner
    fig.add_hline(
        row=1,
        y=tolerance,
        line=GUIDE,
        annotation_text="counts as zero below",
        annotation_position="bottom left" if late else "bottom right",
        annotation_y=math.log10(tolerance),  # log axes place annotations by exponent
    )
    k = int((table["energy"] < share - 1e-12).sum()) + 1
    fig.add_hline(row=2, y=share, line=GUIDE)
    place, side = _clear_of(k, chosen, last)
    fig.add_annotation(
        row=2,
        col=1,
        x=k,
        y=share,
        text=f"k = {k} for {100 * share:.4g} %",
        axref="x2",
        ayref="y2",
        ax=place,
        ay=max(share - 0.28, 0.08),
        xanchor=side,
        arrowhead=2,
        arrowcolor="#999999",
    )
    fig.add_vline(x=chosen, line={"width": 1.5, "dash": "dot", "color": CHOSEN_COLOUR})
    fig.update_yaxes(row=1, title="σ<sub>k</sub> / σ<sub>1</sub> (log)", type="log", range=[FLOOR, 0.7])
    fig.update_yaxes(row=1, exponentformat="power", dtick=3)
    fig.update_yaxes(row=2, title="energy kept, PE(k)", range=[0, 1.06], **IN_PERCENT)
    fig.update_xaxes(range=[0.4, last + 0.6], zeroline=False)
    fig.update_xaxes(row=2, title="k")
    return finished(fig, height=460, showlegend=False, margin={"l": 65, "r": 15, "t": 30, "b": 55})


def _clear_of(k: int, chosen: int, last: int) -> tuple[float, str]:
    """Return position and anchor of a label for k, beyond the line of the chosen k if near."""
    near, gap = 0.25 * last, 0.02 * last
    if k < 0.7 * last:
        return (chosen if k <= chosen <= k + near else k) + gap, "left"
    return (chosen if k - near <= chosen <= k else k) - gap, "right"


def _add_spectrum(fig: go.Figure, row: int, table: pd.DataFrame, column: str, method: str) -> None:
    style = style_of(method)
    fig.add_scatter(
        row=row,
        col=1,
        x=table["k"],
        y=table[column],
        mode="lines+markers",
        line={"color": style.colour, "width": 1},
        marker={"color": style.colour, "symbol": style.symbol, "size": 6},
        customdata=table[["sigma", "relative", "energy"]],
        hovertemplate="σ of %{x}: %{customdata[0]:.4g}, %{customdata[1]:.2g} of the largest<br>"
        "energy up to here %{customdata[2]:.4%}<extra></extra>",
    )


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


def heatmap_data(block: DualBlock, matrix: str, order: str) -> pd.DataFrame:
    """Return one row per drawn entry of a pair.

    Columns row, column (places in the order, from 1), grade and score of both documents, and alpha.
    """
    place = np.argsort(ORDERS[order](block))
    ordered = (side[np.argsort(place[side])] for side in SIDES[matrix](block))
    rows, columns = (side[evenly(len(side), MOST)] for side in ordered)
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


def colour_limits(table: pd.DataFrame) -> tuple[float, float]:
    """Return min(0, smallest α) and the largest α (1 if it is 0)."""
    return min(0.0, float(table["alpha"].min())), float(table["alpha"].max()) or 1.0


def heatmap_figure(
    table: pd.DataFrame,
    matrix: str,
    order: str,
    limits: tuple[float, float],
    name: str = "α",
    *,
    bar: bool = True,
) -> go.Figure:
    """Draw a heat map in Cividis, or in two hues for limits symmetric about 0; blank without a pair.

    The colour bar omits `name`; a map without it has the same width.
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
        showscale=bar,
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
        margin={"l": 60, "r": 10 if bar else BAR_WIDTH, "t": 30, "b": 55},
    )


BAR_WIDTH = 70
"""Space of a colour bar in pixels."""
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


METRIC = "NDCG@10"
TICKS = (1, 2, 3, 5, 10, 20, 50, 100, 200)
LOWEST = -6
"""Power of ten below which losses are not drawn."""
SCOPES = {"query": "this query alone", "all": "every query"}
"""Truncated blocks, and their names."""


def truncation_data(one: pd.DataFrame, every: pd.DataFrame) -> pd.DataFrame:
    """Return columns scope, k, energy, alpha_error, w_error, NDCG@10 for one query's truncation and for all.

    Both are tables of `Truncation.ranked`; the last row of each truncates nothing.
    """
    columns = ["k", "energy", "alpha_error", "w_error", METRIC]
    frames = [frame[columns] for frame in (one, every)]
    return pd.concat(frames, keys=list(SCOPES), names=["scope", None]).reset_index("scope")


def truncation_figure(table: pd.DataFrame, method: str, part: str, *, chosen: int, last: int) -> go.Figure:
    """Draw relative errors of α and w above, the mean metric on a part below; mark the chosen k."""
    fig = make_subplots(rows=2, cols=1, shared_xaxes=True, vertical_spacing=0.06)
    for scope, dash in (("all", "solid"), ("query", "dash")):
        rows = table[(table["scope"] == scope) & (table["k"] <= max(last, chosen))]
        _add_losses(fig, 1, rows, "alpha_error", f"α, {SCOPES[scope]}", CHOSEN_COLOUR, dash)
        _add_losses(fig, 1, rows, "w_error", f"w, {SCOPES[scope]}", style_of(method).colour, dash)
        _add_losses(fig, 2, rows, METRIC, f"{METRIC}, {SCOPES[scope]}", style_of(method).colour, dash)
    fig.data[2].showlegend = fig.data[5].showlegend = False
    whole = float(table[METRIC].iloc[-1])
    fig.add_hline(row=2, y=whole, line={"width": 1, "dash": "dot", "color": "#999999"})
    fig.add_vline(x=chosen, line={"width": 1.5, "dash": "dot", "color": CHOSEN_COLOUR})
    fig.update_yaxes(row=1, title="lost, relative (log)", type="log", range=[LOWEST, 1.3], dtick=2)
    fig.update_yaxes(row=1, exponentformat="power")
    low, high = snapped_range(float(table[METRIC].min()), float(table[METRIC].max()), 0.02)
    fig.update_yaxes(row=2, title=f"{METRIC}, {part}", range=[low, high])
    fig.update_xaxes(type="log", range=[-0.05, math.log10(1.1 * last)], tickvals=TICKS, zeroline=False)
    fig.update_xaxes(row=2, title="rank k of the blocks that are cut (log)")
    return finished(fig, height=460, margin={"l": 65, "r": 15, "t": 30, "b": 55})


def _add_losses(
    fig: go.Figure, row: int, table: pd.DataFrame, column: str, name: str, colour: str, dash: str
) -> None:
    shown = ".2%" if column.endswith("error") else ".4f"
    fig.add_scatter(
        row=row,
        col=1,
        x=table["k"],
        y=table[column].where(table[column] > 10**LOWEST) if row == 1 else table[column],
        mode="lines+markers",
        name=name,
        line={"color": colour, "dash": dash, "width": 2},
        marker={"color": colour, "size": 6, "symbol": "circle" if dash == "solid" else "circle-open"},
        hovertemplate=f"{name}<br>rank %{{x}}: %{{y:{shown}}}<extra></extra>",
    )
