"""Data of a fold: features, normalisations, one query's documents, and sizes of queries."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from rankviz.common.arrays import FloatArray
from rankviz.common.numbers import span
from rankviz.datasets.normalise import NORMALISATIONS, normalise
from rankviz.datasets.statistics import feature_table
from rankviz.datasets.types import Fold, RankingData
from rankviz.plots.style import (
    AT_THE_TOP,
    DATA_COLOUR,
    EVEN_COLOUR,
    IN_PERCENT,
    evenly,
    finished,
    grade_colour,
    shown_documents,
    whole_ticks,
)

WIDE = 50.0
"""Ratio of ranges beyond which the scale is logarithmic away from 0."""


def features_data(part: RankingData) -> pd.DataFrame:
    """Return the columns of `feature_table`, and "label": "feature 3", or "feature 3 (its name)"."""
    table = feature_table(part)
    named = zip(table["number"], table["name"], strict=True)
    labels = [f"feature {number} ({name})" if name else f"feature {number}" for number, name in named]
    return table.assign(label=labels)


def features_figure(table: pd.DataFrame) -> go.Figure:
    """Draw correlation with the grade (above; a cross if undefined) and minimum, mean, maximum (below)."""
    fig = make_subplots(rows=2, shared_xaxes=True, row_heights=[0.55, 0.45], vertical_spacing=0.08)
    undefined = table[table["correlation"].isna()]
    fig.add_bar(
        x=table["number"],
        y=table["correlation"],
        name="correlation",
        marker={"color": DATA_COLOUR},
        customdata=table["label"],
        hovertemplate="%{customdata}<br>correlation %{y:.3f}<extra></extra>",
        row=1,
        col=1,
    )
    fig.add_scatter(
        x=undefined["number"],
        y=np.zeros(len(undefined)),
        name="constant in every query, so undefined",
        mode="markers",
        marker={"symbol": "x", "size": 8, "color": EVEN_COLOUR},
        customdata=undefined["label"],
        hovertemplate="%{customdata}<br>no correlation: constant in every query<extra></extra>",
        showlegend=len(undefined) > 0,
        row=1,
        col=1,
    )
    _add_ranges(fig, table)
    fig.update_yaxes(title_text="correlation with grade", row=1, col=1)
    fig.update_xaxes(title_text="feature number", row=2, col=1)
    return finished(fig, height=520, legend=AT_THE_TOP)


def _add_ranges(fig: go.Figure, table: pd.DataFrame) -> None:
    signed_log = uses_signed_log(table)
    low, mean, high = (_scaled(table[name].to_numpy(), signed_log) for name in ("min", "mean", "max"))
    fig.add_bar(
        x=table["number"],
        y=high - low,
        base=low,
        name="minimum to maximum",
        marker={"color": EVEN_COLOUR, "opacity": 0.5},
        customdata=table[["label", "min", "max"]],
        hovertemplate="%{customdata[0]}<br>%{customdata[1]:.4g} to %{customdata[2]:.4g}<extra></extra>",
        row=2,
        col=1,
    )
    fig.add_scatter(
        x=table["number"],
        y=mean,
        name="mean",
        mode="markers",
        marker={"color": DATA_COLOUR, "size": 6},
        customdata=table[["label", "mean"]],
        hovertemplate="%{customdata[0]}<br>mean %{customdata[1]:.4g}<extra></extra>",
        row=2,
        col=1,
    )
    fig.update_yaxes(title_text="value (log away from 0)" if signed_log else "value", row=2, col=1)
    if signed_log:
        ticks = _ticks(float(table["min"].min()), float(table["max"].max()))
        fig.update_yaxes(tickvals=_scaled(ticks, True), ticktext=[f"{t:g}" for t in ticks], row=2, col=1)


def uses_signed_log(table: pd.DataFrame) -> bool:
    """Return True if the widest range exceeds `WIDE` times the median nonzero one."""
    widths = (table["max"] - table["min"]).to_numpy()
    widths = widths[widths > 0]
    return len(widths) > 0 and bool(widths.max() > WIDE * np.median(widths))


def _scaled(values: FloatArray, signed_log: bool) -> FloatArray:
    """Return x itself, or sign(x)·log₁₀(1 + |x|)."""
    out: FloatArray = np.sign(values) * np.log10(1 + np.abs(values)) if signed_log else values
    return out


def _ticks(low: float, high: float) -> FloatArray:
    """Return 0 and powers of 10 from 1 (every second or third of many), within the range."""
    most = int(np.log10(1 + max(abs(low), abs(high))))
    powers = 10.0 ** np.arange(0, most + 1, max(1, -(-most // 4)))
    ticks = np.concatenate([-powers[::-1], [0.0], powers])
    return ticks[(ticks >= low - 1) & (ticks <= high + 1)]


MOST_NORMALISED = 300
"""Most queries drawn; more are thinned evenly by their original median."""
QUANTILES = {"low": 0.0, "quarter": 0.25, "median": 0.5, "three quarters": 0.75, "high": 1.0}
_BAND, _INNER = "rgba(0, 158, 115, 0.15)", "rgba(0, 158, 115, 0.35)"


def normalisation_data(fold: Fold, part: str, feature: int, most: int = MOST_NORMALISED) -> pd.DataFrame:
    """Return quantiles of feature `feature` (from 1) within each query, under every normalisation.

    Columns normalisation, place, query, low, quarter, median, three quarters, high, between. Queries are
    ordered by their original median in all panels; at most `most` of them, evenly spaced. "between" is the
    between-query share of the variance over documents, Σ n_q (x̄_q − x̄)² / Σ (x − x̄)².
    """
    column = _one_column(fold, feature - 1)
    before = _quantiles(column.parts[part])
    order = before["median"].argsort(kind="stable").to_numpy()
    order = order[evenly(len(order), most)]
    frames: list[pd.DataFrame] = []
    for how in NORMALISATIONS:
        scaled = normalise(column, how).parts[part]
        shown = _quantiles(scaled).iloc[order].reset_index(drop=True)
        shown.insert(0, "normalisation", how)
        shown.insert(1, "place", np.arange(1, len(shown) + 1))
        frames.append(shown.assign(between=between_query_share(scaled)))
    return pd.concat(frames, ignore_index=True)


def between_query_share(part: RankingData) -> float:
    """Return the between-query share of the variance of a part's only feature; NaN if it is constant."""
    x = part.X[:, 0] - part.X[:, 0].mean() if part.n_documents else part.X[:, 0]
    scale = float(np.abs(x).max(initial=0.0))
    if scale <= 1e-12 * float(np.abs(part.X).max(initial=0.0)):
        return float("nan")
    x = x / scale
    sums = np.add.reduceat(x, part.ptr[:-1])
    return float((sums**2 / np.diff(part.ptr)).sum() / (x @ x))


def normalisation_figure(table: pd.DataFrame, used: str) -> go.Figure:
    """Draw a panel per normalisation: median, middle half and range by query; mark `used`."""
    titles = [
        f"<b>{item.label} (in use)</b>" if key == used else item.label for key, item in NORMALISATIONS.items()
    ]
    fig = make_subplots(rows=2, cols=2, subplot_titles=titles, horizontal_spacing=0.09, vertical_spacing=0.16)
    for number, how in enumerate(NORMALISATIONS):
        _add_panel(fig, table[table["normalisation"] == how], number // 2 + 1, number % 2 + 1)
    fig.update_xaxes(title_text="queries", row=2)
    fig.update_yaxes(title_text="value", col=1)
    return finished(fig, height=580, legend=AT_THE_TOP, margin={"l": 60, "r": 20, "t": 80, "b": 55})


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


MOST_DOCUMENTS = 200
"""Most documents drawn; more are thinned evenly from the highest grade to the lowest."""
_FIRST = 2  # columns before the features


def heatmap_data(part: RankingData, query: int) -> pd.DataFrame:
    """Return documents of the query at position `query`, best first: "document", "grade", "1", "2", … ."""
    rows = part.query_slice(query)
    table = pd.DataFrame({"document": shown_documents(part, query), "grade": part.y[rows]})
    features = pd.DataFrame(part.X[rows], columns=[str(k + 1) for k in range(part.n_features)])
    joined = pd.concat([table, features], axis=1)
    return joined.sort_values("grade", ascending=False, kind="stable", ignore_index=True)


def thinned_documents(table: pd.DataFrame, most: int = MOST_DOCUMENTS) -> pd.DataFrame:
    """Return at most `most` rows, evenly spaced, including the first and the last."""
    return table.iloc[evenly(len(table), most)].reset_index(drop=True)


def heatmap_figure(table: pd.DataFrame, names: tuple[str, ...] | None = None) -> go.Figure:
    """Draw grades (left strip) and features, each scaled from its minimum in this query to its maximum.

    A feature that is constant in the query is blank. `names` are the features' names.
    """
    X = table.iloc[:, _FIRST:].to_numpy(np.float64)
    labels = names or tuple(f"feature {k + 1}" for k in range(X.shape[1]))
    fig = make_subplots(cols=2, column_widths=[0.04, 0.96], horizontal_spacing=0.015, shared_yaxes=True)
    _add_grades(fig, table)
    low, span = X.min(axis=0), np.ptp(X, axis=0)
    names_of_cells = np.broadcast_arrays(
        table["document"].to_numpy(object)[:, None], np.asarray(labels)[None]
    )
    fig.add_heatmap(
        z=np.where(span > 0, (X - low) / np.where(span > 0, span, 1.0), np.nan),
        x=np.arange(1, X.shape[1] + 1),
        y=np.arange(1, len(table) + 1),
        colorscale="Cividis",
        zmin=0,
        zmax=1,
        colorbar={"title": "value", "tickvals": [0, 1], "ticktext": ["min", "max"], "thickness": 12},
        customdata=np.dstack([X, *names_of_cells]),
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


MOST_QUERIES = 500
"""Most queries drawn: bars of more would be narrower than a pixel."""


def grades_data(queries: pd.DataFrame, most: int = MOST_QUERIES) -> pd.DataFrame:
    """Sort rows of `query_table`, largest query first, with "place" from 1 among all of them.

    Keep at most `most` queries, evenly spaced by place, including the first and the last.
    """
    order = queries.sort_values(["documents", "pairs"], ascending=False, kind="stable", ignore_index=True)
    order.insert(0, "place", np.arange(1, len(order) + 1))
    return order.iloc[evenly(len(order), most)].reset_index(drop=True)


def grades_figure(table: pd.DataFrame) -> go.Figure:
    """Draw stacked bars of grades (above) and bars of preference pairs (below) on the same queries."""
    fig = make_subplots(rows=2, shared_xaxes=True, row_heights=[0.64, 0.36], vertical_spacing=0.06)
    for column in [name for name in table if str(name).startswith("grade ")]:
        fig.add_bar(
            x=table["place"],
            y=table[column],
            name=column,
            marker={"color": grade_colour(int(str(column).split()[1])), "line": {"width": 0}},
            customdata=table[["query", "documents"]],
            hovertemplate=f"query %{{customdata[0]}}<br>%{{y}} of %{{customdata[1]}} documents: {column}"
            "<extra></extra>",
            row=1,
            col=1,
        )
    fig.add_bar(
        x=table["place"],
        y=table["pairs"],
        name="preference pairs",
        marker={"color": DATA_COLOUR, "line": {"width": 0}},
        customdata=table["query"],
        hovertemplate="query %{customdata}<br>%{y:,} preference pairs<extra></extra>",
        row=2,
        col=1,
    )
    most = {name: float(table[name].max()) if len(table) else 0.0 for name in ("documents", "pairs", "place")}
    fig.update_yaxes(title_text="documents", **whole_ticks(0, most["documents"]), row=1, col=1)
    fig.update_yaxes(title_text="pairs", **whole_ticks(0, most["pairs"]), row=2, col=1)
    if most["pairs"] == 0:
        fig.update_yaxes(range=[0, 1], row=2, col=1)  # else the axis goes below zero
    fig.update_xaxes(**whole_ticks(1, most["place"]))
    fig.update_xaxes(title_text="queries, the largest first", row=2, col=1)
    return finished(
        fig, height=460, legend=AT_THE_TOP, barmode="stack", bargap=0.08 if len(table) <= 150 else 0
    )


BINS = 24
# short, because two panels stand side by side even on narrow screens
QUANTITIES = {
    "documents": "documents",
    "relevant": "graded above 0",
    "pairs": "pairs",
}


def histograms_data(queries: pd.DataFrame) -> pd.DataFrame:
    """Count queries in bins of each quantity of `query_table`: columns quantity, left, right, queries."""
    relevant = 1 - queries.get("grade 0", 0 * queries["documents"]) / queries["documents"]
    values = {"documents": queries["documents"], "relevant": relevant, "pairs": queries["pairs"]}
    frames = []
    for quantity, column in values.items():
        counts, edges = _histogram(column.to_numpy(np.float64), whole=quantity != "relevant")
        frames.append(
            pd.DataFrame({"quantity": quantity, "left": edges[:-1], "right": edges[1:], "queries": counts})
        )
    return pd.concat(frames, ignore_index=True)


def _histogram(values: np.ndarray, *, whole: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return counts and edges of about `BINS` bins: from 0 to 1 for shares, of integer width for integers."""
    if not whole:
        return np.histogram(values, bins=20, range=(0.0, 1.0))
    low, high = (values.min(), values.max()) if len(values) else (0.0, 0.0)
    width = max(1.0, np.ceil((high - low + 1) / BINS))
    return np.histogram(values, bins=np.arange(low, high + width + 0.5, width))


def grade_totals(queries: pd.DataFrame) -> pd.DataFrame:
    """Count documents of each grade: columns grade, documents, share."""
    columns = [name for name in queries if str(name).startswith("grade ")]
    totals = queries[columns].sum()
    return pd.DataFrame(
        {
            "grade": [int(str(name).split()[1]) for name in columns],
            "documents": totals.to_numpy(),
            "share": (totals / max(int(totals.sum()), 1)).to_numpy(),
        }
    )


def histograms_figure(table: pd.DataFrame, grades: pd.DataFrame) -> go.Figure:
    """Draw four panels: documents by grade, then the three histograms over queries."""
    fig = make_subplots(rows=2, cols=2, horizontal_spacing=0.24, vertical_spacing=0.22)
    fig.add_bar(
        x=[str(grade) for grade in grades["grade"]],
        y=grades["documents"],
        marker={"color": [grade_colour(grade) for grade in grades["grade"]]},
        customdata=grades["share"],
        hovertemplate="grade %{x}: %{y:,} documents (%{customdata:.1%})<extra></extra>",
        row=1,
        col=1,
    )
    fig.update_xaxes(title_text="grade", type="category", row=1, col=1)
    fig.update_yaxes(title_text="documents", **whole_ticks(0, grades["documents"].max()), row=1, col=1)
    for place, (quantity, title) in enumerate(QUANTITIES.items(), 1):
        row, col = place // 2 + 1, place % 2 + 1
        bins = table[table["quantity"] == quantity]
        _add_histogram(fig, bins, row, col, share=quantity == "relevant")
        fig.update_xaxes(title_text=title, row=row, col=col)
        fig.update_yaxes(title_text="queries", **whole_ticks(0, bins["queries"].max()), row=row, col=col)
    return finished(
        fig, height=560, showlegend=False, bargap=0.04, margin={"l": 60, "r": 20, "t": 20, "b": 55}
    )


def _add_histogram(fig: go.Figure, bins: pd.DataFrame, row: int, col: int, *, share: bool) -> None:
    last = bins["right"] if share else bins["right"] - 1
    fig.add_bar(
        x=(bins["left"] + last) / 2,
        y=bins["queries"],
        width=(bins["right"] - bins["left"]) * 0.96,
        marker={"color": DATA_COLOUR},
        customdata=[span(*ends, ".0%" if share else ",.0f") for ends in zip(bins["left"], last, strict=True)],
        hovertemplate="%{customdata}: %{y} queries<extra></extra>",
        row=row,
        col=col,
    )
    if share:
        fig.update_xaxes(**IN_PERCENT, range=[0, 1], row=row, col=col)
    else:
        fig.update_xaxes(**whole_ticks(bins["left"].min(), last.max()), row=row, col=col)
