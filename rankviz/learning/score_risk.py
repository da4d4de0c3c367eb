"""The risk of a loss of scores: a sum over queries, with blocks diag(d) − u uᵀ as its Hessian."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from scipy import sparse

from rankviz.common.arrays import FloatArray, IntArray
from rankviz.learning.loss_facts import AnyLoss
from rankviz.learning.pairs import PLAIN, PairCosts, count_pairs, weighted_gram
from rankviz.learning.risk import ActivePairs
from rankviz.learning.score_losses import Queries, ScoreLoss

NOBODY = -1
"""In place of a pair's second document: the first one alone."""


@dataclass(frozen=True, eq=False)
class ScoreRiskPoint:
    """The risk at one vector of scores (see `rankviz.learning.risk.RiskPoint`); its terms are documents.

    Attributes
    ----------
    value : float
    gradient : (n,) float64
    diagonal : (n,) float64
        d of the Hessian diag(d) − u uᵀ, a block per query.
    root : (n,) float64
        u.
    queries : Queries
    """

    value: float
    gradient: FloatArray
    diagonal: FloatArray
    root: FloatArray
    queries: Queries

    total_slope = 0.0

    @property
    def n_active(self) -> int:
        """Number of documents with curvature."""
        return int(np.count_nonzero(self.diagonal))

    @property
    def total_curvature(self) -> float:
        """Half the trace of the Hessian."""
        return 0.5 * float(self.diagonal.sum() - self.root @ self.root)

    weight = total_curvature

    def hessian_product(self, v: FloatArray) -> FloatArray:
        """Return R v, (n,) -> (n,), in O(n)."""
        product: FloatArray = self.diagonal * v
        product -= self.root * self.queries.spread(self.queries.total(self.root * v))
        return product

    def gram(self, B: FloatArray) -> FloatArray:
        """Return the Gram matrix Bᵀ R B, (n, m) -> (m, m): O(n m²)."""
        n = len(B)
        members = sparse.csr_array(
            (self.root, np.arange(n), self.queries.ptr), shape=(len(self.queries.sizes), n)
        )
        sums = np.asarray(members @ B)
        gram: FloatArray = weighted_gram(B, self.diagonal) - sums.T @ sums
        return gram

    def sample_active(self, rng: np.random.Generator, size: int) -> ActivePairs:
        """Draw pairs and single documents whose differences have Bᵀ R B as their expected Gram matrix.

        With s = Σ_j u_j over the query, R is Σ_i (d_i − u_i s) e_i e_iᵀ and Σ_{i<j} u_i u_j (e_i − e_j)(e_i −
        e_j)ᵀ. A single document has `NOBODY` as loser.
        """
        total = self.queries.spread(self.queries.total(self.root))
        single = np.maximum(self.diagonal - self.root * total, 0.0)
        cumulated = np.cumsum(single + 0.5 * self.root * total)
        size = min(size, self.n_active)
        winner = np.searchsorted(cumulated, cumulated[-1] * rng.random(size), side="right")
        winner = np.minimum(winner, len(cumulated) - 1)
        mass = single[winner] + 0.5 * self.root[winner] * total[winner]
        alone = rng.random(size) * mass < single[winner]
        loser = np.where(alone, NOBODY, self._partners(rng, winner))
        return ActivePairs(winner, loser, np.full(size, cumulated[-1] / max(self.n_active, 1)))

    def _partners(self, rng: np.random.Generator, of: IntArray) -> IntArray:
        """Draw a document of the same query for each given one, in proportion to u."""
        sums, ptr = np.concatenate(([0.0], np.cumsum(self.root))), self.queries.ptr
        query = np.searchsorted(ptr, of, side="right") - 1
        first, last = ptr[query], ptr[query + 1]
        aims = sums[first] + (sums[last] - sums[first]) * rng.random(len(of))
        drawn = np.searchsorted(sums, aims, side="right") - 1
        return np.clip(drawn, first, last - 1)


@dataclass(frozen=True, eq=False)
class ScoreRisk:
    """Σ over queries of a loss of scores, times the weight of the query (see `rankviz.learning.risk.Risk`).

    Attributes
    ----------
    y : (n,) int64
        Relevance grades.
    ptr : (Q + 1,) int64
        Query offsets.
    loss : ScoreLoss
    costs : PairCosts
        Weights of queries, (Q, 1, 1) or (1, 1, 1).
    """

    y: IntArray
    ptr: IntArray
    loss: ScoreLoss
    costs: PairCosts = field(default=PLAIN)

    def __post_init__(self) -> None:
        """Raise ValueError for costs that differ between pairs of a query."""
        if self.costs.weight.shape[1:] != (1, 1) or self.costs.margin is not None:
            raise ValueError(f"the {self.loss.label} loss is no sum over pairs: it has no costs of pairs")

    @cached_property
    def queries(self) -> Queries:
        """The queries of the documents."""
        return Queries(self.ptr)

    @cached_property
    def n_pairs(self) -> int:
        """Number of preference pairs of the documents, for information."""
        return int(count_pairs(self.y, self.ptr).sum())

    @property
    def n_terms(self) -> int:
        """Number of documents."""
        return len(self.y)

    @cached_property
    def all_pairs(self) -> ScoreRiskPoint:
        """The curvature at equal scores, in the place of that of all pairs."""
        return self.at(np.zeros(len(self.y)))

    @property
    def total_cost(self) -> float:
        """Half the trace of the Hessian at equal scores."""
        return self.all_pairs.weight

    def with_loss(self, loss: AnyLoss) -> ScoreRisk:
        """Return the risk of the same documents with another loss of scores; TypeError for one of pairs."""
        if not isinstance(loss, ScoreLoss):
            raise TypeError(f"the {loss.label} loss is a sum over pairs")
        return replace(self, loss=loss)

    def at(self, f: FloatArray) -> ScoreRiskPoint:
        """Return the value, gradient and Hessian of the risk at scores f (n,), which must be finite."""
        value, gradient, diagonal, root = self.loss.terms(f, self.y, self.queries)
        root = np.zeros(len(f)) if root is None else root
        if not self.costs.uniform:
            of_query = np.broadcast_to(self.costs.weight[:, 0, 0], len(value))
            weight = self.queries.spread(of_query)
            value, gradient, diagonal = of_query * value, weight * gradient, weight * diagonal
            root = np.sqrt(weight) * root
        return ScoreRiskPoint(float(value.sum()), gradient, diagonal, root, self.queries)
