"""The risk of scores: its interface, the form that lists the pairs, and the limits of smoothed losses.

`PairRisk` takes any loss, in O(p) time and memory. `rankviz.learning.sorted_risk` has the other form.

See docs/decisions/0004-two-forms-of-a-risk.md.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple, Protocol, Self, TypeVar

import numpy as np
from scipy import sparse

from rankviz.common.arrays import FloatArray, IntArray
from rankviz.learning.loss_facts import AnyLoss
from rankviz.learning.losses import LOSSES, Loss, SmoothedHinge
from rankviz.learning.pairs import PLAIN, AllPairs, PairCosts, PreferencePairs, grade_codes, preference_pairs


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


class Curvature(Protocol):
    """The curvature that the closed-form preconditioner assumes, up to a factor."""

    @property
    def weight(self) -> float:
        """Half its trace."""
        ...

    def gram(self, B: FloatArray) -> FloatArray:
        """Return its Gram matrix with B, (n, m) -> (m, m)."""
        ...


class RiskFacts(Protocol):
    """Facts about a risk for solvers and training, local or distributed."""

    @property
    def costs(self) -> PairCosts:
        """The costs of pairs."""
        ...

    @property
    def loss(self) -> AnyLoss:
        """ℓ."""
        ...

    @property
    def n_pairs(self) -> int:
        """Number of preference pairs p."""
        ...

    @property
    def n_terms(self) -> int:
        """Number of terms of the risk, of which some are active: preference pairs, or documents."""
        ...

    @property
    def total_cost(self) -> float:
        """Σ_P c_ij."""
        ...

    def with_loss(self, loss: Any) -> Self:
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
    def all_pairs(self) -> Curvature:
        """The Laplacian of all pairs, or the curvature at equal scores of a loss of scores."""
        ...

    def at(self, f: FloatArray) -> RiskPoint:
        """Return the value, gradient and Hessian of the risk at scores f (n,), which must be finite."""
        ...


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

    @property
    def n_terms(self) -> int:
        """Number of preference pairs p."""
        return self.n_pairs

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

    def with_loss(self, loss: Loss) -> Self:
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


R = TypeVar("R", bound=RiskFacts)

TRUSTED = 100.0
"""A slack of at least this many times its possible rounding error is accepted as computed."""
LISTED = 16
"""Most pairs in the smoothed zone per document for summing a slack near rounding pair by pair."""


def adapted_risk(risk: R, C: float) -> R:
    """Return the risk trained at C: he2009's smooth hinge computes its η from C and Σc_ij."""
    loss = risk.loss.at(C, lambda: risk.total_cost)
    return risk if loss is risk.loss else risk.with_loss(loss)


def smoothed_risk(risk: R, h: float) -> R:
    """Return the risk of the hinge smoothed over h."""
    return risk.with_loss(SmoothedHinge(h))


def limit_of(risk: Risk, f: FloatArray, point: RiskPoint) -> tuple[float, float]:
    """Return Σ c·ℓ of the approximated loss at scores f (n,), and the slack that smoothing adds.

    A smoothed hinge approximates the hinge. With its slopes s_ij = −ℓ'(t_ij) as dual variables over C, the
    duality gap exceeds ½‖∇‖² by C·slack, with slack = Σ c(max(0, 1 − t) − s(1 − t)). Every other loss has
    slack 0.
    """
    if not isinstance(risk.loss, SmoothedHinge):
        return point.value, 0.0
    # The squared hinge has −ℓ' = 2·max(0, 1 − t), so half its total slope is Σ c·max(0, 1 − t).
    hinge = 0.5 * risk.with_loss(LOSSES["squared_hinge"]).at(f).total_slope
    slack = hinge - point.total_slope - float(f @ point.gradient)
    width = risk.loss.zones[0].width
    noise = _rounding(risk, f, width)
    if slack >= TRUSTED * noise:
        return hinge, slack
    if point.n_active <= LISTED * len(f):
        return hinge, _listed_slack(risk, f, point, width)
    return hinge, max(slack, 0.0) + noise


def _rounding(risk: Risk, f: FloatArray, width: float) -> float:
    """Bound the rounding error of Σ_i f_i·∂risk/∂f_i, a term of the slack.

    Slopes are differences of cumulative sums over the documents, divided by the width h. Each such sum is at
    most S = Σ_i (1 + |f_i − f_first|), so a slope errs by about ε·S/h, and the sum over documents by ε·S²/h.
    """
    first = np.repeat(risk.ptr[:-1], np.diff(risk.ptr))
    size = float((1.0 + np.abs(f - f[first])).sum())
    return float(np.finfo(np.float64).eps) * size * size * risk.costs.largest / width


def _listed_slack(risk: Risk, f: FloatArray, point: RiskPoint, width: float) -> float:
    """Sum the slack over the pairs in the smoothed zone, without cancellation of large numbers.

    With v = b − t in (0, bh), margin b and curvature κ = c/h it is κ·v·(bh − v); outside the zone it is 0.
    """
    winner, loser, curvature = point.sample_active(np.random.default_rng(0), point.n_active)
    codes = grade_codes(risk.y, risk.ptr)
    b = risk.costs.margins(codes.query[winner], codes.code[winner], codes.code[loser])
    margin = np.ones(len(winner)) if b is None else b
    short = margin - (f[winner] - f[loser])
    rest = margin * width - short
    return float(curvature @ np.maximum(short * rest, 0.0))
