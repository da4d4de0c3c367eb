"""Features of two documents against the distribution of each feature in the data."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from rankviz.common.arrays import FloatArray
from rankviz.plots.labels import harmless
from rankviz.plots.margin_waterfall import ABOVE_COLOUR, BELOW_COLOUR, PITCH
from rankviz.plots.style import EVEN_COLOUR, finished

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


def data(shares: pd.DataFrame, X: FloatArray) -> pd.DataFrame:
    """Return rows of `margin_waterfall.data` with each feature's distribution over documents X (n, d).

    Columns number, name, value_A, value_B, share, min, max, q5 … q95, and below_A, below_B: the share of
    documents with a smaller value.
    """
    columns = X[:, shares["number"].to_numpy() - 1]
    table = shares.assign(min=columns.min(axis=0), max=columns.max(axis=0))
    for q, values in zip(QUANTILES, np.quantile(columns, QUANTILES, axis=0), strict=True):
        table[f"q{q:.0%}".rstrip("%")] = values
    for side in "AB":
        table[f"below_{side}"] = (columns < table[f"value_{side}"].to_numpy()).mean(axis=0)
    return table


def figure(table: pd.DataFrame, names: Sequence[str]) -> go.Figure:
    """Draw a line per feature from the 5 % to the 95 % quantile, thick in the middle half, with A and B."""
    span = (table["max"] - table["min"]).where(lambda s: s > 0, 1.0)
    place = {column: ((table[column] - table["min"]) / span).tolist() for column in table if column in _DRAWN}
    y = list(range(len(table)))
    fig = go.Figure()
    for low, high, width in (("min", "max", 1), ("q5", "q95", 3), ("q25", "q75", 9)):
        fig.add_scatter(
            x=[x for pair in zip(place[low], place[high], strict=True) for x in (*pair, None)],
            y=[row for i in y for row in (i, i, None)],
            mode="lines",
            line={"width": width, "color": EVEN_COLOUR},
            opacity=0.55,
            hoverinfo="skip",
            showlegend=False,
        )
    fig.add_scatter(
        x=place["q50"],
        y=y,
        mode="markers",
        name="median",
        marker={"symbol": "line-ns", "size": 13, "line": {"width": 2, "color": "#000000"}},
        hoverinfo="skip",
    )
    for side, name, colour, symbol in (
        ("A", names[0], ABOVE_COLOUR, "triangle-up"),
        ("B", names[1], BELOW_COLOUR, "triangle-down"),
    ):
        fig.add_scatter(
            x=place[f"value_{side}"],
            y=y,
            mode="markers",
            name=f"{side}: {harmless(name)}",
            marker={"symbol": symbol, "size": 12, "color": colour, "line": {"width": 1, "color": "#fefefe"}},
            customdata=table[[f"value_{side}", f"below_{side}", "min", "max"]],
            hovertemplate=f"{side}: %{{customdata[0]:.4g}}, above %{{customdata[1]:.0%}} of documents<br>"
            "range %{customdata[2]:.4g} to %{customdata[3]:.4g}<extra></extra>",
        )
    return finished(
        fig,
        height=110 + PITCH * len(table),
        xaxis={"title": "place in the feature's range", "zeroline": False},
        yaxis={
            "tickvals": y,
            "ticktext": [harmless(name) for name in table["name"]],
            "range": [len(table) - 0.4, -0.6],
            "showgrid": False,
            "zeroline": False,
        },
        margin={"l": 60, "r": 15, "t": 40, "b": 45},
    )


_DRAWN = {"value_A", "value_B", "min", "max", "q5", "q25", "q50", "q75", "q95"}
