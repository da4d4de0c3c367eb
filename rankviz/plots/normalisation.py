"""One feature's values in every query, before and after each normalisation."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from rankviz.common.arrays import FloatArray
from rankviz.datasets.normalise import NORMALISATIONS, normalise
from rankviz.datasets.types import Fold, RankingData
from rankviz.plots.style import DATA_COLOUR, finished

MOST = 300
"""Most queries drawn; more are thinned evenly by their original median."""
QUANTILES = {"low": 0.0, "quarter": 0.25, "median": 0.5, "three quarters": 0.75, "high": 1.0}
_BAND, _INNER = "rgba(0, 158, 115, 0.15)", "rgba(0, 158, 115, 0.35)"


def data(fold: Fold, part: str, feature: int, most: int = MOST) -> pd.DataFrame:
    """Return quantiles of feature `feature` (from 1) within each query, under every normalisation.

    Columns normalisation, place, query, low, quarter, median, three quarters, high, between. Queries are
    ordered by their original median in all panels; at most `most` of them, evenly spaced. "between" is the
    between-query share of the variance over documents, Σ n_q (x̄_q − x̄)² / Σ (x − x̄)².
    """
    column = _one_column(fold, feature - 1)
    before = _quantiles(column.parts[part])
    order = before["median"].argsort(kind="stable").to_numpy()
    order = order[np.linspace(0, len(order) - 1, min(most, len(order))).round().astype(int)]
    frames: list[pd.DataFrame] = []
    for how in NORMALISATIONS:
        scaled = normalise(column, how).parts[part]
        shown = _quantiles(scaled).iloc[order].reset_index(drop=True)
        shown.insert(0, "normalisation", how)
        shown.insert(1, "place", np.arange(1, len(shown) + 1))
        frames.append(shown.assign(between=share_between(scaled)))
    return pd.concat(frames, ignore_index=True)


def share_between(part: RankingData) -> float:
    """Return the between-query share of the variance of a part's only feature; NaN if it is constant."""
    x = part.X[:, 0] - part.X[:, 0].mean() if part.n_documents else part.X[:, 0]
    scale = float(np.abs(x).max(initial=0.0))
    if scale <= 1e-12 * float(np.abs(part.X).max(initial=0.0)):
        return float("nan")
    x = x / scale
    sums = np.add.reduceat(x, part.ptr[:-1])
    return float((sums**2 / np.diff(part.ptr)).sum() / (x @ x))


def figure(table: pd.DataFrame, used: str) -> go.Figure:
    """Draw a panel per normalisation: median, middle half and range by query; mark `used`."""
    titles = [
        f"<b>{item.label} (in use)</b>" if key == used else item.label for key, item in NORMALISATIONS.items()
    ]
    fig = make_subplots(rows=2, cols=2, subplot_titles=titles, horizontal_spacing=0.09, vertical_spacing=0.16)
    for number, how in enumerate(NORMALISATIONS):
        _add_panel(fig, table[table["normalisation"] == how], number // 2 + 1, number % 2 + 1)
    fig.update_xaxes(title_text="queries", row=2)
    fig.update_yaxes(title_text="value", col=1)
    legend = {"orientation": "h", "yanchor": "bottom", "y": 1.08, "x": 0}
    return finished(fig, height=580, legend=legend, margin={"l": 60, "r": 20, "t": 80, "b": 55})


def _add_panel(fig: go.Figure, rows: pd.DataFrame, row: int, col: int) -> None:
    first = row == col == 1
    lines = (
        ("low", None, None, ""),
        ("high", "tonexty", _BAND, "all documents of the query"),
        ("quarter", None, None, ""),
        ("three quarters", "tonexty", _INNER, "the middle half of them"),
    )
    for column, fill, colour, name in lines:
        fig.add_scatter(
            x=rows["place"],
            y=rows[column],
            mode="lines",
            line={"width": 0, "shape": "hvh"},
            fill=fill,
            fillcolor=colour,
            name=name,
            legendgroup=name,
            showlegend=first and bool(name),
            hoverinfo="skip",
            row=row,
            col=col,
        )
    fig.add_scatter(
        x=rows["place"],
        y=rows["median"],
        mode="lines",
        line={"color": DATA_COLOUR, "width": 2, "shape": "hvh"},
        name="median",
        legendgroup="median",
        showlegend=first,
        customdata=rows[["query", "low", "high"]],
        hovertemplate="query %{customdata[0]}<br>median %{y:.4g}, from %{customdata[1]:.4g} to "
        "%{customdata[2]:.4g}<extra></extra>",
        row=row,
        col=col,
    )


def _one_column(fold: Fold, column: int) -> Fold:
    """Reduce a fold to one feature; every normalisation treats features separately."""
    train, vali, test = (
        replace(part, X=np.ascontiguousarray(part.X[:, [column]]), feature_names=None)
        for part in fold.parts.values()
    )
    return replace(fold, train=train, vali=vali, test=test)


def _quantiles(part: RankingData) -> pd.DataFrame:
    """Return quantiles of a part's only feature within each query."""
    values: list[FloatArray] = [
        np.quantile(part.X[part.query_slice(q), 0], list(QUANTILES.values())) for q in range(part.n_queries)
    ]
    table = pd.DataFrame(values, columns=list(QUANTILES))
    table.insert(0, "query", part.query_ids)
    return table
