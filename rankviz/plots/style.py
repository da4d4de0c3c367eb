"""Common style: a colour, a dash and a marker per method, and its name in captions and legends."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import plotly.graph_objects as go

from rankviz.features import FEATURE_MAPS
from rankviz.learning.losses import LOSSES
from rankviz.models.methods import METHODS, USUAL
from rankviz.runs.labels import look_of as look_of

GRADE_COLOURS = ("#c6dbef", "#6baed6", "#3182bd", "#08519c", "#08306b")
"""Grades 0, 1, 2, … from light to dark in one hue."""

EVEN_COLOUR = "#999999"
"""Colour of a tie between two methods."""

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
    known |= {name: method.label for name, method in METHODS.items()}
    others = [name for name in known if name not in STYLES and name != USUAL]
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


def finished(figure: go.Figure, *, height: int = 420, **layout: Any) -> go.Figure:
    """Apply the common layout: legend above the plot, space for axis titles, no jump on updates."""
    figure.update_layout(
        height=height,
        margin={"l": 60, "r": 20, "t": 50, "b": 55},
        legend={"orientation": "h", "yanchor": "bottom", "y": 1.02, "x": 0, "title": None},
        hovermode="closest",
        uirevision="keep",
    )
    figure.update_layout(**layout)
    return figure


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


def translucent(look: str, share: float = 0.18) -> str:
    """Return a method's colour for bands behind its line."""
    return see_through(style_of(look).colour, share)


def see_through(colour: str, share: float) -> str:
    """Return a colour with opacity `share`."""
    red, green, blue = _rgb(colour)
    return f"rgba({red}, {green}, {blue}, {share})"
