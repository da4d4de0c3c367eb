"""Metrics against what was learned from: the number of training queries, or the share of wrong grades."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import pandas as pd
import plotly.graph_objects as go

from rankviz.analysis.samples import model_of, sample_table
from rankviz.experiments.description import method_label
from rankviz.experiments.record import RunRecord
from rankviz.experiments.spec import RunSpec
from rankviz.plots.axes import share_range
from rankviz.plots.style import finished, line_of, look_of, translucent

DIFFERENCE = ("difference", "difference_low", "difference_high")


@dataclass(frozen=True)
class Axis:
    """What a curve runs over.

    Attributes
    ----------
    column : str
        Of the table.
    title, unit : str
        Of the axis, and of its values in hover texts.
    log : bool
        Whether the axis is logarithmic.
    scale : float
        What values are multiplied by.
    """

    column: str
    title: str
    unit: str
    log: bool = False
    scale: float = 1.0


QUERIES = Axis("queries", "training queries (log scale)", " training queries", log=True)
WRONG = Axis("flipped", "training grades flipped, %", " % flipped", scale=100.0)


def data(records: Iterable[RunRecord], part: str, metric: str) -> pd.DataFrame:
    """The rows of `sample_table` for each model, with its look and label in front."""
    groups: dict[RunSpec, list[RunRecord]] = {}
    for record in records:
        groups.setdefault(model_of(record.spec), []).append(record)
    tables = [
        sample_table(group, part, metric).assign(method=look_of(spec), label=method_label(spec))
        for spec, group in groups.items()
    ]
    table = pd.concat(tables, ignore_index=True)
    return table[["method", "label", *(name for name in table if name not in ("method", "label"))]]


def figure(table: pd.DataFrame, axis: Axis, metric: str) -> go.Figure:
    """A line per model with a band, its 95 % interval over draws and queries."""
    fig = go.Figure()
    for label, line in table.groupby("label", sort=False):
        rising = line.sort_values(axis.column)
        look, x = str(rising["method"].iloc[0]), rising[axis.column] * axis.scale
        fig.add_scatter(
            x=[*x, *x[::-1]],
            y=[*rising["high"], *rising["low"][::-1]],
            mode="lines",
            fill="toself",
            fillcolor=translucent(look, 0.12),
            line={"width": 0},
            hoverinfo="skip",
            showlegend=False,
            legendgroup=label,
        )
        fig.add_scatter(
            x=x,
            y=rising["mean"],
            name=str(label),
            legendgroup=label,
            mode="lines+markers",
            customdata=rising[["low", "high", "draws", "judged_by", *DIFFERENCE]],
            hovertemplate=(
                f"{label}, %{{x:.3~g}}{axis.unit}<br>{metric} = %{{y:.4f}}, 95 % interval "
                "[%{customdata[0]:.3f}, %{customdata[1]:.3f}]<br>%{customdata[2]} draws, "
                "%{customdata[3]} queries<br>less that of learning from all: %{customdata[4]:+.3f} "
                "[%{customdata[5]:+.3f}, %{customdata[6]:+.3f}]<extra></extra>"
            ),
            **line_of(look),
        )
    ticks = sorted(set(table[axis.column] * axis.scale))
    fig.update_xaxes(title_text=axis.title, tickvals=ticks, tickformat="~g")
    if axis.log:
        fig.update_xaxes(type="log")
    fig.update_yaxes(
        title_text=f"mean {metric} over queries",
        range=share_range(table[["low", "mean"]].min().min(), table[["high", "mean"]].max().max()),
        tickformat=".2f",
    )
    return finished(fig, height=440)
