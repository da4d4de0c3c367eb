"""Contributions of landmarks to a margin: the largest for A and for B."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import plotly.graph_objects as go

from rankviz.plots.labels import harmless
from rankviz.plots.margin_waterfall import ABOVE_COLOUR, BELOW_COLOUR, PITCH, add_numbers
from rankviz.plots.style import finished

EACH = 7
"""Landmarks drawn for each document."""


def strongest(table: pd.DataFrame, n: int = EACH) -> pd.DataFrame:
    """Return the n largest shares for A of `landmark_shares`, then the n largest for B."""
    ranked = table.sort_values("share", ascending=False, kind="stable")
    for_a, for_b = ranked[ranked["share"] > 0].head(n), ranked[ranked["share"] < 0].tail(n).iloc[::-1]
    return pd.concat((for_a, for_b), ignore_index=True)


def figure(rows: pd.DataFrame, names: Sequence[str]) -> go.Figure:
    """Draw a bar per landmark; `names` give document, query and grade."""
    fig = go.Figure()
    y = list(range(len(rows)))
    fig.add_bar(
        orientation="h",
        y=y,
        x=rows["share"],
        marker={"color": [ABOVE_COLOUR if share > 0 else BELOW_COLOUR for share in rows["share"]]},
        customdata=rows[["coefficient", "near_A", "near_B"]],
        hovertemplate="%{x:+.4g}, coefficient %{customdata[0]:.4g}<br>κ with A %{customdata[1]:.4g}, "
        "with B %{customdata[2]:.4g}<extra></extra>",
    )
    add_numbers(fig, rows["share"].tolist())
    return finished(
        fig,
        height=70 + PITCH * len(rows),
        showlegend=False,
        bargap=0.25,
        xaxis={"title": "added to f(A) − f(B)"},
        yaxis={
            "tickvals": y,
            "ticktext": [harmless(name) for name in names],
            "range": [len(rows) - 0.5, -0.5],
            "showgrid": False,
            "zeroline": False,
        },
        margin={"l": 60, "r": 15, "t": 8, "b": 45},
    )
