"""How a metric of every query changes between two rankings, part by part, from loss to gain."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from rankviz.experiments.description import PART_NAMES
from rankviz.plots.style import CHOSEN_COLOUR, finished, second_tone

ROUNDING = 1e-12
LEAST = 0.05
"""The vertical axis reaches at least so far: noise is not drawn as large as an effect."""


def data(parts: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Columns part, query, old, new, difference, place (from 1, by difference) of tables by part.

    The tables have columns query, old and new. Differences below 1e-12 are rounding and count as 0; queries
    without a value are left out.
    """
    found = []
    for part, table in parts.items():
        own = table[["query", "old", "new"]].dropna().assign(part=part)
        difference = (own["new"] - own["old"]).to_numpy()
        own["difference"] = np.where(np.abs(difference) > ROUNDING, difference, 0.0)
        own = own.sort_values(["difference", "query"], ignore_index=True)
        found.append(own.assign(place=np.arange(1, len(own) + 1)))
    return pd.concat(found, ignore_index=True)[["part", "query", "old", "new", "difference", "place"]]


def figure(
    table: pd.DataFrame, metric: str, colour: str, chosen: tuple[str, object] | None = None
) -> go.Figure:
    """A panel for each part, a bar for each query; that of the chosen (part, query) stands out."""
    parts = list(dict.fromkeys(table["part"]))
    titles = [_title(table[table["part"] == part], PART_NAMES[part]) for part in parts]
    fig = make_subplots(
        rows=1, cols=max(1, len(parts)), shared_yaxes=True, horizontal_spacing=0.04, subplot_titles=titles
    )
    for column, part in enumerate(parts, start=1):
        _add_bars(fig, column, table[table["part"] == part], metric, colour, chosen)
        fig.update_xaxes(title=f"queries, by Δ{metric}", row=1, col=column)
    largest = table["difference"].abs().max() if len(table) else 0.0
    reach = max(LEAST, np.ceil(largest / LEAST) * LEAST)
    fig.update_yaxes(range=[-1.05 * reach, 1.05 * reach], tickformat="+.2~f", nticks=6, zerolinewidth=1)
    fig.update_yaxes(title=f"Δ{metric}", row=1, col=1)
    fig.update_xaxes(showgrid=False, showticklabels=False, zeroline=False)
    margin = {"l": 60, "r": 10, "t": 34, "b": 40}
    return finished(fig, height=230, showlegend=False, bargap=0.15, margin=margin)


def _title(table: pd.DataFrame, name: str) -> str:
    """How many queries of a part gain and lose."""
    gained, lost = int((table["difference"] > 0).sum()), int((table["difference"] < 0).sum())
    return f"{name}: {gained} ▲ {lost} ▼ of {len(table)}"


def _add_bars(
    fig: go.Figure,
    column: int,
    table: pd.DataFrame,
    metric: str,
    colour: str,
    chosen: tuple[str, object] | None,
) -> None:
    own = [(part, query) == chosen for part, query in zip(table["part"], table["query"], strict=True)]
    tones = np.where(table["difference"] < 0, second_tone(colour), colour)
    fig.add_bar(
        x=table["place"],
        y=table["difference"],
        marker={"color": np.where(own, CHOSEN_COLOUR, tones), "line": {"width": 0}},
        customdata=table[["query", "old", "new"]].astype(object).to_numpy().tolist(),
        hovertemplate=(
            f"query %{{customdata[0]}}<br>{metric} %{{customdata[1]:.4f}} → %{{customdata[2]:.4f}}<br>"
            "%{y:+.4f}<extra></extra>"
        ),
        row=1,
        col=column,
    )
