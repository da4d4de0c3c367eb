"""Median rank of dual variables against their relative error: random errors, and real solvers'."""

from __future__ import annotations

import math

import pandas as pd
import plotly.graph_objects as go

from rankviz.plots.style import CHOSEN_COLOUR, finished, style_of

DASHES = ("dot", "dash", "solid", "dashdot")
LEAST = 1e-15
"""Smallest drawn error: rounding."""


def figure(
    rough: pd.DataFrame, fits: pd.DataFrame, method: str, *, tolerance: float, largest: float
) -> go.Figure:
    """Draw a line per tolerance of `rough` (the chosen one thick), markers for fits, the largest rank.

    `rough` has columns error, tolerance and rank (`rough_duals.ranks_with_errors`); `fits` has tol (of the
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
        _add_fits(fig, fits)
    fig.add_hline(
        y=largest,
        line={"width": 1, "dash": "dash", "color": "#7f7f7f"},
        annotation_text="largest the grades allow (median)",
        annotation_position="top left",
    )
    return finished(
        fig,
        height=400,
        xaxis={
            "title": "relative error of α (log scale)",
            "type": "log",
            "range": [math.log10(LEAST) - 0.3, 0.2],
            "dtick": 3,
            "exponentformat": "power",
        },
        yaxis={"title": "median numerical rank", "range": [0, 1.15 * max(largest, 1.0)]},
        margin={"l": 60, "r": 10, "t": 75, "b": 50},
    )


def _add_fits(fig: go.Figure, fits: pd.DataFrame) -> None:
    fig.add_scatter(
        x=fits["error"].clip(lower=LEAST),
        y=fits["rank"],
        mode="markers",
        name="this solver, stopped early",
        marker={
            "color": CHOSEN_COLOUR,
            "symbol": "diamond",
            "size": 11,
            "line": {"width": 1, "color": "white"},
        },
        text=[f"tolerance {tol:.0e}" for tol in fits["tol"]],
        hovertemplate="this solver, %{text}: α off by %{x:.1e}, median rank %{y}<extra></extra>",
    )
