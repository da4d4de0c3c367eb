"""Metrics of two rankings by query: a scatter plot, sorted differences, and changes after a refit.

Points carry the query id as `customdata`, and figures of one page show one selection of queries. The points'
own opacity shows it: with Plotly's selection, Streamlit misses the click that clears it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from rankviz.common.arrays import FloatArray
from rankviz.datasets.types import RankingData
from rankviz.metrics.formulas import direction
from rankviz.plots.style import (
    CHOSEN_COLOUR,
    EVEN_COLOUR,
    SIGNED,
    MethodStyle,
    add_line,
    add_note,
    as_lists,
    finished,
    ring,
    second_tone,
    snapped_range,
    style_of,
)
from rankviz.runs.description import PART_NAMES
from rankviz.runs.record import RunRecord

PairStyles = tuple[MethodStyle, MethodStyle]
"""Styles and names of the left and the right model."""
ROUNDING = 1e-12  # summation order changes a metric by 1e-15, another ranking by 1e-6 or more
SHOWN, FADED = 0.85, 0.12
"""Opacity of points, and of unselected ones during a selection."""
LONGEST_TITLE = 40
"""Longest title beside a panel of the strip, in letters."""
_SHAPES = {"circle": "●", "diamond": "◆"}


def pair_styles(looks: tuple[str, str], names: tuple[str, str]) -> PairStyles:
    """Return the looks of two models; for equal looks the right one has a second tone and another marker."""
    left, right = (replace(style_of(look), name=name) for look, name in zip(looks, names, strict=True))
    if looks[0] != looks[1]:
        return replace(left, symbol="circle"), replace(right, symbol="circle")
    return replace(left, symbol="circle"), replace(right, colour=second_tone(right.colour), symbol="diamond")


def query_data(
    left: RunRecord, right: RunRecord, part: RankingData, where: str, metric: str, agreement: pd.DataFrame
) -> pd.DataFrame:
    """Return columns query, documents, left, right, difference (left − right) of a metric on part `where`.

    Then tau and overlap of `agreement`, the result of `ranking_error.ranking_errors` for the two. Queries
    keep their order; differences below 1e-12 are rounding and count as 0. Values may be NaN.
    """
    a, b = (record.metrics[where][metric].to_numpy() for record in (left, right))
    difference = np.where(np.abs(a - b) <= ROUNDING, 0.0, a - b)
    columns = {"query": part.query_ids, "documents": np.diff(part.ptr), "left": a, "right": b}
    alike = {name: agreement[name].to_numpy() for name in ("tau", "overlap")}
    return pd.DataFrame(columns | {"difference": difference} | alike)


def scatter_figure(
    table: pd.DataFrame,
    drawn: PairStyles,
    metric: str,
    selected: Collection[int] = (),
    chosen: int | None = None,
) -> go.Figure:
    """Draw the left model's metric over the right one's; hollow: equal.

    The left one leads above the diagonal, or below it if less of the metric is better.
    """
    left, right = drawn
    fig = go.Figure()
    ends = _ends_of_both(table, metric)
    add_line(fig, ends, ends)
    size = 7 + 13 * np.sqrt(table["documents"].to_numpy() / max(1, table["documents"].max()))
    fig.add_scatter(x=table["right"], y=table["left"], **_points(table, drawn, metric, selected, size))
    _add_ring(fig, table[table["query"] == chosen], "right", "left", size)
    alike = left.symbol != right.symbol  # then markers distinguish them, and one colour is too light for text
    above, below = drawn[:: direction(metric)]
    for side, x, y, anchor in ((above, 0.02, 0.98, "left"), (below, 0.98, 0.02, "right")):
        text = f"{_SHAPES[side.symbol]} {side.name} ahead" if alike else f"{side.name} ahead"
        colour = left.colour if alike else side.colour
        add_note(fig, text, x, y, anchor, None, xref="paper", yref="paper", font_color=colour)
    room = 0.07 * (ends[1] - ends[0])  # for the largest ring, also on a phone
    axis: dict[str, Any] = {"range": [ends[0] - room, ends[1] + room], "zeroline": False}
    axis |= {"tickformat": ".1f", "dtick": 0.2} if ends == [0, 1] else {"nticks": 6}
    return finished(
        fig,
        height=480,
        showlegend=False,
        xaxis=axis | {"title": f"{metric}, {right.name}"},
        yaxis=axis | {"title": f"{metric}, {left.name}"},
        margin={"l": 60, "r": 20, "t": 30, "b": 55},
    )


def _ends_of_both(table: pd.DataFrame, metric: str) -> list[float]:
    """Return the ends of both axes: 0 and 1, or around the values of a metric that has no largest value."""
    values = table[["left", "right"]].to_numpy(np.float64)
    if direction(metric) > 0 or np.isnan(values).all():
        return [0, 1]
    return snapped_range(float(np.nanmin(values)), float(np.nanmax(values)), 1.0)


def strip_figure(
    table: pd.DataFrame,
    drawn: PairStyles,
    metric: str,
    selected: Collection[int] = (),
    chosen: int | None = None,
) -> go.Figure:
    """Draw queries by rising difference, on stems from 0; below, their Kendall's τ."""
    left, right = (side.name for side in drawn)
    ordered = table.sort_values(["difference", "query"], ignore_index=True)
    ordered["place"] = np.arange(1, len(ordered) + 1)
    size = np.full(len(ordered), 9.0 if len(ordered) <= 100 else 6.0)
    fig = make_subplots(rows=2, cols=1, shared_xaxes=True, row_heights=[0.62, 0.38], vertical_spacing=0.06)
    points = _points(ordered, drawn, metric, selected, size)
    for row, (column, base) in enumerate((("difference", 0.0), ("tau", 1.0)), start=1):
        _add_stems(fig, row, ordered, column, base, selected)
        name = "queries" if row == 1 else "tau"
        fig.add_scatter(x=ordered["place"], y=ordered[column], row=row, col=1, **(points | {"name": name}))
        _add_ring(fig, ordered[ordered["query"] == chosen], "place", column, size, panel=row)
    reach = max(0.1, np.ceil(10 * ordered["difference"].abs().max()) / 10) if len(ordered) else 1.0
    title = f"{left} − {right}"
    title = title if len(title) <= LONGEST_TITLE else "left − right"
    fig.update_yaxes(row=1, title=title, range=[-1.12 * reach, 1.12 * reach])
    fig.update_yaxes(row=1, nticks=7, **SIGNED)
    fig.update_yaxes(row=2, title="Kendall's τ", range=_tau_range(ordered["tau"]))
    fig.update_yaxes(row=2, tickformat=".2f", nticks=4)
    fig.update_xaxes(showticklabels=False, showgrid=False, zeroline=False)
    fig.update_xaxes(row=2, title=f"queries, by difference in {metric}")
    return finished(fig, height=480, showlegend=False, margin={"l": 60, "r": 20, "t": 30, "b": 55})


def _tau_range(tau: pd.Series[float]) -> list[float]:
    """Return the range from a tenth below the least τ to 1, with space for rings."""
    low = 0.0 if tau.isna().all() else float(np.floor(10 * tau.min() - 0.01) / 10)
    return [low - 0.1 * (1 - low), 1 + 0.1 * (1 - low)]


def _marked(table: pd.DataFrame, selected: Collection[int]) -> pd.Series[bool]:
    """Return True for queries shown in full: the selected ones, or all without a selection."""
    return table["query"].isin(list(selected)) | (len(selected) == 0)


def _points(
    table: pd.DataFrame,
    drawn: PairStyles,
    metric: str,
    selected: Collection[int],
    size: FloatArray,
) -> dict[str, Any]:
    """Return the points' style: the leader's colour, faded if not selected."""
    left, right = drawn
    ahead = direction(metric) * np.sign(table["difference"]).to_numpy()
    columns = ["query", "documents", "left", "right", "difference", "tau"]
    return {
        "mode": "markers",
        "name": "queries",
        "customdata": as_lists(table[columns].assign(tau=[_tau_words(tau) for tau in table["tau"]])),
        "marker": {
            "size": size,
            "color": np.select([ahead > 0, ahead < 0], [left.colour, right.colour], EVEN_COLOUR),
            "symbol": np.select([ahead > 0, ahead < 0], [left.symbol, right.symbol], "circle-open"),
            "opacity": np.where(_marked(table, selected), SHOWN, FADED),
            "line": {"width": np.where(ahead == 0, 2, 1), "color": "white"},
        },
        "unselected": {"marker": {"opacity": FADED}},  # until the page responds to a click
        "hovertemplate": (
            f"query %{{customdata[0]}}, %{{customdata[1]}} documents<br>{metric}: {left.name} "
            f"%{{customdata[2]:.4f}}, {right.name} %{{customdata[3]:.4f}}<br>difference "
            "%{customdata[4]:+.4f}, %{customdata[5]}<extra></extra>"
        ),
    }


def _tau_words(tau: float) -> str:
    return "no Kendall's τ" if np.isnan(tau) else f"Kendall's τ {tau:.3f}".replace("-", "−")


def _add_stems(
    fig: go.Figure, row: int, table: pd.DataFrame, column: str, base: float, selected: Collection[int]
) -> None:
    """Add thin lines from `base` to the points, faded for unselected queries."""
    marked = _marked(table, selected)
    for rows, opacity in ((table[marked], 1.0), (table[~marked], 2 * FADED)):
        add_line(
            fig,
            [x for place in rows["place"] for x in (place, place, None)],
            [y for value in rows[column] for y in (base, value, None)],
            dash=None,
            width=1.2 if len(table) <= 60 else 0.6,
            opacity=opacity,
            row=row,
            col=1,
            showlegend=None,
        )


def _add_ring(
    fig: go.Figure, row: pd.DataFrame, x: str, y: str, size: FloatArray, panel: int | None = None
) -> None:
    """Add a ring around the chosen query; it answers a click like its point."""
    fig.add_scatter(
        row=panel,
        col=None if panel is None else 1,
        x=row[x],
        y=row[y],
        mode="markers",
        customdata=as_lists(row[["query"]]),
        marker=ring(size[row.index] + 9),
        unselected={"marker": {"opacity": 1}},
        hoverinfo="skip",
    )


LEAST = 0.05
"""Smallest reach of the vertical axis, so that noise looks small."""
GAP = 0.04
"""Gap between panels, as a share of the width."""


def difference_data(parts: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Return columns part, query, old, new, difference, place (from 1, by difference) from tables by part.

    The tables have columns query, old and new. Differences below 1e-12 are rounding and count as 0; queries
    without a value are left out.
    """
    found = []
    for part, table in parts.items():
        own = table[["query", "old", "new"]].dropna().assign(part=part)
        difference = (own["new"] - own["old"]).to_numpy()
        own["difference"] = np.where(np.abs(difference) > ROUNDING, difference, 0.0)
        own = own.sort_values(["difference", "query"], ignore_index=True)
        found.append(own.assign(place=np.arange(1, len(own) + 1)))
    return pd.concat(found, ignore_index=True)[["part", "query", "old", "new", "difference", "place"]]


def difference_figure(
    table: pd.DataFrame, metric: str, colour: str, chosen: tuple[str, object] | None = None
) -> go.Figure:
    """Draw a panel per part, a bar per query; highlight the chosen (part, query).

    Building it at once takes a third of the time of `make_subplots` and updates; its page must respond
    quickly.
    """
    parts = list(dict.fromkeys(table["part"])) or ["train"]
    largest = table["difference"].abs().max() if len(table) else 0.0
    reach = max(LEAST, float(np.ceil(largest / LEAST)) * LEAST)
    layout: dict[str, Any] = {
        "yaxis": {
            "title": f"Δ{metric}",
            "range": [-1.05 * reach, 1.05 * reach],
            **SIGNED,
            "nticks": 6,
        },
        "annotations": [],
        "bargap": 0.15,
        "showlegend": False,
        "height": 246,
        "margin": {"l": 60, "r": 10, "t": 50, "b": 40},
    }
    bars = []
    for place, part in enumerate(parts):
        own, ends = table[table["part"] == part], _ends(place, len(parts))
        number = "" if place == 0 else f"{place + 1}"
        title = {"text": f"queries, by Δ{metric}"}
        quiet = {"showgrid": False, "showticklabels": False, "zeroline": False}
        layout[f"xaxis{number}"] = {"domain": ends, "title": title} | quiet
        layout["annotations"].append(_title(own, PART_NAMES[part], metric, ends))
        bars.append(_bars(own, metric, colour, chosen, f"x{number}"))
    return finished(go.Figure(bars), **layout)


def _ends(place: int, panels: int) -> list[float]:
    """Return start and end of a panel, as shares of the width."""
    width = (1 - GAP * (panels - 1)) / panels
    return [place * (width + GAP), place * (width + GAP) + width]


def _title(table: pd.DataFrame, name: str, metric: str, ends: list[float]) -> dict[str, Any]:
    """Return a panel's title with the part's numbers of queries, gains and losses."""
    gains = direction(metric) * table["difference"]
    gained, lost = int((gains > 0).sum()), int((gains < 0).sum())
    return {
        "text": f"{name} ({len(table)})<br>{gained} ▲ {lost} ▼",  # two lines: panels may be narrow
        "x": sum(ends) / 2,
        "y": 1.0,
        "xanchor": "center",
        "xref": "paper",
        "yref": "paper",
        "yanchor": "bottom",
        "showarrow": False,
    }


def _bars(
    table: pd.DataFrame, metric: str, colour: str, chosen: tuple[str, object] | None, axis: str
) -> go.Bar:
    own = [(part, query) == chosen for part, query in zip(table["part"], table["query"], strict=True)]
    tones = np.where(direction(metric) * table["difference"] < 0, second_tone(colour), colour)
    return go.Bar(
        x=table["place"],
        y=table["difference"],
        xaxis=axis,
        marker={"color": np.where(own, CHOSEN_COLOUR, tones), "line": {"width": 0}},
        customdata=as_lists(table[["query", "old", "new"]]),
        hovertemplate=(
            f"query %{{customdata[0]}}<br>{metric} %{{customdata[1]:.4f}} → %{{customdata[2]:.4f}}<br>"
            "%{y:+.4f}<extra></extra>"
        ),
    )
