"""The margin f(A) − f(B) of two documents: shares of features, landmarks and training queries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from rankviz.common.arrays import FloatArray
from rankviz.common.numbers import alike, with_minus
from rankviz.plots.style import (
    CHOSEN_COLOUR,
    DATA_COLOUR,
    EVEN_COLOUR,
    add_line,
    add_marks,
    add_note,
    finished,
    line_of,
    row_axis,
    verbatim,
)

ABOVE_COLOUR, BELOW_COLOUR = DATA_COLOUR, CHOSEN_COLOUR
"""Colours of documents A and B, and of contributions to each."""
PITCH = 25
"""Pixels per row."""
_BARS_LAYOUT: dict[str, Any] = {
    "showlegend": False,
    "bargap": 0.25,
    "margin": {"l": 60, "r": 15, "t": 8, "b": 45},
}
MOST = 12
"""Features with their own rows."""


def waterfall_data(values: FloatArray, names: Sequence[str], a: FloatArray, b: FloatArray) -> pd.DataFrame:
    """Return one row per feature, the largest share first: number (from 1), name, value_A, value_B, share."""
    columns = {"name": list(names), "value_A": a, "value_B": b, "share": values}
    table = pd.DataFrame({"number": np.arange(1, len(values) + 1)} | columns)
    return table.iloc[np.argsort(-np.abs(values), kind="stable")].reset_index(drop=True)


def waterfall_bars(table: pd.DataFrame, k: int = MOST) -> pd.DataFrame:
    """Return bars: k features with a share, then all others summed; columns label, share, start, values."""
    said = table[table["share"] != 0.0]
    own = said.head(k if len(said) > k + 1 else k + 1)
    rest = said.iloc[len(own) :]
    bars = pd.DataFrame({"label": [verbatim(name) for name in own["name"]], "share": own["share"]})
    bars["values"] = [
        f"{with_minus(x, '.4g')} against {with_minus(z, '.4g')}"
        for x, z in own[["value_A", "value_B"]].to_numpy().tolist()
    ]
    if len(rest):
        others = {"label": f"{len(rest)} others", "share": rest["share"].sum(), "values": "summed"}
        bars = pd.concat((bars, pd.DataFrame([others])), ignore_index=True)
    bars["start"] = bars["share"].cumsum() - bars["share"]
    return bars.reset_index(drop=True)


def waterfall_figure(table: pd.DataFrame, margin: float, k: int = MOST) -> go.Figure:
    """Draw bars end to end, A's to the right, B's to the left; the margin at the bottom."""
    bars = waterfall_bars(table, k)
    shares = [*bars["share"], margin]
    fig = go.Figure()
    fig.add_bar(
        orientation="h",
        y=list(range(len(shares))),
        x=shares,
        base=[*bars["start"], 0.0],
        marker={"color": [*(_colour(share) for share in bars["share"]), EVEN_COLOUR], "line": {"width": 0}},
        customdata=[[*pair] for pair in zip(bars["label"], bars["values"], strict=True)] + [["margin", ""]],
        hovertemplate="%{customdata[0]}: %{x:+.4g}<br>%{customdata[1]}<extra></extra>",
    )
    ends = [*(bars["start"] + bars["share"])]
    shapes = [_upright(end, EVEN_COLOUR, y0=row - 0.4, y1=row + 1.4) for row, end in enumerate(ends)]
    zero = _upright(0.0, "#7f7f7f", y0=0, y1=1, yref="y domain")
    add_numbers(fig, shares)
    return finished(
        fig,
        shapes=[*shapes, zero],  # all at once: with each one added, Plotly copies the earlier ones
        height=70 + PITCH * len(shares),
        xaxis={"title": "f(A) − f(B), share by share"},
        yaxis=row_axis([*bars["label"], "<b>margin</b>"]),
        **_BARS_LAYOUT,
    )


def _upright(x: float, colour: str, **ends: Any) -> dict[str, Any]:
    return {"type": "line", "x0": x, "x1": x, "line": {"width": 1, "color": colour}} | ends


def _colour(share: float) -> str:
    return ABOVE_COLOUR if share > 0 else BELOW_COLOUR


def add_numbers(fig: go.Figure, shares: Sequence[float]) -> None:
    """Write the numbers of bars at the right edge; beside the bars they would overlap."""
    fig.add_scatter(x=[0.0], y=[0], yaxis="y2", mode="none", hoverinfo="skip", showlegend=False)
    fig.update_layout(yaxis2=row_axis(alike(shares)) | {"overlaying": "y", "side": "right"})


def curve_data(values: FloatArray, margin: FloatArray) -> pd.DataFrame:
    """Return columns value, margin: f(A with that value of the feature) − f(B)."""
    return pd.DataFrame({"value": values, "margin": margin})


def curve_figure(
    table: pd.DataFrame, look: str, name: str, now: tuple[float, float], other: float, crossings: FloatArray
) -> go.Figure:
    """Draw the curve, A now (`now`: value and margin), B's value as a dotted line, and ticks at crossings."""
    fig = go.Figure()
    fig.add_hline(y=0.0, line={"width": 1.5, "color": "#7f7f7f"})
    fig.add_vline(x=other, line={"width": 1.5, "dash": "dot", "color": BELOW_COLOUR})
    add_note(fig, "B's value", other, 1, yanchor="top", yref="y domain", xshift=4)
    fig.add_scatter(
        x=table["value"],
        y=table["margin"],
        mode="lines",
        line=line_of(look)["line"] | {"dash": "solid"},
        name="margin",
        hovertemplate="%{x:.4g}: margin %{y:.4g}<extra></extra>",
    )
    fig.add_scatter(
        x=crossings,
        y=[0.0] * len(crossings),
        mode="markers",
        name="they swap",
        marker={"symbol": "line-ns", "size": 22, "line": {"width": 3, "color": "#000000"}},
        hovertemplate="they swap at %{x:.6g}<extra></extra>",
    )
    fig.add_scatter(
        x=[now[0]],
        y=[now[1]],
        mode="markers",
        name="A as it is",
        marker={"symbol": "triangle-up", "size": 14, "color": ABOVE_COLOUR},
        hovertemplate="A has %{x:.4g}: margin %{y:.4g}<extra></extra>",
    )
    return finished(
        fig,
        height=380,
        xaxis={"title": f"{verbatim(name)} of A", "zeroline": False},
        yaxis={"title": "f(A) − f(B)", "zeroline": False},
    )


LANDMARKS_EACH = 7
"""Landmarks drawn for each document."""


def strongest_landmarks(table: pd.DataFrame, n: int = LANDMARKS_EACH) -> pd.DataFrame:
    """Return the n largest shares for A of `landmark_shares`, then the n largest for B."""
    ranked = table.sort_values("share", ascending=False, kind="stable")
    for_a, for_b = ranked[ranked["share"] > 0].head(n), ranked[ranked["share"] < 0].tail(n).iloc[::-1]
    return pd.concat((for_a, for_b), ignore_index=True)


def landmarks_figure(rows: pd.DataFrame, names: Sequence[str]) -> go.Figure:
    """Draw a bar per landmark; `names` give document, query and grade."""
    fig = go.Figure()
    y = list(range(len(rows)))
    fig.add_bar(
        orientation="h",
        y=y,
        x=rows["share"],
        marker={"color": [_colour(share) for share in rows["share"]]},
        customdata=rows[["coefficient", "near_A", "near_B"]],
        hovertemplate="%{x:+.4g}, coefficient %{customdata[0]:.4g}<br>κ with A %{customdata[1]:.4g}, "
        "with B %{customdata[2]:.4g}<extra></extra>",
    )
    add_numbers(fig, rows["share"].tolist())
    return finished(
        fig,
        height=70 + PITCH * len(rows),
        xaxis={"title": "added to f(A) − f(B)"},
        yaxis=row_axis([verbatim(name) for name in names]),
        **_BARS_LAYOUT,
    )


QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


def features_data(shares: pd.DataFrame, X: FloatArray) -> pd.DataFrame:
    """Return rows of `waterfall_data` with each feature's distribution over documents X (n, d).

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


def features_figure(table: pd.DataFrame, names: Sequence[str]) -> go.Figure:
    """Draw a line per feature from the 5 % to the 95 % quantile, thick in the middle half, with A and B."""
    span = (table["max"] - table["min"]).where(lambda s: s > 0, 1.0)
    place = {column: ((table[column] - table["min"]) / span).tolist() for column in table if column in _DRAWN}
    y = list(range(len(table)))
    fig = go.Figure()
    for low, high, width in (("min", "max", 1), ("q5", "q95", 3), ("q25", "q75", 9)):
        add_line(
            fig,
            [x for pair in zip(place[low], place[high], strict=True) for x in (*pair, None)],
            [row for i in y for row in (i, i, None)],
            dash=None,
            width=width,
            opacity=0.55,
        )
    tick = {"symbol": "line-ns", "size": 13, "line": {"width": 2, "color": "#000000"}}
    add_marks(fig, place["q50"], y, tick, name="median")
    for side, name, colour, symbol in (
        ("A", names[0], ABOVE_COLOUR, "triangle-up"),
        ("B", names[1], BELOW_COLOUR, "triangle-down"),
    ):
        fig.add_scatter(
            x=place[f"value_{side}"],
            y=y,
            mode="markers",
            name=f"{side}: {verbatim(name)}",
            marker={"symbol": symbol, "size": 12, "color": colour, "line": {"width": 1, "color": "#fefefe"}},
            customdata=table[[f"value_{side}", f"below_{side}", "min", "max"]],
            hovertemplate=f"{side}: %{{customdata[0]:.4g}}, above %{{customdata[1]:.0%}} of documents<br>"
            "range %{customdata[2]:.4g} to %{customdata[3]:.4g}<extra></extra>",
        )
    return finished(
        fig,
        height=110 + PITCH * len(table),
        xaxis={"title": "place in the feature's range", "zeroline": False},
        yaxis=row_axis([verbatim(name) for name in table["name"]]) | {"range": [len(table) - 0.4, -0.6]},
        margin={"l": 60, "r": 15, "t": 40, "b": 45},
    )


_DRAWN = {"value_A", "value_B", "min", "max", "q5", "q25", "q50", "q75", "q95"}


FARTHEST = 4.0
"""Largest distance of the drawn reversal line, in lengths of the longest bar."""


def with_refits(table: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of `margins_without_queries` with a refit, which have bars."""
    return table[table["refit"].notna()].reset_index(drop=True)


def reversal_is_near(table: pd.DataFrame) -> bool:
    """Return True if the reversal line is near enough to be drawn."""
    rows = with_refits(table)
    longest = float(rows[["refit", "estimate"]].abs().max().max())
    return 0.0 < abs(float(rows["margin"].iloc[0])) <= FARTHEST * longest


def left_out_figure(table: pd.DataFrame) -> go.Figure:
    """Draw a bar per refitted query, its estimate as a tick, and the line where the order reverses."""
    rows = with_refits(table)
    y = list(range(len(rows)))
    fig = go.Figure()
    fig.add_bar(
        orientation="h",
        y=y,
        x=rows["refit"],
        name="trained again",
        marker={"color": [_colour(change) for change in rows["refit"]]},
        customdata=[
            [verbatim(str(query)), pairs, with_minus(after, ".4g")]
            for query, pairs, after in rows[["query", "pairs", "after"]].itertuples(index=False)
        ],
        hovertemplate="without query %{customdata[0]}, %{customdata[1]:,} pairs: %{x:+.4g}<br>"
        "margin %{customdata[2]}<extra></extra>",
    )
    fig.add_scatter(
        x=rows["estimate"],
        y=y,
        mode="markers",
        name="estimate",
        marker={"symbol": "line-ns", "size": 0.7 * PITCH, "line": {"width": 2, "color": "#000000"}},
        hovertemplate="estimate %{x:+.4g}<extra></extra>",
    )
    fig.add_vline(x=0.0, line={"width": 1, "color": "#7f7f7f"})
    if reversal_is_near(table):
        turn = -rows["margin"].iloc[0]
        fig.add_vline(x=turn, line={"width": 2, "dash": "dash", "color": "#7f7f7f"})
        add_note(fig, "the order turns", turn, 1.0, xanchor=None, yref="paper")
    add_numbers(fig, rows["refit"].tolist())
    return finished(
        fig,
        height=95 + PITCH * len(rows),
        xaxis={"title": "change of f(A) − f(B) without the query", "range": _range(table)},
        yaxis=row_axis([verbatim(f"query {query}") for query in rows["query"]]),
        **_BARS_LAYOUT | {"margin": {"l": 60, "r": 15, "t": 28, "b": 45}},
    )


def _range(table: pd.DataFrame) -> list[float] | None:
    """Return the range of all drawn values, with a margin; None if all are 0."""
    rows = with_refits(table)
    ends = [0.0, *rows["refit"], *rows["estimate"]]
    if reversal_is_near(table):
        ends.append(-rows["margin"].iloc[0])
    low, high = min(ends), max(ends)
    room = 0.06 * (high - low)
    return [low - room, high + room] if room else None
