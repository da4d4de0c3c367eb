"""Ranks of dual variables against C, errors, active pairs, stairs, and those of low-rank models."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from rankviz.analysis.spectra import Spectra
from rankviz.common.numbers import exact, power_of_two, span
from rankviz.plots.low_rank_models import MODEL_NAMES, MODELS, marker_of, model_style
from rankviz.plots.style import (
    CHOSEN_COLOUR,
    IN_PERCENT,
    add_band,
    add_line,
    as_lists,
    finished,
    line_of,
    powers_axis,
    snapped_range,
    style_of,
    translucent,
)


def stairs_figure(table: pd.DataFrame, method: str) -> go.Figure:
    """Draw rank and k for 90 % of `spectra.staircases` against the stairs, with the diagonal."""
    fig, style = go.Figure(), style_of(method)
    top = max(int(table[["stairs", "rank"]].to_numpy().max()), 1) if len(table) else 1
    add_line(fig, [0, top], [0, top], name="as many as stairs", showlegend=None)
    for column, name, colour, symbol in (
        ("rank", "numerical rank", style.colour, style.symbol),
        ("k_90", "k for 90 % of the energy", CHOSEN_COLOUR, f"{style.symbol}-open"),
    ):
        fig.add_scatter(
            x=table["stairs"],
            y=table[column],
            mode="markers",
            name=name,
            marker={"color": colour, "symbol": symbol, "size": 8, "opacity": 0.8},
            customdata=table[["query", "pairs", "boundary"]],
            hovertemplate=f"query %{{customdata[0]}}: %{{x}} stairs, {name} %{{y}}<br>%{{customdata[2]:,}} "
            "of %{customdata[1]:,} pairs between 0 and C<extra></extra>",
        )
    return finished(
        fig,
        height=380,
        xaxis={"title": "stairs: different rows of α rounded to 0 or C", "rangemode": "tozero"},
        yaxis={"title": "dimensions", "rangemode": "tozero"},
        margin={"l": 60, "r": 10, "t": 60, "b": 50},
    )


LOW, HIGH = 0.1, 0.9


def by_C_data(ranks: pd.DataFrame) -> pd.DataFrame:
    """Return one row per C of `rankviz.analysis.spectra.ranks_of_fits`, rising.

    Columns C; rank (median over queries), low, high (10 % and 90 % quantiles), law and largest_rank
    (medians), active_share (mean), lawful (share of queries with every pair active).
    """
    every = (ranks["active"] == ranks["pairs"]).rename("lawful")
    groups = pd.concat([ranks, every], axis=1).groupby("C")
    return pd.DataFrame(
        {
            "rank": groups["rank"].median(),
            "low": groups["rank"].quantile(LOW),
            "high": groups["rank"].quantile(HIGH),
            "law": groups["law"].median(),
            "largest_rank": groups["largest_rank"].median(),
            "active_share": groups["active_share"].mean(),
            "lawful": groups["lawful"].mean(),
        }
    ).reset_index()


def by_C_figure(table: pd.DataFrame, method: str, chosen: float) -> go.Figure:
    """Draw the rank with its band, the bounds of squared hinge and grades; below, active shares."""
    fig = make_subplots(rows=2, cols=1, shared_xaxes=True, vertical_spacing=0.07, row_heights=[0.62, 0.38])
    x = [math.log2(C) for C in table["C"]]
    add_band(fig, x, table["low"], table["high"], translucent(method))
    levels = (
        ("largest_rank", "the grades allow (median)", "solid"),
        ("law", "the law allows (median)", "dash"),
    )
    for column, name, dash in levels:
        add_line(fig, x, table[column], "#7f7f7f", dash=dash, width=1.5, name=name, showlegend=None)
    hover = [f"C = {power_of_two(C)}" for C in table["C"]]
    fig.add_scatter(
        x=x,
        y=table["rank"],
        mode="lines+markers",
        name="median rank",
        **line_of(method),
        text=hover,
        hovertemplate="%{text}: median rank %{y}<extra></extra>",
    )
    _add_shares(fig, table, method, x, hover)
    fig.add_vline(x=math.log2(chosen), line={"width": 1.5, "dash": "dot", "color": CHOSEN_COLOUR})
    fig.update_yaxes(row=1, title="numerical rank", rangemode="tozero")
    fig.update_yaxes(row=2, title="share", range=[-0.05, 1.1], **IN_PERCENT, dtick=0.5)
    ticks = [exponent for exponent in range(-15, 16, 5) if min(x) <= exponent <= max(x)]
    fig.update_xaxes(tickvals=ticks, ticktext=[power_of_two(2.0**e) for e in ticks], zeroline=False)
    fig.update_xaxes(row=2, title="C")
    return finished(fig, height=430, margin={"l": 60, "r": 10, "t": 70, "b": 50})


def _add_shares(fig: go.Figure, table: pd.DataFrame, method: str, x: list[float], hover: list[str]) -> None:
    """Add the active shares to the lower panel."""
    colour = style_of(method).colour
    for column, name, symbol in (
        ("active_share", "pairs active", "circle"),
        ("lawful", "queries all active", "x"),
    ):
        fig.add_scatter(
            row=2,
            col=1,
            x=x,
            y=table[column],
            mode="lines+markers",
            name=name,
            line={"color": colour, "width": 1, "dash": "dot"},
            marker={"color": colour, "symbol": symbol, "size": 7},
            text=hover,
            hovertemplate=f"%{{text}}: %{{y:.1%}} {name}<extra></extra>",
        )


DASHES = ("dot", "dash", "solid", "dashdot")
LEAST_ERROR = 1e-15
"""Smallest drawn error: rounding."""


def error_figure(
    rough: pd.DataFrame, fits: pd.DataFrame, method: str, *, tolerance: float, largest: float
) -> go.Figure:
    """Draw a line per tolerance of `rough` (the chosen one thick), markers for fits, the largest rank.

    `rough` has columns error, tolerance and rank (`spectra.ranks_with_errors`). `fits` has tol (of the
    solver), error and rank; it may be empty.
    """
    fig, style = go.Figure(), style_of(method)
    for place, value in enumerate(sorted(set(rough["tolerance"].tolist()))):
        rows, chosen = rough[rough["tolerance"] == value], math.isclose(value, tolerance)
        fig.add_scatter(
            x=rows["error"],
            y=rows["rank"],
            mode="lines",
            name=f"zero up to 10<sup>{round(math.log10(value))}</sup>",
            line={
                "color": style.colour if chosen else "#999999",
                "width": 3 if chosen else 1.5,
                "dash": DASHES[place % len(DASHES)],
                "shape": "hvh",
            },
            hovertemplate="random errors of %{x:.0e}: median rank %{y}<extra></extra>",
        )
    if len(fits):
        fig.add_scatter(
            x=fits["error"].clip(lower=LEAST_ERROR),
            y=fits["rank"],
            mode="markers",
            name="this solver, stopped early",
            marker={"color": CHOSEN_COLOUR, "symbol": "diamond", "size": 11}
            | {"line": {"width": 1, "color": "white"}},
            text=[f"tolerance {exact(tol)}" for tol in fits["tol"]],
            hovertemplate="this solver, %{text}: α off by %{x:.1e}, median rank %{y}<extra></extra>",
        )
    fig.add_hline(
        y=largest,
        line={"width": 1, "dash": "dash", "color": "#7f7f7f"},
        annotation_text="largest the grades allow (median)",
        annotation_position="top left",
    )
    return finished(
        fig,
        height=400,
        xaxis=powers_axis("relative error of α (log scale)", [math.log10(LEAST_ERROR) - 0.3, 0.2], every=3),
        yaxis={"title": "median numerical rank", "range": [0, 1.15 * max(largest, 1.0)]},
        margin={"l": 60, "r": 10, "t": 75, "b": 50},
    )


def activity_data(table: pd.DataFrame) -> pd.DataFrame:
    """Return columns query, documents, pairs, active, active_share, rank, law; only active_share is new."""
    table = table[["query", "documents", "pairs", "active", "rank", "law"]]
    return table.assign(active_share=table["active"] / table["pairs"])


def activity_figure(table: pd.DataFrame, method: str) -> go.Figure:
    """Draw hollow markers if every pair is active: then the squared hinge bounds the rank (dashed level)."""
    style, fig = style_of(method), go.Figure()
    lawful = table["active"] == table["pairs"]
    for rows, symbol, name in (
        (table[~lawful], style.symbol, "some pairs inactive"),
        (table[lawful], f"{style.symbol}-open", "every pair active"),
    ):
        fig.add_scatter(
            x=rows["active_share"],
            y=rows["rank"],
            mode="markers",
            name=f"{name} ({len(rows)})",
            marker={"color": style.colour, "symbol": symbol, "size": 9, "opacity": 0.8},
            customdata=rows[["query", "documents", "pairs"]],
            hovertemplate="query %{customdata[0]}, %{customdata[1]} documents<br>%{x:.1%} of "
            "%{customdata[2]:,} pairs active, rank %{y}<extra></extra>",
        )
    low = snapped_range(float(table["active_share"].min()), 1.0)[0] if len(table) else 0.0
    if len(table):
        add_line(
            fig,
            [low - 1, 2],
            [float(table["law"].max())] * 2,
            "#7f7f7f",
            width=1.5,
            name=f"the law's largest of all queries ({int(table['law'].max())})",
            showlegend=None,
        )
    return finished(
        fig,
        xaxis={
            "title": "share of the query's pairs that are active",
            "range": [low - 0.02 * (1 - low), 1 + 0.03 * (1 - low)],
            **IN_PERCENT,
        },
        yaxis={"title": "numerical rank", "rangemode": "tozero"},
    )


KNOWN = ["query", "documents", "grades", "pairs", "largest_rank"]
AGAINST = {
    "largest_rank": "largest rank that the grades allow",
    "documents": "documents of the query",
    "pairs": "preference pairs of the query",
}
MEASURES = {"rank": "numerical rank", "k": "k"}
ZERO_AT = 0.5
"""Position of rank 0 on a logarithmic axis."""
STRONG, FADED = 0.5, 0.12
"""Opacities: overlapping markers look darker."""
APART = 0.011
"""Shift between the markers of two models, as a share of the horizontal axis."""


def models_data(found: Mapping[str, Spectra], share: float, tolerance: float) -> pd.DataFrame:
    """Return one row per query with dual variables under any model, by names in `MODELS`.

    Columns query, documents, grades, pairs, largest_rank, and for each model rank_NAME (singular values above
    `tolerance`·σ₁) and k_NAME (for a `share` of the energy): 0 if its matrix is 0.
    """
    known = pd.concat([spectra.table[KNOWN] for spectra in found.values()])
    table = known.drop_duplicates("query").sort_values("query", ignore_index=True)
    for model, spectra in found.items():
        own = pd.DataFrame({"query": spectra.table["query"]})
        own[f"rank_{MODEL_NAMES[model]}"] = spectra.ranks(tolerance)
        own[f"k_{MODEL_NAMES[model]}"] = spectra.dimensions(share)
        table = table.merge(own, "left", "query")
    return table.fillna(0).astype(np.int64)


def medians(table: pd.DataFrame, measure: str) -> pd.DataFrame:
    """Return columns model, low, median, high (10 %, 50 %, 90 % quantiles over queries) of "rank" or "k"."""
    columns = [f"{measure}_{MODEL_NAMES[model]}" for model in MODELS]
    quantiles = table[columns].quantile([0.1, 0.5, 0.9], interpolation="lower").T.to_numpy()
    return pd.DataFrame(quantiles, columns=["low", "median", "high"]).assign(model=MODELS)


def rank_bounds(table: pd.DataFrame, factors: int, matrix: str) -> pd.DataFrame:
    """Return the mask's bound on the rank of a block of K factors, (R − 1)·K, doubled for A + Aᵀ.

    Columns grades (R) and bound, one row per number of grades among the table's queries.
    """
    times = 2 if matrix == "symmetrised" else 1
    grades = np.unique(table["grades"])
    return pd.DataFrame({"grades": grades, "bound": times * (grades - 1) * factors})


def models_figure(
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
    `rank_bounds`. A selection fades the other queries and leaves them out of the medians.
    """
    fig = make_subplots(cols=2, shared_yaxes=True, column_widths=[0.74, 0.26], horizontal_spacing=0.03)
    picked = table["query"].isin(list(selected)) if len(selected) else pd.Series(True, index=table.index)
    for model in MODELS:
        rows, column = pd.concat([table[~picked], table[picked]]), f"{measure}_{MODEL_NAMES[model]}"
        strength = [STRONG if inside else FADED for inside in rows["query"].isin(table.loc[picked, "query"])]
        fig.add_scatter(
            x=shifted(rows[against], model),
            y=rows[column].clip(lower=ZERO_AT),
            mode="markers",
            name=MODEL_NAMES[model],
            marker=marker_of(model, look, opacity=strength),
            customdata=as_lists(rows[["query", column, "documents", "pairs", "largest_rank"]]),
            hovertemplate=f"query %{{customdata[0]}}, {MODEL_NAMES[model]}: {MEASURES[measure]} "
            "%{customdata[1]}<br>%{customdata[2]} documents, %{customdata[3]:,} pairs, "
            "largest rank %{customdata[4]}<extra></extra>",
            col=1,
            row=1,
        )
    _add_medians(fig, medians(table[picked], measure), look)
    if against == "largest_rank":
        ends = [1, int(table["largest_rank"].max())]
        add_line(fig, ends, ends, name="as large as the grades allow", col=1, row=1, showlegend=None)
    _add_bounds(fig, allowed)
    return _finished(fig, table, measure, against)


def shifted(values: pd.Series, model: str) -> pd.Series[float]:
    """Shift places on a logarithmic axis by each model's own small step."""
    decades = math.log10(values.max() / max(values.min(), 1)) if len(values) else 0.0
    return values * 10 ** (APART * max(decades, 0.3) * (MODELS.index(model) - 1))


def _add_medians(fig: go.Figure, summary: pd.DataFrame, look: str) -> None:
    quantiles = summary[["low", "median", "high"]].to_numpy(np.float64)
    for model, (low, middle, high) in zip(summary["model"], quantiles, strict=True):
        add_line(
            fig,
            [MODEL_NAMES[model]] * 2,
            np.maximum([low, high], ZERO_AT),
            model_style(model, look).colour,
            dash=None,
            width=5,
            opacity=0.35,
            col=2,
            row=1,
        )
        fig.add_scatter(
            x=[MODEL_NAMES[model]],
            y=[max(middle, ZERO_AT)],
            mode="markers+text",
            text=[f"<b>{middle:.0f}</b>"],
            textposition="middle right",
            marker=marker_of(model, look, size=12),
            showlegend=False,
            hovertemplate=f"{MODEL_NAMES[model]}: median {middle:.0f}, {span(low, high, '.0f')}"
            "<extra></extra>",
            col=2,
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
    columns = [f"{measure}_{MODEL_NAMES[model]}" for model in MODELS]
    top = max(float(table[columns].to_numpy().max()), 10.0)
    ticks = _ticks(1.2 * top)
    fig.update_yaxes(
        type="log",
        range=[math.log10(0.8 * ZERO_AT), math.log10(1.4 * top)],
        tickvals=[ZERO_AT, *ticks],
        ticktext=["0", *map(str, ticks)],
    )
    fig.update_yaxes(title_text=f"{MEASURES[measure]} (log scale)", col=1)
    fig.update_xaxes(type="log", title_text=f"{AGAINST[against]} (log scale)", col=1)
    fig.update_xaxes(tickvals=_ticks(float(table[against].max()), few=against == "pairs"), col=1)
    fig.update_xaxes(range=[-0.5, len(MODELS) - 0.3], title_text="medians", showticklabels=False, col=2)
    return finished(fig, height=440, margin={"l": 60, "r": 10, "t": 60, "b": 55})
