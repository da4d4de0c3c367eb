"""The risk over a list of pairs: any loss, O(p) time and memory."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from scipy import sparse

from rankviz.common.arrays import FloatArray, IntArray
from rankviz.learning.all_pairs import AllPairs
from rankviz.learning.costs import PLAIN, PairCosts
from rankviz.learning.losses import Loss
from rankviz.learning.pairs import PreferencePairs, grade_codes, preference_pairs
from rankviz.learning.risk_point import ActivePairs


@dataclass(frozen=True, eq=False)
class PairRiskPoint:
    """The risk at one vector of scores, with a list of its active pairs (see `RiskPoint`).

    Attributes
    ----------
    value : float
    gradient : (n,) float64
        ∂risk/∂f = Aᵀ(c·ℓ'(A f)).
    total_slope : float
    active : PreferencePairs
        The pairs in the Hessian (c·ℓ'' ≠ 0).
    curvature : (len(active),) float64
        Their c·ℓ''.
    """

    value: float
    gradient: FloatArray
    total_slope: float
    active: PreferencePairs
    curvature: FloatArray

    @property
    def n_active(self) -> int:
        """Number of pairs with c·ℓ'' ≠ 0."""
        return len(self.active)

    @property
    def total_curvature(self) -> float:
        """Σ_P c·ℓ''."""
        return float(self.curvature.sum())

    def hessian_product(self, v: FloatArray) -> FloatArray:
        """Return R v = Aᵀ diag(c·ℓ'') A v, (n,) -> (n,)."""
        return self.active.pull_back(self.curvature * self.active.margins(v))

    def hessian(self) -> sparse.csr_array:
        """Return R = Aᵀ diag(c·ℓ'') A as a sparse (n, n) matrix: the Laplacian of the active pairs."""
        i, j, n = self.active.winner, self.active.loser, self.active.n
        degree = np.bincount(i, self.curvature, n) + np.bincount(j, self.curvature, n)
        weights = sparse.coo_array((self.curvature, (i, j)), shape=(n, n)).tocsr()
        return sparse.csr_array(
            sparse.diags_array(degree.astype(np.float64, copy=False)) - weights - weights.T
        )

    def gram(self, B: FloatArray) -> FloatArray:
        """Return the Gram matrix Bᵀ R B, (n, m) -> (m, m): O(p m + n m²)."""
        gram: FloatArray = B.T @ (self.hessian() @ B)
        return gram

    def sample_active(self, rng: np.random.Generator, size: int) -> ActivePairs:
        """Draw at most `size` active pairs without replacement, in the order of the list."""
        drawn = np.sort(rng.choice(self.n_active, min(size, self.n_active), replace=False, shuffle=False))
        return ActivePairs(self.active.winner[drawn], self.active.loser[drawn], self.curvature[drawn])


@dataclass(frozen=True, eq=False)
class PairRisk:
    """Σ c_ij·ℓ(f_i − f_j) over explicit preference pairs (see `Risk`).

    Attributes
    ----------
    y : (n,) int64
        Relevance grades.
    ptr : (Q + 1,) int64
        Query offsets.
    loss : Loss
    costs : PairCosts
    """

    y: IntArray
    ptr: IntArray
    loss: Loss
    costs: PairCosts = field(default=PLAIN)

    @cached_property
    def pairs(self) -> PreferencePairs:
        """The preference pairs P."""
        return preference_pairs(self.y, self.ptr)

    @property
    def n_pairs(self) -> int:
        """Number of preference pairs p."""
        return len(self.pairs)

    @cached_property
    def all_pairs(self) -> AllPairs:
        """The Laplacian of all pairs."""
        return AllPairs(self.y, self.ptr, self.costs)

    @property
    def total_cost(self) -> float:
        """Σ_P c_ij."""
        return self.all_pairs.weight

    @cached_property
    def _weight(self) -> FloatArray | None:
        return None if self.costs.uniform else self.costs.weights(*self._indices)

    @cached_property
    def _margin(self) -> FloatArray | None:
        return None if self.costs.margin is None else self.costs.margins(*self._indices)

    @property
    def _indices(self) -> tuple[IntArray, IntArray, IntArray]:
        """Query and codes of both grades of each pair."""
        codes, i, j = grade_codes(self.y, self.ptr), self.pairs.winner, self.pairs.loser
        return codes.query[i], codes.code[i], codes.code[j]

    def with_loss(self, loss: Loss) -> PairRisk:
        """Return the risk of the same pairs with another loss; it shares their cached parts."""
        other = replace(self, loss=loss)
        vars(other).update({name: value for name, value in vars(self).items() if name != "loss"})
        return other

    def at(self, f: FloatArray) -> PairRiskPoint:
        """Return the value, gradient and Hessian of the risk at scores f (n,), which must be finite."""
        t = self.pairs.margins(f)
        value, slope, curvature = self._of_margins(t)
        index = np.flatnonzero(curvature)
        return PairRiskPoint(
            float(value.sum()),
            self.pairs.pull_back(slope),
            -float(slope.sum() if self._margin is None else self._margin @ slope),
            self.pairs.take(index),
            curvature[index],
        )

    def costs_of(self, at: slice | IntArray) -> FloatArray:
        """Return the weights w of the pairs at these positions in the list."""
        return np.ones(len(self.pairs.winner[at])) if self._weight is None else self._weight[at]

    def slopes(self, t: FloatArray, at: slice | IntArray) -> FloatArray:
        """Return ∂(loss of the pair)/∂t for the pairs at these positions in the list, with margins t."""
        if self._margin is None:
            slope = self.loss.derivative(t)
        else:
            slope = self._margin[at] * self.loss.derivative(t / self._margin[at])
        return slope if self._weight is None else self._weight[at] * slope

    def _of_margins(self, t: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return w·b²·ℓ(t/b) of each pair and its derivatives in t."""
        b, w = self._margin, self._weight
        t = t if b is None else t / b
        value, slope, curvature = self.loss.value(t), self.loss.derivative(t), self.loss.second_derivative(t)
        if b is not None:
            value, slope = b * b * value, b * slope
        return (value, slope, curvature) if w is None else (w * value, w * slope, w * curvature)
