"""Differences of contestants to a baseline in slices of queries."""

from __future__ import annotations

import pandas as pd
import plotly.graph_objects as go

from rankviz.analysis.matched import Matched
from rankviz.analysis.slices import Slicing, sliced
from rankviz.common.numbers import with_minus
from rankviz.metrics.significance import queries_in_words
from rankviz.plots.dot_intervals import dot_intervals
from rankviz.plots.labels import harmless


def data(matched: Matched, metric: str, baseline: str, slicing: Slicing) -> pd.DataFrame:
    """Return the table of `sliced` with each contestant's method (look)."""
    table = sliced(matched, metric, baseline, slicing)
    return table.assign(method=table["label"].map(matched.looks))


def figure(table: pd.DataFrame, metric: str) -> go.Figure:
    """Draw a panel per slice, a row per contestant; hollow if not significant."""
    sizes = table["queries"].map(queries_in_words)
    shown = table.assign(
        panel=table["slice"] + " (" + sizes + ")",
        value=table["difference"],
        full=table["distinguishable"],
        reference=0.0,
    )
    return dot_intervals(
        shown,
        f"mean Δ{metric} to the baseline",
        shown.apply(_hover, axis=1),
        xaxis={"tickformat": "+~g"},
    )


def _hover(row: pd.Series) -> str:
    difference = with_minus(row["difference"], "+.4f")
    return (
        f"{harmless(str(row['label']))}<br>{harmless(str(row['slice']))}: {row['mean']:.4f}, baseline "
        f"{row['baseline']:.4f}, difference {difference}"
    )
