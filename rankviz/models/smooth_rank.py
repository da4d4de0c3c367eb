"""SmoothRank: NDCG with soft assignments to ranks, and annealed smoothing (chapelle2010a)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from rankviz.common.arrays import FloatArray, IntArray
from rankviz.common.settings import Positive, Setting, Steps, Whole
from rankviz.datasets.types import RankingData
from rankviz.learning.dcg import discounts, gains, ideal, places
from rankviz.learning.score_losses import Queries, ScoreTerms
from rankviz.models.smooth_ranker import SmoothLoss, SmoothRanker, blocks

WIDEST = 16
"""Annealing begins with σ times this, and halves it."""

REGRESSION_C = 2.0**-6
"""C of the regression w₀, per document."""

SIGMA = Setting(
    name="sigma",
    symbol="σ",
    label="Smoothing, σ",
    domain=Positive(),
    default=0.1,
    help="Width of the soft assignment to ranks at the end; training begins with 16 σ and halves it. A small "
    "σ approximates NDCG more closely.",
    key="sigma",
    offer=Steps((0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)),
)

CUTOFF = Setting(
    name="cutoff",
    symbol="cut-off",
    label="Cut-off of NDCG",
    domain=Whole(0, 2_147_483_647),
    default=10,
    help="Training smooths NDCG of so many first ranks. 0 stands for the whole list, which takes longer.",
    key="cutoff",
    offer=Steps((0, 1, 3, 5, 10, 20, 50)),
    caption=lambda k: f"NDCG@{k}" if k else "NDCG of the whole list",
)


@dataclass(frozen=True)
class SmoothRankLoss(SmoothLoss):
    """1 − (1/Z) Σ_i D_i Σ_j G_j h_ij for each query, with h_ij ∝ exp(−(f_j − f_d(i))²/(2σ²)), Σ_j h_ij = 1.

    d(i) is the document at rank i ≤ cutoff, D_i = 1/log₂(1 + i), G_j = 2^y − 1. As σ → 0 without equal
    scores, h assigns document d(i) to rank i, and the loss becomes 1 − NDCG@cutoff. The derivative jumps
    where two scores are equal.
    """

    sigma: float = 0.1
    cutoff: int = 10

    label = "SmoothRank"
    formula = "1 − Σ_i D_i Σ_j G_j h_ij/Z, h_ij ∝ exp(−(f_j − f_d(i))²/(2σ²))"
    settings = (SIGMA, CUTOFF)

    @property
    def smoothing(self) -> float:  # type: ignore[override]  # it is σ
        """σ."""
        return self.sigma

    def stages(self) -> tuple[SmoothRankLoss, ...]:
        """Return the losses of annealing: σ times 16, 8, 4, 2 and 1."""
        factors = [2**k for k in range(WIDEST.bit_length() - 1, -1, -1)]
        return tuple(replace(self, sigma=factor * self.sigma) for factor in factors)

    def prepared(self, y: IntArray, queries: Queries) -> Callable[[FloatArray], ScoreTerms]:
        """Return the loss as a function of scores."""
        n, gain, best = len(y), gains(y), ideal(y, queries.ptr, self.cutoff)
        there = best > 0
        inverse = np.divide(1.0, best, out=np.zeros_like(best), where=there)
        whole = int(queries.sizes.max(initial=1))
        most = min(self.cutoff or whole, whole)
        query = np.arange(len(queries.sizes)).repeat(queries.sizes)
        # the ranks that count, and all documents for each, do not depend on scores
        ranks = places(np.zeros(n), queries.ptr)[1]
        counted = np.flatnonzero((ranks < most) & there[query])
        query, weight = query[counted], inverse[query[counted]] * discounts(most)[ranks[counted]]
        place, start, other = blocks(counted, query, queries.ptr)
        length = queries.sizes[query]

        def terms(f: FloatArray) -> ScoreTerms:
            value, gradient = there.astype(np.float64), np.zeros(n)
            if len(counted):
                order = places(f, queries.ptr)[0]
                away = (f[other] - f[order[place]]) / self.sigma
                h = np.exp(-0.5 * away * away)
                h /= np.add.reduceat(h, start).repeat(length)  # d(i) itself adds 1 to the sum
                expected = np.add.reduceat(h * gain[other], start)
                value -= np.bincount(query, weight * expected, len(value))
                h *= (gain[other] - expected.repeat(length)) * away
                h *= (weight / self.sigma).repeat(length)
                gradient += np.bincount(other, h, n)
                gradient[order[counted]] -= np.add.reduceat(h, start)
            return ScoreTerms(value, gradient, np.zeros(n))

        return terms


@dataclass(eq=False, repr=False)
class SmoothRank(SmoothRanker):
    """SmoothRank: minimise ½‖w − w₀‖² + C Σ_q (1 − NDCG with soft ranks), annealed, from several starts.

    w₀ is a regression (with `REGRESSION_C`), from which chapelle2010a starts. With ½‖w‖² training could
    end at w = 0, where the gradient vanishes: a wide σ hardly tells scores apart. Not convex:
    see `SmoothRanker`.

    Parameters
    ----------
    sigma : float
        σ at the end of annealing; others as in `RankSVM`.
    cutoff : int
        Ranks of NDCG; 0 for the whole list.
    starts : int
        Number of starts.

    Examples
    --------
    >>> from rankviz import SmoothRank
    >>> from rankviz.datasets import make_data
    >>> data = make_data(n_queries=12, documents_per_query=(8, 20), seed=0)
    >>> model = SmoothRank(C=8.0, starts=2).fit(data.X, data.y, qid=data.qid)
    >>> sorted(model.trace_["smoothing"].unique().round(2).tolist())
    [0.1, 0.2, 0.4, 0.8, 1.6]
    """

    sigma: float = 0.1
    cutoff: int = 10

    settings = (*SmoothRanker.settings, SIGMA, CUTOFF)
    around = REGRESSION_C

    def loss(self) -> SmoothLoss:
        """1 − NDCG with soft assignments to ranks."""
        return SmoothRankLoss(float(self.sigma), int(self.cutoff))

    def entries(self, data: RankingData) -> int:
        """Ranks that count times documents of their query."""
        sizes = np.diff(data.ptr)
        return int((np.minimum(sizes, self.cutoff or sizes) * sizes).sum())
