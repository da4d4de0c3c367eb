"""The terms of NDCG by rank under several definitions."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import plotly.graph_objects as go

from rankviz.metrics.definitions import DEFINITIONS, Definition
from rankviz.plots.style import SPARE_LINES, finished

COLOURS = dict(zip(DEFINITIONS, (colour for colour, _ in 3 * SPARE_LINES), strict=False))
COLOURS |= {"letor": "#56B4E9", "textbook": "#E69F00", "he2009": "#7B5EA7", "trec_eval": "#8C6D31"}
COLOURS |= {"sklearn": "#CC79A7", "lightgbm": "#009E73"}
"""A colour for each definition; no model is drawn beside them."""


def terms_figure(groups: Sequence[tuple[list[Definition], pd.DataFrame]], k: int) -> go.Figure:
    """Draw the shares of NDCG@k by rank, from `same_terms`: a colour for the definitions that agree."""
    fig = go.Figure()
    for members, table in groups:
        first = next(name for name in DEFINITIONS if name in [one.name for one in members])
        fig.add_bar(
            x=table["rank"],
            y=table["share"],
            name=f"{', '.join(one.label for one in members)}: {table['share'].sum():.3f}",
            marker_color=COLOURS[first],
            customdata=table[["gain", "discount", "term", "ideal_term"]].to_numpy().tolist(),
            hovertemplate="rank %{x}: gain %{customdata[0]:.4g} × discount %{customdata[1]:.3f} = "
            "%{customdata[2]:.3f}, a share of %{y:.3f}<extra></extra>",
        )
    ranks = groups[0][1]
    ticks = [f"{rank}<br>({grade})" for rank, grade in zip(ranks["rank"], ranks["grade"], strict=True)]
    across = {"title": "rank (grade)", "tickvals": ranks["rank"], "ticktext": ticks}
    up = {"title": f"share of NDCG@{k}", "rangemode": "tozero"}
    return finished(fig, height=380, barmode="group", bargap=0.25, xaxis=across, yaxis=up)
