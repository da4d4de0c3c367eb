"""The risk of a loss of scores, with a Hessian diag(d) − u uᵀ in each query, or over all documents."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Self

import numpy as np
from scipy import sparse

from rankviz.common.arrays import FloatArray, IntArray
from rankviz.common.parallel import adjoint
from rankviz.learning.loss_facts import AnyLoss
from rankviz.learning.pairs import PLAIN, PairCosts, count_pairs, weighted_gram
from rankviz.learning.risk import ActivePairs
from rankviz.learning.score_losses import Queries, ScoreLoss, ScoreTerms

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
        d of the Hessian diag(d) − Σ u uᵀ.
    roots : tuple of ((n,) float64, Queries)
        Each with a vector u for every query, or for all documents as one block.
    """

    value: float
    gradient: FloatArray
    diagonal: FloatArray
    roots: tuple[tuple[FloatArray, Queries], ...]

    total_slope = 0.0

    @property
    def n_active(self) -> int:
        """Number of documents with curvature."""
        return int(np.count_nonzero(self.diagonal))

    @property
    def total_curvature(self) -> float:
        """Half the trace of the Hessian."""
        return 0.5 * float(self.diagonal.sum() - sum(u @ u for u, _ in self.roots))

    weight = total_curvature

    def hessian_product(self, v: FloatArray) -> FloatArray:
        """Return R v, (n,) -> (n,), in O(n)."""
        product: FloatArray = self.diagonal * v
        for u, blocks in self.roots:
            product -= u * blocks.spread(blocks.total(u * v))
        return product

    def gram(self, B: FloatArray) -> FloatArray:
        """Return the Gram matrix Bᵀ R B, (n, m) -> (m, m): O(n m²)."""
        n, gram = len(B), weighted_gram(B, self.diagonal)
        for u, blocks in self.roots:
            if len(blocks.sizes) == 1:
                sums = adjoint(B, u[:, None])
            else:
                members = sparse.csr_array((u, np.arange(n), blocks.ptr), shape=(len(blocks.sizes), n))
                sums = np.asarray(members @ B)
            gram -= sums.T @ sums
        return gram

    def sample_active(self, rng: np.random.Generator, size: int) -> ActivePairs:
        """Draw pairs and single documents whose differences have Bᵀ R B as their expected Gram matrix.

        With s = Σ_j u_j over the block, R is Σ_i (d_i − u_i s) e_i e_iᵀ and Σ_{i<j} u_i u_j (e_i − e_j)(e_i −
        e_j)ᵀ; two vectors u give two such sums of pairs. A single document has `NOBODY` as loser.
        """
        rows = [u * blocks.spread(blocks.total(u)) for u, blocks in self.roots]
        single = np.maximum(self.diagonal - sum(rows, np.zeros(len(self.diagonal))), 0.0)
        masses = np.concatenate([single, *(0.5 * row for row in rows)])
        cumulated = np.cumsum(masses)
        size = min(size, self.n_active)
        drawn = np.searchsorted(cumulated, cumulated[-1] * rng.random(size), side="right")
        kind, winner = np.divmod(np.minimum(drawn, len(masses) - 1), len(single))
        loser = np.full(size, NOBODY)
        for k, (u, blocks) in enumerate(self.roots, start=1):
            loser[kind == k] = _partners(rng, winner[kind == k], u, blocks)
        return ActivePairs(winner, loser, np.full(size, cumulated[-1] / max(self.n_active, 1)))


def _partners(rng: np.random.Generator, of: IntArray, u: FloatArray, blocks: Queries) -> IntArray:
    """Draw a document of the same block for each given one, in proportion to u."""
    sums, ptr = np.concatenate(([0.0], np.cumsum(u))), blocks.ptr
    block = np.searchsorted(ptr, of, side="right") - 1
    first, last = ptr[block], ptr[block + 1]
    aims = sums[first] + (sums[last] - sums[first]) * rng.random(len(of))
    return np.clip(np.searchsorted(sums, aims, side="right") - 1, first, last - 1)


@dataclass(frozen=True, eq=False)
class ScoreRisk:
    """A loss of scores, with weights of queries (see `rankviz.learning.risk.Risk`).

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
        """The queries of the documents, with their weights."""
        if self.costs.uniform:
            return Queries(self.ptr)
        return Queries(self.ptr, np.broadcast_to(self.costs.weight[:, 0, 0], len(self.ptr) - 1))

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
        """The risk at scores of 0, whose curvature is in the place of that of all pairs."""
        return self._at(np.zeros(len(self.y)))

    @property
    def total_cost(self) -> float:
        """Half the trace of the Hessian at equal scores."""
        return self.all_pairs.weight

    def with_loss(self, loss: AnyLoss) -> Self:
        """Return the risk of the same documents with another loss of scores; TypeError for one of pairs."""
        if not isinstance(loss, ScoreLoss):
            raise TypeError(f"the {loss.label} loss is a sum over pairs")
        return replace(self, loss=loss)

    @cached_property
    def _terms(self) -> Callable[[FloatArray], ScoreTerms]:
        return self.loss.prepared(self.y, self.queries)

    def thresholds(self, f: FloatArray) -> FloatArray | None:
        """Return the loss's thresholds at scores f (n,), see `ScoreLoss.thresholds`."""
        return self.loss.thresholds(f, self.y, self.queries)

    def at(self, f: FloatArray) -> ScoreRiskPoint:
        """Return the value, gradient and Hessian of the risk at scores f (n,), which must be finite."""
        return self._at(f) if f.any() else self.all_pairs

    def _at(self, f: FloatArray) -> ScoreRiskPoint:
        queries, weight = self.queries, self.queries.weights
        value, gradient, diagonal, root, intercepts = self._terms(f)
        if weight is not None and queries.weight is not None:
            value, gradient, diagonal = queries.weight * value, weight * gradient, weight * diagonal
            root = None if root is None else np.sqrt(weight) * root
            intercepts = tuple(weight * d for d in intercepts)
        roots = [] if root is None else [(root, queries)]
        whole = Queries(np.array([0, len(f)]))
        roots += [(d / np.sqrt(d.sum()), whole) for d in intercepts if d.any()]
        return ScoreRiskPoint(float(value.sum()), gradient, diagonal, tuple(roots))
