"""Energy and needed dimensions of all queries' dual variables (xu2019 §4 and Figure 2).

References for the histograms are the same α shuffled over their pairs, and the maximum for the grades. Bars
carry the number of their bin as `customdata`; selected queries are opaque.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from rankviz.analysis.spectra import Spectra
from rankviz.common.arrays import BoolArray, IntArray
from rankviz.plots.style import (
    CHOSEN_COLOUR,
    GUIDE,
    IN_PERCENT,
    add_band,
    add_line,
    finished,
    line_of,
    snapped_range,
    style_of,
    translucent,
)

LOW, HIGH = 0.1, 0.9  # quantiles over queries at the band's edges
NEARLY_ALL, SHORTEST = 0.9999, 5  # energy at the curve's end, and its least last k
MOST_TICKS = 12  # most values of k with a tick each; beyond, Plotly's own ticks are whole numbers
NAMES = {"model": "this model", "shuffled": "the same α, shuffled"}


def energy_data(found: Spectra, inside: BoolArray) -> pd.DataFrame:
    """Return columns k, mean, low, high (10 % and 90 % quantiles) over queries `inside`, k = 1, 2, …"""
    curves = found.energies[inside]
    return pd.DataFrame(
        {
            "k": np.arange(1, curves.shape[1] + 1),
            "mean": curves.mean(axis=0),
            "low": np.quantile(curves, LOW, axis=0),
            "high": np.quantile(curves, HIGH, axis=0),
        }
    )


def with_shuffled(model: pd.DataFrame, shuffled: pd.DataFrame) -> pd.DataFrame:
    """Join both tables with a column `of` ("model", "shuffled"), up to nearly all energy of the model."""
    last = max(SHORTEST, 1 + int(np.argmax(model["low"] >= NEARLY_ALL)))
    frames = [table[table["k"] <= last] for table in (model, shuffled)]
    return pd.concat(frames, keys=list(NAMES), names=["of", None]).reset_index("of")


def energy_figure(table: pd.DataFrame, method: str, share: float) -> go.Figure:
    """Draw means with bands of four fifths of the queries; the energy share to keep as a level."""
    fig = go.Figure()
    dashed = {"line": {"color": CHOSEN_COLOUR, "dash": "dash", "width": 2}, "marker": {"size": 5}}
    _add_curve(fig, table, "shuffled", dashed, "rgba(204, 121, 167, 0.15)")
    _add_curve(fig, table, "model", line_of(method), translucent(method))
    guide = GUIDE
    fig.add_hline(
        y=share, line=guide, annotation_text=f"{100 * share:.4g} %", annotation_position="bottom right"
    )
    last, low = int(table["k"].max()), max(0.0, snapped_range(float(table["low"].min()), 1.0)[0])
    return finished(
        fig,
        xaxis={"title": "number of singular values kept, k", "dtick": 1 if last <= MOST_TICKS else None},
        yaxis={
            "title": "share of the energy Σσ² kept",
            "range": [low, 1 + 0.03 * (1 - low)],
            **IN_PERCENT,
        },
    )


def _add_curve(fig: go.Figure, table: pd.DataFrame, of: str, look: dict[str, object], fill: str) -> None:
    rows, name = table[table["of"] == of], NAMES[of]
    add_band(fig, rows["k"], rows["low"], rows["high"], fill, name=f"{name}: four fifths of the queries")
    fig.add_scatter(
        x=rows["k"],
        y=rows["mean"],
        mode="lines+markers",
        name=f"{name}, mean and four fifths of the queries",
        **look,
        customdata=rows[["low", "high"]],
        hovertemplate=f"{name}: first %{{x}} keep %{{y:.2%}}<br>four fifths of the queries: "
        "%{customdata[0]:.2%} to %{customdata[1]:.2%}<extra></extra>",
    )


BINS = 10
FADED = 0.25
"""Opacity of unselected queries during a selection."""


def _tenths(k: IntArray, of: IntArray) -> IntArray:
    """Return the tenth of `of` that contains k, closed on the right; integer arithmetic makes edges exact."""
    tenths: IntArray = np.minimum((BINS * k - 1) // of, BINS - 1)
    return tenths


def _doublings(k: IntArray) -> IntArray:
    """Return 0 for 1, 1 for 2, 2 for 3 and 4, 3 for 5 to 8 …, and one bin for all beyond 256."""
    doublings: IntArray = np.minimum(np.ceil(np.log2(k)).astype(np.int64), BINS - 1)
    return doublings


@dataclass(frozen=True)
class Scale:
    """A scale of dimensions: its axis, names of ten bins, ticks, and each query's bin."""

    label: str
    axis: str
    bins: tuple[str, ...]
    ticks: dict[float, str]
    bin_of: Callable[[pd.DataFrame, str], IntArray]


_PERCENT = tuple(f"{10 * low}–{10 * low + 10}" for low in range(BINS))
_EDGES = {place - 0.5: str(10 * place) for place in range(BINS + 1)}
_DOUBLING = ("1", "2", "3–4", "5–8", "9–16", "17–32", "33–64", "65–128", "129–256", "> 256")
SCALES = {
    "documents": Scale(
        "% of the documents",
        "in % of the query's documents",
        _PERCENT,
        _EDGES,
        lambda table, name: _tenths(table[name].to_numpy(), table["documents"].to_numpy()),
    ),
    "largest": Scale(
        "% of the largest rank",
        "in % of the largest rank that grades allow",
        _PERCENT,
        _EDGES,
        lambda table, name: _tenths(table[name].to_numpy(), table["largest_rank"].to_numpy()),
    ),
    "number": Scale(
        "number",
        "singular values",
        _DOUBLING,
        dict(enumerate(_DOUBLING)),
        lambda table, name: _doublings(table[name].to_numpy()),
    ),
}
"""Scales of dimensions; xu2019 divides by the size of A, the number of documents."""


def dimensions_needed(found: Spectra, shuffled: Spectra, share: float, tolerance: float) -> pd.DataFrame:
    """Count the singular values each query needs, a row per query; `shuffled` are spectra of shuffled α.

    Columns query, documents, pairs, active, largest_rank; k and k_shuffled for a `share` of the energy, rank
    and rank_shuffled counting singular values above `tolerance`·σ₁.
    """
    table = found.table[["query", "documents", "pairs", "active", "largest_rank"]]
    return table.assign(
        k=found.dimensions(share),
        k_shuffled=shuffled.dimensions(share),
        rank=found.ranks(tolerance),
        rank_shuffled=shuffled.ranks(tolerance),
    )


def histogram_data(
    table: pd.DataFrame, measure: str, scale: str, selected: Collection[int] = ()
) -> pd.DataFrame:
    """Count queries in ten bins of `measure` ("k" or "rank") of `needs`.

    Columns bin, queries, share (of all queries), selected (number of selected ones), shuffled and allowed
    (queries in the bin for shuffled α, or for the largest rank of the grades).
    """
    kind = SCALES[scale]
    picked = table["query"].isin(list(selected))
    columns = {
        "queries": (table, measure),
        "selected": (table[picked], measure),
        "shuffled": (table, f"{measure}_shuffled"),
        "allowed": (table, "largest_rank"),
    }
    counts = {
        name: np.bincount(kind.bin_of(rows, column), minlength=BINS)
        for name, (rows, column) in columns.items()
    }
    counted = pd.DataFrame({"bin": kind.bins} | counts)
    counted.insert(2, "share", counted["queries"] / max(len(table), 1))
    return counted


def queries_in_bins(table: pd.DataFrame, measure: str, scale: str, bins: Iterable[int]) -> list[int]:
    """Return the queries in some bins, counted from 0."""
    inside = np.isin(SCALES[scale].bin_of(table, measure), list(bins))
    return [int(query) for query in table.loc[inside, "query"]]


def histogram_figure(table: pd.DataFrame, method: str, scale: str, what: str) -> go.Figure:
    """Draw bars of queries, selected ones opaque; shuffled and allowed as outlines; `what` names the axis."""
    fig, colour, n = go.Figure(), style_of(method).colour, max(int(table["queries"].sum()), 1)
    places, picked = np.arange(BINS), int(table["selected"].sum())
    full = table["selected"] if picked else table["queries"]
    look = {"hoverinfo": "skip", "showlegend": False, "width": 0.8}
    fig.add_bar(
        x=places, y=full, marker={"color": colour}, **(look | {"showlegend": True}), name="this model"
    )
    rest = table["queries"] - full
    fig.add_bar(x=places, y=rest, marker={"color": colour, "opacity": FADED}, **look, name="not selected")
    outlines = (
        ("allowed", "largest rank that the grades allow", "#7f7f7f", "solid"),
        ("shuffled", "the same α, shuffled", CHOSEN_COLOUR, "dash"),
    )
    for column, name, line, dash in outlines:
        add_line(
            fig,
            np.repeat(np.arange(BINS + 1) - 0.5, 2),
            [0, *np.repeat(table[column], 2), 0],
            line,
            dash=dash,
            width=1.8,
            name=name,
            showlegend=None,
        )
    _add_targets(fig, table, n, f"{what}: " if what else "")
    return finished(
        fig,
        height=360,
        barmode="stack",
        xaxis={
            "title": f"{what},<br>{SCALES[scale].axis}",  # a single line is cut off beside another figure
            "tickvals": list(SCALES[scale].ticks),
            "ticktext": list(SCALES[scale].ticks.values()),
            "range": [-0.6, BINS - 0.4],
            "zeroline": False,
            "showgrid": False,
        },
        yaxis={"title": "queries", "range": [0, 1.03 * n]},
        legend_traceorder="normal",
        selectdirection="h",  # a box selects by its width only
        margin={"l": 55, "r": 10, "t": 60, "b": 70},
    )


def _add_targets(fig: go.Figure, table: pd.DataFrame, n: int, what: str) -> None:
    """Add invisible full-height bars over nonempty bins, so that a bar of one query can be clicked."""
    hit = table[table["queries"] > 0]
    fig.add_bar(
        x=hit.index,
        y=np.full(len(hit), n),
        base=0,
        width=1,
        name="targets",
        marker={"color": "rgba(0,0,0,0)"},
        showlegend=False,
        customdata=[[int(place)] for place in hit.index],
        text=[
            f"{row.bin}: {row.queries} of {n} queries<br>shuffled {row.shuffled}, allowed {row.allowed}"
            for row in hit.itertuples()
        ],
        textposition="none",
        hovertemplate=f"{what}%{{text}}<br>click to select them<extra></extra>",
    )
