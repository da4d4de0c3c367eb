"""Losses of the scores of a query that are no sums over preference pairs: pointwise, listwise, all pairs.

To add one, derive a frozen dataclass from `ScoreLoss`, and enter it in `SCORE_LOSSES`. Every map, solver and
page then offers it.

A pointwise loss compares a score with a grade, so it has an intercept b, one number for all queries, without
a penalty. For any scores it is the best b, found exactly, so the loss is min_b Σ ℓ(y_i, b + f_i): a function
of the scores alone, convex like ℓ. Its gradient is that of ℓ at the best b. With d = ℓ'' its Hessian is
diag(d) − d dᵀ/Σd, over all documents. Rankings do not depend on b, so the model does not keep it; the weights
do.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.special import logit

from rankviz.common.arrays import BoolArray, FloatArray, IntArray
from rankviz.common.settings import Setting, Share, Steps
from rankviz.learning.loss_facts import AnyLoss


@dataclass(frozen=True, eq=False)
class Queries:
    """Documents of queries with offsets ptr (Q + 1,), and the weight of each query (Q,), None for 1."""

    ptr: IntArray
    weight: FloatArray | None = None

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

    @cached_property
    def weights(self) -> FloatArray | None:
        """The weight of each document's query, (n,); None for 1."""
        return None if self.weight is None else self.spread(self.weight)

    def weighted(self, v: FloatArray) -> float:
        """Return the sum of v (n,) times the weights."""
        return float(v.sum() if self.weights is None else self.weights @ v)

    @cached_property
    def total_weight(self) -> float:
        """The sum of the weights of all documents."""
        return float(self.ptr[-1] if self.weights is None else self.weights.sum())

    def mean(self, v: FloatArray) -> float:
        """Return the weighted mean of v (n,)."""
        return self.weighted(v) / max(self.total_weight, math.ulp(0.0))

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
    intercepts : tuple of (n,) float64
        For each intercept the part d of the diagonal that it moves: the Hessian has −d dᵀ/Σd too.
    """

    value: FloatArray
    gradient: FloatArray
    diagonal: FloatArray
    root: FloatArray | None = None
    intercepts: tuple[FloatArray, ...] = ()


class ScoreLoss(AnyLoss):
    """A loss of the scores and grades of queries, with value, gradient and Hessian."""

    of_pairs = False
    convex = True
    smooth = True

    @abstractmethod
    def terms(self, f: FloatArray, y: IntArray, queries: Queries) -> ScoreTerms:
        """Return the loss at scores f (n,) of documents with grades y (n,), before weights of queries."""

    def prepared(self, y: IntArray, queries: Queries) -> Callable[[FloatArray], ScoreTerms]:
        """Return `terms` as a function of scores; losses may compute what does not depend on them."""
        return lambda f: self.terms(f, y, queries)

    def thresholds(self, f: FloatArray, y: IntArray, queries: Queries) -> FloatArray | None:
        """Return grades and the thresholds of scores for them, (K, 2); None for a loss that has none."""
        return None


@dataclass(frozen=True)
class LeastSquares(ScoreLoss):
    """min_b Σ (y_i − b − f_i)²: ridge regression on grades, because ½‖w‖² is added.

    Equals regression without a penalty in the limit of large C. The module says what b is: here the mean of
    y − f.
    """

    label = "least squares on grades"
    formula = "(y − b − f)² with the best b"
    family = "pointwise"
    by_query = False
    quadratic = True
    curvature = 2.0

    def terms(self, f: FloatArray, y: IntArray, queries: Queries) -> ScoreTerms:
        """Return the loss at scores f (n,) of documents with grades y (n,), before weights of queries."""
        error, bend = f - y, np.full(len(f), 2.0)
        error -= queries.mean(error)
        return ScoreTerms(queries.total(error * error), 2.0 * error, bend, intercepts=(bend,))


@dataclass(frozen=True)
class LogisticRelevance(ScoreLoss):
    """min_b Σ log(1 + e^s) − z·s, s = b + f, with z = 1 for grades of at least 1 and 0 otherwise.

    The module says what b is. If all documents are relevant, or none, b is infinite and the loss 0.
    """

    label = "logistic on relevance"
    formula = "log(1 + e^−s) if y ≥ 1, else log(1 + e^s), s = b + f with the best b"
    family = "pointwise"
    by_query = False
    curvature = 0.25

    def terms(self, f: FloatArray, y: IntArray, queries: Queries) -> ScoreTerms:
        """Return the loss at scores f (n,) of documents with grades y (n,), before weights of queries."""
        return _logistic_terms(f, [y > 0], queries)


@dataclass(frozen=True)
class OrdinalThresholds(ScoreLoss):
    """min_θ Σ_i Σ_g log(1 + e^±(θ_g − f_i)): + if y_i ≥ g, − if not: all thresholds (rennie2005).

    Each grade g of the documents, except the lowest, has a threshold θ_g: scores above it speak for grades of
    at least g. A document pays at all thresholds. At any scores the sum falls into one part for each θ_g,
    with the intercept b = −θ_g of the module. Fewer documents reach a higher grade, so its threshold is
    higher: θ ascends. With two grades it is logistic regression with an intercept.
    """

    label = "ordinal thresholds"
    formula = "Σ_g log(1 + e^(θ_g − f)) if y ≥ g, else log(1 + e^(f − θ_g)), with the best θ"
    family = "pointwise"
    by_query = False
    curvature = 250.0  # of 1,000 thresholds: metrics take no larger grade

    def terms(self, f: FloatArray, y: IntArray, queries: Queries) -> ScoreTerms:
        """Return the loss at scores f (n,) of documents with grades y (n,), before weights of queries."""
        return _logistic_terms(f, [y >= g for g in np.unique(y)[1:]], queries)

    def thresholds(self, f: FloatArray, y: IntArray, queries: Queries) -> FloatArray:
        """Return grades and their thresholds θ, (K, 2)."""
        rows = [(float(g), -_log_odds(f, y >= g, queries)) for g in np.unique(y)[1:]]
        return np.array(rows).reshape(-1, 2)


def _logistic_terms(f: FloatArray, levels: Sequence[BoolArray], queries: Queries) -> ScoreTerms:
    """Return Σ over levels of logistic regression on belonging to it (n,), each with its best intercept."""
    value, gradient, diagonal = np.zeros(len(queries.sizes)), np.zeros(len(f)), np.zeros(len(f))
    bends: list[FloatArray] = []
    for above in levels:
        if above.all() or not above.any():
            continue
        s = f + _log_odds(f, above, queries)
        p, q, e = _sigmoid(s)
        bend = p * q
        value += queries.total(np.log1p(e) + np.maximum(np.where(above, -s, s), 0.0))
        gradient += np.where(above, -q, p)
        diagonal += bend
        bends.append(bend)
    return ScoreTerms(value, gradient, diagonal, intercepts=tuple(bends))


def _sigmoid(s: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return 1/(1 + e^−s), 1/(1 + e^s) and e^−|s| of s (n,), all to full precision, from one exponential."""
    e = np.exp(-np.abs(s))
    high = 1.0 / (1.0 + e)
    low, positive = e * high, s > 0
    return np.where(positive, high, low), np.where(positive, low, high), e


def _log_odds(f: FloatArray, relevant: BoolArray, queries: Queries) -> float:
    """Return b with the mean of 1/(1 + e^−(b + f)) equal to the share of relevant documents.

    The mean rises with b; Newton steps outside the bracket are replaced by bisection.
    """
    share = queries.mean(relevant.astype(np.float64))
    low, high = float(logit(share) - f.max()), float(logit(share) - f.min())
    b = min(max(float(logit(share)) - queries.mean(f), low), high)
    for _ in range(MOST_STEPS):
        p, q, _ = _sigmoid(f + b)
        excess, slope = queries.mean(p) - share, queries.mean(p * q)
        if abs(excess) <= 4 * np.spacing(share):  # rounding; bisection would leave b again
            return b
        low, high = (low, b) if excess > 0 else (b, high)
        step = b - excess / slope if slope > 0 else math.inf
        following = step if low < step < high else 0.5 * (low + high)
        if abs(following - b) <= 4 * np.spacing(abs(b) + 1.0):
            return following
        b = following
    return b


MOST_STEPS = 200
"""Bisection alone then reaches rounding."""


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
        """Return the loss at scores f (n,) of documents with grades y (n,), before weights of queries."""
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
        """Return the loss at scores f (n,) of documents with grades y (n,), before weights of queries."""
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
    """

    alpha: float = 0.5

    label = "CRR"
    formula = "α (y − b − f)² + (1 − α)(n/p) Σ (y_i − y_j − (f_i − f_j))²"
    family = "pointwise and pairwise"
    by_query = False
    quadratic = True
    curvature = 2.0
    settings = (ALPHA,)

    def terms(self, f: FloatArray, y: IntArray, queries: Queries) -> ScoreTerms:
        """Return the loss at scores f (n,) of documents with grades y (n,), before weights of queries."""
        point, pair = LeastSquares().terms(f, y, queries), RankRLS().terms(f, y, queries)
        assert pair.root is not None
        # each document of a query of size n is in n − 1 pairs, which it shares
        pairs = queries.weighted(0.5 * (queries.spread(queries.sizes.astype(np.float64)) - 1.0))
        a, b = self.alpha, (1.0 - self.alpha) * queries.weighted(np.ones(len(f))) / max(pairs, 1.0)
        return ScoreTerms(
            a * point.value + b * pair.value,
            a * point.gradient + b * pair.gradient,
            a * point.diagonal + b * pair.diagonal,
            np.sqrt(b) * pair.root,
            (a * point.diagonal,),
        )


SCORE_LOSSES: dict[str, ScoreLoss] = {
    "least_squares": LeastSquares(),
    "logistic_relevance": LogisticRelevance(),
    "ordinal": OrdinalThresholds(),
    "listnet": ListNet(),
    "rankrls": RankRLS(),
    "crr": CombinedRegression(),
}
"""Losses of scores by their names in `RankSVM(loss=...)` and the app."""
