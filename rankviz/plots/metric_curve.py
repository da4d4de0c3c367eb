"""NDCG@k (or P@k) against the cut-off k, one line per model."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pandas as pd
import plotly.graph_objects as go

from rankviz.experiments.labels import short_labels
from rankviz.experiments.record import RunRecord
from rankviz.plots.axes import share_range
from rankviz.plots.style import finished, line_of, look_of, second_tone, style_of


def data(records: Iterable[RunRecord], part: str, metric: str = "NDCG") -> pd.DataFrame:
    """Means over the queries of a part: columns method, label, k, value."""
    rows, drawn = [], list(records)
    for record, label in zip(drawn, short_labels([record.spec for record in drawn]), strict=True):
        means = record.metrics[part].mean()
        for name, value in means.items():
            stem, _, k = str(name).partition("@")
            if stem == metric and k:
                rows.append((look_of(record.spec), label, int(k), float(value)))
    return pd.DataFrame(rows, columns=["method", "label", "k", "value"])


def figure(table: pd.DataFrame, metric: str = "NDCG") -> go.Figure:
    """One line per model; the y-axis ends on tenths around the values shown.

    Of models that look alike, those before the last have another tone, dash and marker.
    """
    fig, last = go.Figure(), dict(zip(table["method"], table["label"], strict=True))
    for (method, label), rows in table.groupby(["method", "label"], sort=False):
        fig.add_scatter(
            x=rows["k"],
            y=rows["value"],
            name=label,
            mode="lines+markers",
            hovertemplate=f"{label}<br>{metric}@%{{x}} = %{{y:.4f}}<extra></extra>",
            **(line_of(str(method)) if last[method] == label else _other(str(method))),
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


def _other(look: str) -> dict[str, Any]:
    """The line of a model beside another one of the same look."""
    style, drawn = style_of(look), line_of(look)
    tone = second_tone(style.colour)
    drawn["line"] |= {"color": tone, "dash": "dashdot"}
    drawn["marker"] |= {"color": tone, "symbol": f"{style.symbol}-open"}
    return drawn
