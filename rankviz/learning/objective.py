"""Define the interface of solvers: objectives ½‖w‖² + C·risk, their points and rays, and results.

An `Objective` has points with value and gradient, Hessian products, rays for line searches, and
preconditioners. A solver returns weights, a final status, and one record per iteration. It never prints.

See docs/decisions/0005-every-trace-row-has-a-proof.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from enum import Enum
from typing import Any, Protocol

import numpy as np
import pandas as pd

from rankviz.common.arrays import FloatArray
from rankviz.common.progress import Report, silent
from rankviz.learning.risk import Risk, RiskFacts, RiskPoint, RiskSums


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
    def reported_scores(self) -> FloatArray | None:
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

    def with_value(self, value: float) -> Point:
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
    def reported_scores(self) -> FloatArray:
        """The scores."""
        return self.scores

    def with_value(self, value: float) -> ScoredPoint:
        """Return the same point with another value."""
        return replace(self, value=value)


class Ray(Protocol):
    """The objective along w + τs."""

    def at(self, tau: float) -> tuple[float, Callable[[], float], Any]:
        """Return φ'(τ), a function for φ''(τ), and data for `end`; infinite or NaN if the loss overflows."""
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

    def at(self, tau: float) -> tuple[float, Callable[[], float], RiskPoint]:
        """Return φ'(τ), a function for φ''(τ), and the risk there; infinite or NaN if the loss overflows."""
        C, ss = self.objective.C, self.objective.inner(self.s, self.s)
        slope = self.objective.inner(self.point.w, self.s) + tau * ss
        with np.errstate(over="ignore", invalid="ignore"):
            risk = self.objective.risk.at(self.point.scores + tau * self.image)
            slope += C * float(risk.gradient @ self.image)

        def curvature() -> float:
            with np.errstate(over="ignore", invalid="ignore"):
                return ss + C * float(risk.hessian_product(self.image) @ self.image)

        return slope, curvature, risk

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
    def convex(self) -> bool:
        """True if it is convex, so that gradients bound the distance from the optimum."""
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
        ½‖∇‖²/P; a smoothed hinge adds its smoothing term. NaN without convexity: then nothing is proved.
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
    if not objective.convex:
        return Certificate(value, math.nan)
    return Certificate(value, gap / value if value > 0 else 0.0)


class Preconditioner(Protocol):
    """An approximate inverse Hessian M^-1, self-adjoint and positive definite."""

    def __call__(self, r: FloatArray) -> FloatArray:
        """Return M^-1 r: (m,) -> (m,)."""
        ...


class Status(Enum):
    """Final status of a solver; the value is the sentence to show."""

    CONVERGED = "converged: the Newton decrement is below the tolerance"
    CERTIFIED = "converged: the duality gap is below the tolerance"
    STATIONARY = "converged: no step within the bounds lowers the objective, to the tolerance"
    FLAT = (
        "converged: the gradient is below the tolerance; as the objective is not convex, lower ends may exist"
    )
    FIXED = "converged: the weights minimise the objective of their own ranking, to the tolerance"
    ROUNDS = "ended by early stopping or after the last round; no fixed objective is minimised"
    RULE = "ended by he2009's rule: gradient or direction is at most 1e-4; its steps may raise the objective"
    TOO_EARLY = (
        "ended too early by he2009's rule: the direction is at most 1e-4, but the duality gap is above 1 %"
    )
    MAX_ITERATIONS = "stopped at the largest number of iterations before reaching the tolerance"
    STALLED = "stalled: rounding keeps the step from lowering the objective further"
    DIVERGED = "diverged: the steps are too long, and the weights grow without bound"
    STOPPED = "stopped on request; the weights are those of the last finished iteration"

    @property
    def converged(self) -> bool:
        """True if the solver's own stopping rule was met, so that its tolerance holds.

        False if it ran out of iterations, stalled by rounding, diverged or was stopped. Also False if the
        rule was met but the gap shows that this proves nothing.
        """
        return self in _REACHED


_REACHED = frozenset(
    {
        *(Status.CONVERGED, Status.CERTIFIED, Status.STATIONARY, Status.RULE),
        *(Status.FLAT, Status.FIXED, Status.ROUNDS),
    }
)


@dataclass(frozen=True)
class TraceRow:
    """One iteration on the whole objective, at its first point; rough fits for a start have no rows.

    Attributes
    ----------
    iteration : int
        Number, from 0.
    objective : float
        ½‖w‖² + C·risk, of the loss itself if a smoothed one is trained.
    gradient_norm : float
        ‖∇‖; ½‖∇‖² bounds objective − optimum: it is the duality gap at w for a loss with a derivative.
    decrement : float
        Newton decrement ½|gᵀs|, the decrease of the quadratic model; NaN for solvers without one. In a last
        row without CG iterations it is the bound ½‖∇‖², which ended the solver.
    cg_iterations : int
        Hessian products for the direction s.
    step : float
        Step length along s, or the learning rate; 0 in the last row, without a step.
    active_pairs : int
        Pairs with ℓ'' ≠ 0; for a loss of scores the documents with curvature.
    active_share : float
        Share of these among all pairs or documents.
    seconds : float
        Seconds since the solver started.
    gap : float
        Duality gap over objective: a proved bound on the relative distance to the optimum.
    smoothing : float
        Width h of the smoothing; 0 without smoothing.
    products : float
        Products with Φ and then with Φᵀ (or with the kernel) in this iteration. Formed Hessians and
        preconditioners are not counted.
    """

    iteration: int
    objective: float
    gradient_norm: float
    decrement: float
    cg_iterations: int
    step: float
    active_pairs: int
    active_share: float
    seconds: float
    gap: float
    smoothing: float = 0.0
    products: float = 0.0

    @classmethod
    def at(
        cls,
        objective: Objective,
        point: Point,
        iteration: int,
        seconds: float,
        *,
        decrement: float = math.nan,
        cg_iterations: int = 0,
        products: float = 0.0,
    ) -> TraceRow:
        """Return the row of an iteration that begins at a point, without a step yet."""
        active, proved = point.risk.n_active, certificate(objective, point)
        return cls(
            iteration=iteration,
            objective=proved.value,
            gradient_norm=math.sqrt(max(0.0, objective.inner(point.gradient, point.gradient))),
            decrement=decrement,
            cg_iterations=cg_iterations,
            step=0.0,
            active_pairs=active,
            active_share=active / max(objective.risk.n_terms, 1),
            seconds=seconds,
            gap=proved.gap,
            products=products,
        )


class Solver(Protocol):
    """An algorithm that minimises an objective."""

    @property
    def preconditioned(self) -> bool:
        """True if conjugate gradients use a preconditioner."""
        ...

    def solve(
        self,
        objective: Objective,
        w: FloatArray | None = None,
        report: Report = silent,
        precondition: Preconditioner | None = None,
    ) -> SolverResult:
        """Minimise from w (default: the objective's start); `precondition` is tried before one is built.

        An exception from `report` stops it with the current weights.
        """
        ...


@dataclass(frozen=True, eq=False)
class SolverResult:
    """Final weights and the trace of iterations.

    Attributes
    ----------
    point : Point
        Final weights with scores, objective and gradient.
    status : Status
    trace : tuple of TraceRow
    precondition : Preconditioner or None
        The last one in use, if any.
    """

    point: Point
    status: Status
    trace: tuple[TraceRow, ...]
    precondition: Preconditioner | None = None

    @property
    def frame(self) -> pd.DataFrame:
        """The trace as a table, one row per iteration."""
        return frame_of(self.trace, TraceRow)


def frame_of(rows: Sequence[Any], kind: type[Any]) -> pd.DataFrame:
    """Return rows as a table; `kind` is their dataclass, with int and float fields."""
    types = {field.name: np.int64 if field.type in ("int", int) else np.float64 for field in fields(kind)}
    return pd.DataFrame(
        {name: np.array([getattr(row, name) for row in rows], t) for name, t in types.items()}
    )
