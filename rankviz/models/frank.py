"""FRank: boosting of thresholds by the fidelity loss of preference pairs (tsai2007)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.special import expit

from rankviz.common.arrays import FloatArray
from rankviz.common.errors import DataError
from rankviz.common.memory import megabytes
from rankviz.datasets.types import RankingData
from rankviz.learning.memory import default_budget
from rankviz.learning.pairs import PreferencePairs, count_pairs, preference_pairs
from rankviz.models.stumps import Step, StumpBoosting, Stumps, Threshold

PAIR_BYTES = 96
"""Bytes of a pair: two documents, its weight, and temporary numbers."""
SMOOTHING = 1e-12
"""Added to both sums of weights, so that α stays finite; it only makes α smaller."""


class FRank(StumpBoosting):
    """FRank: each round adds α·[x_j > θ] to lower the fidelity loss Σ_q 1/p_q Σ 1 − √P_ij over pairs.

    P_ij = 1/(1 + exp(f_j − f_i)), and p_q is the number of pairs of a query, so that queries count equally
    (tsai2007, algorithm 1). A pair has the weight W_ij = √P_ij (1 − P_ij)/p_q. A threshold has
    α = ½ log(W₊/W₋), with the weights of pairs that it orders rightly and wrongly; then the loss never rises.
    Each round takes the threshold with the least loss after its step. Pairs are listed.

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

    traced = ("loss", "fidelity loss 1 − √P, mean over queries")

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
        """Return the next round; None if no threshold lowers the loss.

        Thresholds are tried from the largest upper bound of what they lower on, until no bound is above the
        best; so the result is that of trying all.
        """
        margins = self.pairs.margins(f)
        P = expit(margins)
        root = np.sqrt(P)
        W = self.weight * root * (1.0 - P)
        most = float((1.0 / (root * (1.0 + root))).max(initial=0.0))
        tried, best = self._candidates(W, W * (0.5 - 1.5 * P), most), None
        for high, feature, k in tried:
            if best is not None and high < -best[0]:
                break
            alpha, lowers = self._tried(self.stumps.at(feature, k), margins, W)
            best = min(filter(None, (best, (-lowers, feature, k, alpha))))
        if best is None or -best[0] <= SMOOTHING:
            return None
        found = self.stumps.at(*best[1:3])
        return Step(found, best[3], self.at(f + best[3] * self.stumps.above(found)))

    def _tried(self, at: Threshold, margins: FloatArray, W: FloatArray) -> tuple[float, float]:
        """Return α of a threshold, and what its step takes from the loss."""
        order = self.pairs.margins(self.stumps.above(at).astype(np.int8))
        apart = np.flatnonzero(order)
        order, own, margins = order[apart], W[apart], margins[apart]
        alpha = step_of(own[order > 0].sum(), own[order < 0].sum())
        roots = np.sqrt(expit(margins + alpha * order)) - np.sqrt(expit(margins))
        return float(alpha), float(self.weight[apart] @ roots)

    def _candidates(self, W: FloatArray, slope: FloatArray, most: float) -> list[tuple[float, int, int]]:
        """Return an upper bound, feature and number of each threshold that may be the best; largest first.

        A pair gives ½∫w(m + t)dt over the step, with w = √P (1 − P) at margin m and `slope` w'. As
        w'/w = ½ − 3P/2 is in (−1, ½), w(m + t)/w(m) is at most e^(t/2) and at least e^−t for t > 0. `most` is
        the largest (1 − √P)/w: no pair gives more than its loss. As w''/w is in [−0.35, 1], w' gives a
        narrower bound for small steps.
        """
        rounding, least, bounds = SMOOTHING * W.sum(), 0.0, []
        for feature, net, both in self.stumps.crossed(self.pairs, W):
            won, lost = (np.maximum(0.5 * (both + sign * np.abs(net)), 0.0) for sign in (1.0, -1.0))
            a = step_of(won, lost)
            low = 0.5 * (won * -np.expm1(-a) - lost * np.expm1(a))
            high = np.minimum(won * np.expm1(0.5 * a), most * won) - lost * -np.expm1(-0.5 * a)
            e_won, e_lost = 8.0 * (np.expm1(0.5 * a) - 0.5 * a - 0.125 * a * a), np.expm1(a) - a - 0.5 * a * a
            narrow = 0.5 * a * np.abs(net) + 0.5 * won * e_won + 0.175 * lost * e_lost
            least = max(least, float(low.max()))
            bounds.append((feature, high, narrow, 0.25 * a * a))
        kept = [bound for bound in bounds if bound[1].max() + rounding >= least]
        bends = self.stumps.crossed(self.pairs, slope, [feature for feature, *_ in kept])
        found = []
        for (feature, high, narrow, factor), (_, _, bent) in zip(kept, bends, strict=True):
            high = np.minimum(high, narrow + factor * bent) + rounding
            found += [(float(high[k]), feature, int(k)) for k in np.flatnonzero(high >= least)]
        return sorted(found, key=lambda one: -one[0])


def step_of(won: Any, lost: Any) -> Any:
    """Return α = ½ log(W₊/W₋), finite."""
    return 0.5 * np.log((won + SMOOTHING) / (lost + SMOOTHING))
