"""Ranks of each query's dual variables: plain, factorised and regularised model (xu2019 Table 6)."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from rankviz.analysis.spectra import Spectra
from rankviz.plots.low_rank_style import MODELS, NAMES, marker_of, model_style
from rankviz.plots.style import finished, style_of

KNOWN = ["query", "documents", "grades", "pairs", "largest_rank"]
AGAINST = {
    "largest_rank": "largest rank that the grades allow",
    "documents": "documents of the query",
    "pairs": "preference pairs of the query",
}
MEASURES = {"rank": "numerical rank", "k": "k"}
NOTHING = 0.5
"""Position of rank 0 on a logarithmic axis."""
STRONG, FADED = 0.5, 0.12
"""Opacities: overlapping markers look darker."""
APART = 0.011
"""Shift between the markers of two models, as a share of the horizontal axis."""


def data(found: Mapping[str, Spectra], share: float, tolerance: float) -> pd.DataFrame:
    """Return one row per query with dual variables under any model, by names in `MODELS`.

    Columns query, documents, grades, pairs, largest_rank, and for each model rank_NAME (singular values above
    `tolerance`·σ₁) and k_NAME (for a `share` of the energy): 0 if its matrix is 0.
    """
    known = pd.concat([spectra.table[KNOWN] for spectra in found.values()])
    table = known.drop_duplicates("query").sort_values("query", ignore_index=True)
    for model, spectra in found.items():
        own = pd.DataFrame({"query": spectra.table["query"]})
        own[f"rank_{NAMES[model]}"] = spectra.ranks(tolerance)
        own[f"k_{NAMES[model]}"] = spectra.dimensions(share)
        table = table.merge(own, "left", "query")
    return table.fillna(0).astype(np.int64)


def medians(table: pd.DataFrame, measure: str) -> pd.DataFrame:
    """Return columns model, low, median, high (10 %, 50 %, 90 % quantiles over queries) of "rank" or "k"."""
    columns = [f"{measure}_{NAMES[model]}" for model in MODELS]
    quantiles = table[columns].quantile([0.1, 0.5, 0.9], interpolation="lower").T.to_numpy()
    return pd.DataFrame(quantiles, columns=["low", "median", "high"]).assign(model=MODELS)


def bound(table: pd.DataFrame, factors: int, matrix: str) -> pd.DataFrame:
    """Return the mask's bound on the rank of a block of K factors, (R − 1)·K, doubled for A + Aᵀ.

    Columns grades (R) and bound, one row per number of grades among the table's queries.
    """
    times = 2 if matrix == "symmetrised" else 1
    grades = np.unique(table["grades"])
    return pd.DataFrame({"grades": grades, "bound": times * (grades - 1) * factors})


def figure(
    table: pd.DataFrame,
    look: str,
    *,
    measure: str,
    against: str,
    allowed: pd.DataFrame,
    selected: Collection[int] = (),
) -> go.Figure:
    """Draw a marker per query and model on the left, medians with 10 to 90 % of the queries on the right.

    Markers of the models lie side by side (`beside`); `look` is the plain model's. `allowed` is the result of
    `bound`. A selection fades the other queries and leaves them out of the medians.
    """
    fig = make_subplots(cols=2, shared_yaxes=True, column_widths=[0.74, 0.26], horizontal_spacing=0.03)
    picked = table["query"].isin(list(selected)) if len(selected) else pd.Series(True, index=table.index)
    for model in MODELS:
        rows = pd.concat([table[~picked], table[picked]])
        strength = [STRONG if inside else FADED for inside in rows["query"].isin(table.loc[picked, "query"])]
        fig.add_scatter(
            x=beside(rows[against], model),
            y=rows[f"{measure}_{NAMES[model]}"].clip(lower=NOTHING),
            mode="markers",
            name=NAMES[model],
            marker=marker_of(model, look, opacity=strength),
            customdata=_told(rows, f"{measure}_{NAMES[model]}"),
            hovertemplate=f"query %{{customdata[0]}}, {NAMES[model]}: {MEASURES[measure]} %{{customdata[1]}}"
            "<br>%{customdata[2]} documents, %{customdata[3]:,} pairs, largest rank %{customdata[4]}"
            "<extra></extra>",
            col=1,
            row=1,
        )
    _add_medians(fig, medians(table[picked], measure), look)
    if against == "largest_rank":
        _add_diagonal(fig, int(table["largest_rank"].max()))
    _add_bounds(fig, allowed)
    return _finished(fig, table, measure, against)


def beside(values: pd.Series, model: str) -> pd.Series[float]:
    """Shift places on a logarithmic axis by each model's own small step."""
    decades = math.log10(values.max() / max(values.min(), 1)) if len(values) else 0.0
    return values * 10 ** (APART * max(decades, 0.3) * (MODELS.index(model) - 1))


def _told(rows: pd.DataFrame, column: str) -> list[list[int]]:
    """Return data of a marker's query, as lists: the browser returns arrays changed."""
    told: list[list[int]] = rows[["query", column, "documents", "pairs", "largest_rank"]].to_numpy().tolist()
    return told


def _add_medians(fig: go.Figure, summary: pd.DataFrame, look: str) -> None:
    quantiles = summary[["low", "median", "high"]].to_numpy(np.float64)
    for model, (low, middle, high) in zip(summary["model"], quantiles, strict=True):
        fig.add_scatter(
            x=[NAMES[model]] * 2,
            y=np.maximum([low, high], NOTHING),
            mode="lines",
            line={"color": model_style(model, look).colour, "width": 5},
            opacity=0.35,
            showlegend=False,
            hoverinfo="skip",
            col=2,
            row=1,
        )
        fig.add_scatter(
            x=[NAMES[model]],
            y=[max(middle, NOTHING)],
            mode="markers+text",
            text=[f"<b>{middle:.0f}</b>"],
            textposition="middle right",
            marker=marker_of(model, look, size=12),
            showlegend=False,
            hovertemplate=f"{NAMES[model]}: median {middle:.0f}, {low:.0f} to {high:.0f}<extra></extra>",
            col=2,
            row=1,
        )


def _add_diagonal(fig: go.Figure, top: int) -> None:
    fig.add_scatter(
        x=[1, top],
        y=[1, top],
        mode="lines",
        name="as large as the grades allow",
        line={"width": 1, "dash": "dash", "color": "#999999"},
        hoverinfo="skip",
        col=1,
        row=1,
    )


def _add_bounds(fig: go.Figure, allowed: pd.DataFrame) -> None:
    """Add a level per number of grades: the largest rank of K factors."""
    for grades, most in allowed[["grades", "bound"]].to_numpy(np.int64).tolist():
        fig.add_hline(
            y=most,
            line={"width": 1, "dash": "dot", "color": style_of("factorized").colour},
            annotation={
                "text": f"most for {grades} grades",
                "font": {"size": 11},
                "x": 0.002,
                "xanchor": "left",
                "y": math.log10(most),
                "yanchor": "bottom",
            },
            col=1,
            row=1,
        )


def _ticks(top: float, *, few: bool = False) -> list[int]:
    """Return 1, 2, 5, 10, 20, 50 …, or 1, 10, 100 … for few ticks."""
    return [lead * 10**k for k in range(7) for lead in ((1,) if few else (1, 2, 5)) if lead * 10**k <= top]


def _finished(fig: go.Figure, table: pd.DataFrame, measure: str, against: str) -> go.Figure:
    columns = [f"{measure}_{NAMES[model]}" for model in MODELS]
    top = max(float(table[columns].to_numpy().max()), 10.0)
    ticks = _ticks(1.2 * top)
    fig.update_yaxes(
        type="log",
        range=[math.log10(0.8 * NOTHING), math.log10(1.4 * top)],
        tickvals=[NOTHING, *ticks],
        ticktext=["0", *map(str, ticks)],
    )
    fig.update_yaxes(title_text=f"{MEASURES[measure]} (log scale)", col=1)
    fig.update_xaxes(type="log", title_text=f"{AGAINST[against]} (log scale)", col=1)
    fig.update_xaxes(tickvals=_ticks(float(table[against].max()), few=against == "pairs"), col=1)
    fig.update_xaxes(range=[-0.5, len(MODELS) - 0.3], title_text="medians", showticklabels=False, col=2)
    return finished(fig, height=440, margin={"l": 60, "r": 10, "t": 60, "b": 55})
