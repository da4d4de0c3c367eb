"""Effects of changes in numbers: on the shown query, the training and the validation part."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from rankviz.common.arrays import FloatArray, IntArray
from rankviz.common.numbers import with_minus
from rankviz.datasets import Fold
from rankviz.metrics import evaluate
from rankviz.whatif.lookup import index_of_query
from rankviz.whatif.outcomes import PARTS, ChangedPairs, Outcome, changed_pairs, count_changed_pairs
from ui.what_if.lists import names_of
from ui.what_if.words import METRIC, OfQuery

MOST_PAIRS = 2e8
"""Largest number of document pairs searched for changed order: about a second."""
_NAMES = {"train": "training", "vali": "validation"}


def of_query(outcome: Outcome, fold: Fold, before: FloatArray, part: str, query: Any) -> OfQuery:
    """Return the metric of a query: with the scores `before`, and for both orders now."""
    data = fold.parts[part]
    as_was = evaluate(before, data, at=[10]).per_query[METRIC].iloc[index_of_query(data, query)]
    return OfQuery(float(as_was), *_orders(outcome, part, query))


def _orders(outcome: Outcome, part: str, query: Any) -> tuple[float, float]:
    row = outcome.per_query(part, METRIC).iloc[index_of_query(outcome.fold.parts[part], query)]
    return float(row["old"]), float(row["new"])


def table(outcome: Outcome, part: str, query: Any) -> str:
    """Return a Markdown table: the metric and its change with the interval, and pairs with changed order."""
    data = outcome.fold.parts[part]
    own = data.query_slice(index_of_query(data, query))
    row = outcome.per_query(part, METRIC).iloc[index_of_query(data, query)]
    old, new = float(row["old"]), float(row["new"])
    turned = _turned_of(outcome.old[part][own], outcome.new[part][own], data.y[own])
    change = with_minus(new - old, "+.4f") if row["difference"] else "none"
    rows = [("this query", f"{new:.4f}", change, _turned(turned))]
    rows += [_row(outcome, name) for name in PARTS]
    head = f"| | {METRIC} | change [95 %] | pairs |\n|:--|:--|:--|:--|"
    return "\n".join([head, *("| " + " | ".join(row) + " |" for row in rows)])


def turned_in_words(outcome: Outcome, part: str, query: Any) -> pd.DataFrame:
    """Return a query's pairs with changed order: the preferred document, the other, and the new state."""
    data = outcome.fold.parts[part]
    own = data.query_slice(index_of_query(data, query))
    found = changed_pairs(outcome.old[part][own], outcome.new[part][own], data.y[own])
    names, numbers = names_of(data, query), data.rows[own].tolist()
    called = [
        f"{names[number]} ({grade})" for number, grade in zip(numbers, data.y[own].tolist(), strict=True)
    ]
    return pd.DataFrame(
        {
            "preferred (grade)": [called[i] for i in found["winner"]],
            "over (grade)": [called[i] for i in found["loser"]],
            "margin before": found["before"].round(4),
            "margin now": found["after"].round(4),
            "now": np.where(found["right"], "right", "wrong"),
        }
    )


def _row(outcome: Outcome, part: str) -> tuple[str, str, str, str]:
    found = outcome.comparison(part, METRIC)
    change = with_minus(found.difference, "+.4f")
    if found.n_uneven == 0:
        change = "none"
    elif found.interval.known:
        ends = f"{with_minus(found.interval.low, '+.4f')}, {with_minus(found.interval.high, '+.4f')}"
        change = f"{change} [{ends}]"
    data = outcome.fold.parts[part]
    few = float((np.diff(data.ptr).astype(float) ** 2).sum()) <= MOST_PAIRS
    turned = (
        _turned(count_changed_pairs(outcome.old[part], outcome.new[part], data)) if few else "not counted"
    )
    return _NAMES[part], f"{outcome.per_query(part, METRIC)['new'].mean():.4f}", change, turned


def _turned_of(old: FloatArray, new: FloatArray, y: IntArray) -> ChangedPairs:
    found = changed_pairs(old, new, y)
    right = int(found["right"].sum())
    return ChangedPairs(right, len(found) - right, int((y[:, None] > y[None, :]).sum()))


def _turned(found: ChangedPairs) -> str:
    return f"{found.right:,} fixed · {found.wrong:,} broken" if found.right or found.wrong else "none"
