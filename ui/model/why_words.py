"""The texts of the Why page: contributions to a margin, swaps, landmarks, training queries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd

from rankviz.common.numbers import counted, percent, small, with_minus
from rankviz.whatif.crossings import Crossings, Swap, Swaps
from rankviz.whatif.explanations import MarginExplanation
from ui.shell.texts import escaped

if TYPE_CHECKING:
    from ui.model.why_choices import Pair

WHAT_IT_IS = (
    "Exact Shapley values of changing each feature from B's value to A's. They explain the model; "
    "correlated features share the effect."
)
SAMPLED = (
    "Sampled Shapley values of changing each feature from B's value to A's (permutation shares). They are "
    "means over {orders} random orders of the features; standard errors are at most {error}. They explain "
    "the model; correlated features share the effect."
)
NEEDS = (
    "Contributions need the scores of changed documents. So they need a model that can be restored from its "
    "run."
)
MODEL = "Current model, another map, or a pin."
ONE_DOCUMENT = " The query has one document."
SAME = "A and B are the same document. Choose two."
HOW = "Click two documents to compare them."
NO_SHARE = "No feature contributes."
FEATURE = "Default: the smallest change that swaps them."
NO_LANDMARK = "No landmark contributes."
LANDMARKS = "Neighbouring landmarks may cancel."
ONE_QUERY = "The training part has one query."
TOO_LARGE = "“What if” can leave out queries."
LEAVE_OUT = "Adds this change to What if."
SAME_SCORE = "A and B have the same score"
NONE_TURNS = (
    "None of {queries:,} training queries alone changes the order; query {name} changes the margin most "
    "({change})"
)
ONE_TURNS = (
    "Without training query {name}, {other} would stand above {one} (margin {change}); {n:,} of {of:,} "
    "queries change{s} the order"
)
LINK = "Why is rank {above} above rank {below}?"
CHOOSE_BY_NAME = "Choose two documents by name."
BARS = (
    "Query {query}, A {a}, B {b}. Bars add up to the margin: right for A, left for B (rounding error {rest})."
)
DISTRIBUTIONS = (
    "{documents:,} training documents, normalised values. Thin line: range; thicker: 5 % to 95 %; "
    "thickest: middle half; tick: median."
)
MOVING = "{values} values over the training range, other features fixed. Above 0, A ranks first."
LANDMARKS_CAPTION = (
    "Coefficient × (κ(A, landmark) − κ(B, landmark)); the sum is the margin. Up to {each} for each side; "
    "landmarks with equal features are merged."
)
LIST_TITLE = "**Why does each of the first {n} documents rank above the next?** Tick a row."


def button_help(above: str, below: str) -> str:
    """Return the help of the button that opens this page."""
    return f"Feature contributions to the margin of {above} over {below}. {HOW}"


def refits(trained: int, far: bool) -> str:
    """Return the caption of the changes by training queries."""
    line = " It is too far away to draw." * far
    return (
        f"Refits without one query: the {trained} with the largest estimates. Beyond the dashed line the "
        f"order changes.{line} Ticks: first-order estimates C·H⁻¹∇ℓ. Landmarks, frequencies and γ are "
        "fixed."
    )


def quality(trained: int, of: int, miss: float, largest: float) -> str:
    """Say how many queries were left out in refits, and the error of the estimates there."""
    others = "; the others are estimates" * (trained < of)
    return (
        f"Refits without {trained:,} of {of:,} training queries{others}. Largest error of an estimate: "
        f"{small(miss)}; largest change: {small(largest)}."
    )


def what_it_is(found: MarginExplanation) -> str:
    """Say if the shares are exact or sampled."""
    if found.error is None:
        return WHAT_IT_IS
    return SAMPLED.format(orders=found.orders, error=small(float(found.error.max())))


def signed(value: float) -> str:
    """Format a share with its sign and three digits."""
    return with_minus(value, "+.3g")


def named(pair: Pair, name: str) -> str:
    """Name a document with its rank and grade."""
    row = pair.of(name)
    return f"{escaped(name)} (rank {row['rank']}, grade {row['grade']})"


def answer(pair: Pair, table: pd.DataFrame, margin: float) -> str:
    """Say which document ranks above, and name the features with the largest shares on each side."""
    a, b = named(pair, pair.above), named(pair, pair.below)
    if margin == 0.0:
        return f"A, {a}, and B, {b}, have the same score; the order of the file decides"
    where = "above" if margin > 0 else "below"
    text = f"A, {a}, scores {with_minus(abs(margin), '.3g')} {where} B, {b}"
    sides = [("A", table[table["share"] > 0]), ("B", table[table["share"] < 0])]
    said = [(_most(rows), side) for side, rows in (sides if margin > 0 else sides[::-1]) if len(rows)]
    return "; ".join((text, *(f"for {side}: {most}" for most, side in said)))


def _most(rows: pd.DataFrame, n: int = 1) -> str:
    """Name the features with the largest shares on one side."""
    parts = [
        f"{escaped(name)} ({signed(share)})"
        for name, share in rows[["name", "share"]].head(n).itertuples(index=False)
    ]
    return " and ".join(parts)


def balance(table: pd.DataFrame, margin: float) -> str:
    """Give the sums of shares on both sides, and the share of their difference."""
    share = table["share"]
    pro, contra = float(share[share > 0].sum()), float(share[share < 0].sum())
    same = int((table["value_A"] == table["value_B"]).sum())
    alike = f" {counted(same, 'feature')} with equal values." * bool(same)
    if pro - contra == 0.0:
        return f"No feature contributes.{alike}"
    left = _percent(abs(margin) / (pro - contra))
    return f"{signed(pro)} for A, {signed(contra)} for B: the margin is {left} of the total.{alike}"


def _percent(share: float) -> str:
    return percent(share, 0 if share >= 0.095 else 1)


def named_swap(found: Swap, names: Sequence[str], value: float) -> str:
    """Describe the smallest change of a feature that swaps them."""
    return (
        f"{escaped(names[found.feature])} at {with_minus(found.value, '.4g')} instead of "
        f"{with_minus(value, '.4g')} ({small(found.spreads)} standard deviations)"
    )


SWAPS = "Nearest swaps ({n} of {of} features have one)"


def smallest(found: Swaps, names: Sequence[str], pair: Pair) -> str:
    """Describe the smallest change over all features, and the search precision if it matters."""
    about = (
        f". Tested values are up to {small(found.step)} standard deviations apart; a smaller change may be "
        "missed"
    ) * (found.step > 0)
    if not found.found:
        return f"No single feature of A swaps them in its training range{about}"
    best = found.found[0]
    swap = named_swap(best, names, pair.a[best.feature])
    return f"Smallest single change of A that swaps them: {swap}{about}"


def looked(step: float) -> str:
    """Say if all values at which they swap were found."""
    if step == 0:
        return "No swap is missed."
    return f"Tested values are {small(step)} apart; closer swaps may be missed."


def along(name: str, crossings: Crossings, value: float) -> str:
    """Give the values of one feature at which they swap."""
    at = crossings.values
    if len(at) == 0:
        seen = "they never swap" if crossings.step == 0 else "no swap was found"
        return f"Along {escaped(name)} {seen}"
    parts = [with_minus(x, ".4g") for x in at[:5]]
    more = f" and {len(at) - 5} more" if len(at) > 5 else ""
    return f"Along {escaped(name)} they swap at {', '.join(parts)}{more}; A has {with_minus(value, '.4g')}"


def landmarks(table: pd.DataFrame, first: pd.Series[Any], exact: bool) -> str:
    """Count the landmarks for each document, and name the largest; `first` has its `name`."""
    share, what = table["share"], "training document" if exact else "landmark"
    pro, contra = share[share > 0], share[share < 0]
    side = "A" if first["share"] > 0 else "B"
    return (
        f"{counted(len(pro), what)} for A ({signed(pro.sum())}), {len(contra):,} for B "
        f"({signed(contra.sum())}), sum {signed(share.sum())}; largest, for {side}: {escaped(first['name'])}"
    )
