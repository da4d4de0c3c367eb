"""The texts and computed sentences of the three reasons why dual variables are of low rank."""

from __future__ import annotations

import math

import pandas as pd

from rankviz.common.numbers import power_of_two, small
from rankviz.learning.losses import LOSSES, Loss, PiecewiseQuadratic
from rankviz.learning.solver_settings import TOL
from rankviz.models.methods import METHODS, USUAL
from rankviz.runs.spec import RunSpec
from ui.low_rank.words import off, off_by, percent, power_of_ten, queries

ZERO = "zero: σ up to 10⁻⁶ of the largest"

LAW = (
    "**Low rank:** if all pairs of two grades have margins below 1 (small C), α has rank 2 at most. With R "
    "grades, A has rank 2(R − 1) at most."
)

STAIRCASE = (
    "**Stairs:** sorted by score, the border between α = C and α = 0 is a staircase. Few dimensions hold "
    "its energy, but stairs of different lengths add to the rank."
)

ACCURACY = (
    "**Artefact:** dual solvers that stop early leave errors in α, which raise the rank to what the grades "
    "allow. This app's solvers do so under the hinge only."
)

PAPER = (
    "xu2019 (Table 6) prints ranks 8, 92 and 234; the grades allow A only 4, 46 and 117. Probably these are "
    "ranks of A + Aᵀ with a solver's errors."
)


def law(at_hand: pd.DataFrame) -> str:
    """Say if the bound holds for most queries at this C."""
    every, of_all = at_hand["active"] == at_hand["pairs"], queries(len(at_hand))
    lawful, others = at_hand[every], at_hand[~every]
    start = f"At C = {power_of_two(float(at_hand['C'].iloc[0]))}"
    if len(lawful) > len(others):
        return (
            f"{start} every pair is active in {len(lawful)} of {of_all}: the law allows rank "
            f"{int(lawful['law'].max())}, and the largest is {int(lawful['rank'].max())}"
        )
    inactive = 1 - float((others["active"] / others["pairs"]).median())
    return (
        f"{start} the law holds for {len(lawful) or 'none'} of {of_all}; medians of the others: "
        f"{100 * inactive:.0f} % of pairs inactive, rank {others['rank'].median():g} where the law allows "
        f"{others['law'].median():g}"
    )


def lawful_up_to(over_C: pd.DataFrame) -> str:
    """Say up to which of the tried C the law holds for every query; "" for none."""
    whole = over_C.loc[over_C["lawful"].eq(1).cummin(), "C"]  # C ascends: from the smallest on
    if not len(whole):
        return ""
    return f"Up to C = {power_of_two(whole.max())} every pair of every query is active."


def staircase(stairs: pd.DataFrame) -> str:
    """Give the number of dimensions of the stairs."""
    some = stairs[stairs["active"] > 0]
    if len(some) == 0:
        return "Under the hinge every α is 0 (margins of at least 1)"
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
        f"α differs from the staircase by {off_by(float(some['error'].median()), 'its norm')} (median). Of "
        f"all pairs {lie} between 0 and C."
    )


def errors_speak_of(spec: RunSpec) -> str:
    """Say to which models the passage applies, if not to the sidebar's."""
    if TOL not in spec.declared().values():
        return f":gray[This holds for {METHODS[USUAL].label}. The {spec.kind.label} is solved for its α.]"
    loss = spec.option("loss")
    if _has_stairs_or_law(loss):
        return ""
    name = loss.label
    name = name if name.endswith("hinge") else f"{name} loss"
    return (
        f":gray[This holds for both hinges. With the current model's {name}, early stops (diamonds) may also "
        "lower the rank.]"
    )


def _has_stairs_or_law(loss: Loss) -> bool:
    """Return True if below its corner every α is C (a hinge) or linear in the margin (a squared hinge)."""
    squared = isinstance(loss, PiecewiseQuadratic) and all(math.isinf(zone.width) for zone in loss.zones)
    return loss.by_continuation or squared


def accuracy(rough: pd.DataFrame, tolerance: float) -> str:
    """Say from which error on the rank is full."""
    chosen = rough[(rough["tolerance"] / tolerance - 1).abs() < 1e-9].sort_values("error")
    least, most = int(chosen["rank"].iloc[0]), int(chosen["rank"].max())
    if most <= least:
        return f"No error raises the median rank above {least}"
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
        f"Stopped at tolerance {power_of_ten(loose['tol'])}, this solver has error {small(loose['error'])} "
        f"and rank {int(loose['rank'])} ({int(tight['rank'])} at {power_of_ten(tight['tol'])})."
    )


def trained_for_this(spec: RunSpec, drawn: RunSpec) -> str:
    """Say that these figures use another model, loss or costs than the sidebar's."""
    if (spec.method, spec.get("loss"), spec.get("costs")) == (drawn.method, drawn.loss, drawn.costs):
        return ""
    model = f"{drawn.kind.label} and " if spec.method != drawn.method else ""
    costs = " without costs of pairs" if spec.get("costs") != drawn.costs else ""
    name = f"{model}the {LOSSES[drawn.loss].label}{costs}"
    return f":gray[Trained for these figures with {name}.]"
