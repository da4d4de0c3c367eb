"""NDCG@k (or P@k) against the cut-off k, one line per model."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pandas as pd
import plotly.graph_objects as go

from rankviz.plots.axes import share_range
from rankviz.plots.labels import harmless
from rankviz.plots.style import finished, line_of, look_of, second_tone, see_through, style_of
from rankviz.runs.labels import short_labels
from rankviz.runs.record import RunRecord

_DASHES = ("dashdot", "dash", "dot", "longdash")
"""Of models that look alike."""


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
    """One line per model, with a band where the table has `low` and `high`; the y-axis ends on tenths.

    Of models that look alike, those before the last have another tone, dash and marker.
    """
    fig, banded = go.Figure(), "low" in table
    alike = {str(look): list(dict.fromkeys(own)) for look, own in table.groupby("method")["label"]}
    for (method, label), rows in table.groupby(["method", "label"], sort=False):
        drawn = _line(str(method), alike[str(method)].index(label), len(alike[str(method)]))
        if banded:
            _band(fig, rows, drawn["line"]["color"])
        fig.add_scatter(
            x=rows["k"],
            y=rows["value"],
            name=harmless(str(label)),
            mode="lines+markers",
            hovertemplate=f"{harmless(str(label))}<br>{metric}@%{{x}} = %{{y:.4f}}<extra></extra>",
            **drawn,
        )
    shown = table[["value", "low", "high"] if banded else ["value"]]
    low, high = (shown.min().min(), shown.max().max()) if len(table) else (0.0, 1.0)
    return finished(
        fig,
        xaxis={"title": "cut-off k (rank)", "dtick": 1},
        yaxis={
            "title": f"mean {metric}@k over queries",
            "range": share_range(float(low), float(high)),
            "tickformat": ".2f",
        },
    )


def _line(look: str, place: int, alike: int) -> dict[str, Any]:
    """The line of a model among those of the same look: the last has the look's own, others lighter ones."""
    style, drawn = style_of(look), line_of(look)
    before = alike - 1 - place
    if before == 0:
        return drawn
    tone = second_tone(style.colour, share=0.55 if before == 1 else max(0.25, 0.55 - 0.1 * (before - 1)))
    drawn["line"] |= {"color": tone, "dash": _DASHES[(before - 1) % len(_DASHES)]}
    drawn["marker"] |= {"color": tone, "symbol": f"{style.symbol}-open"}
    return drawn


def _band(fig: go.Figure, rows: pd.DataFrame, colour: str) -> None:
    """From the lower ends of a model's intervals to the upper ones, where there are intervals."""
    rows = rows.dropna(subset=["low"])
    fig.add_scatter(
        x=[*rows["k"], *rows["k"][::-1]],
        y=[*rows["low"], *rows["high"][::-1]],
        mode="lines",
        line={"width": 0},
        fill="toself",
        fillcolor=see_through(colour, 0.1),
        hoverinfo="skip",
        showlegend=False,
    )
