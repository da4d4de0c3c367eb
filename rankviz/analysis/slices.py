"""Slices of queries: on which of them one model is ahead of another, by length, grades or difficulty."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from rankviz.analysis.contestants import Contestant, Matched
from rankviz.common.errors import SettingError
from rankviz.common.numbers import span
from rankviz.datasets.types import RankingData
from rankviz.metrics.formulas import direction
from rankviz.metrics.significance import compare, tied

REGRESSION = (
    "Difficulty is measured by {judge}, which is also compared. Queries on which it had bad luck count as "
    "hard, so the other model seems to gain there even if both are equally good (regression to the mean). "
    "Measure difficulty by another model, or by the mean of all."
)
MEAN_OF_ALL = (
    "Difficulty is the mean of the compared models, which favours none of them if they vary equally. "
    "Slices by facts known beforehand are more reliable."
)


@dataclass(frozen=True, eq=False)
class Slicing:
    """Queries in groups.

    Attributes
    ----------
    by : str
        The criterion, in words.
    groups : dict of Index
        Name -> queries, in display order; groups may overlap.
    caveat : str
        A warning in sentences, or "".
    """

    by: str
    groups: dict[str, pd.Index]
    caveat: str = ""


def query_facts(parts: Iterable[RankingData]) -> pd.DataFrame:
    """Return facts on queries: documents, and relevant, the share of documents graded above 0.

    The index is the query. `parts` are the same part of every fold; a repeated query is taken from the first.
    """
    tables = []
    for part in parts:
        sizes = np.diff(part.ptr)
        relevant = np.add.reduceat(part.y > 0, part.ptr[:-1], dtype=np.int64) if part.n_queries else sizes
        index = pd.Index(part.query_labels, name="query")
        tables.append(pd.DataFrame({"documents": sizes, "relevant": relevant / sizes}, index=index))
    found = pd.concat(tables)
    return found[~found.index.duplicated()]


def by_length(facts: pd.DataFrame, n: int = 3) -> Slicing:
    """Group queries by their number of documents, in n groups of similar size."""
    groups = _quantiles(facts["documents"], n, "{} documents", ".0f")
    if "1 documents" in groups:  # queries by size: the first group
        groups = {"1 document": groups.pop("1 documents")} | groups
    return Slicing("number of documents", groups)


def by_relevant(facts: pd.DataFrame, n: int = 3) -> Slicing:
    """Group queries by the share of their documents graded above 0, in n groups."""
    return Slicing("share of relevant documents", _quantiles(facts["relevant"], n, "{} relevant", ".0%"))


def by_difficulty(matched: Matched, metric: str, judge: Contestant | None = None, n: int = 3) -> Slicing:
    """Group queries by the mean metric of all contestants, or a judge's, hard ones first, in n groups.

    The mean of two equally variable models is independent of their difference (oldham1962). The value of one
    of them is not, which the caveat says. Raises as `Matched.by_query`.
    """
    if judge is None:
        values, who, caveat = matched.by_query(metric).mean(axis=1), "all models' mean", MEAN_OF_ALL
    else:
        values, who = judge.by_query(metric).dropna(), judge.label
        caveat = REGRESSION.format(judge=who) if who in matched.labels else ""
    groups = list(_quantiles(values, n, f"{metric} {{}}", ".2f").items())
    return Slicing(f"difficulty ({who})", dict(groups[:: direction(metric)]), caveat)


def by_choice(groups: Mapping[str, Iterable[object]]) -> Slicing:
    """Return groups of chosen queries by name; `SettingError` for an empty group."""
    found = {name: pd.Index(list(dict.fromkeys(queries))) for name, queries in groups.items()}
    empty = [name for name, queries in found.items() if queries.empty]
    if not found or empty:
        raise SettingError(f"choose at least one query{f' for {empty[0]!r}' if empty else ''}")
    return Slicing("own selection", found)


def sliced(matched: Matched, metric: str, baseline: str, slicing: Slicing) -> pd.DataFrame:
    """Compare contestants with the baseline in each slice.

    Columns slice, label, queries, mean, baseline (its mean), difference, low, high (95 % paired
    interval) and distinguishable (see `significance.Comparison`). Means of no queries are NaN, and so are
    intervals of fewer than two. Intervals are not adjusted for the number of slices. Raises `SettingError`
    if no compared query is in any slice.
    """
    values = matched.by_query(metric)
    rows = []
    for name, queries in slicing.groups.items():
        own = values[values.index.isin(queries)]
        for one in matched.others(baseline):
            found = compare(own[one.label], own[baseline])
            rows.append(
                {
                    "slice": name,
                    "label": one.label,
                    "queries": found.n_queries,
                    "mean": own[one.label].mean(),
                    "baseline": own[baseline].mean(),
                    "difference": found.difference,
                    "low": found.interval.low,
                    "high": found.interval.high,
                    "distinguishable": found.distinguishable,
                }
            )
    table = pd.DataFrame(rows)
    if not table["queries"].any():
        raise SettingError("no compared query is in a slice: choose queries of this part")
    return table


def _quantiles(values: pd.Series, n: int, words: str, form: str) -> dict[str, pd.Index]:
    """Group queries by rising values into n groups of similar size; equal values stay together."""
    values = pd.Series(tied(values.to_numpy(np.float64)), values.index)
    edges = np.unique(np.quantile(values, np.linspace(0, 1, n + 1)[1:-1]))
    place = np.searchsorted(edges, values)  # a value on an edge belongs to the group below
    found: dict[str, pd.Index] = {}
    for group in np.unique(place):
        own = values[place == group]
        found[_unlike(words.format(span(own.min(), own.max(), form)), found)] = own.index
    return found


def _unlike(name: str, others: Iterable[str]) -> str:
    """Return a name that differs from the others; rounding may give neighbouring groups equal names."""
    while name in others:
        name += " (above)"
    return name
