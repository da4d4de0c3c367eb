"""Metrics against a setting: C (chapelle2010 Figure 1), costs λ (he2009 Figures 3, 4), samples, many runs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from rankviz.analysis.reference_runs import sample_table, without_sample
from rankviz.common.numbers import interval_in_words, power_of_two, with_minus
from rankviz.metrics.significance import Comparison, compare, interval
from rankviz.models.methods import METHODS
from rankviz.plots.style import (
    CHOSEN_COLOUR,
    DATA_COLOUR,
    EVEN_COLOUR,
    GUIDE,
    MethodStyle,
    add_band,
    add_marks,
    add_note,
    evenly,
    finished,
    line_of,
    metric_range,
    ring,
    style_of,
    translucent,
    verbatim,
)
from rankviz.runs.description import look_of, method_label
from rankviz.runs.record import RunRecord
from rankviz.runs.spec import RunSpec

TICKS_EVERY = 4
"""Powers of two between the ticks of C."""


def pooled(records: Sequence[RunRecord], part: str, metric: str) -> pd.Series[float]:
    """Return a metric of every query of runs on different folds, by fold and query."""
    found: pd.Series[float] = pd.concat({r.spec.fold: r.metrics[part][metric] for r in records})
    return found


def setting_data(groups: dict[float, list[RunRecord]], part: str, metric: str) -> pd.DataFrame:
    """Return one row per value of a setting, from one run per fold.

    Columns value, mean, low, high (95 % interval over the queries of all folds), queries, folds; seconds and
    products with the features, both summed over the Newton steps of all folds, NaN if unknown.
    """
    rows = []
    for value, records in sorted(groups.items()):
        found = interval(pooled(records, part, metric))
        seconds = sum(record.seconds.get("newton", math.nan) for record in records)
        ends = (found.mean, found.low, found.high, found.n_queries)
        traces = [record.trace for record in records]
        products = sum(float(t["products"].sum()) if "products" in t else math.nan for t in traces)
        rows.append((value, *ends, len(records), seconds, products))
    columns = ["value", "mean", "low", "high", "queries", "folds", "seconds", "products"]
    return pd.DataFrame(rows, columns=columns)


def compared_with(
    groups: dict[float, list[RunRecord]], value: float, part: str, metric: str
) -> dict[float, Comparison]:
    """Compare every other value of the setting with one of them, query by query."""
    fixed = pooled(groups[value], part, metric)
    return {
        other: compare(pooled(records, part, metric), fixed)
        for other, records in sorted(groups.items())
        if other != value
    }


BESIDE_BEST = {"alike": "not distinguishable", "worse": "worse than the best", "best": "best"}
"""Legends for values by their difference to the best one; short, because large type leaves two rows."""


def beside_best(table: pd.DataFrame, found: dict[float, Comparison], best: float) -> pd.DataFrame:
    """Return the table of `setting_data` with a column beside_best: a name in `BESIDE_BEST`."""
    worse = {value for value, one in found.items() if one.distinguishable}
    beside = ["best" if best == C else "worse" if C in worse else "alike" for C in table["value"]]
    return table.assign(beside_best=beside)


def C_figure(table: pd.DataFrame, method: str, metric: str, chosen: float) -> go.Figure:
    """Draw the metric with its interval, and products if known, against C; a line marks the chosen C.

    The best value has a ring, and worse ones are hollow (`beside_best`). Products replace seconds, which
    vary from run to run.
    """
    heights = [0.66, 0.34] if table["products"].notna().all() else [1.0]
    last = len(heights)
    fig = make_subplots(rows=last, shared_xaxes=True, vertical_spacing=0.07, row_heights=heights)
    _add_metric(fig, table, method, row=1, col=1)
    _mark_values(fig, table, method)
    if last == 2:
        fig.add_scatter(
            x=table["value"],
            y=table["products"],
            name="products",
            showlegend=False,
            mode="lines+markers",
            hovertemplate="C = %{x:.4g}: %{y:,.0f} products<extra></extra>",
            **line_of(method),
            row=2,
            col=1,
        )
        fig.update_yaxes(title_text="products", rangemode="tozero", row=2, col=1)
    exponents = range(math.ceil(math.log2(table["value"].min())), int(math.log2(table["value"].max())) + 1)
    ticks = [2.0**c for c in exponents if c % TICKS_EVERY == 0]
    words = [power_of_two(value) for value in ticks]
    fig.update_xaxes(type="log", tickvals=ticks, ticktext=words)
    fig.update_xaxes(title_text="C", row=last, col=1)
    _finish_metric(fig, table, metric, row=1, col=1)
    fig.add_vline(x=chosen, line=GUIDE)
    add_note(fig, f"C = {power_of_two(chosen)}", math.log10(chosen), 0, yref="y domain", xshift=3)
    return finished(fig, height=450, margin={"l": 70, "r": 20, "t": 40, "b": 50})


def _mark_values(fig: go.Figure, table: pd.DataFrame, method: str) -> None:
    """Add hollow markers for values worse than the best one, and a ring around the best."""
    fig.update_traces(mode="lines", selector={"name": "mean over queries"})
    marker, best = line_of(method)["marker"], {"line": {"width": 2, "color": CHOSEN_COLOUR}, "size": 13}
    looks = {"alike": {}, "worse": {"symbol": f"{marker['symbol']}-open"}, "best": best}
    for name, look in looks.items():
        rows = table[table["beside_best"] == name]
        if len(rows):
            add_marks(fig, rows["value"], rows["mean"], marker | look, name=BESIDE_BEST[name], row=1, col=1)


def cost_figure(
    table: pd.DataFrame, method: str, metric: str, name: str, chosen: float, plain: float
) -> go.Figure:
    """Draw the metric with its interval against one λ; lines mark the chosen λ and the plain metric."""
    fig = go.Figure()
    _add_metric(fig, table, method)
    fig.add_scatter(
        x=[table["value"].min(), table["value"].max()],
        y=[plain, plain],
        name="every pair costs 1",
        mode="lines",
        line={"width": 2, "dash": "dash", "color": DATA_COLOUR},
        hovertemplate="every pair costs 1: %{y:.4f}<extra></extra>",
    )
    fig.add_vline(x=chosen, line=GUIDE)
    fig.update_xaxes(title_text=name)
    _finish_metric(fig, table, metric)
    return finished(fig)


def _add_metric(fig: go.Figure, table: pd.DataFrame, method: str, **place: Any) -> None:
    known = table.dropna(subset=["low"])
    legend: dict[str, Any] = {"name": "95 % interval", "showlegend": None}
    add_band(fig, known["value"], known["high"], known["low"], translucent(method), **legend, **place)
    fig.add_scatter(
        x=table["value"],
        y=table["mean"],
        name="mean over queries",
        mode="lines+markers",
        customdata=[
            [interval_in_words(row["low"], row["high"], ".4f"), row["queries"]] for _, row in table.iterrows()
        ],
        hovertemplate="%{x:.4g}: %{y:.4f}<br>%{customdata[0]}, %{customdata[1]} queries<extra></extra>",
        **line_of(method),
        **place,
    )


def _finish_metric(fig: go.Figure, table: pd.DataFrame, metric: str, **place: Any) -> None:
    low, high = table[["low", "mean"]].min().min(), table[["high", "mean"]].max().max()
    fig.update_yaxes(
        title_text=f"mean {metric}",
        range=metric_range(float(low), float(high), metric),
        tickformat=".2f",
        **place,
    )


@dataclass(frozen=True)
class SampleAxis:
    """An axis of samples: the column of the table, its title, and the unit of its values in hover texts.

    Values are multiplied by `scale`; `log` makes the axis logarithmic.
    """

    column: str
    title: str
    unit: str
    log: bool = False
    scale: float = 1.0


QUERIES = SampleAxis("queries", "training queries (log scale)", " training queries", log=True)
WRONG = SampleAxis("flipped", "training grades flipped, %", " % flipped", scale=100.0)


def sample_data(records: Iterable[RunRecord], part: str, metric: str) -> pd.DataFrame:
    """Return the rows of `sample_table` for each model, with its look and label in front."""
    groups: dict[RunSpec, list[RunRecord]] = {}
    for record in records:
        groups.setdefault(without_sample(record.spec), []).append(record)
    tables = [
        sample_table(group, part, metric).assign(method=look_of(spec), label=method_label(spec))
        for spec, group in groups.items()
    ]
    table = pd.concat(tables, ignore_index=True)
    return table[["method", "label", *(name for name in table if name not in ("method", "label"))]]


def sample_figure(table: pd.DataFrame, axis: SampleAxis, metric: str) -> go.Figure:
    """Draw a line per model, with a band: the 95 % interval of its difference to training on all data.

    The band is centred on that model's mean. If the band excludes the level of the whole, they differ.
    """
    fig = go.Figure()
    lines = [line.sort_values(axis.column) for _, line in table.groupby("label", sort=False)]
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
        range=metric_range(min(table["mean"].min(), *low), max(table["mean"].max(), *high), metric),
        tickformat=".2f",
    )
    return finished(fig, height=440)


def _band(fig: go.Figure, line: pd.DataFrame, axis: SampleAxis) -> tuple[float, float]:
    """Draw the band of a line and return its ends; no band without a model trained on all data."""
    look, whole = str(line["method"].iloc[0]), (line["mean"] - line["difference"]).mean()
    known = line.dropna(subset=["difference_low"])
    low, high, x = whole + known["difference_low"], whole + known["difference_high"], known[axis.column]
    add_band(fig, x * axis.scale, high, low, translucent(look), legendgroup=str(line["label"].iloc[0]))
    return (float(low.min()), float(high.max())) if len(known) else (1.0, 0.0)


def _hover_values(row: pd.Series) -> list[object]:
    """Return interval, draws, queries, and the difference if known, for hover texts."""
    parts: list[object] = [interval_in_words(row["low"], row["high"], ".3f"), row["draws"], row["judged_by"]]
    if pd.isna(row["difference"]):
        return [*parts, ""]
    ends = interval_in_words(row["difference_low"], row["difference_high"])
    return [*parts, f"<br>less that of learning from all: {with_minus(row['difference'], '+.3f')}, {ends}"]


def _line(fig: go.Figure, line: pd.DataFrame, axis: SampleAxis, metric: str) -> None:
    label = str(line["label"].iloc[0])
    fig.add_scatter(
        x=line[axis.column] * axis.scale,
        y=line["mean"],
        name=label,
        legendgroup=label,
        mode="lines+markers",
        customdata=[_hover_values(row) for _, row in line.iterrows()],
        hovertemplate=(
            f"{label}, %{{x:.3~g}}{axis.unit}<br>{metric} = %{{y:.4f}}, %{{customdata[0]}}<br>"
            "%{customdata[1]} draws, %{customdata[2]} queries%{customdata[3]}<extra></extra>"
        ),
        **line_of(str(line["method"].iloc[0])),
    )


MOST_RUNS = 2000
"""Most drawn runs; more are thinned evenly along the axis, but keep the best."""


def runs_data(
    runs: pd.DataFrame, x: Sequence[object] | pd.Series[Any], metric: str, best: str
) -> pd.DataFrame:
    """Return columns run (digest), x, value, look, place (data set and fold), best; only runs with both."""
    by_map = runs["method"].isin([name for name, method in METHODS.items() if method.named_by_map])
    looks = runs["method"].where(~by_map, runs.get("feature_map", runs["method"]))
    place = runs["dataset"] + " " + runs["fold"]
    table = pd.DataFrame(
        {
            "run": runs.index,
            "x": pd.Series(x).array,
            "value": runs[metric].to_numpy(),
            "look": looks.to_numpy(),
        }
    )
    table = table.assign(place=place.to_numpy()).dropna(subset=["x", "value"]).reset_index(drop=True)
    return table.assign(best=table["run"] == best)


def thinned_runs(table: pd.DataFrame) -> pd.DataFrame:
    """Reduce a table to the drawn rows."""
    if len(table) <= MOST_RUNS:
        return table
    ordered = table.sort_values("x", kind="stable")
    drawn = ordered.iloc[evenly(len(ordered), MOST_RUNS)]
    best = ordered[ordered["best"]].head(1)
    return pd.concat([drawn, best]).drop_duplicates(subset="run")


MOST_TICKS = 10
"""Most values of a logarithmic axis that have a tick each."""


OTHER_PLACE = MethodStyle("other data or fold", EVEN_COLOUR, "solid", "circle-open")
"""How runs look whose queries are not those of the best run."""


def runs_figure(table: pd.DataFrame, title: str, metric: str, *, kind: str = "linear") -> go.Figure:
    """Draw a point per run in its method's colour, a ring around the best; `kind` is the axis type.

    Runs on other data than the best one are open and grey: their values cannot be compared with it.
    """
    values = sorted(table["x"].dropna().unique()) if kind == "log" else []
    few = 0 < len(values) <= MOST_TICKS
    ticks = {"tickvals": values, "ticktext": [f"{x:g}" for x in values]} if few else {}
    fig, said = go.Figure(), {place: verbatim(place) for place in table["place"].unique()}
    best = table[table["best"]].head(1)
    looks = table["look"].where(table["place"].isin(best["place"] if len(best) else table["place"]), "")
    for look, rows in table.groupby(looks, sort=True):
        style = style_of(str(look)) if look else OTHER_PLACE
        fig.add_scatter(
            x=rows["x"],
            y=rows["value"],
            mode="markers",
            name=style.name,
            text=rows["place"].map(said),
            marker={"color": style.colour, "symbol": style.symbol, "size": 6, "opacity": 0.65},
            hovertemplate="%{text}<br>%{x}, " + verbatim(metric) + " %{y:.4f}<extra></extra>",
        )
    add_marks(fig, best["x"], best["value"], ring(15, 2.5), name="best")
    return finished(
        fig,
        height=340,
        margin={"l": 60, "r": 20, "t": 28, "b": 42},
        xaxis={"title": title, "type": kind} | ticks,
        yaxis={"title": metric, "tickformat": ".3~f"},
    )
