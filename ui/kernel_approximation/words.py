"""The errors in words: which map's is lower, how fast they fall, what K is like."""

from __future__ import annotations

import math
from collections.abc import Mapping

import pandas as pd

from rankviz.analysis.kernel_error import PAPERS, KernelErrors, Variant
from rankviz.analysis.kernel_summary import DECIDING, FLOOR, Slope, at, lower
from rankviz.common.numbers import small
from rankviz.plots import kernel_variants
from rankviz.plots.kernel_error import NORM_NAMES
from rankviz.plots.style import style_of

TINY = "one part in a billion"
ALIKE, UNLIKE = 0.99, 0.01
"""Mean kernel values above and below which a kernel is nearly all ones, nearly the identity."""
ROOM = 2.0
"""Features over effective dimension from which there is ample room."""


def reading(
    errors: KernelErrors,
    summary: pd.DataFrame,
    slopes: Mapping[Variant, Slope | None],
    norm: str,
    m: int,
) -> str:
    """Which map's error is lower at m where the draws can tell, and how fast each falls."""
    draws = int(errors.table["seed"].nunique())
    falls = (f"{style_of(v.map).name}'s {_fall(summary, v, slopes.get(v))}" for v in PAPERS)
    return f"At m = {m} {_compared(summary, norm, m, draws)}; {', '.join(falls)}"


def _compared(summary: pd.DataFrame, norm: str, m: int, draws: int) -> str:
    ours, theirs = (at(summary, variant, m)["mean"] for variant in PAPERS)
    subject = f"Nyström's relative {NORM_NAMES[norm]} error"
    if ours <= FLOOR:
        return f"{subject} is below {TINY}, random Fourier's is {small(theirs)}"
    values = f"{small(ours)} and {small(theirs)}"
    if draws < DECIDING:
        return f"{subject} and random Fourier's are {values} ({_too_few(draws)})"
    less = lower(summary, *PAPERS, m)
    if less is None:
        return f"{subject} is not distinguishable from random Fourier's over {draws} draws ({values})"
    if less == PAPERS[1]:
        subject = f"random Fourier's relative {NORM_NAMES[norm]} error"
        ours, theirs = theirs, ours
    other = style_of(next(v for v in PAPERS if v != less).map).name
    return (
        f"{subject} is {_times(theirs / ours)} lower than {other}'s in all {draws} draws "
        f"({small(ours)} against {small(theirs)})"
    )


def _too_few(draws: int) -> str:
    return f"{draws} {'draw' if draws == 1 else 'draws'} of each, too few to tell them apart: {DECIDING} can"


def _times(ratio: float) -> str:
    return f"{float(f'{ratio:.2g}'):,.10g} times"


def _fall(summary: pd.DataFrame, variant: Variant, slope: Slope | None) -> str:
    rows = kernel_variants.rows_of(summary, variant)
    if slope is None:
        exact = rows.loc[rows["mean"] <= FLOOR, "m"]
        if not len(exact):
            return "has too few points for a slope"
        return f"is below {TINY} from m = {exact.min():,} on"
    where = f"from m = {slope.first:,} to {slope.last:,}"
    if slope.level:
        return f"hardly changes {where}"
    verb = "falls" if slope.exponent < 0 else "grows"
    return f"{verb} about as $m^{{{slope.exponent:.2f}}}$ {where}"


def variant_words(errors: KernelErrors, summary: pd.DataFrame, m: int) -> str:
    """The effect of each other way to draw on the error at m, where the draws can tell."""
    draws, words = int(errors.table["seed"].nunique()), []
    for variant in kernel_variants.variants_in(summary):
        if variant not in PAPERS:
            papers = next(paper for paper in PAPERS if paper.map == variant.map)
            words.append(_variant(summary, variant, papers, m, draws))
    return " ".join(words)


def _variant(summary: pd.DataFrame, variant: Variant, papers: Variant, m: int, draws: int) -> str:
    new, old = kernel_variants.choice_name(variant), kernel_variants.choice_name(papers)
    ours, theirs = (at(summary, one, m)["mean"] for one in (variant, papers))
    start = f"{new[0].upper()}{new[1:]} at m = {m}:"
    if max(ours, theirs) <= FLOOR:
        return f"{start} below {TINY}, like {old}."
    values = f"{small(ours)} against {small(theirs)}"
    if draws < DECIDING:
        return f"{start} {values} with {old} ({_too_few(draws)})."
    less = lower(summary, variant, papers, m)
    if less is None:
        return f"{start} not distinguishable from {old} over {draws} draws ({values})."
    word, ratio = ("lower", theirs / ours) if less == variant else ("higher", ours / theirs)
    if min(ours, theirs) <= FLOOR:
        return f"{start} {word} than with {old} in all {draws} draws ({values})."
    return f"{start} {_times(ratio)} {word} than with {old} in all {draws} draws ({values})."


def kernel_words(errors: KernelErrors, gamma: str) -> str:
    """Says what K is like at this γ, where that explains the curves, and where landmarks run out."""
    words = []
    if errors.mean_kernel > ALIKE:
        words.append(
            f"With γ = {gamma} all documents are alike: κ is {errors.mean_kernel:.4f} on average, K is "
            "nearly all ones, and a few landmarks describe it."
        )
    elif errors.mean_kernel < UNLIKE:
        words.append(
            f"With γ = {gamma} every document is like itself only: κ is {small(errors.mean_kernel)} between "
            "two on average, K is nearly the identity, and it takes about as many features as documents."
        )
    elif not math.isnan(errors.mean_kernel):
        words.append(f"κ between two documents is {errors.mean_kernel:.2f} on average.")
    if errors.n_distinct <= int(errors.table["m"].max()):
        words.append(
            f"From m = {errors.n_distinct:,} on all distinct documents are landmarks, and Nyström is exact."
        )
    return " ".join(words)


def dimension_words(bounds: tuple[float, float], C: str, m: int, n: int) -> tuple[str, str]:
    """The effective dimension as a sentence, and what it says about m."""
    low, high = bounds
    what = (
        f"At C = {C} the effective dimension tr K(K + I/(2C))⁻¹ of all {n:,} training documents is "
        f"{_bracket(low, high)}"
    )
    means = (
        "That is how many directions a least-squares model with weight C on each document can use: 1/(2C) "
        "shrinks the others away. It grows with C and with γ. "
    )
    if m < low:
        return what, f"{means}No K̃ of m = {m} features can have as many: some of them are lost."
    if m > ROOM * high:
        return what, (
            f"{means}m = {m} has room for all of them: what a larger m adds is mostly in directions that are "
            "shrunk away."
        )
    return what, f"{means}m = {m} is about that or little more: a larger m may still change the model."


def _bracket(low: float, high: float) -> str:
    one, other = _count(low), _count(high)
    return one if one == other else f"between {one} and {other}"


def _count(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 1 else small(value)


def seconds_words(table: pd.DataFrame, draws: int) -> str:
    """From which m Nyström's errors are below all of random Fourier's at its largest m, and the seconds."""
    ours, theirs = (kernel_variants.rows_of(table, variant).sort_values("m") for variant in PAPERS)
    last = theirs.iloc[-1]
    enough = ours[ours["high"] < last["low"]]
    target = f"random Fourier with m = {int(last['m']):,} takes {small(last['seconds'])} s"
    if draws < DECIDING or enough.empty:
        own = ours.iloc[-1]
        return (
            f"On this machine {target} for an error of {small(last['mean'])}, Nyström with as many "
            f"{small(own['seconds'])} s for {small(own['mean'])}"
        )
    first = enough.iloc[0]
    return (
        f"On this machine {target} for an error of {small(last['mean'])}; Nyström is below that from "
        f"m = {int(first['m']):,} on, in {small(first['seconds'])} s"
    )
