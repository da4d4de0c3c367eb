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
SECOND = 7.6
"""Place of the second column, where the distance of a family from its methods is 1."""
WIDE, NARROW = [-2.3, 16.5], [-0.3, 13.7]
"""Ranges across of two columns, and of one."""


def tree_data(listed: Iterable[Listed], values: Mapping[str, float], metric: str) -> pd.DataFrame:
    """Return one row per method, in the order of families: key, label, family, minimises, metric."""
    rows = [(one.key, one.label, one.family, one.minimises, values.get(one.key)) for one in listed]
    table = pd.DataFrame(rows, columns=["key", "label", "family", "minimises", metric])
    return table.sort_values("family", key=lambda own: own.map(list(FAMILIES).index), kind="stable")


def tree_figure(table: pd.DataFrame, metric: str, chosen: str = "", narrow: bool = False) -> go.Figure:
    """Draw families in two columns, and their methods right of them, filled if they have a value.

    If `narrow`, there is one column, with the methods below their families.
    """
    fig, rows, starts = go.Figure(), {0.0: 0, SECOND: 0}, {}
    for name, n in table.groupby("family", sort=False).size().items():
        left = 0.0 if narrow or rows[0.0] + n <= len(table) / 2 else SECOND
        rows[left] += narrow  # the row of its name
        starts[name] = (left, rows[left])
        rows[left] += n
    for family, own in table.groupby("family", sort=False):
        (left, above), colour = starts[family], COLOURS[str(family)]
        at = pd.Series(range(-above, -above - len(own), -1), dtype=float)
        middle = float(at.mean())
        lines = {"mode": "lines", "line": {"color": colour, "width": 1.5}, "hoverinfo": "skip"}
        bend, start = (0.0, 0.6 - above) if narrow else (0.5, middle)
        for y in at:
            fig.add_scatter(
                x=[left, left + bend, left + bend, left + 1],
                y=[start, start, y, y],
                showlegend=False,
                **lines,
            )
        if narrow:
            place = {"y": 1 - above, "text": f"<b>{family}</b>: {FAMILIES[str(family)]}", "xanchor": "left"}
        else:
            text = "<b>" + str(family).replace(" and ", "<br>and ") + "</b>"
            place = {"y": middle, "text": text, "xanchor": "right", "xshift": -6}
        fig.add_annotation(x=left, showarrow=False, **place)
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
    fig.update_xaxes(visible=False, range=NARROW if narrow else WIDE, fixedrange=True)
    fig.update_yaxes(visible=False, range=[0.3 - most, 0.7], fixedrange=True)
    above, alone = (0, 30 * most) if narrow else (44, 580)  # if narrow, its families say what the legend says
    fig.update_layout(showlegend=not narrow, meta={"alone": alone})
    return finished(fig, height=56 + above + 22 * most, margin={"t": above, "b": 40, "l": 8, "r": 8})
