"""Sentences under learning curves and curves over wrong grades."""

from __future__ import annotations

import math

import pandas as pd

from rankviz.common.numbers import interval_in_words
from rankviz.metrics.significance import queries_needed


def of_queries(table: pd.DataFrame, name: str, metric: str) -> str:
    """Say from how many training queries on a model is not worse than the one trained on all."""
    rising = table.sort_values("share")
    whole, parts = rising.iloc[-1], rising.iloc[:-1]
    there, few = int(whole["queries"]), _too_few(whole)
    if few or parts.empty:
        return f"by {metric}, {few or f'{name} has only been trained on all {there} training queries'}"
    worse = parts[_is_worse(parts)]
    enough = parts if worse.empty else parts[parts["share"] > worse["share"].iloc[-1]]
    if enough.empty:
        last = worse.iloc[-1]
        return (
            f"by {metric}, {name} still gains from more training queries: with {int(last['queries'])} of "
            f"{there} it is {_by(last)} than with all"
        )
    first = enough.iloc[0]
    told = f"with {int(first['queries'])} of {there} training queries {_beside(first, whole, 'all')}"
    if worse.empty:
        return f"by {metric}, {name} {told}"
    return f"by {metric}, {name} {told}; with {int(worse['queries'].iloc[-1])} it is {_by(worse.iloc[-1])}"


def of_wrong_grades(table: pd.DataFrame, name: str, metric: str) -> str:
    """Say up to which share of wrong grades a model is not worse than without any."""
    rising = table.sort_values("flipped")
    clean, parts = rising.iloc[0], rising.iloc[1:]
    few = _too_few(clean)
    if few or parts.empty:
        return f"by {metric}, {few or f'{name} has only been trained on the original grades'}"
    worse = parts[_is_worse(parts)]
    before = parts if worse.empty else parts[parts["flipped"] < worse["flipped"].iloc[0]]
    if before.empty:
        first = worse.iloc[0]
        return (
            f"by {metric}, {name} is already {_by(first)} with {_share(first)} of its training grades flipped"
        )
    last = before.iloc[-1]
    told = f"with {_share(last)} of its training grades flipped {_beside(last, clean, 'none')}"
    if worse.empty:
        return f"by {metric}, {name} {told}"
    return f"by {metric}, {name} {told}; with {_share(worse.iloc[0])} it is {_by(worse.iloc[0])}"


def _is_worse(parts: pd.DataFrame) -> pd.Series:
    return parts["distinguishable"] & (parts["difference"] < 0)


def _too_few(row: pd.Series) -> str:
    """Say that the queries are too few for a decision; "" if they may suffice."""
    n = int(row["judged_by"])
    needed = queries_needed()
    queries = "1 query is" if n == 1 else f"{n} queries are"
    return "" if n >= needed else f"{queries} too few to compare models (95 % needs at least {needed})"


def _share(row: pd.Series) -> str:
    return f"{100 * row['flipped']:.3g} %"


def _beside(row: pd.Series, whole: pd.Series, of: str) -> str:
    """Compare a model that is not worse with the one trained on all data, with means and interval."""
    if row["distinguishable"]:
        return f"is {_by(row)} than with {of}"
    ends = interval_in_words(row["difference_low"], row["difference_high"])
    ends = ends.replace("interval", "interval of the difference")
    return (
        f"does not differ significantly from the model with {of} ({row['mean']:.3f} against "
        f"{whole['mean']:.3f}, {ends}, {int(row['judged_by']):,} queries)"
    )


def _by(row: pd.Series) -> str:
    """Say how much better or worse, with the interval."""
    word = "better" if row["difference"] > 0 else "worse"
    near, far = sorted((abs(row["difference_low"]), abs(row["difference_high"])))
    digits = max(3, math.ceil(-math.log10(near)))  # an end that excludes 0 is not printed as 0
    return f"{word} by {abs(row['difference']):.3f} (95 % interval [{near:.{digits}f}, {far:.{digits}f}])"
