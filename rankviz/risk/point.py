"""The interface of a risk, whichever way it is computed.

See docs/decisions/0004-two-forms-of-a-risk.md.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol, Self

import numpy as np

from rankviz.common.arrays import FloatArray, IntArray
from rankviz.risk.all_pairs import AllPairs
from rankviz.risk.costs import PairCosts
from rankviz.risk.losses import Loss


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
        """Σ_P b_ij·α_ij/C with α_ij = −C ∂(loss of the pair)/∂t_ij its dual variable and b_ij its margin."""
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
        """R v = Aᵀ diag(c·ℓ'') A v, (n,) -> (n,)."""
        ...

    def gram(self, B: FloatArray) -> FloatArray:
        """Gram matrix Bᵀ R B, (n, m) -> (m, m)."""
        ...

    def sample_active(self, rng: np.random.Generator, size: int) -> ActivePairs:
        """At most `size` active pairs, drawn without replacement; all of them where there are no more."""
        ...


class RiskFacts(Protocol):
    """What solvers and training ask of a risk, wherever its documents are."""

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
        """The same risk with another loss, which it must be able to serve; what it has prepared is shared."""
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
        """Value, gradient and Hessian of the risk at scores f (n,), which must be finite."""
        ...
