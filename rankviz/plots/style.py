"""Common style of figures: colours, dashes and markers, shared traces and axes, and escaped names."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from zlib import crc32

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from rankviz.common.arrays import FloatArray, IntArray
from rankviz.datasets.statistics import document_names
from rankviz.datasets.types import RankingData
from rankviz.features import FEATURE_MAPS
from rankviz.learning.losses import LOSSES
from rankviz.metrics.formulas import direction
from rankviz.models.methods import METHODS
from rankviz.runs.description import look_of as look_of

GRADE_COLOURS = ("#c6dbef", "#6baed6", "#3182bd", "#08519c", "#08306b")
"""Grades 0, 1, 2, … from light to dark in one hue."""

SIGNED: dict[str, Any] = {"tickformat": "+~g", "labelalias": {"+0": "0"}}
"""Ticks of an axis of differences: a sign for all but zero."""

IN_PERCENT: dict[str, Any] = {
    "tickformat": ".0%",
    "labelalias": {f"{n}%": f"{n}\N{NO-BREAK SPACE}%" for n in range(101)},
}
"""Ticks of an axis of shares, as texts write them: "50 %"."""

EVEN_COLOUR = "#999999"
"""Colour of ties between two methods, and of guides."""

GUIDE = {"width": 1, "dash": "dash", "color": EVEN_COLOUR}
"""Line at a reference: a level, a tolerance, the selected setting."""

CHOSEN_COLOUR = "#CC79A7"
"""Colour of a chosen query or document."""

DATA_COLOUR = "#009E73"
"""Colour of data without method or grade: counts, correlations, features."""


@dataclass(frozen=True)
class MethodStyle:
    """Look of a method on every page."""

    name: str
    colour: str
    dash: str
    symbol: str


STYLES = {
    "linear": MethodStyle("linear", "#7f7f7f", "dot", "square"),
    "nystroem": MethodStyle("Nyström", "#0072B2", "solid", "circle"),
    "fourier": MethodStyle("random Fourier", "#D55E00", "solid", "diamond"),
    "exact": MethodStyle("exact kernel", "#000000", "dash", "triangle-up"),
    "factorized": MethodStyle("factorised", "#E69F00", "solid", "triangle-down"),
    "regularized": MethodStyle("regularised", "#882255", "solid", "pentagon"),
    "lambdamart": MethodStyle("LambdaMART", "#117733", "solid", "triangle-left"),
    "mart": MethodStyle("MART", "#44AA99", "solid", "triangle-right"),
    "forest": MethodStyle("random forest", "#999933", "solid", "bowtie"),
    "lambdarank": MethodStyle("LambdaRank", "#6699CC", "solid", "star-triangle-up"),
    "lambdaloss": MethodStyle("LambdaLoss", "#AA4466", "solid", "star-diamond"),
    "approx_ndcg": MethodStyle("ApproxNDCG", "#CC6677", "solid", "hexagram"),
    "smoothrank": MethodStyle("SmoothRank", "#997700", "solid", "star-square"),
    "hidden_layer": MethodStyle("hidden layer", "#7755AA", "solid", "hexagon2"),
    "xgboost": MethodStyle("LambdaMART (XGBoost)", "#117733", "dash", "triangle-left-open"),
    "rankboost": MethodStyle("RankBoost", "#AA4499", "solid", "square-open"),
    "frank": MethodStyle("FRank", "#CC6677", "solid", "diamond-open"),
    "adarank_ndcg": MethodStyle("AdaRank-NDCG", "#332288", "solid", "circle-open"),
    "adarank_map": MethodStyle("AdaRank-MAP", "#6699CC", "solid", "triangle-up-open"),
    "coordinate_ascent": MethodStyle("coordinate ascent", "#661100", "solid", "x"),
}
"""Looks of models: of RankSVM by its feature map, of other methods by their own name (see `look_of`)."""

SPARE = (("#009E73", "hexagon"), ("#CC79A7", "star"), ("#56B4E9", "cross"), ("#8C6D31", "hourglass"))
"""Colours and markers for looks without their own style, in registry order."""


DIVERGING = ("#b35806", "#f1a340", "#f7f6f7", "#998ec3", "#542788")
"""From below zero to above: two hues of no method, safe for colour-blind readers."""

LOW_TO_HIGH = ("#5877ad", "#7c84a3", "#ab9c88", "#e0a100")
"""From low to high, safe for colour-blind readers; visible on light and dark pages.

Black letters on them have a contrast of at least 4.5 to 1.
"""

NO_VALUE = "#fdfdfd"
"""Background of heat maps with blanks: unlike their colours, also on a dark page."""


LOSS_LINES = {
    "squared_hinge": ("#CC79A7", "solid"),
    "hinge": ("#E69F00", "dash"),
    "huber": ("#56B4E9", "dot"),
    "logistic": ("#009E73", "solid"),
    "ranknet": ("#009E73", "solid"),
    "logistic_pwq": ("#8C6D31", "dashdot"),
    "smooth_hinge": ("#7B5EA7", "longdash"),
}
"""Colours and dashes of losses, for figures without lines of methods."""

SPARE_LINES = (("#A6443A", "solid"), ("#2F7F86", "dash"), ("#6B7A1F", "dot"), ("#9A3E8C", "dashdot"))
"""Lines for losses without their own, in registry order."""


def loss_line(name: str) -> tuple[str, str]:
    """Return colour and dash of a loss; losses without their own get spare ones, always the same."""
    if name in LOSS_LINES:
        return LOSS_LINES[name]
    others = [loss for loss in LOSSES if loss not in LOSS_LINES]
    return SPARE_LINES[others.index(name) % len(SPARE_LINES)]


def style_of(look: str) -> MethodStyle:
    """Return the style of a look; maps and methods without their own get spare ones, always the same."""
    if look in STYLES:
        return STYLES[look]
    known = {name: kind.label for name, kind in FEATURE_MAPS.items()}
    known |= {
        name: method.label for name, method in METHODS.items() if not (method.named_by_map or method.named_by)
    }
    if look not in known:  # a system that was given by its scores
        colour, symbol = SPARE[crc32(look.encode()) % len(SPARE)]
        named = next(method.named_by for method in METHODS.values() if method.named_by is not None)
        return MethodStyle(named.format(look), colour, "dashdot", symbol)
    others = [name for name in known if name not in STYLES]
    colour, symbol = SPARE[others.index(look) % len(SPARE)]
    return MethodStyle(known[look], colour, "solid", symbol)


def approximations() -> tuple[str, ...]:
    """Return the names of feature maps that approximate a kernel by m features."""
    return tuple(name for name, kind in FEATURE_MAPS.items() if kind.approximates)


def grade_colour(grade: int) -> str:
    """Return the colour of a relevance grade; grades beyond the last colour share it."""
    return GRADE_COLOURS[min(grade, len(GRADE_COLOURS) - 1)]


def line_of(look: str) -> dict[str, Any]:
    """Return keyword arguments for a trace of this method's line and markers."""
    style = style_of(look)
    return {
        "line": {"color": style.colour, "dash": style.dash, "width": 2.5},
        "marker": {"color": style.colour, "symbol": style.symbol, "size": 8},
    }


AT_THE_TOP: dict[str, Any] = {"yref": "container", "y": 1, "yanchor": "top"}
"""Place of a legend whose number of lines depends on the width: above the plot, also after the width changes.

Plotly places other legends by the margin before the change, and so into a plot that has become wider.
"""


def finished(figure: go.Figure, *, height: int = 420, **layout: Any) -> go.Figure:
    """Apply the common layout: legend above the plot, space for axis titles, no jump on updates."""
    common: dict[str, Any] = {
        "height": height,
        "margin": {"l": 60, "r": 20, "t": 32, "b": 55},
        "legend": {"orientation": "h", "yanchor": "bottom", "y": 1.02, "x": 0, "title": None},
        "hovermode": "closest",
        "uirevision": "keep",
    }
    for name, value in layout.items():  # in one call: Plotly takes about 3 ms for each
        inner = common.get(name)
        common[name] = inner | value if isinstance(inner, dict) and isinstance(value, dict) else value
    return figure.update_layout(**common)


def add_band(
    fig: go.Figure,
    x: Any,
    there: Any,
    back: Any,
    colour: str,
    *,
    showlegend: bool | None = False,
    **more: Any,
) -> None:
    """Add a filled band over x: to the right along `there`, then to the left along `back`."""
    fig.add_scatter(
        x=[*x, *x[::-1]],
        y=[*there, *back[::-1]],
        mode="lines",
        line={"width": 0},
        fill="toself",
        fillcolor=colour,
        hoverinfo="skip",
        showlegend=showlegend,
        **more,
    )


def add_line(
    fig: go.Figure,
    x: Any,
    y: Any,
    colour: str = EVEN_COLOUR,
    *,
    width: float | None = 1,
    dash: str | None = "dash",
    showlegend: bool | None = False,
    **more: Any,
) -> None:
    """Add a line without hover text: a diagonal, a level, an outline."""
    line = {"color": colour, "width": width, "dash": dash}
    fig.add_scatter(x=x, y=y, mode="lines", line=line, hoverinfo="skip", showlegend=showlegend, **more)


def add_strokes(
    fig: go.Figure, x: Any, y: Any, line: dict[str, Any], *, opacity: float, **place: Any
) -> None:
    """Add straight strokes between pairs of points as one shape below the traces, without hover text.

    `x` and `y` have two ends and a gap for each. A trace makes an element of each: browsers take longer.
    """
    ends = zip(x[::3], y[::3], x[1::3], y[1::3], strict=True)
    path = "".join(f"M{x0:.5g},{y0:.5g}L{x1:.5g},{y1:.5g}" for x0, y0, x1, y1 in ends)
    if path:
        fig.add_shape(type="path", path=path, line=line, opacity=opacity, layer="below", **place)


def add_marks(fig: go.Figure, x: Any, y: Any, marker: dict[str, Any], **more: Any) -> None:
    """Add markers without hover text: rings around chosen points, points that give the scene."""
    fig.add_scatter(x=x, y=y, mode="markers", marker=marker, hoverinfo="skip", **more)


def add_note(
    fig: go.Figure,
    text: str,
    x: float,
    y: float,
    xanchor: str | None = "left",
    yanchor: str | None = "bottom",
    **more: Any,
) -> None:
    """Add a text without an arrow. On a logarithmic axis, x or y is an exponent (lines take the value)."""
    fig.add_annotation(text=text, x=x, y=y, xanchor=xanchor, yanchor=yanchor, showarrow=False, **more)


def error_bars(value: Any, low: Any, high: Any, **more: Any) -> dict[str, Any]:
    """Return bars from `low` to `high` around values."""
    return {"type": "data", "array": high - value, "arrayminus": value - low} | more


def ring(size: Any, width: float = 3) -> dict[str, Any]:
    """Return the marker around a chosen point."""
    return {"symbol": "circle-open", "size": size, "color": CHOSEN_COLOUR, "line": {"width": width}}


def add_ring(fig: go.Figure, x: float, y: float, colour: str, **place: Any) -> None:
    """Add a ring around a point as a shape: browsers move shapes without drawing the traces again."""
    # a circle of four curves: the ends of a plain circle must be positive on a logarithmic axis
    path = "M8.5,0C8.5,4.7,4.7,8.5,0,8.5C-4.7,8.5,-8.5,4.7,-8.5,0"
    path += "C-8.5,-4.7,-4.7,-8.5,0,-8.5C4.7,-8.5,8.5,-4.7,8.5,0Z"
    in_pixels = {"xsizemode": "pixel", "ysizemode": "pixel", "xanchor": x, "yanchor": y}
    fig.add_shape(type="path", path=path, line={"width": 2.5, "color": colour}, **in_pixels, **place)


def decades(values: pd.Series[float]) -> list[float]:
    """Return the exponents of the whole powers of ten around positive values."""
    return [math.floor(math.log10(values.min())), math.floor(math.log10(values.max()) - 1e-9) + 1]


def powers_axis(title: str, ends: Sequence[float], every: int = 1) -> dict[str, Any]:
    """Return a logarithmic axis between two exponents, with a tick at each power of ten, or at some."""
    axis = {"title": title, "type": "log", "range": list(ends)}
    return axis | {"dtick": every, "exponentformat": "power"}


def row_axis(labels: Sequence[str]) -> dict[str, Any]:
    """Return a vertical axis with one row per label, from the top; labels are escaped already."""
    n = len(labels)
    rows = {"tickvals": list(range(n)), "ticktext": list(labels), "range": [n - 0.5, -0.5]}
    return rows | {"showgrid": False, "zeroline": False}


def evenly(n: int, most: int) -> IntArray:
    """Return at most `most` positions among n, evenly spaced, with the first and the last one."""
    return np.linspace(0, n - 1, min(n, most)).round().astype(np.int64)


def ranks_of(scores: FloatArray) -> IntArray:
    """Return ranks from 1, the highest score first; ties keep file order, as in LETOR's evaluation."""
    ranks = np.empty(len(scores), np.int64)
    ranks[np.argsort(-scores, kind="stable")] = np.arange(1, len(scores) + 1)
    return ranks


def as_lists(table: pd.DataFrame) -> list[list[Any]]:
    """Return rows as lists, because selection events return typed arrays as mappings."""
    rows: list[list[Any]] = table.astype(object).to_numpy().tolist()
    return rows


def second_tone(colour: str, background: str = "#ffffff", share: float = 0.55) -> str:
    """Mix a colour with the background, for the second of two models with the same look."""
    pairs = zip(_rgb(colour), _rgb(background), strict=True)
    mixed = (share * own + (1 - share) * behind for own, behind in pairs)
    return "#" + "".join(f"{round(share):02x}" for share in mixed)


def _rgb(colour: str) -> tuple[int, ...]:
    return tuple(int(colour[i : i + 2], 16) for i in (1, 3, 5))


def snapped_range(low: float, high: float, step: float = 0.1) -> list[float]:
    """Return an axis range around [low, high] ending on multiples of `step`, stable under small changes."""
    room = 0.15 * step  # keeps markers whole at the axis
    return [step * math.floor((low - room) / step), step * math.ceil((high + room) / step)]


def colour_range(
    values: pd.Series[float], metric: str, clipped: float = 0.1, step: float = 0.02
) -> list[float]:
    """Return the colour range of values of a metric, on whole steps.

    The worst, a share `clipped`, have one colour; else one very bad value would hide all other differences.
    """
    sign = direction(metric)
    low = float((sign * values).quantile(clipped, "higher"))
    return sorted(sign * end for end in snapped_range(low, float((sign * values).max()), step))


def translucent(look: str, share: float = 0.18) -> str:
    """Return a method's colour for bands behind its line."""
    return with_opacity(style_of(look).colour, share)


def with_opacity(colour: str, share: float) -> str:
    """Return a colour with opacity `share`."""
    red, green, blue = _rgb(colour)
    return f"rgba({red}, {green}, {blue}, {share})"


FEW = 8
"""Largest span of whole numbers with a tick at each; Plotly's own ticks would include halves."""
ROOM = 0.03
"""Space beyond 0 and 1, so that markers stay whole."""


def whole_ticks(low: float, high: float) -> dict[str, Any]:
    """Return axis settings for whole numbers from `low` to `high`, without fractional ticks: "2,000"."""
    return {"tickformat": ",d"} | ({"tick0": 0, "dtick": 1} if high - low <= FEW else {})


def metric_range(low: float, high: float, metric: str) -> list[float]:
    """Return a range that ends on tenths around [low, high], within the limits of the metric."""
    ends = snapped_range(low, high)
    return [max(ends[0], -ROOM), min(ends[1], 1 + ROOM) if direction(metric) > 0 else ends[1]]


def shown_documents(part: RankingData, query: int) -> list[str]:
    """Return names of the documents of the query at position `query`, escaped.

    Plotly reads some HTML in texts, including links; a zero-width character after each "<" prevents it.
    """
    return [verbatim(name) for name in document_names(part, query)]


def verbatim(text: str) -> str:
    """Escape a foreign text, so that Plotly shows it unchanged."""
    return text.replace("<", "<\u2060")
