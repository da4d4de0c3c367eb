"""SVM-MAP's loss: the structural hinge of average precision, found by its most violated ranking (yue2007)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from rankviz.common.arrays import FloatArray, IntArray
from rankviz.learning.score_losses import Queries, ScoreLoss, ScoreTerms

BLOCK = 2**20
"""Most pairs of documents in memory at a time, unless one query has more."""


@dataclass(frozen=True)
class MapHinge(ScoreLoss):
    """max over rankings r of a query: 1 − AP(r) − (2/RN) Σ (f_i − f_j) over pairs that r has wrong.

    i is one of R relevant documents (grade at least 1), j one of N others, and r has a pair wrong if j stands
    before i. The right ranking gives 0, so the loss is at least 0; it bounds 1 − AP of the ranking by f. A
    query without relevant or without other documents has loss 0.

    The most violated ranking r keeps each kind sorted by its scores. If the j-th other document moves before
    the i-th relevant one, its precision falls from i/(i + j − 1) to i/(i + j). So each j has a best place of
    its own: it passes the relevant ones from the i with the largest sum of gains on. These places ascend
    with j, so together they are a ranking (yue2007). It takes O(RN). The loss is convex and piecewise linear.
    """

    label = "SVM-MAP"
    formula = "max over rankings r of 1 − AP(r) − (2/RN) Σ (f_i − f_j) over pairs that r has wrong"
    family = "listwise"
    smooth = False
    curvature = math.inf

    def terms(self, f: FloatArray, y: IntArray, queries: Queries) -> ScoreTerms:
        """Return the loss at scores f (n,) of documents with grades y (n,), with a subgradient."""
        value, gradient = np.zeros(len(queries.sizes)), np.zeros(len(f))
        order = np.lexsort((-f, y < 1, np.arange(len(queries.sizes)).repeat(queries.sizes)))
        R = queries.total((y > 0).astype(np.float64)).astype(np.int64)
        for own in _blocks(R, queries.sizes - R):
            r, n = (own_sizes[:, None] for own_sizes in (R[own], (queries.sizes - R)[own]))
            i, j = np.arange(1, r.max() + 1), np.arange(1, n.max() + 1)
            start = queries.ptr[:-1][own, None]
            relevant = order[start + np.minimum(i, r) - 1]
            other = order[start + r + np.minimum(j, n) - 1]
            share = 2.0 / (r * n)
            drop = i / (i + j[:, None] - 1.0) - i / (i + j[:, None])
            gain = drop / r[:, :, None] - share[:, :, None] * (f[relevant][:, None] - f[other][:, :, None])
            gain *= (i <= r)[:, None]
            sums = np.cumsum(gain[:, :, ::-1], axis=2)[:, :, ::-1]
            most = np.where(j <= n, sums.max(axis=2), 0.0)
            first = np.where(most > 0.0, sums.argmax(axis=2), r)  # the first relevant one that j passes
            value[own] = np.maximum(most, 0.0).sum(axis=1)
            passed = (first[:, :, None] < i).sum(axis=1)
            real = np.broadcast_to(i <= r, relevant.shape), np.broadcast_to(j <= n, other.shape)
            gradient[relevant[real[0]]] = -(share * passed)[real[0]]
            gradient[other[real[1]]] = (share * (r - first))[real[1]]
        return ScoreTerms(value, gradient, np.zeros(len(f)))


def _blocks(R: IntArray, N: IntArray) -> Iterator[IntArray]:
    """Yield queries with both kinds of documents, in blocks of similar counts R and N."""
    bands = np.frexp(R)[1] * 64 + np.frexp(N)[1]
    both = (R > 0) & (N > 0)
    for band in np.unique(bands[both]):
        queries = np.flatnonzero(both & (bands == band))
        pairs = int(R[queries].max() * N[queries].max())
        yield from np.array_split(queries, math.ceil(len(queries) * pairs / max(BLOCK, pairs)))
