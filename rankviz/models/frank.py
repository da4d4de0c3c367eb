"""FRank: boosting of thresholds by the fidelity loss of preference pairs (tsai2007)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy.special import expit

from rankviz.common.arrays import FloatArray
from rankviz.common.errors import DataError
from rankviz.common.memory import megabytes
from rankviz.datasets.types import RankingData
from rankviz.learning.memory import default_budget
from rankviz.learning.pairs import PreferencePairs, count_pairs, preference_pairs
from rankviz.models.stumps import Step, StumpBoosting, Stumps

PAIR_BYTES = 64
"""Bytes of a pair: two documents, its weight, and temporary numbers."""
SMOOTHING = 1e-12
"""Added to both sums of weights, so that α stays finite; it only makes α smaller."""


class FRank(StumpBoosting):
    """FRank: each round adds α·[x_j > θ] to lower the fidelity loss Σ_q 1/p_q Σ 1 − √P_ij over pairs.

    P_ij = 1/(1 + exp(f_j − f_i)), and p_q is the number of pairs of a query, so that queries count equally
    (tsai2007). A pair has the weight W_ij = √P_ij (1 − P_ij)/p_q. The threshold has the largest
    |Σ W_ij (h_i − h_j)|, the steepest descent; the paper tries every threshold by its loss instead.
    α = ½ log(W₊/W₋), with the weights of pairs that the threshold orders rightly and wrongly, as in the
    paper. Then the loss never rises. Pairs are listed.

    The trace has the loss, divided by the number of queries with pairs.

    Parameters
    ----------
    n_rounds, patience : int
        Largest number of rounds, and rounds without a higher validation NDCG@10 before training ends.
    thresholds : int
        Largest number of thresholds of a feature.

    Examples
    --------
    >>> from rankviz import FRank
    >>> from rankviz.datasets import make_data
    >>> data = make_data(n_queries=12, documents_per_query=(8, 20), seed=0)
    >>> model = FRank(n_rounds=20).fit(data.X, data.y, qid=data.qid)
    >>> bool((model.trace_["loss"].diff()[1:] < 0).all())
    True
    """

    def steps(self, data: RankingData, stumps: Stumps) -> Fidelity:
        """List the pairs of these documents."""
        counts = count_pairs(data.y, data.ptr)
        used = max(int(np.count_nonzero(counts)), 1)
        weight = np.repeat(1.0 / (np.maximum(counts, 1) * used), counts)
        return Fidelity(preference_pairs(data.y, data.ptr), weight, stumps)

    def refuse_large(self, parts: Sequence[RankingData]) -> int:
        """Count the list of pairs too."""
        need = super().refuse_large(parts)
        need += PAIR_BYTES * int(count_pairs(parts[0].y, parts[0].ptr).sum())
        if need > default_budget():
            raise DataError(
                f"FRank lists its pairs, and needs about {megabytes(need)} of memory",
                expected=f"at most {megabytes(default_budget())}",
                remedy="Choose RankBoost, which needs no list, or fewer documents.",
            )
        return need


@dataclass(eq=False)
class Fidelity:
    """Σ D_ij (1 − √P_ij) over listed pairs, with weights D that sum to 1."""

    pairs: PreferencePairs
    weight: FloatArray
    stumps: Stumps
    loss: float = field(init=False)

    def __post_init__(self) -> None:
        """Compute the loss at equal scores."""
        self.loss = self.at(np.zeros(self.pairs.n))

    def at(self, f: FloatArray) -> float:
        """Return the loss at scores f (n,)."""
        return float(self.weight @ (1.0 - np.sqrt(expit(self.pairs.margins(f)))))

    def step(self, f: FloatArray) -> Step | None:
        """Return the next round; None if no threshold lowers the loss."""
        P = expit(self.pairs.margins(f))
        W = self.weight * np.sqrt(P) * (1.0 - P)
        found = self.stumps.best(self.pairs.pull_back(W))
        if found is None or abs(found.total) <= 1e-12 * W.sum():
            return None
        h = self.stumps.above(found)
        order = self.pairs.margins(h)
        right, wrong = (float(W[order == sign].sum()) + SMOOTHING for sign in (1.0, -1.0))
        alpha = 0.5 * math.log(right / wrong)
        return Step(found, alpha, self.at(f + alpha * h))
