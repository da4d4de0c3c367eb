"""The family tree of methods."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import pandas as pd
import plotly.graph_objects as go

from rankviz.analysis.methods import Listed
from rankviz.learning.loss_facts import FAMILIES
from rankviz.plots.style import CHOSEN_COLOUR, EVEN_COLOUR, finished

COLOURS = dict(
    zip(FAMILIES, ("#56B4E9", "#8C6D31", "#0072B2", "#009E73", "#E69F00", EVEN_COLOUR), strict=True)
)
"""Colours of the families."""


def tree_data(listed: Iterable[Listed], values: Mapping[str, float], metric: str) -> pd.DataFrame:
    """Return one row per method, in the order of families: key, label, family, minimises, metric."""
    rows = [(one.key, one.label, one.family, one.minimises, values.get(one.key)) for one in listed]
    table = pd.DataFrame(rows, columns=["key", "label", "family", "minimises", metric])
    return table.sort_values("family", key=lambda own: own.map(list(FAMILIES).index), kind="stable")


def tree_figure(table: pd.DataFrame, metric: str, chosen: str = "") -> go.Figure:
    """Draw families on the left and their methods on the right, filled if they have a value."""
    fig = go.Figure()
    places = pd.Series(range(len(table), 0, -1), index=table.index, dtype=float)
    for family, own in table.groupby("family", sort=False):
        at, colour = places[own.index], COLOURS[str(family)]
        middle = float(at.mean())
        lines = {"mode": "lines", "line": {"color": colour, "width": 1.5}, "hoverinfo": "skip"}
        for y in at:
            fig.add_scatter(x=[0, 0.5, 0.5, 1], y=[middle, middle, y, y], showlegend=False, **lines)
        fig.add_annotation(
            x=0,
            y=middle,
            text="<b>" + str(family).replace(" and ", "<br>and ") + "</b>",
            xanchor="right",
            showarrow=False,
            xshift=-6,
        )
        numbers = own[metric].map(lambda value: "" if pd.isna(value) else f"  {value:.3f}")
        fig.add_scatter(
            x=[1.0] * len(own),
            y=at,
            mode="markers+text",
            name=f"{family}: {FAMILIES[str(family)]}",
            text=own["label"] + numbers,
            textposition="middle right",
            customdata=own[["key", "minimises"]].to_numpy(),
            hovertemplate="%{text}<br>%{customdata[1]}<extra></extra>",
            marker={
                "size": 13,
                "color": [("rgba(0,0,0,0)" if pd.isna(value) else colour) for value in own[metric]],
                "line": {
                    "width": 2,
                    "color": [CHOSEN_COLOUR if key == chosen else colour for key in own["key"]],
                },
            },
        )
    fig.update_xaxes(visible=False, range=[-1.3, 4.4], fixedrange=True)
    fig.update_yaxes(visible=False, range=[0.3, len(table) + 0.7], fixedrange=True)
    return finished(fig, height=100 + 20 * len(table), margin={"t": 44, "b": 40, "l": 8, "r": 8})
