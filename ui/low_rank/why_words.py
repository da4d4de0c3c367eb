"""The texts and computed sentences of the three reasons why dual variables are of low rank."""

from __future__ import annotations

import pandas as pd

from rankviz.common.numbers import power_of_two, small
from rankviz.experiments.spec import RunSpec
from rankviz.models.methods import METHODS, USUAL
from rankviz.risk.losses import LOSSES
from rankviz.solvers.settings import TOL
from ui.low_rank.words import off, off_by, percent, power_of_ten, queries

ZERO = "singular values up to 10⁻⁶ of the largest count as zero"

LAW = """
**The squared hinge alone allows rank 2.** It weighs a pair with margin t = fᵢ − fⱼ below 1 by α = 2C(1 − t),
and others by 0. Where **every** pair of two grades is below 1, αᵢⱼ = 2C(1 − fᵢ + fⱼ): something of the row
plus something of the column, a matrix of rank 2 at most. With R grades A then has rank 2(R − 1) at most, and
A + Aᵀ has 2R (less 1 if R is odd), however many documents there are and **whatever was learned**. A small C
does that: it leaves every margin below 1.
"""

STAIRCASE = """
**The hinge makes stairs.** The plain hinge, which xu2019 trains with, has slope −1 below the margin 1 and 0
above. So α is C below, 0 above, and something between only where the margin is exactly 1. With rows and
columns sorted by score the border between C and 0 runs like stairs: energy lies in few dimensions, but every
stair of another length adds to the **rank**.
"""

ACCURACY = """
**A solver's errors fill the rank: an artefact.** A solver of the dual problem that stops early leaves errors
in every αᵢⱼ, unlike all others in its row and column. However small, they make the rank as large as the
grades allow, once they exceed what counts as zero. Here such errors are put in on purpose. This app's solvers
work on w and take α from the slope of the loss at the scores. Stopped early they change α as well, but under
the squared hinge it keeps its form; under the hinge, trained as the limit of smoothed ones, the border
between 0 and C is left wider, and the rank larger. Where they stop is set by the Tolerance in the sidebar's
More settings.
"""

PAPER = """
xu2019 (Table 6) prints ranks 8, 92 and 234 for three queries of OHSUMED. In fold 1 the grades of these
queries allow A no rank above 4, 46 and 117, exactly half: the ranks seem to be those of A + Aᵀ, and as large
as they can be, as errors of a solver make them. That 90 % of the energy lies in few dimensions holds here
too; the shuffled α show how much of that comes from α never being negative.
"""


def law(at_hand: pd.DataFrame) -> str:
    """Say if the bound holds for most queries at this C."""
    every, of_all = at_hand["active"] == at_hand["pairs"], queries(len(at_hand))
    lawful, others = at_hand[every], at_hand[~every]
    start = f"At C = {power_of_two(float(at_hand['C'].iloc[0]))}"
    if len(lawful) > len(others):
        return (
            f"{start} every pair is active in {len(lawful)} of {of_all}: there the law allows a rank of at "
            f"most {int(lawful['law'].max())}, and the largest found is {int(lawful['rank'].max())}"
        )
    inactive = 1 - float((others["active"] / others["pairs"]).median())
    return (
        f"{start} the law holds for {len(lawful) or 'none'} of {of_all}; in the median of the others "
        f"{100 * inactive:.0f} % of the pairs are inactive, and the rank is {others['rank'].median():g} "
        f"where the law allows {others['law'].median():g}"
    )


def lawful_up_to(over_C: pd.DataFrame) -> str:
    """Say up to which of the tried C the law holds for every query; "" for none."""
    whole = over_C.loc[over_C["lawful"].eq(1).cummin(), "C"]  # C ascends: from the smallest on
    if not len(whole):
        return ""
    return (
        f"Every pair of every query is active up to C = {power_of_two(whole.max())}, of the C in the figure."
    )


def staircase(stairs: pd.DataFrame) -> str:
    """Give the number of dimensions of the stairs."""
    some = stairs[stairs["active"] > 0]
    if len(some) == 0:
        return "Under the hinge every margin is at least 1, so that every α is 0"
    middle = some.median(numeric_only=True)
    return (
        f"Medians over {queries(len(some))}: {middle['stairs']:.0f} stairs, numerical rank "
        f"{middle['rank']:.0f}, but {middle['k_90']:.0f} for 90 % of the energy"
    )


def off_the_staircase(stairs: pd.DataFrame) -> str:
    """Say how close the blocks are to staircases; "" if every α is 0."""
    some = stairs[stairs["active"] > 0]
    if len(some) == 0:
        return ""
    between = some["boundary"].sum() / max(int(some["pairs"].sum()), 1)
    lie = f"{percent(between) if between > 0.1 else off(between)} lie" if between else "none lies"
    return (
        f"α is off the staircase by {off_by(float(some['error'].median()), 'its norm')} (median). Of all "
        f"their pairs together {lie} between 0 and C."
    )


def errors_speak_of(spec: RunSpec) -> str:
    """Say to which models the passage applies, if not to the sidebar's."""
    if TOL not in spec.declared().values():
        return (
            f":gray[What is said of stopping early holds for {METHODS[USUAL].label}, which finds weights "
            f"first. The {spec.kind.label} is solved for its α, and is not trained to other accuracies here.]"
        )
    if spec.loss in ("hinge", "squared_hinge"):
        return ""
    name = LOSSES[spec.loss].label
    name = name if name.endswith("hinge") else f"{name} loss"
    return (
        f":gray[What is said of stopping early holds for the hinge and the squared hinge. The diamonds below "
        f"are of the current model's {name}, with which it may also lower the rank.]"
    )


def accuracy(rough: pd.DataFrame, tolerance: float) -> str:
    """Say from which error on the rank is full."""
    chosen = rough[(rough["tolerance"] / tolerance - 1).abs() < 1e-9].sort_values("error")
    least, most = int(chosen["rank"].iloc[0]), int(chosen["rank"].max())
    if most <= least:
        return f"No errors raise the median rank of {least}"
    half = chosen.loc[chosen["rank"] > (least + most) / 2, "error"].iloc[0]
    return (
        f"Random errors of {power_of_ten(half)} raise the median rank from {least} to "
        f"{int(chosen.loc[chosen['error'] == half, 'rank'].iloc[0])}"
    )


def stopped_early(stopped: pd.DataFrame) -> str:
    """Give error and rank of the run that stopped first; "" without runs."""
    if not len(stopped):
        return ""
    ordered = stopped.sort_values("tol")
    tight, loose = ordered.iloc[0], ordered.iloc[-1]
    return (
        f"This solver, stopped at tolerance {power_of_ten(loose['tol'])}, is off by {small(loose['error'])} "
        f"and has rank {int(loose['rank'])} ({int(tight['rank'])} at {power_of_ten(tight['tol'])})."
    )


def trained_for_this(spec: RunSpec, drawn: RunSpec) -> str:
    """Say that these figures use another model, loss or costs than the sidebar's."""
    if (spec.method, spec.get("loss"), spec.get("costs")) == (drawn.method, drawn.loss, drawn.costs):
        return ""
    model = f"{drawn.kind.label} and " if spec.method != drawn.method else ""
    costs = " without costs of pairs" if spec.get("costs") != drawn.costs else ""
    name = f"{model}the {LOSSES[drawn.loss].label}{costs}"
    return f":gray[Trained for these figures with {name}, else as the current model.]"
