"""Margins of all preference pairs, counted by sorting, without forming pairs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from rankviz.common.arrays import FloatArray, IntArray
from rankviz.datasets.types import RankingData

CHUNK = 2_000_000
"""Number of thresholds per search."""


@dataclass(frozen=True)
class MarginSummary:
    """Counts and extremes of the margins t = f_i − f_j of a part's pairs.

    Attributes
    ----------
    n_pairs : int
    misordered : int
        Pairs with t ≤ 0.
    low, high : float
        The smallest and largest margin; 0 without pairs.
    """

    n_pairs: int
    misordered: int
    low: float
    high: float


def summary(scores: FloatArray, part: RankingData) -> MarginSummary:
    """Return counts and extremes of the margins of scores f (n,), O(n log n) for each grade."""
    pairs, wrong, lows, highs = 0, 0, [0.0], [0.0]
    for winners, losers in _groups(scores, part):
        pairs += len(winners) * len(losers)
        wrong += int((len(losers) - np.searchsorted(losers, winners, side="left")).sum())
        lows.append(float(winners.min() - losers[-1]))
        highs.append(float(winners.max() - losers[0]))
    if pairs == 0:
        return MarginSummary(0, 0, 0.0, 0.0)
    return MarginSummary(pairs, wrong, min(lows[1:]), max(highs[1:]))


def histogram(scores: FloatArray, part: RankingData, edges: FloatArray) -> IntArray:
    """Count pairs with edges[k] ≤ t < edges[k + 1], t = f_i − f_j: (len(edges) − 1,).

    Margins below an edge e belong to losers with f_j > f_i − e, found in their sorted scores.
    """
    below = np.zeros(len(edges), np.int64)
    for winners, losers in _groups(scores, part):
        step = max(1, CHUNK // len(edges))
        for start in range(0, len(winners), step):
            thresholds = winners[start : start + step, None] - edges
            below += (len(losers) - np.searchsorted(losers, thresholds, side="right")).sum(axis=0)
    counts: IntArray = np.diff(below)
    return counts


def _groups(scores: FloatArray, part: RankingData) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Yield by query and grade the scores of its documents, and the sorted scores of lower grades."""
    for query in range(part.n_queries):
        rows = part.query_slice(query)
        y, f = part.y[rows], scores[rows]
        for grade in np.unique(y)[1:]:
            yield f[y == grade], np.sort(f[y < grade])
