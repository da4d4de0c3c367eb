"""The objective ½‖w‖² + C·risk(Φw), which connects features and risk by the chain rule.

Solvers see an `Objective`: points with value and gradient, Hessian products, rays for line searches, and a
preconditioner. The preconditioner is built here, because it depends on both map and risk.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np

from rankviz.common.arrays import FloatArray
from rankviz.common.progress import Progress, Report, silent
from rankviz.features.operator import FeatureOperator
from rankviz.learning import Risk, RiskFacts, RiskPoint, RiskSums, limit_of
from rankviz.learning.precision import curvature_features
from rankviz.learning.preconditioner import (
    CholeskyPreconditioner,
    DocumentPreconditioner,
    Preconditioner,
    curvature_roots,
)

EXACT_COLUMNS_PER_ITERATION = 8
"""Forming the Hessian costs about as much as k/8 CG iterations: its n·k² products run at processor speed, the
4·n·k of an iteration at memory speed."""

CLOSED_FORM_COLUMNS = 256
"""Up to this many stored columns the closed-form preconditioner, O(n k²) once, is better than sampled
pairs."""

PAIRS_PER_COLUMN = 8
"""Largest number of sampled pairs per column; more hardly reduce CG iterations."""


def pairs_to_sample(n: int, m: int) -> int:
    """Return the number of active pairs to precondition (n, m): m, or more if they cost at most a product.

    s pairs take about 3·s·m² operations; a Hessian product takes 4·n·m at memory speed, a tenth of processor
    speed.
    """
    return min(max(m, 10 * n // max(m, 1)), PAIRS_PER_COLUMN * m)


def wider_than_tall(n: int, basis: tuple[int, int]) -> bool:
    """Return True if n is below stored columns k and features m; factors are then of documents."""
    return n < min(basis)


class Point(Protocol):
    """Value and derivatives of an objective at one weight vector, as solvers see it."""

    @property
    def w(self) -> FloatArray:
        """Weights."""
        ...

    @property
    def scores(self) -> FloatArray:
        """f, (n,): brought to this process if necessary."""
        ...

    @property
    def told(self) -> FloatArray | None:
        """The scores for progress reports; None if they stay elsewhere."""
        ...

    @property
    def value(self) -> float:
        """½‖w‖² + C·risk(f)."""
        ...

    @property
    def gradient(self) -> FloatArray:
        """Gradient in the space of w."""
        ...

    @property
    def risk(self) -> RiskSums:
        """Facts about the risk at this point."""
        ...

    def worth(self, value: float) -> Point:
        """Return the same point with another value: the original loss, after training a smoothed one."""
        ...


@dataclass(frozen=True, eq=False)
class ScoredPoint:
    """A `Point` whose scores and risk are in this process.

    Attributes
    ----------
    w : (m,) float64
        Weights.
    scores : (n,) float64
        f = Φ w.
    value : float
        ½‖w‖² + C·risk(f).
    gradient : (m,) float64
        w + C Φᵀ ∂risk.
    risk : RiskPoint
    """

    w: FloatArray
    scores: FloatArray
    value: float
    gradient: FloatArray
    risk: RiskPoint

    @property
    def told(self) -> FloatArray:
        """The scores."""
        return self.scores

    def worth(self, value: float) -> ScoredPoint:
        """Return the same point with another value."""
        return replace(self, value=value)


class Ray(Protocol):
    """The objective along w + τs."""

    def at(self, tau: float) -> tuple[float, float, Any]:
        """Return φ'(τ), φ''(τ), and data for `end`; infinite or NaN if the loss overflows."""
        ...

    def end(self, tau: float, risk: Any) -> Point:
        """Return the point at step τ, with the data from `at`."""
        ...


@dataclass(frozen=True, eq=False)
class ScoreRay:
    """The objective along w + τs in score space: one pass over the pairs per trial.

    φ'(τ) = ⟨w, s⟩ + τ‖s‖² + C⟨∂risk(f + τΦs), Φs⟩, φ''(τ) = ‖s‖² + C⟨R Φs, Φs⟩.
    """

    objective: ScoreObjective
    point: ScoredPoint
    s: FloatArray
    image: FloatArray
    """Φ s, (n,)."""

    def at(self, tau: float) -> tuple[float, float, RiskPoint]:
        """Return φ'(τ), φ''(τ) and the risk there; infinite or NaN if the loss overflows."""
        C, ss = self.objective.C, self.objective.inner(self.s, self.s)
        slope = self.objective.inner(self.point.w, self.s) + tau * ss
        with np.errstate(over="ignore", invalid="ignore"):
            risk = self.objective.risk.at(self.point.scores + tau * self.image)
            slope += C * float(risk.gradient @ self.image)
            return slope, ss + C * float(risk.hessian_product(self.image) @ self.image), risk

    def end(self, tau: float, risk: RiskPoint) -> ScoredPoint:
        """Return the point at step τ with its known risk."""
        scores = self.point.scores + tau * self.image
        return self.objective.assemble(self.point.w + tau * self.s, scores, risk)


class Objective(Protocol):
    """½‖w‖² + C·risk as seen by solvers, in any space of w."""

    @property
    def C(self) -> float:
        """Weight of the risk."""
        ...

    @property
    def risk(self) -> RiskFacts:
        """Facts about the risk of scores."""
        ...

    @property
    def n_pairs(self) -> int:
        """Number of preference pairs p."""
        ...

    @property
    def patience(self) -> int:
        """Number of CG iterations after which `exact_preconditioner` is cheaper."""
        ...

    def with_risk(self, risk: Any) -> Objective:
        """Return the same objective with another risk of the same documents."""
        ...

    def start(self) -> FloatArray:
        """Return the initial weights."""
        ...

    def inner(self, a: FloatArray, b: FloatArray) -> float:
        """Return ⟨a, b⟩, in which Hessian and preconditioner are self-adjoint."""
        ...

    def at(self, w: FloatArray) -> Point:
        """Return value and gradient at w."""
        ...

    def limit(self, point: Any) -> tuple[float, float]:
        """Return the original loss's risk at a point, and the smoothing term of the gap (see `limit_of`)."""
        ...

    def hessian_product(self, point: Any, s: FloatArray) -> FloatArray:
        """Return H s."""
        ...

    def ray(self, point: Any, s: FloatArray) -> Ray:
        """Return the objective from a point along s."""
        ...

    def preconditioner(self, point: Any, report: Report = silent) -> Preconditioner:
        """Return an approximate inverse Hessian at a point."""
        ...

    def exact_preconditioner(self, point: Any, report: Report = silent) -> Preconditioner:
        """Return a better one, for a point at which the first makes CG too slow."""
        ...


class ScoreObjective(Objective, Protocol):
    """An objective whose scores and risk are in this process."""

    @property
    def risk(self) -> Risk:
        """The risk of scores."""
        ...

    def assemble(self, w: FloatArray, scores: FloatArray, risk: RiskPoint) -> ScoredPoint:
        """Return the point at w with known scores and risk."""
        ...


@dataclass(frozen=True)
class Certificate:
    """A proved bound at a point, for the original problem of an objective.

    Attributes
    ----------
    value : float
        ½‖w‖² + C·risk of the original loss, not of a smoothed one: the primal value P.
    gap : float
        (P − D)/P ≥ (P − optimum)/P, where D is the dual value at α_ij = −C ∂(loss of the pair)/∂t_ij. This
        holds for every convex loss, also where it rises and α is negative. For a loss with a derivative it is
        ½‖∇‖²/P; a smoothed hinge adds its smoothing term.
    """

    value: float
    gap: float


def certificate(objective: Objective, point: Point) -> Certificate:
    """Return primal value and relative duality gap at a point.

    D uses the weights of α, w − ∇ = ΦᵀAᵀα, which equal w only at the optimum.
    """
    risk, slack = objective.limit(point)
    value = 0.5 * objective.inner(point.w, point.w) + objective.C * risk
    gap = 0.5 * objective.inner(point.gradient, point.gradient) + objective.C * slack
    return Certificate(value, gap / value if value > 0 else 0.0)


@dataclass(eq=False)
class RankObjective:
    """½‖w‖² + C Σ_P ℓ((Φw)_i − (Φw)_j), chen2017 eq. 22 for the squared hinge.

    Attributes
    ----------
    features : FeatureOperator
        Φ (n, m).
    risk : Risk
    C : float
        Factor of the plain loss (without ½).
    seed : int
        Seed of the pairs of the sampled preconditioner.
    spare : float
        Bytes allowed for a copy of Φ in single precision (see `rankviz.learning.precision`).
    largest : float
        Bound of the base's entries, at least 1.
    """

    features: FeatureOperator
    risk: Risk
    C: float
    seed: int = 0
    spare: float = 0.0
    largest: float = 1.0
    _rng: np.random.Generator = field(init=False, repr=False)
    _curved: FeatureOperator | None = field(init=False, repr=False, default=None)

    def __post_init__(self) -> None:
        """Create the sampled preconditioner's random stream."""
        self._rng = np.random.default_rng(self.seed)

    @property
    def n_pairs(self) -> int:
        """Number of preference pairs p."""
        return self.risk.n_pairs

    def with_risk(self, risk: Risk) -> RankObjective:
        """Return the same objective with another risk of the same documents."""
        return replace(self, risk=risk)

    def start(self) -> FloatArray:
        """Return the initial weights: zeros (m,)."""
        return np.zeros(self.features.shape[1])

    def inner(self, a: FloatArray, b: FloatArray) -> float:
        """Return the Euclidean inner product aᵀb."""
        return float(a @ b)

    def at(self, w: FloatArray) -> ScoredPoint:
        """Return value and gradient at w (m,): one product with Φ, one with Φᵀ, one pass over the pairs."""
        scores = self.features.product(w)
        return self.assemble(w, scores, self.risk.at(scores))

    def assemble(self, w: FloatArray, scores: FloatArray, risk: RiskPoint) -> ScoredPoint:
        """Return the point at w with known scores and risk: one product with Φᵀ."""
        value = 0.5 * float(w @ w) + self.C * risk.value
        gradient = w + self.C * self.features.adjoint(risk.gradient)
        return ScoredPoint(w, scores, value, gradient, risk)

    def limit(self, point: ScoredPoint) -> tuple[float, float]:
        """Return the risk of the original loss at a point, and the smoothing term of the gap."""
        return limit_of(self.risk, point.scores, point.risk)

    def hessian_product(self, point: ScoredPoint, s: FloatArray) -> FloatArray:
        """Return H s = s + C Φᵀ R Φ s (chen2017 eq. 25): (m,) -> (m,)."""
        features = self._curvature_features(point)
        return s + self.C * features.adjoint(point.risk.hessian_product(features.product(s)))

    def ray(self, point: ScoredPoint, s: FloatArray) -> ScoreRay:
        """Return the objective from a point along s (m,)."""
        return ScoreRay(self, point, s, self.features.product(s))

    def preconditioner(self, point: ScoredPoint, report: Report = silent) -> Preconditioner:
        """Return an approximate inverse Hessian: closed form for narrow maps, sampled pairs for wide ones.

        It takes up to three products of m³ operations; `report` is called between them. With more features
        than documents it is exact.
        """
        if wider_than_tall(len(self.features.base), self.features.basis.shape):
            return self.exact_preconditioner(point, report)
        if self.features.basis.shape[0] <= CLOSED_FORM_COLUMNS:
            return self._closed_form(point)
        return self._sampled(point, report)

    @property
    def patience(self) -> int:
        """Number of CG iterations that cost about as much as forming the Hessian."""
        n, k = len(self.features.base), self.features.basis.shape[0]
        return math.ceil(min(n, k) / EXACT_COLUMNS_PER_ITERATION)

    def exact_preconditioner(self, point: ScoredPoint, report: Report = silent) -> Preconditioner:
        """Return the inverse of the Hessian at a point, I + C ΦᵀRΦ with its active pairs: O(p k + n k²).

        With more features than documents it is factored in the space of documents: O(n²m + n³).
        """
        if wider_than_tall(len(self.features.base), self.features.basis.shape):
            report(Progress("newton"))
            roots = curvature_roots(point.risk.hessian_product, self.risk.ptr)
            report(Progress("newton"))
            return DocumentPreconditioner.of(self.features, roots, self.C)
        gram = point.risk.gram(self.features.base)
        report(Progress("newton"))
        M = self.C * self.features.reduce(gram)
        M[np.diag_indices(len(M))] += 1.0
        report(Progress("newton"))
        return CholeskyPreconditioner.of(M, "exact")

    def _closed_form(self, point: ScoredPoint) -> CholeskyPreconditioner:
        """Return the inverse of I + C·share·ΦᵀL₀Φ with all pairs, share = Σ c·ℓ''/Σ c.

        If every pair has the same curvature, as at w = 0, it is the Hessian; later the share scales it.
        """
        every = self.risk.all_pairs
        share = point.risk.total_curvature / every.weight if every.weight > 0 else 0.0
        M = self.C * share * self.features.reduce(every.gram(self.features.base))
        M[np.diag_indices(len(M))] += 1.0
        return CholeskyPreconditioner.of(M, "closed form")

    def _sampled(self, point: ScoredPoint, report: Report) -> CholeskyPreconditioner:
        """Invert I + C·(active/sampled) Σ_sample ℓ''(φ_i − φ_j)(φ_i − φ_j)ᵀ over active pairs."""
        (n, m), n_active = self.features.shape, point.risk.n_active
        pairs = point.risk.sample_active(self._rng, pairs_to_sample(n, m))
        B = self._curvature_features(point).row_differences(pairs.winner, pairs.loser)
        report(Progress("newton"))
        B *= np.sqrt(self.C * n_active / max(len(pairs.winner), 1) * pairs.curvature)
        M = (B @ B.T).astype(np.float64, copy=False)
        M[np.diag_indices(m)] += 1.0
        report(Progress("newton"))
        return CholeskyPreconditioner.of(M, "sampled pairs")

    def _curvature_features(self, point: ScoredPoint) -> FeatureOperator:
        """Return Φ in the precision that suits the first point."""
        if self._curved is None:
            limits = self.spare, self.largest
            self._curved = curvature_features(self.features, point.risk, self.C, *limits)
        return self._curved
