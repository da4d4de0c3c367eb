"""The common interface of both forms of a risk.

See docs/decisions/0004-two-forms-of-a-risk.md.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol, Self

import numpy as np

from rankviz.common.arrays import FloatArray, IntArray
from rankviz.learning.all_pairs import AllPairs
from rankviz.learning.costs import PairCosts
from rankviz.learning.losses import Loss


class ActivePairs(NamedTuple):
    """Pairs with c·ℓ'' ≠ 0: document winner[k] is preferred to loser[k], curvature[k] = c·ℓ''(t)."""

    winner: IntArray
    loser: IntArray
    curvature: FloatArray


class RiskSums(Protocol):
    """Sums over preference pairs at one vector of scores."""

    @property
    def value(self) -> float:
        """risk(f)."""
        ...

    @property
    def total_slope(self) -> float:
        """Σ_P b_ij·α_ij/C with dual variables α_ij = −C ∂(loss of the pair)/∂t_ij and margins b_ij."""
        ...

    @property
    def total_curvature(self) -> float:
        """Σ_P c_ij·ℓ''(t_ij), half the trace of the Hessian R."""
        ...

    @property
    def n_active(self) -> int:
        """Number of pairs with c·ℓ'' ≠ 0."""
        ...


class RiskPoint(RiskSums, Protocol):
    """Value and derivatives of risk(f) = Σ_P c_ij·ℓ(f_i − f_j) at one vector of scores."""

    @property
    def gradient(self) -> FloatArray:
        """∂risk/∂f, (n,)."""
        ...

    def hessian_product(self, v: FloatArray) -> FloatArray:
        """Return R v = Aᵀ diag(c·ℓ'') A v, (n,) -> (n,)."""
        ...

    def gram(self, B: FloatArray) -> FloatArray:
        """Return the Gram matrix Bᵀ R B, (n, m) -> (m, m)."""
        ...

    def sample_active(self, rng: np.random.Generator, size: int) -> ActivePairs:
        """Draw at most `size` active pairs without replacement; return all if there are no more."""
        ...


class RiskFacts(Protocol):
    """Facts about a risk for solvers and training, local or distributed."""

    @property
    def costs(self) -> PairCosts:
        """The costs of pairs."""
        ...

    @property
    def loss(self) -> Loss:
        """ℓ."""
        ...

    @property
    def n_pairs(self) -> int:
        """Number of preference pairs p."""
        ...

    @property
    def total_cost(self) -> float:
        """Σ_P c_ij."""
        ...

    def with_loss(self, loss: Loss) -> Self:
        """Return the same risk with another loss, which it must support; prepared parts are shared."""
        ...


class Risk(RiskFacts, Protocol):
    """Σ_P c_ij·ℓ(f_i − f_j) over the preference pairs P of given documents."""

    @property
    def y(self) -> IntArray:
        """Relevance grades (n,)."""
        ...

    @property
    def ptr(self) -> IntArray:
        """Query offsets (Q + 1,)."""
        ...

    @property
    def all_pairs(self) -> AllPairs:
        """The Laplacian of all pairs."""
        ...

    def at(self, f: FloatArray) -> RiskPoint:
        """Return the value, gradient and Hessian of the risk at scores f (n,), which must be finite."""
        ...
