"""Many runs at once: each run's metric against a setting, its seconds or its date."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from rankviz.models.methods import USUAL
from rankviz.plots.labels import harmless
from rankviz.plots.style import CHOSEN_COLOUR, finished, style_of

MOST = 2000
"""Most drawn runs; more are thinned evenly along the axis, but keep the best."""


def data(runs: pd.DataFrame, x: Sequence[object] | pd.Series[Any], metric: str, best: str) -> pd.DataFrame:
    """Return columns run (digest), x, value, look, place (data set and fold), best; only runs with both."""
    looks = runs["method"].where(runs["method"] != USUAL, runs.get("feature_map", runs["method"]))
    place = runs["dataset"] + " " + runs["fold"]
    table = pd.DataFrame(
        {
            "run": runs.index,
            "x": pd.Series(x).array,
            "value": runs[metric].to_numpy(),
            "look": looks.to_numpy(),
        }
    )
    table = table.assign(place=place.to_numpy()).dropna(subset=["x", "value"]).reset_index(drop=True)
    return table.assign(best=table["run"] == best)


def thinned(table: pd.DataFrame) -> pd.DataFrame:
    """Reduce a table to the drawn rows."""
    if len(table) <= MOST:
        return table
    ordered = table.sort_values("x", kind="stable")
    drawn = ordered.iloc[np.linspace(0, len(ordered) - 1, MOST).round().astype(int)]
    best = ordered[ordered["best"]].head(1)
    return pd.concat([drawn, best]).drop_duplicates(subset="run")


def figure(table: pd.DataFrame, title: str, metric: str, *, kind: str = "linear") -> go.Figure:
    """Draw a point per run in its method's colour, a ring around the best; `kind` is the axis type."""
    fig, said = go.Figure(), {place: harmless(place) for place in table["place"].unique()}
    for look, rows in table.groupby("look", sort=True):
        style = style_of(str(look))
        fig.add_trace(
            go.Scatter(
                x=rows["x"],
                y=rows["value"],
                mode="markers",
                name=style.name,
                text=rows["place"].map(said),
                marker={"color": style.colour, "symbol": style.symbol, "size": 6, "opacity": 0.65},
                hovertemplate="%{text}<br>%{x}, " + harmless(metric) + " %{y:.4f}<extra></extra>",
            )
        )
    best = table[table["best"]].head(1)
    fig.add_trace(
        go.Scatter(
            x=best["x"],
            y=best["value"],
            mode="markers",
            name="best",
            marker={"size": 15, "symbol": "circle-open", "color": CHOSEN_COLOUR, "line": {"width": 2.5}},
            hoverinfo="skip",
        )
    )
    return finished(
        fig,
        height=215,
        margin={"l": 60, "r": 20, "t": 28, "b": 42},
        xaxis={"title": title, "type": kind},
        yaxis={"title": metric, "tickformat": ".3~f"},
    )
