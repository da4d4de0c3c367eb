"""Differences of contestants to a baseline by metric, with paired intervals; filled if significant."""

from __future__ import annotations

import pandas as pd
import plotly.graph_objects as go

from rankviz.analysis.comparison import LEVEL, TESTS, Comparison
from rankviz.common.numbers import small, with_minus
from rankviz.plots.dot_intervals import dot_intervals
from rankviz.plots.labels import harmless


def data(comparison: Comparison) -> pd.DataFrame:
    """Return `Comparison.deltas` with the method (look), adjusted p and its significance."""
    table = comparison.deltas
    return table.assign(
        method=table["label"].map(comparison.matched.looks),
        p=table[comparison.test],
        holds=table["holm"] <= LEVEL,
        test=TESTS[comparison.test],
        baseline=comparison.baseline,
    )


def figure(table: pd.DataFrame) -> go.Figure:
    """Draw a panel per metric, a row per contestant; hollow if not significant after correction."""
    shown = table.assign(panel=table["metric"], value=table["difference"], full=table["holds"], reference=0.0)
    return dot_intervals(
        shown,
        "mean difference to the baseline",
        shown.apply(_hover, axis=1),
        xaxis={"tickformat": "+~g"},
    )


def _hover(row: pd.Series) -> str:
    said = (
        f"{harmless(str(row['label']))}<br>{row['metric']} {with_minus(row['difference'], '+.4f')}, better "
        f"on {row['better']} of {row['queries']} queries, worse on {row['worse']}"
    )
    if pd.isna(row["p"]):
        return said
    return f"{said}<br>{row['test']} p = {small(row['p'])}, after Holm's correction {small(row['holm'])}"
