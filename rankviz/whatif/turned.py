"""Pairs of documents that two rankings of the same query order differently."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from rankviz.common.arrays import FloatArray, IntArray
from rankviz.datasets.types import RankingData

_BLOCK = 4_000_000
"""Number of pairs per block."""


@dataclass(frozen=True)
class Turned:
    """Counts of the preference pairs that two rankings order differently.

    Attributes
    ----------
    Pairs that are in order now and were misordered or tied before.
        Pairs that are in order now and were not: misordered, or tied.
    Pairs that were in order before and are not now.
        Pairs that are no longer in order.
    n_pairs : int
    """

    right: int
    wrong: int
    n_pairs: int


def count_turned(before: FloatArray, after: FloatArray, data: RankingData) -> Turned:
    """Count the preference pairs of all queries that scores (n,) `before` and `after` order differently."""
    counts = np.zeros(3, np.int64)
    for q in range(data.n_queries):
        rows = data.query_slice(q)
        counts += _counts(before[rows], after[rows], data.y[rows])
    return Turned(*(int(count) for count in counts))


def turned_pairs(before: FloatArray, after: FloatArray, y: IntArray) -> pd.DataFrame:
    """Return the preference pairs of one query whose order changed, largest change of the margin first.

    Columns winner, loser (positions in y), before, after (margins), right (True if in order now).
    """
    winner, loser = np.nonzero(y[:, None] > y[None, :])
    table = pd.DataFrame(
        {
            "winner": winner,
            "loser": loser,
            "before": before[winner] - before[loser],
            "after": after[winner] - after[loser],
        }
    )
    table["right"] = table["after"] > 0
    table = table[table["right"] != (table["before"] > 0)]
    size = (table["after"] - table["before"]).abs()
    return table.loc[size.sort_values(ascending=False, kind="stable").index].reset_index(drop=True)


def _counts(before: FloatArray, after: FloatArray, y: IntArray) -> IntArray:
    """Count the pairs of one query that became right, that became wrong, and all pairs."""
    found = np.zeros(3, np.int64)
    step = max(1, _BLOCK // max(len(y), 1))
    for start in range(0, len(y), step):
        some = slice(start, start + step)
        pair = y[some, None] > y[None, :]
        was, now = (scores[some, None] > scores[None, :] for scores in (before, after))
        found += [np.sum(pair & now & ~was), np.sum(pair & was & ~now), np.sum(pair)]
    return found
