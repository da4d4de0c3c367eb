"""The terms of NDCG by rank under several definitions."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import plotly.graph_objects as go

from rankviz.metrics.definitions import DEFINITIONS, Definition
from rankviz.plots.style import LOSS_LINES, SPARE_LINES, finished

_LINES = (*LOSS_LINES.values(), *SPARE_LINES)
COLOURS = {name: _LINES[k % len(_LINES)][0] for k, name in enumerate(DEFINITIONS)}
"""A colour for each definition; no model is drawn beside them."""


def terms_figure(groups: Sequence[tuple[list[Definition], pd.DataFrame]], k: int) -> go.Figure:
    """Draw the shares of NDCG@k by rank, from `same_terms`: a colour for the definitions that agree."""
    fig = go.Figure()
    for members, table in groups:
        fig.add_bar(
            x=table["rank"],
            y=table["share"],
            name=f"{', '.join(one.label for one in members)}: {table['share'].sum():.3f}",
            marker_color=COLOURS[members[0].name],
            customdata=table[["gain", "discount", "term", "ideal_term"]].to_numpy().tolist(),
            hovertemplate="rank %{x}: gain %{customdata[0]:.4g} × discount %{customdata[1]:.3f} = "
            "%{customdata[2]:.3f}, a share of %{y:.3f}<extra></extra>",
        )
    first = groups[0][1]
    ticks = [f"{rank}<br>({grade})" for rank, grade in zip(first["rank"], first["grade"], strict=True)]
    across = {"title": "rank (grade)", "tickvals": first["rank"], "ticktext": ticks}
    up = {"title": f"share of NDCG@{k}", "rangemode": "tozero"}
    legend = {"itemwidth": 30, "entrywidthmode": "pixels"}
    return finished(fig, height=380, barmode="group", bargap=0.25, xaxis=across, yaxis=up, legend=legend)
