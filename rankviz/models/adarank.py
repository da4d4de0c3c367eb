"""AdaRank: boosting of single features by a measure of whole lists (xu2007)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rankviz.common.arrays import FloatArray
from rankviz.datasets.types import RankingData
from rankviz.models.linear_rounds import Copies, LinearRounds
from rankviz.models.rounds import MEASURE, PATIENCE, ROUNDS, Grown, Watch, shares
from rankviz.models.trees import Terms

SMALLEST = 1e-12
"""Least Σ P(1 − E): a feature that orders all queries perfectly would have an infinite α."""


@dataclass(eq=False, repr=False)
class AdaRank(LinearRounds):
    """AdaRank: each round adds α times one feature, to lower Σ exp(−E_q) over queries (xu2007).

    E_q is a measure of the list of a query, from 0 to 1. Queries have weights P_q, in proportion to
    exp(−E_q) of the present ranking. The feature has the largest Σ P_q E_q by itself, and
    α = ½ log(Σ P_q (1 + E_q) / Σ P_q (1 − E_q)). More of a feature always ranks higher, as in the paper. No
    feature is chosen twice in succession, unlike in the paper: the second time would change neither ranking
    nor weights, so it would be chosen for ever, as the best feature of OHSUMED and of MQ2008 would be.

    The trace has the mean of exp(−E_q) as `loss`. It may rise: E is no sum over features, as the paper's
    bound assumes.

    Parameters
    ----------
    n_rounds, patience : int
        Largest number of rounds, and rounds without a higher validation NDCG@10 before training ends.
    """

    n_rounds: int = 300
    patience: int = 50

    settings = (ROUNDS, PATIENCE)
    measure: ClassVar[str]

    def grow(self, parts: Sequence[RankingData], watch: Watch) -> Grown:
        """Measure each feature once, then boost."""
        train, d = Copies(parts[0], self.measure), parts[0].n_features
        alone = np.concatenate([train.by_query(column[None]) for column in parts[0].X.T])  # (d, Q)
        now = train.by_query(np.zeros((1, parts[0].n_documents)))[0]
        P = np.full(len(now), 1.0 / len(now))  # the paper begins with equal weights
        watch.rows[0]["loss"] = float(np.exp(-now).mean())
        w, changes = np.zeros(d), list[FloatArray]()
        for _ in range(self.n_rounds):
            change, value = np.zeros(d), alone @ P
            if changes and d > 1:
                value[changes[-1] != 0.0] = -np.inf
            best = int(value.argmax())
            E = alone[best]
            change[best] = 0.5 * math.log((P @ (1.0 + E)) / max(float(P @ (1.0 - E)), SMALLEST))
            changes.append(change)
            w += change
            scores = [part.X @ w for part in parts]
            weight = np.exp(-train.by_query(scores[0][None])[0])
            P = weight / weight.sum()
            if watch(scores, loss=float(weight.mean())):
                break
        return lambda kept: (Terms.of(changes[:kept]), shares(np.abs(changes[:kept]).sum(axis=0)))


class AdaRankNDCG(AdaRank):
    """AdaRank with NDCG@10: see `AdaRank`.

    Examples
    --------
    >>> from rankviz import AdaRankNDCG
    >>> from rankviz.datasets import make_data
    >>> data = make_data(n_queries=12, documents_per_query=(8, 20), seed=0)
    >>> AdaRankNDCG(n_rounds=20).fit(data.X, data.y, qid=data.qid).coef_.shape == (data.n_features,)
    True
    """

    measure = MEASURE
    traced = ("loss", "mean of exp(−NDCG@10) over queries")


class AdaRankMAP(AdaRank):
    """AdaRank with average precision: see `AdaRank`.

    Examples
    --------
    >>> from rankviz import AdaRankMAP
    >>> from rankviz.datasets import make_data
    >>> data = make_data(n_queries=12, documents_per_query=(8, 20), seed=0)
    >>> AdaRankMAP(n_rounds=20).fit(data.X, data.y, qid=data.qid).coef_.shape == (data.n_features,)
    True
    """

    measure = "MAP"
    traced = ("loss", "mean of exp(−AP) over queries")
