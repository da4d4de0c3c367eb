"""Compared models: metrics, differences, slices of queries, training seconds, and curves over cut-offs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from rankviz.analysis.comparison import LEVEL, TESTS, Comparison, Front, standings_row
from rankviz.analysis.contestants import Contestant, Matched
from rankviz.analysis.slices import Slicing, sliced
from rankviz.common.numbers import small, with_minus
from rankviz.metrics.formulas import direction
from rankviz.metrics.significance import queries_in_words
from rankviz.plots.style import (
    EVEN_COLOUR,
    add_band,
    add_line,
    add_marks,
    add_note,
    finished,
    line_of,
    metric_range,
    ring,
    row_axis,
    second_tone,
    style_of,
    verbatim,
    with_opacity,
)
from rankviz.runs.description import look_of, short_labels
from rankviz.runs.record import RunRecord

ROW = 26
"""Height of a row in pixels."""
HEAD = 42
"""Pixels between panels, for their titles."""
COLUMNS = ["panel", "label", "method", "value", "low", "high", "full", "reference"]


def dot_intervals(table: pd.DataFrame, title: str, hover: pd.Series, **layout: Any) -> go.Figure:
    """Draw a panel per `panel`, with a row per `label` and a line at its `reference`.

    Columns as `COLUMNS`: value, low and high have the method's colour, hollow unless `full`. `hover` has the
    row's text at the same index. All panels share the horizontal axis.
    """
    panels = list(dict.fromkeys(table["panel"]))
    rows = {panel: int((table["panel"] == panel).sum()) for panel in panels}
    height = 110 + sum(ROW * n + HEAD for n in rows.values())
    figure, ends = go.Figure(), _domains([rows[panel] for panel in panels])
    below = {"anchor": f"y{len(panels)}" if len(panels) > 1 else "y"}
    axes: dict[str, Any] = {"xaxis": {"title": title, "zeroline": False} | below | layout.pop("xaxis", {})}
    for number, (panel, end) in enumerate(zip(panels, ends, strict=True), start=1):
        own = table[table["panel"] == panel].reset_index()
        suffix = "" if number == 1 else str(number)
        rows_of_panel = row_axis([verbatim(str(label)) for label in own["label"]])
        axes[f"yaxis{suffix}"] = rows_of_panel | {"domain": list(end), "automargin": True}
        at = own["reference"].iloc[0]
        if pd.notna(at):
            add_line(figure, [at, at], [-0.5, len(own) - 0.5], yaxis=f"y{suffix}", showlegend=None)
        for place, row in own.iterrows():
            figure.add_trace(_dot(row, int(str(place)), f"y{suffix}", hover[row["index"]]))
        add_note(figure, f"<b>{verbatim(str(panel))}</b>", 0, end[1], xref="paper", yref="paper")
    margin = {"l": 20, "r": 20, "t": 34, "b": 55}
    layout["meta"] = {"alone": max(height, 300)}  # rows need no more, and controls may be above
    return finished(figure, height=height, showlegend=False, margin=margin, **axes, **layout)


def _signed(table: pd.DataFrame) -> dict[str, Any]:
    """Return the format of an axis of differences: signed but for zero, with equal decimals."""
    span = float(max(table["high"].max(), 0.0) - min(table["low"].min(), 0.0))
    decimals = max(math.ceil(-math.log10(span / 6)), 1) if span > 0 else 2
    return {"tickformat": f"+.{decimals}f", "labelalias": {f"+{0:.{decimals}f}": "0"}}


def _domains(rows: list[int]) -> list[tuple[float, float]]:
    """Return start and end of each panel from the top, as shares of the height."""
    total = sum(ROW * n for n in rows) + HEAD * (len(rows) - 1)
    found, top = [], float(total)
    for n in rows:
        found.append(((top - ROW * n) / total, top / total))
        top -= ROW * n + HEAD
    return [(max(0.0, low), min(1.0, high)) for low, high in found]


def _dot(row: pd.Series, place: int, axis: str, hover: str) -> go.Scatter:
    style = style_of(str(row["method"]))
    above, below = row["high"] - row["value"], row["value"] - row["low"]
    ends = {"array": [above], "arrayminus": [below]} if pd.notna(row["low"]) else {"array": [0.0]}
    look = {"type": "data", "symmetric": False, "thickness": 2, "width": 0, "color": style.colour}
    outline = {"width": 2, "color": style.colour}
    symbol = style.symbol if row["full"] else f"{style.symbol}-open"
    return go.Scatter(
        x=[row["value"]],
        y=[place],
        yaxis=axis,
        name=verbatim(str(row["label"])),
        mode="markers",
        error_x={"arrayminus": [0.0]} | ends | look,
        marker={"color": style.colour, "symbol": symbol, "size": 10, "line": outline},
        hovertemplate=f"{hover}<extra></extra>",
    )


def metrics_data(comparison: Comparison) -> pd.DataFrame:
    """Return `Comparison.standings` with method (the look) and baseline (True for the baseline)."""
    table = comparison.standings
    looks, first = comparison.matched.looks, comparison.baseline
    return table.assign(method=table["label"].map(looks), baseline=table["label"] == first)


def single_data(one: Contestant, metrics: Sequence[str]) -> pd.DataFrame:
    """Return the same table of a single contestant; raises as `Contestant.by_query`."""
    rows = [standings_row(one, metric, one.by_query(metric).dropna()) for metric in dict.fromkeys(metrics)]
    return pd.DataFrame(rows).assign(method=look_of(one.spec), baseline=True)


def metrics_figure(table: pd.DataFrame) -> go.Figure:
    """Draw a panel per metric with a row per contestant; dashed: the baseline's mean."""
    levels = table[table["baseline"]].set_index("metric")["mean"]
    shown = table.assign(
        panel=table["metric"], value=table["mean"], full=True, reference=table["metric"].map(levels)
    )
    ends = table[["low", "mean"]].min().min(), table[["mean", "high"]].max().max()
    ends = ends if table["mean"].notna().any() else (0.0, 1.0)
    limits = metric_range(ends[0], ends[1], min(table["metric"], key=direction))
    hover, axis = shown.apply(_metric_hover, axis=1), {"range": limits, "tickformat": ".2f"}
    return dot_intervals(shown, "mean over queries, 95 % interval", hover, xaxis=axis)


def _metric_hover(row: pd.Series) -> str:
    """Describe a contestant, with its standard deviations over folds and seeds if there are any."""
    text = f"{verbatim(str(row['label']))}<br>{row['metric']} {row['mean']:.4f}, {row['queries']} queries"
    if pd.notna(row["fold_sd"]):
        text += f"<br>standard deviation of {row['folds']} folds {row['fold_sd']:.4f}"
    if pd.notna(row["seed_sd"]):
        text += f"<br>standard deviation of {row['seeds']} seeds on a fold {row['seed_sd']:.4f}"
    return text


def deltas_data(comparison: Comparison) -> pd.DataFrame:
    """Return `Comparison.deltas` with the method (look), adjusted p and its significance."""
    table = comparison.deltas
    return table.assign(
        method=table["label"].map(comparison.matched.looks),
        p=table[comparison.test],
        holds=table["holm"] <= LEVEL,
        test=TESTS[comparison.test],
        baseline=comparison.baseline,
    )


def deltas_figure(table: pd.DataFrame) -> go.Figure:
    """Draw a panel per metric, a row per contestant; hollow if not significant after correction."""
    shown = table.assign(panel=table["metric"], value=table["difference"], full=table["holds"], reference=0.0)
    hover, axis = shown.apply(_delta_hover, axis=1), _signed(table)
    return dot_intervals(shown, "mean difference to the baseline", hover, xaxis=axis)


def _delta_hover(row: pd.Series) -> str:
    said = (
        f"{verbatim(str(row['label']))}<br>{row['metric']} {with_minus(row['difference'], '+.4f')}, better "
        f"on {row['better']} of {row['queries']} queries, worse on {row['worse']}"
    )
    if pd.isna(row["p"]):
        return said
    return f"{said}<br>{row['test']} p = {small(row['p'])}, after Holm's correction {small(row['holm'])}"


def slices_data(matched: Matched, metric: str, baseline: str, slicing: Slicing) -> pd.DataFrame:
    """Return the table of `sliced` with each contestant's method (look)."""
    table = sliced(matched, metric, baseline, slicing)
    return table.assign(method=table["label"].map(matched.looks))


def slices_figure(table: pd.DataFrame, metric: str) -> go.Figure:
    """Draw a panel per slice, a row per contestant; hollow if not significant."""
    sizes = table["queries"].map(queries_in_words)
    shown = table.assign(
        panel=table["slice"] + " (" + sizes + ")",
        value=table["difference"],
        full=table["distinguishable"],
        reference=0.0,
    )
    hover, axis = shown.apply(_slice_hover, axis=1), _signed(table)
    return dot_intervals(shown, f"mean Δ{metric} to the baseline", hover, xaxis=axis)


def _slice_hover(row: pd.Series) -> str:
    difference = with_minus(row["difference"], "+.4f")
    return (
        f"{verbatim(str(row['label']))}<br>{verbatim(str(row['slice']))}: {row['mean']:.4f}, baseline "
        f"{row['baseline']:.4f}, difference {difference}"
    )


APART = (0.3, 0.06)
"""Size of labels as shares of width and height; a point nearer to a labelled one gets no label."""


def time_data(front: Front) -> pd.DataFrame:
    """Return `Front.table` with chosen: "best", "cheapest" within one standard error of it, or ""."""
    labels = front.table["label"]
    chosen = labels.map({front.best: "best"} | {front.cheapest: "cheapest"}).fillna("")
    return front.table.assign(chosen=chosen.where(labels != front.best, "best"))


def time_figure(table: pd.DataFrame, metric: str) -> go.Figure:
    """Draw a point per contestant; dotted: the best mean; bars: one standard error of the distance to it.

    A ring marks the cheapest whose bar reaches the dotted line.
    """
    fig, best = go.Figure(), float(table["mean"][table["chosen"] == "best"].iloc[0])
    fig.add_hline(y=best, line={"color": EVEN_COLOUR, "width": 1, "dash": "dot"})
    on_front = table[table["efficient"]]
    fig.add_scatter(
        x=on_front["seconds"],
        y=on_front["mean"],
        mode="lines",
        name="nobody is cheaper and better",
        line={"color": EVEN_COLOUR, "width": 1.5, "shape": "hv"},
        hoverinfo="skip",
    )
    low, high = math.log10(table["seconds"].min()), math.log10(table["seconds"].max())
    for (_, row), named in zip(table.iterrows(), _named(table), strict=True):
        side = "bottom right" if math.log10(row["seconds"]) < (low + high) / 2 else "bottom left"
        fig.add_trace(_point(row, metric, side if named else ""))
    cheapest = table[table["chosen"] == "cheapest"]
    cheapest = cheapest if len(cheapest) else table[table["chosen"] == "best"]
    name = "cheapest within one standard error of the best"
    add_marks(fig, cheapest["seconds"], cheapest["mean"], ring(20, 2.5), name=name)
    return finished(
        fig,
        height=440,
        xaxis=_seconds(low, high),
        yaxis={"title": f"mean {metric} over queries", "tickformat": ".3~f"},
    )


def _named(table: pd.DataFrame) -> list[bool]:
    """Return True for each labelled contestant: the best, then the front, then others without overlap."""
    places = [np.log10(table["seconds"].to_numpy()), table["mean"].to_numpy()]
    x, y = ((place - place.min()) / (np.ptp(place) or 1.0) for place in places)
    order = np.lexsort((-y, ~table["efficient"].to_numpy()))
    named: list[int] = []
    for one in order:
        if not any(abs(x[one] - x[k]) < APART[0] and abs(y[one] - y[k]) < APART[1] for k in named):
            named.append(int(one))
    return [place in named for place in range(len(table))]


def _seconds(low: float, high: float) -> dict[str, Any]:
    """Return the axis of seconds between two powers of ten, with margins; more ticks on a short axis."""
    room = max(0.1, 0.08 * (high - low))
    dtick = "D1" if high - low < 1 else "D2"
    ends = {"range": [low - room, high + room], "dtick": dtick, "tickformat": "~g"}
    return {"title": "training seconds (log scale)", "type": "log"} | ends


def _point(row: pd.Series, metric: str, side: str) -> go.Scatter:
    """Return a contestant's point, labelled if `side` is given."""
    style, label = style_of(str(row["method"])), verbatim(str(row["label"]))
    bar: dict[str, Any] = {"array": [row["se"] if pd.notna(row["se"]) else 0.0], "arrayminus": [0.0]}
    return go.Scatter(
        x=[row["seconds"]],
        y=[row["mean"]],
        mode="markers+text" if side else "markers",
        text=[label],
        textposition=side or None,
        showlegend=False,
        error_y=bar | {"symmetric": False, "color": style.colour, "thickness": 1.5, "width": 3},
        marker={"color": style.colour, "symbol": style.symbol, "size": 11},
        hovertemplate=(
            f"{label}<br>{metric} {row['mean']:.4f} in %{{x:.3~g}} s<br>behind the best by "
            f"{row['behind']:.4f}, standard error {row['se']:.4f}<extra></extra>"
        ),
    )


_DASHES = ("dashdot", "dash", "dot", "longdash")
"""Dashes of models with the same look."""


def curve_data(records: Iterable[RunRecord], part: str, metric: str = "NDCG") -> pd.DataFrame:
    """Return means over the queries of a part: columns method, label, k, value."""
    rows, drawn = [], list(records)
    for record, label in zip(drawn, short_labels([record.spec for record in drawn]), strict=True):
        means = record.metrics[part].mean()
        for name, value in means.items():
            stem, _, k = str(name).partition("@")
            if stem == metric and k:
                rows.append((look_of(record.spec), label, int(k), float(value)))
    return pd.DataFrame(rows, columns=["method", "label", "k", "value"])


def curve_figure(table: pd.DataFrame, metric: str = "NDCG") -> go.Figure:
    """Draw one line per model, with a band if the table has `low` and `high`; the y-axis ends on tenths.

    Models with the same look differ in tone, dash and marker; the last one keeps the look.
    """
    fig, banded = go.Figure(), "low" in table
    alike = {str(look): list(dict.fromkeys(own)) for look, own in table.groupby("method")["label"]}
    for (method, label), rows in table.groupby(["method", "label"], sort=False):
        drawn = _line(str(method), alike[str(method)].index(label), len(alike[str(method)]))
        if banded:
            known = rows.dropna(subset=["low"])
            shade = with_opacity(drawn["line"]["color"], 0.1)
            add_band(fig, known["k"], known["low"], known["high"], shade)
        fig.add_scatter(
            x=rows["k"],
            y=rows["value"],
            name=verbatim(str(label)),
            mode="lines+markers",
            hovertemplate=f"{verbatim(str(label))}<br>{metric}@%{{x}} = %{{y:.4f}}<extra></extra>",
            **drawn,
        )
    shown = table[["value", "low", "high"] if banded else ["value"]]
    low, high = (shown.min().min(), shown.max().max()) if len(table) else (0.0, 1.0)
    return finished(
        fig,
        xaxis={"title": "cut-off k (rank)", "dtick": 1},
        yaxis={
            "title": f"mean {metric}@k over queries",
            "range": metric_range(float(low), float(high), metric),
            "tickformat": ".2f",
        },
    )


def _line(look: str, place: int, alike: int) -> dict[str, Any]:
    """Return the line of the model at `place` among `alike` models with the same look."""
    style, drawn = style_of(look), line_of(look)
    before = alike - 1 - place
    if before == 0:
        return drawn
    tone = second_tone(style.colour, share=0.55 if before == 1 else max(0.25, 0.55 - 0.1 * (before - 1)))
    drawn["line"] |= {"color": tone, "dash": _DASHES[(before - 1) % len(_DASHES)]}
    drawn["marker"] |= {"color": tone, "symbol": f"{style.symbol}-open"}
    return drawn
