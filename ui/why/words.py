"""Texts of the Why page: order and margin, swaps, landmarks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from rankviz.common.numbers import counted, percent, with_minus
from rankviz.whatif.crossings import Crossings, Swap, Swaps
from ui.shared.foreign import escaped
from ui.why.choices import Pair

WHAT_IT_IS = (
    "Shares are exact Shapley values of this pair with B as the baseline (interventional): what a feature "
    "adds when it changes from B's value to A's, in the mean over all orders in which features change. They "
    "explain the model, not the world, and features that vary together share what they say."
)


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
        return f"A, {a}, and B, {b}, have the same score, so that the order of the file decides"
    where = "above" if margin > 0 else "below"
    text = f"A, {a}, scores {with_minus(abs(margin), '.3g')} {where} B, {b}"
    sides = [("A", table[table["share"] > 0]), ("B", table[table["share"] < 0])]
    said = [(_most(rows), side) for side, rows in (sides if margin > 0 else sides[::-1]) if len(rows)]
    return "; ".join((text, *(f"for {side}: {most}" for most, side in said)))


def _most(rows: pd.DataFrame, n: int = 2) -> str:
    """Name the features with the largest shares on one side."""
    told = [
        f"{escaped(name)} ({signed(share)})"
        for name, share in rows[["name", "share"]].head(n).itertuples(index=False)
    ]
    return " and ".join(told)


def balance(table: pd.DataFrame, margin: float) -> str:
    """Give the sums of shares on both sides, and the share of their difference."""
    share = table["share"]
    pro, contra = float(share[share > 0].sum()), float(share[share < 0].sum())
    same = int((table["value_A"] == table["value_B"]).sum())
    alike = f" {counted(same, 'feature')} {'has' if same == 1 else 'have'} the same value in both." * bool(
        same
    )
    if pro - contra == 0.0:
        return f"No feature speaks for either.{alike}"
    left = abs(margin) / (pro - contra)
    return (
        f"All that speaks for A is {signed(pro)}, for B {signed(contra)}: {_percent(left)} of it is left as "
        f"the margin.{alike}"
    )


def _percent(share: float) -> str:
    return percent(share, 0 if share >= 0.095 else 1)


def named_swap(found: Swap, names: Sequence[str], value: float) -> str:
    """Describe the smallest change of a feature that swaps them."""
    return (
        f"{escaped(names[found.feature])} at {with_minus(found.value, '.4g')} instead of "
        f"{with_minus(value, '.4g')} ({found.spreads:.2g} standard deviations)"
    )


def swaps(n: int, of: int) -> str:
    """Return the title of the table of nearest swaps; n of `of` features have one."""
    return f"The nearest swap along each feature that has one ({n} of {of})"


def smallest(found: Swaps, names: Sequence[str], pair: Pair) -> str:
    """Describe the smallest change over all features, and the search precision if it matters."""
    about = (
        f". Only values up to {found.step:.2g} standard deviations apart were looked at: "
        "a smaller change may be missed"
    ) * (found.step > 0)
    if not found.found:
        return f"No single feature of A swaps them, wherever it is moved within its range in training{about}"
    best = found.found[0]
    swap = named_swap(best, names, pair.a[best.feature])
    return f"The smallest single change of A that swaps them is {swap}{about}"


def looked(step: float) -> str:
    """Say if all values at which they swap were found."""
    if step == 0:
        return "None is missed."
    return f"Only values {step:.2g} apart were looked at: two ticks closer to each other may be missed."


def along(name: str, crossings: Crossings, value: float) -> str:
    """Give the values of one feature at which they swap."""
    at = crossings.values
    if len(at) == 0:
        seen = "they never swap" if crossings.step == 0 else "no swap was found"
        return f"Along {escaped(name)} {seen}, with all else as it is"
    told = [with_minus(x, ".4g") for x in at[:5]]
    more = f" and {len(at) - 5} more" if len(at) > 5 else ""
    return (
        f"Along {escaped(name)} they swap at {', '.join(told)}{more}; A has {with_minus(value, '.4g')} "
        "of it now"
    )


def landmarks(table: pd.DataFrame, first: pd.Series[Any], exact: bool) -> str:
    """Count the landmarks for each document, and name the largest; `first` has its `name`."""
    share, what = table["share"], "training document" if exact else "landmark"
    pro, contra = share[share > 0], share[share < 0]
    side = "A" if first["share"] > 0 else "B"
    return (
        f"{counted(len(pro), what)} speak{'s' * (len(pro) == 1)} for A ({signed(pro.sum())}), "
        f"{len(contra):,} for B ({signed(contra.sum())}), {signed(share.sum())} together; most for {side}: "
        f"{escaped(first['name'])}"
    )
