"""A metric against the number of features m, one line per method, the linear model as a dotted level."""

from __future__ import annotations

import math
from collections.abc import Iterable

import pandas as pd
import plotly.graph_objects as go

from rankviz.experiments.record import RunRecord
from rankviz.plots.style import METHODS, finished, line_of, snapped_range


def data(records: Iterable[RunRecord], part: str, metric: str = "NDCG@10") -> pd.DataFrame:
    """Mean metric of each run on a part: columns method, m, seed, value (m is 0 for the linear model)."""
    rows = [
        (
            record.spec.feature_map,
            0 if record.spec.feature_map == "linear" else record.spec.n_components,
            record.spec.seed,
            float(record.metrics[part][metric].mean()),
        )
        for record in records
    ]
    return pd.DataFrame(rows, columns=["method", "m", "seed", "value"])


def figure(table: pd.DataFrame, metric: str = "NDCG@10", current: int | None = None) -> go.Figure:
    """Lines over m (log scale), the linear level dotted; `current` marks the m that is set."""
    fig = go.Figure()
    curves = table[table["method"] != "linear"]
    ends = [curves["m"].min(), curves["m"].max()] if len(curves) else [1, 2]
    for value in table.loc[table["method"] == "linear", "value"]:
        fig.add_scatter(
            x=ends,
            y=[value, value],
            name="linear (no m)",
            mode="lines",
            hovertemplate=f"linear<br>{metric} = {value:.4f}<extra></extra>",
            line=line_of("linear")["line"],
        )
    for method, rows in curves.groupby("method", sort=False):
        name, line = METHODS[str(method)].name, rows.groupby("m", sort=True)["value"].mean()
        fig.add_scatter(
            x=line.index,
            y=line,
            name=name,
            mode="lines+markers",
            hovertemplate=f"{name}, m = %{{x}}<br>{metric} = %{{y:.4f}}<extra></extra>",
            **line_of(str(method)),
        )
    if current is not None:
        fig.add_vline(x=current, line={"width": 1, "dash": "dash", "color": "#999999"})
        fig.add_annotation(**_label_at(current))
    low, high = (table["value"].min(), table["value"].max()) if len(table) else (0.0, 1.0)
    return finished(
        fig,
        xaxis={
            "title": "number of features m (log scale)",
            "type": "log",
            "tickvals": sorted(set(curves["m"])),
        },
        yaxis={
            "title": f"mean {metric} over queries",
            "range": snapped_range(low, high),
            "tickformat": ".2f",
        },
    )


def _label_at(m: int) -> dict[str, object]:
    """An annotation beside the line at m; on a log axis annotations are placed by exponent."""
    return {
        "x": math.log10(m),
        "y": 1,
        "yref": "paper",
        "text": f" m = {m}",
        "showarrow": False,
        "xanchor": "left",
        "yanchor": "top",
    }
