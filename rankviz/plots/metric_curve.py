"""NDCG@k (or P@k) against the cut-off k, one line per model."""

from __future__ import annotations

from collections.abc import Iterable

import pandas as pd
import plotly.graph_objects as go

from rankviz.experiments.description import method_label
from rankviz.experiments.record import RunRecord
from rankviz.plots.axes import share_range
from rankviz.plots.style import finished, line_of, look_of


def data(records: Iterable[RunRecord], part: str, metric: str = "NDCG") -> pd.DataFrame:
    """Means over the queries of a part: columns method, label, k, value."""
    rows = []
    for record in records:
        means = record.metrics[part].mean()
        for name, value in means.items():
            stem, _, k = str(name).partition("@")
            if stem == metric and k:
                rows.append((look_of(record.spec), method_label(record.spec), int(k), float(value)))
    return pd.DataFrame(rows, columns=["method", "label", "k", "value"])


def figure(table: pd.DataFrame, metric: str = "NDCG") -> go.Figure:
    """One line per model; the y-axis ends on tenths around the values shown."""
    fig = go.Figure()
    for (method, label), rows in table.groupby(["method", "label"], sort=False):
        fig.add_scatter(
            x=rows["k"],
            y=rows["value"],
            name=label,
            mode="lines+markers",
            hovertemplate=f"{label}<br>{metric}@%{{x}} = %{{y:.4f}}<extra></extra>",
            **line_of(str(method)),
        )
    low, high = (table["value"].min(), table["value"].max()) if len(table) else (0.0, 1.0)
    return finished(
        fig,
        xaxis={"title": "cut-off k (rank)", "dtick": 1},
        yaxis={
            "title": f"mean {metric}@k over queries",
            "range": share_range(low, high),
            "tickformat": ".2f",
        },
    )
