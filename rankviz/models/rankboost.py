"""RankBoost: boosting of thresholds on preference pairs (freund2003)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rankviz.common.arrays import FloatArray, IntArray
from rankviz.datasets.types import RankingData
from rankviz.models.stumps import Step, StumpBoosting, Stumps

LARGEST = 1.0 - 1e-10
"""Largest |r| in α = ½ log((1 + r)/(1 − r)): a threshold that orders all pairs would have an infinite α."""


class RankBoost(StumpBoosting):
    """RankBoost: each round adds α·[x_j > θ] to lower Σ exp(f_j − f_i) over preference pairs i, j.

    A pair has the weight D_ij = exp(f_j − f_i), divided by their sum: a product of numbers of its documents.
    So sums over pairs cost O(n), and no pair is listed. The threshold has the largest |r|,
    r = Σ D_ij (h_i − h_j), and α = ½ log((1 + r)/(1 − r)): freund2003's third method. Then the sum falls in
    each round by Z ≤ √(1 − r²). All pairs begin with the same weight.

    The trace has the product of all Z as `loss`: the mean of exp(f_j − f_i), which bounds the share of pairs
    in the wrong order.

    Parameters
    ----------
    n_rounds, patience : int
        Largest number of rounds, and rounds without a higher validation NDCG@10 before training ends.
    thresholds : int
        Largest number of thresholds of a feature.

    Examples
    --------
    >>> from rankviz import RankBoost
    >>> from rankviz.datasets import make_data
    >>> data = make_data(n_queries=12, documents_per_query=(8, 20), seed=0)
    >>> model = RankBoost(n_rounds=20).fit(data.X, data.y, qid=data.qid)
    >>> bool((model.trace_["loss"].diff()[1:] < 0).all())
    True
    """

    traced = ("loss", "mean of exp(f_j − f_i) over pairs")

    def steps(self, data: RankingData, stumps: Stumps) -> PairProducts:
        """Return the sums over pairs of these documents."""
        return PairProducts(data.y, data.ptr, stumps)


@dataclass(eq=False)
class PairProducts:
    """Σ exp(f_j − f_i) over preference pairs, by sums over the grades of each query."""

    y: IntArray
    ptr: IntArray
    stumps: Stumps
    loss: float = 1.0

    @cached_property
    def _cells(self) -> tuple[IntArray, tuple[int, int]]:
        """The place of each document in a table of queries and grades, and its shape."""
        levels, code = np.unique(self.y, return_inverse=True)
        query = np.repeat(np.arange(len(self.ptr) - 1), np.diff(self.ptr))
        return query * len(levels) + code, (len(self.ptr) - 1, len(levels))

    def sums(self, f: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return Σ exp(f_j − f_i) over the pairs that each document wins, and over those it loses, (n,)."""
        cell, shape = self._cells
        f = f - np.repeat(np.maximum.reduceat(f, self.ptr[:-1]), np.diff(self.ptr))  # no overflow

        def below(v: FloatArray, step: int) -> FloatArray:
            table: FloatArray = np.bincount(cell, v, shape[0] * shape[1]).astype(np.float64)
            table = table.reshape(shape)[:, ::step]
            return (np.cumsum(table, axis=1) - table)[:, ::step].ravel()[cell]

        return np.exp(-f) * below(np.exp(f), 1), np.exp(f) * below(np.exp(-f), -1)

    @cached_property
    def n_pairs(self) -> float:
        """Number of preference pairs."""
        return float(self.sums(np.zeros(len(self.y)))[0].sum())

    def step(self, f: FloatArray) -> Step | None:
        """Return the next round; None if no threshold changes the order of a pair."""
        won, lost = self.sums(f)
        total = float(won.sum())
        found = None if total == 0 else self.stumps.best((won - lost) / total)
        if found is None or abs(found.total) < 1e-12:
            return None
        r = float(np.clip(found.total, -LARGEST, LARGEST))
        alpha = 0.5 * math.log((1.0 + r) / (1.0 - r))
        h = self.stumps.above(found)
        loss = float(self.sums(f + alpha * h)[0].sum()) / self.n_pairs
        return Step(found, alpha, loss, last=abs(r) == LARGEST)
