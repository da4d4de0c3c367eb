"""Heat map of one query's documents, with their grades and features."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from rankviz.common.arrays import FloatArray
from rankviz.datasets.types import RankingData
from rankviz.plots.labels import shown_documents
from rankviz.plots.style import finished, grade_colour

MOST = 200
"""Most documents drawn; more are thinned evenly from the highest grade to the lowest."""
_FIRST = 2  # columns before the features


def data(part: RankingData, query: int) -> pd.DataFrame:
    """Return documents of the query at position `query`, best first: "document", "grade", "1", "2", … ."""
    rows = part.query_slice(query)
    table = pd.DataFrame({"document": shown_documents(part, query), "grade": part.y[rows]})
    features = pd.DataFrame(part.X[rows], columns=[str(k + 1) for k in range(part.n_features)])
    joined = pd.concat([table, features], axis=1)
    return joined.sort_values("grade", ascending=False, kind="stable", ignore_index=True)


def thinned(table: pd.DataFrame, most: int = MOST) -> pd.DataFrame:
    """Return at most `most` rows, evenly spaced, including the first and the last."""
    if len(table) <= most:
        return table
    return table.iloc[np.linspace(0, len(table) - 1, most).round().astype(int)].reset_index(drop=True)


def figure(table: pd.DataFrame, names: tuple[str, ...] | None = None) -> go.Figure:
    """Draw grades (left strip) and features, each scaled from its minimum in this query to its maximum.

    A feature that is constant in the query is blank. `names` are the features' names.
    """
    X = table.iloc[:, _FIRST:].to_numpy(np.float64)
    labels = names or tuple(f"feature {k + 1}" for k in range(X.shape[1]))
    fig = make_subplots(cols=2, column_widths=[0.04, 0.96], horizontal_spacing=0.015, shared_yaxes=True)
    _add_grades(fig, table)
    fig.add_heatmap(
        z=_from_0_to_1(X),
        x=np.arange(1, X.shape[1] + 1),
        y=np.arange(1, len(table) + 1),
        colorscale="Cividis",
        zmin=0,
        zmax=1,
        colorbar={"title": "value", "tickvals": [0, 1], "ticktext": ["min", "max"], "thickness": 12},
        customdata=np.dstack(
            [X, *np.broadcast_arrays(_column(table["document"]), np.asarray(labels)[None, :])]
        ),
        hovertemplate="%{customdata[1]}<br>%{customdata[2]} = %{customdata[0]:.4g}<extra></extra>",
        row=1,
        col=2,
    )
    fig.update_xaxes(title_text="feature number", row=1, col=2)
    fig.update_yaxes(autorange="reversed", showgrid=False, zeroline=False)
    fig.update_yaxes(title_text="documents, the best grade first", row=1, col=1)
    height = int(np.clip(170 + 14 * len(table), 260, 720))
    return finished(fig, height=height, margin={"l": 60, "r": 20, "t": 20, "b": 55})


def _add_grades(fig: go.Figure, table: pd.DataFrame) -> None:
    """Add a strip of grades in their colours, each named once at the middle of its documents."""
    grades = sorted(set(table["grade"].tolist()))
    steps = np.linspace(0, 1, len(grades) + 1)
    scale = [
        (float(edge), grade_colour(grade))
        for grade, ends in zip(grades, pairwise(steps), strict=True)
        for edge in ends
    ]
    fig.add_heatmap(
        z=np.searchsorted(grades, table["grade"].to_numpy())[:, None],
        x=["grade"],
        y=np.arange(1, len(table) + 1),
        colorscale=scale,
        zmin=-0.5,
        zmax=len(grades) - 0.5,
        showscale=False,
        customdata=table[["document", "grade"]].to_numpy()[:, None, :],
        hovertemplate="%{customdata[0]}<br>grade %{customdata[1]}<extra></extra>",
        row=1,
        col=1,
    )
    middles = [float(np.mean(np.flatnonzero(table["grade"] == grade))) + 1 for grade in grades]
    counts = [int((table["grade"] == grade).sum()) for grade in grades]
    fig.update_yaxes(
        tickvals=middles,
        ticktext=[f"grade {g}<br>({n})" for g, n in zip(grades, counts, strict=True)],
        row=1,
        col=1,
    )


def _from_0_to_1(X: FloatArray) -> FloatArray:
    low, span = X.min(axis=0), np.ptp(X, axis=0)
    out: FloatArray = np.where(span > 0, (X - low) / np.where(span > 0, span, 1.0), np.nan)
    return out


def _column(values: pd.Series[str]) -> np.ndarray:
    return values.to_numpy(object)[:, None]
