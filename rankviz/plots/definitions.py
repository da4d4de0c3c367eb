"""The terms of NDCG by rank under several definitions."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence

import plotly.graph_objects as go

from rankviz.analysis.definitions import ROUNDING, Agreeing
from rankviz.metrics.definitions import DEFINITIONS
from rankviz.plots.style import SPARE_LINES, finished

COLOURS = dict(zip(DEFINITIONS, (colour for colour, _ in 3 * SPARE_LINES), strict=False))
COLOURS |= {"letor": "#56B4E9", "textbook": "#E69F00", "he2009": "#7B5EA7", "trec_eval": "#8C6D31"}
COLOURS |= {"sklearn": "#CC79A7", "lightgbm": "#009E73"}
"""A colour for each definition; no model is drawn beside them."""

LETTERS = 44
"""Letters in a line of the legend, so that it fits a phone."""


def terms_figure(groups: Sequence[Agreeing], k: int) -> go.Figure:
    """Draw the shares of NDCG@k by rank, from `same_terms`: a colour for the definitions that agree."""
    fig = go.Figure()
    for group in groups:
        table, names = group.table, [one.name for one in group.members]
        first = next(name for name in DEFINITIONS if name in names)
        fig.add_bar(
            x=table["rank"],
            y=table["share"],
            name=_legend(group),
            marker_color=COLOURS[first],
            customdata=table[["gain", "discount", "term", "ideal_term"]].to_numpy().tolist(),
            hovertemplate="rank %{x}: gain %{customdata[0]:.4g} × discount %{customdata[1]:.3f} = "
            "%{customdata[2]:.3f}, a share of %{y:.3f}<extra></extra>",
        )
    ranks = groups[0].table
    ticks = [f"{rank}<br>({grade})" for rank, grade in zip(ranks["rank"], ranks["grade"], strict=True)]
    across = {"title": "rank (grade)", "tickvals": ranks["rank"], "ticktext": ticks}
    up = {"title": f"share of NDCG@{k}", "rangemode": "tozero"}
    return finished(fig, height=380, barmode="group", bargap=0.25, xaxis=across, yaxis=up)


def _legend(group: Agreeing) -> str:
    """Name the definitions with their value, and the sum of the bars if a rule gives another value."""
    named, summed = ", ".join(one.label for one in group.members), float(group.table["share"].sum())
    said = f"{named}: {'left out' if math.isnan(group.value) else f'{group.value:.3f}'}"
    said += "" if abs(summed - group.value) <= ROUNDING else f" (sum of bars {summed:.3f})"
    return "<br>".join(textwrap.wrap(said, LETTERS))
