"""Metrics against what was learned from: the number of training queries, or the share of wrong grades."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import pandas as pd
import plotly.graph_objects as go

from rankviz.analysis.samples import model_of, sample_table
from rankviz.common.numbers import interval_in_words, with_minus
from rankviz.plots.axes import share_range
from rankviz.plots.style import finished, line_of, look_of, translucent
from rankviz.runs.description import method_label
from rankviz.runs.record import RunRecord
from rankviz.runs.spec import RunSpec


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
    """A line per model with a band: the 95 % interval of its difference to the model that learned from all.

    The band stands around that model's mean: where it leaves out the level of the end, the two are apart.
    """
    fig, lines = (
        go.Figure(),
        [line.sort_values(axis.column) for _, line in table.groupby("label", sort=False)],
    )
    bands = [_band(fig, line, axis) for line in lines]
    for line in lines:
        _line(fig, line, axis, metric)
    low, high = zip(*bands, strict=True)
    ticks = sorted(set(table[axis.column] * axis.scale))
    fig.update_xaxes(title_text=axis.title, tickvals=ticks, tickformat="~g")
    if axis.log:
        fig.update_xaxes(type="log")
    fig.update_yaxes(
        title_text=f"mean {metric} over queries",
        range=share_range(min(table["mean"].min(), *low), max(table["mean"].max(), *high)),
        tickformat=".2f",
    )
    return finished(fig, height=440)


def _band(fig: go.Figure, line: pd.DataFrame, axis: Axis) -> tuple[float, float]:
    """Draw the band of a line, one that there is no whole to compare with has none; its ends."""
    look, whole = str(line["method"].iloc[0]), (line["mean"] - line["difference"]).mean()
    known = line.dropna(subset=["difference_low"])
    low, high, x = whole + known["difference_low"], whole + known["difference_high"], known[axis.column]
    fig.add_scatter(
        x=[*(x * axis.scale), *(x[::-1] * axis.scale)],
        y=[*high, *low[::-1]],
        mode="lines",
        fill="toself",
        fillcolor=translucent(look),
        line={"width": 0},
        hoverinfo="skip",
        showlegend=False,
        legendgroup=str(line["label"].iloc[0]),
    )
    return (float(low.min()), float(high.max())) if len(known) else (1.0, 0.0)


def _told(row: pd.Series) -> list[object]:
    """What hover texts tell beside the mean: its interval, draws, queries, and the difference where known."""
    told: list[object] = [interval_in_words(row["low"], row["high"], ".3f"), row["draws"], row["judged_by"]]
    if pd.isna(row["difference"]):
        return [*told, ""]
    ends = interval_in_words(row["difference_low"], row["difference_high"])
    return [*told, f"<br>less that of learning from all: {with_minus(row['difference'], '+.3f')}, {ends}"]


def _line(fig: go.Figure, line: pd.DataFrame, axis: Axis, metric: str) -> None:
    label = str(line["label"].iloc[0])
    fig.add_scatter(
        x=line[axis.column] * axis.scale,
        y=line["mean"],
        name=label,
        legendgroup=label,
        mode="lines+markers",
        customdata=[_told(row) for _, row in line.iterrows()],
        hovertemplate=(
            f"{label}, %{{x:.3~g}}{axis.unit}<br>{metric} = %{{y:.4f}}, %{{customdata[0]}}<br>"
            "%{customdata[1]} draws, %{customdata[2]} queries%{customdata[3]}<extra></extra>"
        ),
        **line_of(str(line["method"].iloc[0])),
    )
