"""The objective ½‖w‖² + C·risk(Φw): the chain rule between features and risk, in one place.

Solvers see an `Objective`: points with value and gradient, Hessian products, rays for line searches, and a
preconditioner, which is built here because it takes both the map and the risk to know a good one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np

from rankviz.common.arrays import FloatArray
from rankviz.common.progress import Progress, Report, silent
from rankviz.features.operator import FeatureOperator
from rankviz.objectives.precision import curvature_features
from rankviz.objectives.preconditioner import (
    CholeskyPreconditioner,
    DocumentPreconditioner,
    Preconditioner,
    curvature_roots,
)
from rankviz.risk import Risk, RiskFacts, RiskPoint, RiskSums, limit_of

EXACT_COLUMNS_PER_ITERATION = 8
"""Forming the Hessian costs about as much as k/8 CG iterations: its n·k² products run at the speed of the
processor, an iteration's 4·n·k at the speed of memory."""

CLOSED_FORM_COLUMNS = 256
"""Up to this many stored columns the closed-form preconditioner, O(n k²) once, beats sampled pairs."""

PAIRS_PER_COLUMN = 8
"""Sampled pairs for each column, beyond which CG takes hardly fewer iterations."""


def pairs_to_sample(n: int, m: int) -> int:
    """Active pairs that precondition features (n, m): m, and more as far as they cost no more than a product.

    Pairs s take about 3·s·m² operations, a Hessian product 4·n·m at the speed of memory, a tenth of that of
    the processor.
    """
    return min(max(m, 10 * n // max(m, 1)), PAIRS_PER_COLUMN * m)


def wider_than_tall(n: int, basis: tuple[int, int]) -> bool:
    """Whether n documents are fewer than stored columns k and features m: factors are of documents then."""
    return n < min(basis)


class Point(Protocol):
    """Value and derivatives of an objective at one weight vector, as solvers see it."""

    @property
    def w(self) -> FloatArray:
        """Weights."""
        ...

    @property
    def scores(self) -> FloatArray:
        """f, (n,): brought here, where they are elsewhere."""
        ...

    @property
    def told(self) -> FloatArray | None:
        """The scores for whoever watches; None where they are elsewhere and stay there."""
        ...

    @property
    def value(self) -> float:
        """½‖w‖² + C·risk(f)."""
        ...

    @property
    def gradient(self) -> FloatArray:
        """The gradient in the space of w."""
        ...

    @property
    def risk(self) -> RiskSums:
        """What is known of the risk there."""
        ...

    def worth(self, value: float) -> Point:
        """The same point with another value: that of the loss itself, where a smoothed one was trained."""
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
        """The same point with another value."""
        return replace(self, value=value)


class Ray(Protocol):
    """The objective along w + τs."""

    def at(self, tau: float) -> tuple[float, float, Any]:
        """φ'(τ), φ''(τ), and what `end` asks for; infinite or NaN where the loss is beyond all numbers."""
        ...

    def end(self, tau: float, risk: Any) -> Point:
        """The point at step τ, with what `at` gave there."""
        ...


@dataclass(frozen=True, eq=False)
class ScoreRay:
    """The objective along w + τs: everything in score space, one pass over the pairs per trial.

    φ'(τ) = ⟨w, s⟩ + τ‖s‖² + C⟨∂risk(f + τΦs), Φs⟩, φ''(τ) = ‖s‖² + C⟨R Φs, Φs⟩.
    """

    objective: ScoreObjective
    point: ScoredPoint
    s: FloatArray
    image: FloatArray
    """Φ s, (n,)."""

    def at(self, tau: float) -> tuple[float, float, RiskPoint]:
        """φ'(τ), φ''(τ) and the risk there; infinite or NaN where the loss is beyond all numbers."""
        C, ss = self.objective.C, self.objective.inner(self.s, self.s)
        slope = self.objective.inner(self.point.w, self.s) + tau * ss
        with np.errstate(over="ignore", invalid="ignore"):
            risk = self.objective.risk.at(self.point.scores + tau * self.image)
            slope += C * float(risk.gradient @ self.image)
            return slope, ss + C * float(risk.hessian_product(self.image) @ self.image), risk

    def end(self, tau: float, risk: RiskPoint) -> ScoredPoint:
        """The point at step τ, where the risk is known already."""
        scores = self.point.scores + tau * self.image
        return self.objective.assemble(self.point.w + tau * self.s, scores, risk)


class Objective(Protocol):
    """½‖w‖² + C·risk as solvers see it, in whatever space w lives."""

    @property
    def C(self) -> float:
        """Weight of the risk."""
        ...

    @property
    def risk(self) -> RiskFacts:
        """What is known of the risk of scores."""
        ...

    @property
    def n_pairs(self) -> int:
        """Number of preference pairs p."""
        ...

    @property
    def patience(self) -> int:
        """CG iterations after which `exact_preconditioner` is the cheaper way on."""
        ...

    def with_risk(self, risk: Any) -> Objective:
        """The same objective with another risk of the same documents."""
        ...

    def start(self) -> FloatArray:
        """The weights to start from."""
        ...

    def inner(self, a: FloatArray, b: FloatArray) -> float:
        """⟨a, b⟩, in which Hessian and preconditioner are self-adjoint."""
        ...

    def at(self, w: FloatArray) -> Point:
        """Value and gradient at w."""
        ...

    def limit(self, point: Any) -> tuple[float, float]:
        """The risk of the loss itself at a point, and what smoothing adds to the gap (see `limit_of`)."""
        ...

    def hessian_product(self, point: Any, s: FloatArray) -> FloatArray:
        """H s."""
        ...

    def ray(self, point: Any, s: FloatArray) -> Ray:
        """The objective from a point along s."""
        ...

    def preconditioner(self, point: Any, report: Report = silent) -> Preconditioner:
        """An approximate inverse Hessian at a point."""
        ...

    def exact_preconditioner(self, point: Any, report: Report = silent) -> Preconditioner:
        """A better one, for a point where the first takes CG too long."""
        ...


class ScoreObjective(Objective, Protocol):
    """An objective whose scores and risk are in this process."""

    @property
    def risk(self) -> Risk:
        """The risk of scores."""
        ...

    def assemble(self, w: FloatArray, scores: FloatArray, risk: RiskPoint) -> ScoredPoint:
        """The point at w whose scores and risk are known."""
        ...


@dataclass(frozen=True)
class Certificate:
    """A proof at a point about the problem that an objective stands for.

    Attributes
    ----------
    value : float
        ½‖w‖² + C·risk of the loss itself, not of a smoothed one: the primal value P.
    gap : float
        (P − D)/P ≥ (P − optimum)/P, D the dual value at α_ij = −C ∂(loss of the pair)/∂t_ij. That holds for
        every convex loss, also where it rises and α is negative. With a loss that
        has a derivative that is ½‖∇‖²/P; a smoothed hinge adds what smoothing is worth.
    """

    value: float
    gap: float


def certificate(objective: Objective, point: Point) -> Certificate:
    """Primal value and relative duality gap at a point.

    α belongs to the weights w − ∇ = ΦᵀAᵀα, with which D is computed; they are w at the optimum only.
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
        Multiplies the plain loss (no ½).
    seed : int
        Of the pairs that the sampled preconditioner draws.
    spare : float
        Bytes that Φ in single precision may take beside (see `rankviz.objectives.precision`).
    largest : float
        At least 1: no entry of the base of Φ is beyond.
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
        """Give the sampled preconditioner its own stream."""
        self._rng = np.random.default_rng(self.seed)

    @property
    def n_pairs(self) -> int:
        """Number of preference pairs p."""
        return self.risk.n_pairs

    def with_risk(self, risk: Risk) -> RankObjective:
        """The same objective with another risk of the same documents."""
        return replace(self, risk=risk)

    def start(self) -> FloatArray:
        """The weights to start from: zeros (m,)."""
        return np.zeros(self.features.shape[1])

    def inner(self, a: FloatArray, b: FloatArray) -> float:
        """The Euclidean inner product aᵀb."""
        return float(a @ b)

    def at(self, w: FloatArray) -> ScoredPoint:
        """Value and gradient at w (m,): one product with Φ, one with Φᵀ, one pass over the pairs."""
        scores = self.features.product(w)
        return self.assemble(w, scores, self.risk.at(scores))

    def assemble(self, w: FloatArray, scores: FloatArray, risk: RiskPoint) -> ScoredPoint:
        """The point at w whose scores and risk are known: one product with Φᵀ."""
        value = 0.5 * float(w @ w) + self.C * risk.value
        gradient = w + self.C * self.features.adjoint(risk.gradient)
        return ScoredPoint(w, scores, value, gradient, risk)

    def limit(self, point: ScoredPoint) -> tuple[float, float]:
        """The risk of the loss itself at a point, and what smoothing adds to the gap."""
        return limit_of(self.risk, point.scores, point.risk)

    def hessian_product(self, point: ScoredPoint, s: FloatArray) -> FloatArray:
        """H s = s + C Φᵀ R Φ s (chen2017 eq. 25): (m,) -> (m,)."""
        features = self._curvature_features(point)
        return s + self.C * features.adjoint(point.risk.hessian_product(features.product(s)))

    def ray(self, point: ScoredPoint, s: FloatArray) -> ScoreRay:
        """The objective from a point along s (m,)."""
        return ScoreRay(self, point, s, self.features.product(s))

    def preconditioner(self, point: ScoredPoint, report: Report = silent) -> Preconditioner:
        """An approximate inverse Hessian at a point: closed form for narrow maps, sampled pairs for wide.

        It takes up to three products of m³ operations; `report` is called between them. With more features
        than documents it is the exact one.
        """
        if wider_than_tall(len(self.features.base), self.features.basis.shape):
            return self.exact_preconditioner(point, report)
        if self.features.basis.shape[0] <= CLOSED_FORM_COLUMNS:
            return self._closed_form(point)
        return self._sampled(point, report)

    @property
    def patience(self) -> int:
        """CG iterations that cost about as much as forming the Hessian."""
        n, k = len(self.features.base), self.features.basis.shape[0]
        return math.ceil(min(n, k) / EXACT_COLUMNS_PER_ITERATION)

    def exact_preconditioner(self, point: ScoredPoint, report: Report = silent) -> Preconditioner:
        """The inverse of the Hessian at a point, I + C ΦᵀRΦ with its active pairs: O(p k + n k²).

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
        """I + C·share·ΦᵀL₀Φ with all pairs, share = Σ c·ℓ''/Σ c.

        With every pair equally curved, as at w = 0, it is the Hessian itself; later that share scales it.
        """
        every = self.risk.all_pairs
        share = point.risk.total_curvature / every.weight if every.weight > 0 else 0.0
        M = self.C * share * self.features.reduce(every.gram(self.features.base))
        M[np.diag_indices(len(M))] += 1.0
        return CholeskyPreconditioner.of(M, "closed form")

    def _sampled(self, point: ScoredPoint, report: Report) -> CholeskyPreconditioner:
        """I + C·(active/sampled) Σ_sample ℓ''(φ_i − φ_j)(φ_i − φ_j)ᵀ over active pairs."""
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
        """Φ in the precision that suits the first point that is asked about."""
        if self._curved is None:
            limits = self.spare, self.largest
            self._curved = curvature_features(self.features, point.risk, self.C, *limits)
        return self._curved
