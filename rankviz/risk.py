"""The empirical risk of scores: scores f (n,) -> value, gradient (n,), Hessian product (n,) -> (n,).

risk(f) = Σ_{(i,j) ∈ P} ℓ(f_i − f_j). It knows documents and pairs, and neither features nor kernels.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse

from rankviz._typing import FloatArray, IntArray
from rankviz.losses import Loss
from rankviz.pairs import PreferencePairs, grade_groups, preference_pairs


@dataclass(frozen=True, eq=False)
class RiskPoint:
    """What is known of the risk at one vector of scores.

    Attributes
    ----------
    value : float
        risk(f).
    gradient : (n,) float64
        ∂risk/∂f = Aᵀℓ'(A f).
    active : PreferencePairs
        The pairs that enter the Hessian (ℓ'' ≠ 0).
    curvature : (len(active),) float64
        Their ℓ''.
    """

    value: float
    gradient: FloatArray
    active: PreferencePairs
    curvature: FloatArray

    def hessian_product(self, v: FloatArray) -> FloatArray:
        """R v = Aᵀ diag(ℓ'') A v, (n,) -> (n,)."""
        return self.active.pull_back(self.curvature * self.active.margins(v))

    def hessian(self) -> sparse.csr_array:
        """R = Aᵀ diag(ℓ'') A as a sparse (n, n) matrix: the weighted Laplacian of the active pairs."""
        i, j, n = self.active.winner, self.active.loser, self.active.n
        degree = np.bincount(i, self.curvature, n) + np.bincount(j, self.curvature, n)
        weights = sparse.coo_array((self.curvature, (i, j)), shape=(n, n)).tocsr()
        return sparse.csr_array(sparse.diags_array(degree) - weights - weights.T)


@dataclass(frozen=True, eq=False)
class PairRisk:
    """Σ ℓ(f_i − f_j) over explicit preference pairs; any loss, O(p) time and memory.

    Attributes
    ----------
    y : (n,) int64
        Relevance grades.
    ptr : (Q + 1,) int64
        Query offsets.
    loss : Loss
    """

    y: IntArray
    ptr: IntArray
    loss: Loss

    @cached_property
    def pairs(self) -> PreferencePairs:
        """The preference pairs P."""
        return preference_pairs(self.y, self.ptr)

    @property
    def n_pairs(self) -> int:
        """Number of preference pairs p."""
        return len(self.pairs)

    def at(self, f: FloatArray) -> RiskPoint:
        """Value, gradient and Hessian of the risk at scores f (n,), which must be finite."""
        t = self.pairs.margins(f)
        curvature = self.loss.second_derivative(t)
        index = np.flatnonzero(curvature)
        return RiskPoint(
            float(self.loss.value(t).sum()),
            self.pairs.pull_back(self.loss.derivative(t)),
            self.pairs.take(index),
            curvature[index],
        )

    def all_pairs_gram(self, B: FloatArray) -> FloatArray:
        """Gram matrix Bᵀ L₀ B of the all-pairs Laplacian L₀ = AᵀA, (n, m) -> (m, m), without pairs.

        Bᵀ diag(δ) B − Σ_q (S_q S_qᵀ − Σ_g S_qg S_qgᵀ) with δ_i = n_q − n_{q, y_i} and S the sums of rows
        of B over queries and over (query, grade).
        """
        groups, n_q = grade_groups(self.y, self.ptr), np.diff(self.ptr)
        delta = np.empty(len(self.y))
        delta[groups.order] = (n_q[groups.query] - groups.size)[groups.group]
        S_grade = np.add.reduceat(B[groups.order], groups.start, axis=0)
        S_query = np.add.reduceat(B, self.ptr[:-1], axis=0)
        weighted = B * np.sqrt(delta)[:, None]
        gram: FloatArray = weighted.T @ weighted - S_query.T @ S_query + S_grade.T @ S_grade
        return gram
