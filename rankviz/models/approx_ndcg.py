"""ApproxNDCG: NDCG with smooth ranks (qin2010a)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from rankviz.common.arrays import FloatArray, IntArray
from rankviz.common.settings import Positive, Setting, Steps
from rankviz.datasets.types import RankingData
from rankviz.learning.dcg import gains, ideal
from rankviz.learning.score_losses import Queries, ScoreTerms
from rankviz.models.smooth_ranker import SmoothLoss, SmoothRanker, blocks

TEMPERATURE = Setting(
    name="temperature",
    symbol="τ",
    label="Temperature, τ",
    domain=Positive(),
    default=0.1,
    help="Scores that differ by much more than τ have their true ranks. A small τ approximates NDCG more "
    "closely, and has more local minima.",
    key="temperature",
    offer=Steps((0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)),
)


@dataclass(frozen=True)
class ApproxNDCGLoss(SmoothLoss):
    """1 − Σ_i G_i/(Z log₂(1 + r_i)) for each query, with smooth ranks r_i = 1 + Σ_{j≠i} σ((f_j − f_i)/τ).

    G_i = 2^y − 1, Z the ideal DCG. As τ → 0 without equal scores, r_i becomes the rank and the loss 1 − NDCG
    of the whole list. Only relevant documents have a term.
    """

    temperature: float = 0.1

    label = "ApproxNDCG"
    formula = "1 − Σ_i G_i/(Z log₂(1 + r_i)), r_i = 1 + Σ_j σ((f_j − f_i)/τ)"
    settings = (TEMPERATURE,)

    def prepared(self, y: IntArray, queries: Queries) -> Callable[[FloatArray], ScoreTerms]:
        """Return the loss as a function of scores; the list of pairs is made once."""
        n, best, gain = len(y), ideal(y, queries.ptr), gains(y)
        own = np.flatnonzero(y > 0)
        query = np.arange(len(queries.sizes)).repeat(queries.sizes)[own]
        weight = gain[own] / best[query]
        first, start, other = blocks(own, query, queries.ptr)

        def terms(f: FloatArray) -> ScoreTerms:
            value, gradient = (best > 0).astype(np.float64), np.zeros(n)
            if len(own):
                share = expit((f[other] - f[first]) / self.temperature)
                rank = np.add.reduceat(share, start) + 0.5  # the document itself adds 1/2
                log = np.log1p(rank)
                value -= np.bincount(query, weight * np.log(2.0) / log, len(value))
                slope = weight * np.log(2.0) / ((1.0 + rank) * log * log * self.temperature)
                share *= 1.0 - share
                share *= slope.repeat(queries.sizes[query])
                gradient += np.bincount(other, share, n)
                gradient[own] -= np.add.reduceat(share, start)
            return ScoreTerms(value, gradient, np.zeros(n))

        return terms


@dataclass(eq=False, repr=False)
class ApproxNDCG(SmoothRanker):
    """ApproxNDCG: minimise ½‖w‖² + C Σ_q (1 − NDCG with smooth ranks), by L-BFGS from several starts.

    qin2010a trains a linear model by gradient steps without ½‖w‖². Not convex: see `SmoothRanker`.

    Parameters
    ----------
    temperature : float
        τ of the smooth ranks; others as in `RankSVM`.
    starts : int
        Number of starts.

    Examples
    --------
    >>> from rankviz import ApproxNDCG
    >>> from rankviz.datasets import make_data
    >>> data = make_data(n_queries=12, documents_per_query=(8, 20), seed=0)
    >>> model = ApproxNDCG(C=8.0).fit(data.X, data.y, qid=data.qid)
    >>> len(model.starts_), bool(model.objective_ == model.starts_.min())
    (3, True)
    """

    temperature: float = 0.1

    settings = (*SmoothRanker.settings, TEMPERATURE)

    def loss(self) -> SmoothLoss:
        """1 − NDCG with smooth ranks."""
        return ApproxNDCGLoss(float(self.temperature))

    def entries(self, data: RankingData) -> int:
        """Relevant documents times documents of their query."""
        return int((np.add.reduceat(data.y > 0, data.ptr[:-1], dtype=np.int64) * np.diff(data.ptr)).sum())
