"""One visual language: a colour, a dash and a marker per method, and the words for captions and legends."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import plotly.graph_objects as go

from rankviz.datasets.normalise import NORMALISATIONS
from rankviz.experiments.methods import METHODS as MODELS
from rankviz.experiments.spec import RunSpec
from rankviz.features import FREQUENCIES, LANDMARKS
from rankviz.risk.costs import Costs
from rankviz.risk.losses import LOSSES
from rankviz.solvers.registry import SOLVERS

GRADE_COLOURS = ("#c6dbef", "#6baed6", "#3182bd", "#08519c", "#08306b")
"""Grades 0, 1, 2, … run light to dark in one hue."""

EVEN_COLOUR = "#999999"
"""Where neither of two methods is ahead."""

CHOSEN_COLOUR = "#CC79A7"
"""Of what was chosen by hand: a query, a document."""

DATA_COLOUR = "#009E73"
"""What belongs to no method and is no grade: counts, correlations, features."""

PART_NAMES = {"train": "training", "vali": "validation", "test": "test"}


@dataclass(frozen=True)
class MethodStyle:
    """How a method looks on every page."""

    name: str
    colour: str
    dash: str
    symbol: str


METHODS = {
    "linear": MethodStyle("linear", "#7f7f7f", "dot", "square"),
    "nystroem": MethodStyle("Nyström", "#0072B2", "solid", "circle"),
    "fourier": MethodStyle("random Fourier", "#D55E00", "solid", "diamond"),
    "exact": MethodStyle("exact kernel", "#000000", "dash", "triangle-up"),
}

APPROXIMATE = ("nystroem", "fourier")
"""Methods that have an m, and draw what a seed decides."""

COST_NAMES = {
    "query": "μ by query",
    "grade": "λ by grades",
    "grade_query": "λ by grades × μ by query",
    "slack": "slack rescaling by DCG",
    "margin": "margin rescaling by DCG",
}
"""Rules for costs of pairs, in words: he2009's λ and μ, chapelle2010's rescaling."""

_SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_SUBSCRIPT = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")


def power_of_two(value: float) -> str:
    """A positive number as the papers write it: 2⁻⁷ where it is a power of two, else 0.0123."""
    mantissa, exponent = math.frexp(value)
    if mantissa == 0.5:
        return f"2{str(exponent - 1).translate(_SUPERSCRIPT)}"
    return f"{value:.4g}"


def small(value: float) -> str:
    """A number ≥ 0 with two significant digits: 0.042, and 7.1 × 10⁻⁵ where it is small."""
    if value == 0 or value >= 1e-3:
        return f"{value:.2g}"
    digits, exponent = f"{value:.1e}".split("e")
    return f"{digits} × 10{str(int(exponent)).translate(_SUPERSCRIPT)}"


def with_minus(value: float, form: str) -> str:
    """A number in a format such as "+.3f", with a minus sign (−) for the hyphen."""
    return format(value, form).replace("-", "−")


def method_label(spec: RunSpec) -> str:
    """Legend entry of a run: "Nyström, m = 500"."""
    name = METHODS[spec.feature_map].name
    return f"{name}, m = {spec.n_components}" if spec.feature_map in APPROXIMATE else name


def in_a_sentence(feature_map: str) -> str:
    """A method's name within a sentence: "the linear model", "the exact kernel", "Nyström"."""
    names = {"linear": "the linear model", "exact": "the exact kernel"}
    return names.get(feature_map, METHODS[feature_map].name)


def describe(spec: RunSpec, part: str | None = None) -> str:
    """What is shown, in words: data, fold, model, settings, and the part scored where one is."""
    model = METHODS[spec.feature_map].name
    words = [f"{spec.dataset} {_fold_words(spec.fold)}"]
    if spec.feature_map == "linear":
        words += [model, f"C = {power_of_two(spec.C)}"]
    elif spec.feature_map == "exact":
        words += [model, f"C = {power_of_two(spec.C)}", f"γ = {power_of_two(spec.gamma)}"]
    else:
        words += [f"{model} m = {spec.n_components}{choices(spec)}", f"C = {power_of_two(spec.C)}"]
        words += [f"γ = {power_of_two(spec.gamma)}", f"seed {spec.seed}"]
    words += training_words(spec) if spec.method == "ranksvm" else low_rank_words(spec)
    if spec.normalisation != "none":
        words.append(f"normalised: {NORMALISATIONS[spec.normalisation].label}")
    return " · ".join(words + ([PART_NAMES[part]] if part else []))


def training_words(spec: RunSpec) -> list[str]:
    """The loss; costs of pairs and solver where they are not the usual ones."""
    words = [LOSSES[spec.loss].label]
    words += [] if spec.costs is None else [cost_words(spec.costs)]
    return words + ([] if spec.solver == RunSpec.solver else [f"solver: {SOLVERS[spec.solver].label}"])


def low_rank_words(spec: RunSpec) -> list[str]:
    """What a low-rank model is: its name with its own settings, and its solver where it is not the first."""
    own = f"K = {spec.factors}"
    if spec.method == "regularized":
        own = f"nuclear {spec.nuclear:g}, coupling {spec.coupling:g}"
    words, solvers = [f"{MODELS[spec.method].label} RankSVM, {own}"], MODELS[spec.method].solvers
    return words + ([] if spec.solver == next(iter(solvers)) else [f"solver: {solvers[spec.solver]}"])


def cost_words(costs: Costs) -> str:
    """Costs of pairs in words: "λ by grades", "λ₁₀ = 1, λ₂₀ = 2, λ₂₁ = 1.3"."""
    if costs is None:
        return "every pair costs 1"
    if isinstance(costs, str):
        return COST_NAMES[costs]
    pairs = [f"{r}{s}".translate(_SUBSCRIPT) for r in range(12) for s in range(r)]
    words = ", ".join(f"λ{pair} = {value:g}" for pair, value in zip(pairs, triangle(costs), strict=False))
    return f"{words}, × μ by query" if costs[0] == "query" else words


def triangle(costs: tuple[object, ...]) -> list[float]:
    """λ₁₀, λ₂₀, λ₂₁, λ₃₀, … of a table of costs, alone or as ("query", table)."""
    table: Any = costs[1] if costs[0] == "query" else costs
    return [float(table[r][s]) for r in range(len(table)) for s in range(r)]


def choices(spec: RunSpec) -> str:
    """Settings of the map that are not the papers', each after a comma: ", k-means++ landmarks"."""
    words = [] if spec.rank is None else [f"rank {spec.rank}"]
    if spec.feature_map == "nystroem" and spec.landmarks != RunSpec.landmarks:
        words.append(f"{LANDMARKS[spec.landmarks].label} landmarks")
    if spec.feature_map == "fourier" and spec.frequencies != RunSpec.frequencies:
        words.append(f"{FREQUENCIES[spec.frequencies].label} frequencies")
    return "".join(f", {word}" for word in words)


def describe_data(spec: RunSpec, part: str | None = None) -> str:
    """The data alone, in words: "OHSUMED fold 1 · training"."""
    words = [f"{spec.dataset} {_fold_words(spec.fold)}"]
    return " · ".join(words + ([PART_NAMES[part]] if part else []))


def _fold_words(fold: str) -> str:
    return f"fold {fold.removeprefix('Fold')}" if fold.startswith("Fold") else fold


def grade_colour(grade: int) -> str:
    """Colour of a relevance grade; grades beyond the last colour share it."""
    return GRADE_COLOURS[min(grade, len(GRADE_COLOURS) - 1)]


def line_of(feature_map: str) -> dict[str, Any]:
    """Keyword arguments for a trace of this method's line and markers."""
    style = METHODS[feature_map]
    return {
        "line": {"color": style.colour, "dash": style.dash, "width": 2.5},
        "marker": {"color": style.colour, "symbol": style.symbol, "size": 8},
    }


def finished(figure: go.Figure, *, height: int = 420, **layout: Any) -> go.Figure:
    """Common layout: legend above the plot, room for axis titles, no jump on updates."""
    figure.update_layout(
        height=height,
        margin={"l": 60, "r": 20, "t": 50, "b": 55},
        legend={"orientation": "h", "yanchor": "bottom", "y": 1.02, "x": 0, "title": None},
        hovermode="closest",
        uirevision="keep",
    )
    figure.update_layout(**layout)
    return figure


def snapped_range(low: float, high: float, step: float = 0.1) -> list[float]:
    """An axis range around [low, high] ending on multiples of `step`: small changes don't move it."""
    room = 0.15 * step  # so that no marker is cut by the axis
    return [step * math.floor((low - room) / step), step * math.ceil((high + room) / step)]


def translucent(feature_map: str, share: float = 0.18) -> str:
    """A method's colour for bands behind its line."""
    red, green, blue = (int(METHODS[feature_map].colour[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({red}, {green}, {blue}, {share})"
