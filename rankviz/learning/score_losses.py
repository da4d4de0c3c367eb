"""Losses of the scores of a query that are no sums over preference pairs: pointwise, listwise, all pairs.

To add one, derive a frozen dataclass from `ScoreLoss`, and enter it in `SCORE_LOSSES`. Every map, solver and
page then offers it.

A pointwise loss compares a score with a grade, so it needs an intercept. It is a constant that the grades of
the training part alone decide: the best prediction if all scores are 0. Scores stay w·φ(x), without an
intercept. NDCG does not depend on it; the weights do.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, logit

from rankviz.common.arrays import FloatArray, IntArray
from rankviz.common.settings import Setting, Share, Steps
from rankviz.learning.loss_facts import AnyLoss


@dataclass(frozen=True, eq=False)
class Queries:
    """Documents of queries with offsets ptr (Q + 1,)."""

    ptr: IntArray

    @cached_property
    def sizes(self) -> IntArray:
        """Number of documents of each query, (Q,)."""
        return np.diff(self.ptr)

    def total(self, v: FloatArray) -> FloatArray:
        """Return the sum over each query, (n,) -> (Q,)."""
        if len(v) == 0:
            return np.zeros(len(self.sizes))
        sums: FloatArray = np.add.reduceat(v, self.ptr[:-1])
        return sums

    def spread(self, u: FloatArray) -> FloatArray:
        """Return each document's number of its query, (Q,) -> (n,)."""
        return u.repeat(self.sizes)

    def centred(self, v: FloatArray) -> FloatArray:
        """Return v (n,) minus its mean over the query."""
        return v - self.spread(self.total(v) / self.sizes)

    def mean(self, v: ArrayLike, weights: FloatArray | None = None) -> float:
        """Return the mean of v (n,), each query counted with its weight (Q,)."""
        each = None if weights is None else self.spread(weights)
        return float(np.average(np.asarray(v, np.float64), weights=each)) if self.ptr[-1] else 0.0

    def softmax(self, f: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return exp(f_i)/Σ exp(f_j) over the query, (n,), and log Σ exp(f_j), (Q,)."""
        if len(f) == 0:
            return f, np.zeros(len(self.sizes))
        top = np.maximum.reduceat(f, self.ptr[:-1])
        e = np.exp(f - self.spread(top))
        total = self.total(e)
        return e / self.spread(total), top + np.log(total)


class ScoreTerms(NamedTuple):
    """A loss at scores f (n,): value of each query, gradient, and Hessian diag(diagonal) − root rootᵀ.

    Attributes
    ----------
    value : (Q,) float64
    gradient, diagonal : (n,) float64
    root : (n,) float64 or None
        One vector u per query; its block of the Hessian is diag(d) − u uᵀ. At least 0, with u_i Σ_j u_j ≤ d_i
        over the query. None for 0.
    """

    value: FloatArray
    gradient: FloatArray
    diagonal: FloatArray
    root: FloatArray | None = None


class ScoreLoss(AnyLoss):
    """A loss of the scores and grades of a query, with value, gradient and Hessian."""

    of_pairs = False
    convex = True
    smooth = True

    def prepared(self, y: IntArray, queries: Queries, weights: FloatArray | None = None) -> Self:
        """Return the loss with the constants that all grades y (n,) of the training part decide.

        `weights` (Q,) count each query so many times.
        """
        return self

    @abstractmethod
    def terms(self, f: FloatArray, y: IntArray, queries: Queries) -> ScoreTerms:
        """Return the loss at scores f (n,) of documents with grades y (n,)."""


@dataclass(frozen=True)
class LeastSquares(ScoreLoss):
    """Σ (y_i − b − f_i)² with b the mean grade: ridge regression on grades, because ½‖w‖² is added.

    Equals regression without a penalty in the limit of large C. `rankviz.learning.score_losses` says what the
    intercept b is.
    """

    offset: float = 0.0

    label = "least squares on grades"
    formula = "(y − b − f)², b the mean grade"
    family = "pointwise"
    shift_free = False
    quadratic = True
    curvature = 2.0

    def prepared(self, y: IntArray, queries: Queries, weights: FloatArray | None = None) -> LeastSquares:
        """Return the loss with the mean grade as intercept."""
        return replace(self, offset=queries.mean(y, weights))

    def terms(self, f: FloatArray, y: IntArray, queries: Queries) -> ScoreTerms:
        """Return the loss at scores f (n,) of documents with grades y (n,)."""
        error = f + self.offset - y
        return ScoreTerms(queries.total(error * error), 2.0 * error, np.full(len(f), 2.0))


@dataclass(frozen=True)
class LogisticRelevance(ScoreLoss):
    """Σ log(1 + e^s) − z·s with s = b + f, z = 1 for grades of at least 1 and 0 otherwise.

    The intercept b is the log odds of the relevant documents (see `rankviz.learning.score_losses`); 0 if all
    or none are relevant.
    """

    offset: float = 0.0

    label = "logistic on relevance"
    formula = "log(1 + e^−s) if y ≥ 1, else log(1 + e^s), s = b + f"
    family = "pointwise"
    shift_free = False
    curvature = 0.25

    def prepared(self, y: IntArray, queries: Queries, weights: FloatArray | None = None) -> LogisticRelevance:
        """Return the loss with the log odds of relevance as intercept."""
        share = queries.mean(y > 0, weights)
        return replace(self, offset=float(logit(share)) if 0.0 < share < 1.0 else 0.0)

    def terms(self, f: FloatArray, y: IntArray, queries: Queries) -> ScoreTerms:
        """Return the loss at scores f (n,) of documents with grades y (n,)."""
        s, sign = f + self.offset, np.where(y > 0, 1.0, -1.0)
        value = queries.total(np.logaddexp(0.0, -sign * s))
        return ScoreTerms(value, -sign * expit(-sign * s), expit(s) * expit(-s))


@dataclass(frozen=True)
class ListNet(ScoreLoss):
    """−Σ_j P_y(j) log P_f(j) for each query, with P_y = softmax(grades), P_f = softmax(f) (cao2007).

    Top-one probabilities, the form that the paper trains. The gradient is P_f − P_y, the Hessian
    diag(P_f) − P_f P_fᵀ.
    """

    label = "ListNet"
    formula = "−Σ_j softmax(y)_j log softmax(f)_j"
    family = "listwise"
    curvature = 0.25

    def terms(self, f: FloatArray, y: IntArray, queries: Queries) -> ScoreTerms:
        """Return the loss at scores f (n,) of documents with grades y (n,)."""
        aim, _ = queries.softmax(y.astype(np.float64))
        share, log_total = queries.softmax(f)
        value = log_total - queries.total(aim * f)
        return ScoreTerms(value, share - aim, share, share)


@dataclass(frozen=True)
class RankRLS(ScoreLoss):
    """Σ ((y_i − y_j) − (f_i − f_j))² over all pairs of documents of a query (pahikkala2009).

    Each unordered pair counts once, also pairs of one grade. With e = f − y and n documents the sum is
    n Σ (e_i − mean e)²: O(n), no pair is formed.
    """

    label = "RankRLS"
    formula = "(y_i − y_j − (f_i − f_j))² over all pairs"
    quadratic = True
    curvature = 2.0

    def terms(self, f: FloatArray, y: IntArray, queries: Queries) -> ScoreTerms:
        """Return the loss at scores f (n,) of documents with grades y (n,)."""
        error, n = queries.centred(f - y), queries.spread(queries.sizes.astype(np.float64))
        value = queries.sizes * queries.total(error * error)
        return ScoreTerms(value, 2.0 * n * error, 2.0 * n, np.full(len(f), np.sqrt(2.0)))


ALPHA = Setting(
    name="alpha",
    symbol="α",
    label="Share of the pointwise loss, α",
    domain=Share(),
    default=0.5,
    help="1: least squares on grades. 0: the same on differences of grades (RankRLS), times documents over "
    "pairs.",
    key="alpha",
    offer=Steps((0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0)),
)


@dataclass(frozen=True)
class CombinedRegression(ScoreLoss):
    """α·least squares on grades + (1 − α)·(n/p)·RankRLS: combined regression and ranking (sculley2010).

    Sculley averages either loss over its terms, n documents and p pairs; here both are multiplied by n, so
    that α = 1 is least squares on grades with the same C. p counts all pairs of documents of a query, as
    RankRLS does; Sculley leaves out pairs of one grade.

    Attributes
    ----------
    alpha : float
    offset : float
        The intercept of the pointwise part.
    ratio : float
        n/p.
    """

    alpha: float = 0.5
    offset: float = 0.0
    ratio: float = 1.0

    label = "CRR"
    formula = "α (y − b − f)² + (1 − α)(n/p) Σ (y_i − y_j − (f_i − f_j))²"
    family = "pointwise and pairwise"
    shift_free = False
    quadratic = True
    curvature = 2.0
    settings = (ALPHA,)

    def prepared(
        self, y: IntArray, queries: Queries, weights: FloatArray | None = None
    ) -> CombinedRegression:
        """Return the loss with the mean grade as intercept, and documents over pairs."""
        sizes = queries.sizes
        counted = np.ones(len(sizes)) if weights is None else weights
        pairs = float(counted @ (sizes * (sizes - 1) // 2))
        ratio = float(counted @ sizes) / pairs if pairs > 0 else 0.0
        return replace(self, offset=queries.mean(y, weights), ratio=ratio)

    def terms(self, f: FloatArray, y: IntArray, queries: Queries) -> ScoreTerms:
        """Return the loss at scores f (n,) of documents with grades y (n,)."""
        a, b = self.alpha, (1.0 - self.alpha) * self.ratio
        point, pair = LeastSquares(self.offset).terms(f, y, queries), RankRLS().terms(f, y, queries)
        assert pair.root is not None
        return ScoreTerms(
            a * point.value + b * pair.value,
            a * point.gradient + b * pair.gradient,
            a * point.diagonal + b * pair.diagonal,
            np.sqrt(b) * pair.root,
        )


SCORE_LOSSES: dict[str, ScoreLoss] = {
    "least_squares": LeastSquares(),
    "logistic_relevance": LogisticRelevance(),
    "listnet": ListNet(),
    "rankrls": RankRLS(),
    "crr": CombinedRegression(),
}
"""Losses of scores by their names in `RankSVM(loss=...)` and the app."""
