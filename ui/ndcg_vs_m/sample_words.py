"""What a learning curve and a curve over wrong grades say, in sentences."""

from __future__ import annotations

import pandas as pd

from rankviz.metrics.significance import Comparison, Interval

_SAME = "is not distinguishable from the same"


def of_queries(table: pd.DataFrame, name: str, metric: str) -> str:
    """From how many training queries on a model cannot be told from the one that learned from all."""
    rising = table.sort_values("share")
    whole, parts = rising.iloc[-1], rising.iloc[:-1]
    there, told = int(whole["queries"]), f"by {metric}"
    few = _too_few(whole)
    if few:
        return f"{told}, {few} to tell models apart"
    if parts.empty:
        return f"{told}, {name} has only one number of training queries so far"
    apart = parts[parts["distinguishable"]]
    if apart.empty:
        least = parts.iloc[0]
        return (
            f"{told}, {name} with {_queries(least)} of {there} training queries {_SAME} with all of them "
            f"({_beside(least, whole)})"
        )
    last = apart.iloc[-1]
    enough = parts[parts["share"] > last["share"]]
    if enough.empty:
        return (
            f"{told}, {name} still changes with more training queries: with {_queries(last)} of {there} "
            f"it is {_by(last)} than with all"
        )
    first = enough.iloc[0]
    return (
        f"{told}, {name} with {_queries(first)} of {there} training queries {_SAME} with all of them "
        f"({_beside(first, whole)}); with {_queries(last)} it is {_by(last)}"
    )


def of_wrong_grades(table: pd.DataFrame, name: str, metric: str) -> str:
    """Up to which share of wrong grades a model cannot be told from the one without any."""
    rising = table.sort_values("flipped")
    clean, parts, told = rising.iloc[0], rising.iloc[1:], f"by {metric}"
    few = _too_few(clean)
    if few:
        return f"{told}, {few} to tell models apart"
    if parts.empty:
        return f"{told}, {name} has no run with wrong grades so far"
    apart = parts[parts["distinguishable"]]
    if apart.empty:
        most = parts.iloc[-1]
        return (
            f"{told}, {name} with {_share(most)} of its training grades flipped {_SAME} with none "
            f"({_beside(most, clean)})"
        )
    first = apart.iloc[0]
    before = parts[parts["flipped"] < first["flipped"]]
    if before.empty:
        return f"{told}, {name} is {_by(first)} with {_share(first)} of its training grades flipped already"
    last = before.iloc[-1]
    return (
        f"{told}, {name} with {_share(last)} of its training grades flipped {_SAME} with none "
        f"({_beside(last, clean)}); with {_share(first)} it is {_by(first)}"
    )


def _too_few(row: pd.Series) -> str:
    """That so many queries decide nothing; "" where they may."""
    n = int(row["judged_by"])
    needed = Comparison(Interval(0.0, 0.0, 0.0, 0.95, n)).n_needed
    if n >= needed:
        return ""
    return f"{'1 query is' if n == 1 else f'{n} queries are'} too few"


def _queries(row: pd.Series) -> str:
    return f"{int(row['queries'])}"


def _share(row: pd.Series) -> str:
    return f"{100 * row['flipped']:.3g} %"


def _beside(row: pd.Series, whole: pd.Series) -> str:
    """Two means, with the interval of their difference."""
    low, high = (f"{row[end]:+.3f}".replace("-", "−") for end in ("difference_low", "difference_high"))
    return (
        f"{row['mean']:.3f} against {whole['mean']:.3f}, 95 % interval of the difference [{low}, {high}], "
        f"{int(row['judged_by']):,} queries"
    )


def _by(row: pd.Series) -> str:
    """How much better or worse, with its interval."""
    word = "better" if row["difference"] > 0 else "worse"
    near, far = sorted((abs(row["difference_low"]), abs(row["difference_high"])))
    return f"{word} by {abs(row['difference']):.3f} (95 % interval [{near:.3f}, {far:.3f}])"
