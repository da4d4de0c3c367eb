"""Ranking data cut between queries into parts of similar work."""

from __future__ import annotations

import itertools

import numpy as np

from rankviz.common.arrays import IntArray
from rankviz.datasets.types import RankingData
from rankviz.learning.costs import PairCosts
from rankviz.learning.losses import Loss
from rankviz.learning.pairs import grade_codes
from rankviz.shards.part import Part


def borders(ptr: IntArray, count: int) -> IntArray:
    """Return the queries at which to cut offsets ptr (Q + 1,), (parts + 1,).

    There are `count` parts, but at most one per query: every part has a query. The work for a document hardly
    depends on its query, so parts have similar numbers of documents, as far as whole queries allow.
    """
    n_queries = len(ptr) - 1
    count = min(count, n_queries)
    aims = np.linspace(0, ptr[-1], count + 1)
    after = np.searchsorted(ptr, aims)
    before = np.maximum(after - 1, 0)
    nearer = np.where(aims - ptr[before] < ptr[after] - aims, before, after)
    nearer[[0, -1]] = 0, n_queries
    each = np.arange(count + 1)  # borders must rise by at least 1; minus `each`, they only must not fall
    rising = np.maximum.accumulate(nearer - each) + each
    return np.asarray(np.minimum(rising, n_queries - count + each), np.int64)


def cut(data: RankingData, count: int, loss: Loss, costs: PairCosts) -> list[Part]:
    """Return the parts of data (views of its arrays), each with the costs of its own queries and grades."""
    levels = grade_codes(data.y, data.ptr).levels
    parts = []
    for first, last in itertools.pairwise(borders(data.ptr, count)):
        rows = slice(int(data.ptr[first]), int(data.ptr[last]))
        y, ptr = data.y[rows], data.ptr[first : last + 1] - data.ptr[first]
        own = np.searchsorted(levels, grade_codes(y, ptr).levels)
        parts.append(Part(data.X[rows], y, ptr, loss, costs.of_queries(slice(first, last), own)))
    return parts
