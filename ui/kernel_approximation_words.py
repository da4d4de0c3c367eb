"""What the errors of both maps come to in words: how fast they fall, which is smaller, what K is like."""

from __future__ import annotations

import math
from collections.abc import Mapping

import pandas as pd

from rankviz.kernel_error import FLOOR, MAPS, KernelErrors, Slope
from rankviz.plots.kernel_error import NORM_NAMES
from rankviz.plots.style import small

TINY = "one part in a billion"
ALIKE, UNLIKE = 0.99, 0.01
"""Mean kernel values above and below which a kernel is nearly all ones, nearly the identity."""


def reading(
    errors: KernelErrors, summary: pd.DataFrame, slopes: Mapping[str, Slope | None], norm: str, m: int
) -> str:
    """How fast each map's error falls, and which is smaller at m."""
    seeds = int(errors.table["seed"].nunique())
    first, second = (_fall(summary, name, slopes[name]) for name in MAPS)
    subject = f"Nyström's relative {NORM_NAMES[norm]} error"
    return f"{subject} {first}, random Fourier's {second}; {_smaller(summary, m, seeds)}"


def _fall(summary: pd.DataFrame, name: str, slope: Slope | None) -> str:
    rows = summary[summary["map"] == name]
    if slope is None:
        exact = rows.loc[rows["mean"] <= FLOOR, "m"]
        return (
            f"is below {TINY} from m = {exact.min()} on" if len(exact) else "has too few points for a slope"
        )
    where = f"from m = {slope.first} to {slope.last:,}"
    if slope.level:
        return f"hardly changes {where}"
    verb = "falls" if slope.exponent < 0 else "grows"
    return f"{verb} about as $m^{{{slope.exponent:.1f}}}$ {where}"


def _smaller(summary: pd.DataFrame, m: int, seeds: int) -> str:
    at_m = summary[summary["m"] == m].set_index("map")
    ours, theirs = at_m.loc["nystroem"], at_m.loc["fourier"]
    if ours["mean"] <= FLOOR:
        return f"at m = {m} Nyström's is below {TINY}"
    drawn = "in this one draw" if seeds == 1 else f"in all {seeds} draws"
    for name, less, more in (("Nyström", ours, theirs), ("random Fourier", theirs, ours)):
        if less["high"] < more["low"]:
            times = float(f"{more['mean'] / less['mean']:.2g}")
            return f"at m = {m} {name}'s is {times:,.10g} times smaller, {drawn}"
    return f"at m = {m} the two are not distinguishable over {seeds} draws"


def kernel_words(errors: KernelErrors, gamma: str) -> str:
    """What K is like at this γ, where that explains the curves, and where landmarks run out."""
    words = []
    if errors.mean_kernel > ALIKE:
        words.append(
            f"With γ = {gamma} all documents are alike: κ is {errors.mean_kernel:.4f} on average, K is "
            "nearly all ones, and a few landmarks describe it."
        )
    elif errors.mean_kernel < UNLIKE:
        words.append(
            f"With γ = {gamma} every document is like itself only: κ is {small(errors.mean_kernel)} between "
            "two on average, K is nearly the identity, and only about as many features as documents do."
        )
    elif not math.isnan(errors.mean_kernel):
        words.append(f"κ between two documents is {errors.mean_kernel:.2f} on average.")
    if errors.n_distinct <= int(errors.table["m"].max()):
        words.append(
            f"From m = {errors.n_distinct:,} on all distinct documents are landmarks, and Nyström is exact."
        )
    return " ".join(words)
