"""Contestants by metrics: means over queries with 95 % intervals."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import plotly.graph_objects as go

from rankviz.analysis.comparison import Comparison, standing
from rankviz.analysis.contestants import Contestant
from rankviz.plots.axes import share_range
from rankviz.plots.dot_intervals import dot_intervals
from rankviz.plots.labels import harmless
from rankviz.runs.labels import look_of


def data(comparison: Comparison) -> pd.DataFrame:
    """`Comparison.standings` with the method (the look), and whether it is the baseline."""
    table = comparison.standings
    looks, first = comparison.matched.looks, comparison.baseline
    return table.assign(method=table["label"].map(looks), baseline=table["label"] == first)


def data_of_one(one: Contestant, metrics: Sequence[str]) -> pd.DataFrame:
    """The same of a contestant that stands alone; raises as `Contestant.by_query`."""
    rows = [standing(one, metric, one.by_query(metric).dropna()) for metric in dict.fromkeys(metrics)]
    return pd.DataFrame(rows).assign(method=look_of(one.spec), baseline=True)


def figure(table: pd.DataFrame) -> go.Figure:
    """A panel for each metric, a row for each contestant; dashed: the baseline's mean."""
    levels = table[table["baseline"]].set_index("metric")["mean"]
    shown = table.assign(
        panel=table["metric"], value=table["mean"], full=True, reference=table["metric"].map(levels)
    )
    ends = table[["low", "mean"]].min().min(), table[["mean", "high"]].max().max()
    ends = ends if table["mean"].notna().any() else (0.0, 1.0)
    return dot_intervals(
        shown,
        "mean over queries, 95 % interval",
        shown.apply(_hover, axis=1),
        xaxis={"range": share_range(*ends), "tickformat": ".2f"},
    )


def _hover(row: pd.Series) -> str:
    """What is told of a contestant, spreads where there are any."""
    text = f"{harmless(str(row['label']))}<br>{row['metric']} {row['mean']:.4f}, {row['queries']} queries"
    if pd.notna(row["fold_sd"]):
        text += f"<br>standard deviation of {row['folds']} folds {row['fold_sd']:.4f}"
    if pd.notna(row["seed_sd"]):
        text += f"<br>standard deviation of {row['seeds']} seeds on a fold {row['seed_sd']:.4f}"
    return text
