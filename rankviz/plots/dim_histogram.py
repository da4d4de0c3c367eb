"""How much of their dimensions the blocks of dual variables need: Dim_90 and Dim_100 (xu2019 Figure 2)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from rankviz.plots.style import METHODS, finished
from rankviz.spectra import Spectra

BINS = 10
MEASURES = {
    "k_90": "for 90 % of the energy (Dim<sub>90</sub>)",
    "rank": "for all of it: numerical rank (Dim<sub>100</sub>)",
    "largest_rank": "largest rank that the grades allow",
}
"""Columns of the table of spectra that are counted, and what they say of a query."""


def data(found: Spectra) -> pd.DataFrame:
    """Queries in each of ten bins of k/n_q: columns measure, left, right, queries, share (of all queries).

    A bin is closed on the right; k and n_q are whole numbers, so the edges are met exactly.
    """
    table, frames = found.table, []
    for measure in MEASURES:
        bins = (BINS * table[measure].to_numpy(np.int64) - 1) // table["documents"].to_numpy(np.int64)
        counts = np.bincount(bins, minlength=BINS)
        frames.append(
            pd.DataFrame(
                {
                    "measure": measure,
                    "left": np.arange(BINS) / BINS,
                    "right": np.arange(1, BINS + 1) / BINS,
                    "queries": counts,
                    "share": counts / max(len(table), 1),
                }
            )
        )
    return pd.concat(frames, ignore_index=True)


def figure(table: pd.DataFrame, method: str) -> go.Figure:
    """Shares of queries: Dim_90 in light bars, Dim_100 in full ones, the largest possible as outlines."""
    fig, colour = go.Figure(), METHODS[method].colour
    looks: dict[str, dict[str, Any]] = {
        "k_90": {"marker": {"color": colour}, "opacity": 0.45},
        "rank": {"marker": {"color": colour}},
        "largest_rank": {"marker": {"color": "rgba(0,0,0,0)", "line": {"color": "#7f7f7f", "width": 1.5}}},
    }
    for measure, name in MEASURES.items():
        rows = table[table["measure"] == measure]
        labels = [f"{100 * a:.0f}–{100 * b:.0f}" for a, b in zip(rows["left"], rows["right"], strict=True)]
        fig.add_bar(
            x=labels,
            y=rows["share"],
            name=name,
            customdata=rows["queries"],
            hovertemplate=f"{name}<br>%{{x}} %: %{{customdata}} queries (%{{y:.0%}})<extra></extra>",
            **looks[measure],
        )
    return finished(
        fig,
        barmode="group",
        bargap=0.2,
        bargroupgap=0.05,
        xaxis={"title": "dimensions needed, in % of the query's documents"},
        yaxis={"title": "share of queries", "range": [0, 1.02], "tickformat": ".0%"},
    )
