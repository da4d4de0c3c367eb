"""Documents with equal scores: their share, and their worst and best orders."""

from __future__ import annotations

import numpy as np

from rankviz.common.arrays import FloatArray, IntArray
from rankviz.datasets.types import RankingData

MANY = 0.1
"""Warn if at least this share of a query's documents is tied."""


def tied_shares(scores: FloatArray, data: RankingData) -> FloatArray:
    """Return for each query the share of documents that share a score with another grade: (Q,).

    Ties among documents of one grade change no measure, so they do not count. Scores are (n,).
    """
    queries = _queries(data)
    order = np.lexsort((scores, queries))
    scores, queries, grades = scores[order], queries[order], data.y[order]
    first = np.ones(len(scores), np.bool_)
    first[1:] = (scores[1:] != scores[:-1]) | (queries[1:] != queries[:-1])
    starts = np.flatnonzero(first)
    if len(starts) == len(scores):
        return np.zeros(data.n_queries)
    mixed = np.maximum.reduceat(grades, starts) > np.minimum.reduceat(grades, starts)
    sizes = np.diff(starts, append=len(scores)) * mixed
    found: FloatArray = np.bincount(queries[starts], sizes, data.n_queries) / np.diff(data.ptr)
    return found


def worst_and_best(
    scores: FloatArray, data: RankingData, relevant_to: int | None
) -> tuple[FloatArray, FloatArray]:
    """Return scores (n,) with the same ranking but ties in the worst and in the best order.

    These orders sort ties by grade, ascending and descending; grades above `relevant_to` count as 0, as in
    measures. Moving a document of a higher grade up never lowers a measure.
    """
    grades = data.y if relevant_to is None else np.where(data.y <= relevant_to, data.y, 0)
    orders = (np.lexsort((sign * grades, -scores, _queries(data))) for sign in (1, -1))
    worst, best = (-np.argsort(order).astype(np.float64) for order in orders)
    return worst, best


def _queries(data: RankingData) -> IntArray:
    """Return the position of each document's query (n,)."""
    return np.repeat(np.arange(data.n_queries), np.diff(data.ptr))
