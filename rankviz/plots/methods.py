"""The family tree of methods."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import pandas as pd
import plotly.graph_objects as go

from rankviz.analysis.methods import Listed
from rankviz.learning.loss_facts import FAMILIES
from rankviz.plots.style import CHOSEN_COLOUR, EVEN_COLOUR, finished

COLOURS = dict(
    zip(FAMILIES, ("#7B5EA7", "#8C6D31", "#0072B2", "#009E73", "#E69F00", EVEN_COLOUR), strict=True)
)
"""Colours of the families."""
SECOND = 4.6
"""Place of the second column, where the distance of a family from its methods is 1."""


def tree_data(listed: Iterable[Listed], values: Mapping[str, float], metric: str) -> pd.DataFrame:
    """Return one row per method, in the order of families: key, label, family, minimises, metric."""
    rows = [(one.key, one.label, one.family, one.minimises, values.get(one.key)) for one in listed]
    table = pd.DataFrame(rows, columns=["key", "label", "family", "minimises", metric])
    return table.sort_values("family", key=lambda own: own.map(list(FAMILIES).index), kind="stable")


def tree_figure(table: pd.DataFrame, metric: str, chosen: str = "") -> go.Figure:
    """Draw families in two columns, and their methods right of them, filled if they have a value."""
    fig, rows, starts = go.Figure(), {0.0: 0, SECOND: 0}, {}
    for name, n in table.groupby("family", sort=False).size().items():
        left = 0.0 if rows[0.0] + n <= len(table) / 2 else SECOND
        starts[name] = (left, rows[left])
        rows[left] += n
    for family, own in table.groupby("family", sort=False):
        (left, above), colour = starts[family], COLOURS[str(family)]
        at = pd.Series(range(-above, -above - len(own), -1), dtype=float)
        middle = float(at.mean())
        lines = {"mode": "lines", "line": {"color": colour, "width": 1.5}, "hoverinfo": "skip"}
        for y in at:
            fig.add_scatter(
                x=[left, left + 0.5, left + 0.5, left + 1],
                y=[middle, middle, y, y],
                showlegend=False,
                **lines,
            )
        fig.add_annotation(
            x=left,
            y=middle,
            text="<b>" + str(family).replace(" and ", "<br>and ") + "</b>",
            xanchor="right",
            showarrow=False,
            xshift=-6,
        )
        numbers = own[metric].map(lambda value: "" if pd.isna(value) else f"  {value:.3f}")
        fig.add_scatter(
            x=[left + 1] * len(own),
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
    most = max(rows.values())
    fig.update_xaxes(visible=False, range=[-1.3, 2 * SECOND - 1.3], fixedrange=True)
    fig.update_yaxes(visible=False, range=[0.3 - most, 0.7], fixedrange=True)
    return finished(fig, height=100 + 22 * most, margin={"t": 44, "b": 40, "l": 8, "r": 8})
