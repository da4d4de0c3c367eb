"""Truncated Newton: directions by preconditioned conjugate gradients, steps by exact line search.

Newton-YUAN (he2009) has directions by Cholesky factors instead, and step lengths by a rule.

See docs/decisions/0008-conjugate-gradients-not-direct-newton.md.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from rankviz.common.arrays import FloatArray
from rankviz.common.progress import Progress, Report, StopRequested, silent
from rankviz.learning.objective import Objective, Point, Preconditioner, Ray, SolverResult, Status, TraceRow
from rankviz.learning.risk import RiskPoint


@dataclass(frozen=True, eq=False)
class CGResult:
    """An approximate solution s (m,) of H s = b and the number of Hessian products it took."""

    s: FloatArray
    iterations: int
    converged: bool


def euclidean(a: FloatArray, b: FloatArray) -> float:
    """Return the inner product aᵀb."""
    return float(a @ b)


def conjugate_gradients(
    product: Callable[[FloatArray], FloatArray],
    b: FloatArray,
    precondition: Callable[[FloatArray], FloatArray],
    *,
    rtol: float,
    max_iterations: int,
    floor: float = 0.0,
    inner: Callable[[FloatArray, FloatArray], float] = euclidean,
) -> CGResult:
    """Solve H s = b, H ≥ I, from s = 0 until √⟨r, M^-1r⟩ ≤ rtol·√⟨b, M^-1b⟩.

    H and M are self-adjoint in the inner product ⟨·, ·⟩, by default rᵀs.

    For M = H, at most the share rtol² of the decrement ½⟨b, H^-1b⟩ is then missing; for other M this is a
    guess. So while the current decrement ½⟨b, s⟩ is at most `floor`, iterations continue until it exceeds
    `floor`, or until the full decrement is proved to be at most `floor`. The proof can also end them earlier:
    the missing part ½⟨r, H^-1r⟩ is at most ½⟨r, r⟩. If it ends them before the first, s is b, whose
    ½⟨b, s⟩ bounds the decrement from above. Any iterate is a descent direction.
    """
    s, r = np.zeros_like(b), b.copy()
    z = precondition(r)
    if 0.0 < 0.5 * inner(r, r) <= floor:
        return CGResult(r, 0, converged=True)
    p, rho = z.copy(), inner(r, z)
    target, decrement = rtol**2 * rho, 0.0
    for iteration in range(max_iterations + 1):
        # H ≥ I bounds the missing part of the decrement by ½⟨r, r⟩: below floor, stopping is proved
        reached = rho == 0.0 or (rho <= target and decrement > floor)
        if reached or 0.0 < decrement <= floor - 0.5 * inner(r, r):
            return CGResult(s, iteration, converged=True)
        if iteration == max_iterations:
            break
        Hp = product(p)
        curvature = inner(p, Hp)
        if not curvature > 0.0:  # H is positive definite, so only rounding can cause this
            return CGResult(s, iteration + 1, converged=False)
        alpha = rho / curvature
        decrement += 0.5 * alpha * rho
        s += alpha * p
        r -= alpha * Hp
        z = precondition(r)
        rho, previous = inner(r, z), rho
        p *= rho / previous
        p += z
    return CGResult(s, max_iterations, converged=False)


SLOPE_TOLERANCE = 1e-2
"""Accept τ once |φ'(τ)| is at most this share of |φ'(0)|; φ is convex, so τ is close to its minimum."""

MAX_TRIALS = 100  # bisection alone then spans any scale; a Newton direction needs one or two


def exact_step(ray: Ray, slope_at_0: float) -> tuple[float, RiskPoint]:
    """Minimise the convex φ(τ) over τ > 0, given φ'(0) < 0; return τ and the risk there.

    (low, high) brackets the root of φ'. A Newton step outside is replaced by bisection, or by doubling while
    no point with φ' > 0 is known.
    """
    low, high, tau = 0.0, float("inf"), 1.0
    for _ in range(MAX_TRIALS):
        slope, curvature, risk = ray.at(tau)
        if abs(slope) <= SLOPE_TOLERANCE * abs(slope_at_0):
            break
        low, high = (tau, high) if slope < 0 else (low, tau)
        newton = tau - slope / curvature()
        fallback = 2 * tau if high == float("inf") else (low + high) / 2
        tau = newton if low < newton < high else fallback
    else:
        risk = ray.at(tau)[2]
    return tau, risk


POOR_STEP, TIGHTEST_RTOL = 0.5, 1e-3
"""A shorter step indicates a poor direction: the next ones are solved ten times more accurately."""

UNPROVED = 1e3
"""Largest gap, in multiples of the tolerance, at which a decrement below the tolerance is believed. Rounding
may have misled CG, or the quadratic model may hold only for a shorter step. One more step then shows
which."""


def unpreconditioned(r: FloatArray) -> FloatArray:
    """Return r: M = I."""
    return r


@dataclass(frozen=True)
class TruncatedNewton:
    """Minimise an objective by truncated Newton steps (dembo1983; chen2017 Algorithm 3, chapelle2010 §3.2).

    Attributes
    ----------
    tol : float
        Stop once the Newton decrement ½ gᵀH^-1g is at most tol · objective, proved by CG's residual, and
        ½‖g‖², a bound that is robust to rounding, is at most `UNPROVED` times that.
    max_iter : int
        Largest number of Newton steps.
    cg_rtol : float
        Relative residual at which CG stops, in the preconditioned norm.
    cg_max_iter : int
        Largest number of CG iterations in one Newton step.
    rebuild_after : int
        Rebuild the preconditioner after CG needed more iterations than this.
    preconditioned : bool
        False solves with M = I, to show the preconditioner's effect.
    """

    tol: float = 1e-6
    max_iter: int = 100
    cg_rtol: float = 0.1
    cg_max_iter: int = 1000
    rebuild_after: int = 25
    preconditioned: bool = True

    def solve(
        self,
        objective: Objective,
        w: FloatArray | None = None,
        report: Report = silent,
        precondition: Preconditioner | None = None,
    ) -> SolverResult:
        """Minimise from w (m,) (default: zeros); a stop through `report` returns the current result.

        `precondition` is tried before one is built; it may come from a run on the same features with another
        C.
        """
        run = _Run(self, objective, report, precondition)
        point = objective.at(objective.start() if w is None else w)
        try:
            return run.iterate(point)
        except StopRequested:
            return run.result(run.point or point, Status.STOPPED)


class _Run:
    """The state of one solve: current point, trace and preconditioner."""

    def __init__(
        self,
        solver: TruncatedNewton,
        objective: Objective,
        report: Report,
        precondition: Preconditioner | None = None,
    ) -> None:
        self.solver, self.objective, self.report = solver, objective, report
        self.began = time.perf_counter()
        self.trace: list[TraceRow] = []
        self.point: Point | None = None
        self.precondition = precondition
        self.rtol = solver.cg_rtol

    def iterate(self, point: Point) -> SolverResult:
        """Take Newton steps until the decrement, the iteration limit or rounding ends them."""
        for iteration in range(self.solver.max_iter + 1):
            self.point = point
            self.report(Progress("newton", None, self._record(), point.reported_scores, point.w))
            cg = self._direction(point)
            slope = self.objective.inner(point.gradient, cg.s)
            row = self._row(iteration, point, cg, decrement=0.5 * abs(slope))
            met = cg.converged and row.decrement <= self.solver.tol * point.value
            done = met and self._gap_confirms(point)
            if done or iteration == self.solver.max_iter:
                self.trace.append(row)
                return self.result(point, Status.CONVERGED if done else Status.MAX_ITERATIONS)
            ray = self.objective.ray(point, cg.s)
            tau, risk = exact_step(ray, slope)
            following = ray.end(tau, risk)
            if following.value >= point.value:
                self.trace.append(row)
                return self.result(point, Status.STALLED)
            seconds = time.perf_counter() - self.began
            self.trace.append(replace(row, step=tau, seconds=seconds, products=row.products + 1))
            # a short step, or a decrement that the gap contradicts: CG was not accurate enough
            if tau < POOR_STEP or met:
                self.rtol = max(self.rtol / 10, TIGHTEST_RTOL)
            point = following
        raise AssertionError("unreachable: the loop returns at max_iter")

    def _gap_confirms(self, point: Point) -> bool:
        """Return True if the gap ½‖g‖² is small enough to believe the decrement."""
        half = 0.5 * self.objective.inner(point.gradient, point.gradient)
        return half <= UNPROVED * self.solver.tol * point.value

    def _direction(self, point: Point) -> CGResult:
        """Solve the Newton system; if CG spends the cost of the Hessian, use the Hessian as preconditioner.

        A preconditioner that needs more than `rebuild_after` iterations is dropped.
        """
        if not self.solver.preconditioned:
            return self._solve(point, unpreconditioned, self.solver.cg_max_iter)
        if self.precondition is None:
            self.precondition = self.objective.preconditioner(point, self.report)
            if getattr(self.precondition, "is_inverse", False):  # then CG would only confirm the direction
                return CGResult(self.precondition(-point.gradient), 0, converged=True)
        limit = max(self.solver.rebuild_after, self.objective.patience)
        cg = self._solve(point, self.precondition, min(limit, self.solver.cg_max_iter))
        if not cg.converged and limit < self.solver.cg_max_iter:
            self.precondition = None  # frees the old one first
            self.precondition = self.objective.exact_preconditioner(point, self.report)
            rest = self._solve(point, self.precondition, self.solver.cg_max_iter - limit)
            return replace(rest, iterations=cg.iterations + rest.iterations)
        if cg.iterations > self.solver.rebuild_after:
            self.precondition = None
        return cg

    def _solve(self, point: Point, precondition: Preconditioner, max_iterations: int) -> CGResult:
        return conjugate_gradients(
            lambda s: self._product(point, s),
            -point.gradient,
            precondition,
            rtol=self.rtol,
            max_iterations=max_iterations,
            floor=self.solver.tol * point.value,
            inner=self.objective.inner,
        )

    def _product(self, point: Point, s: FloatArray) -> FloatArray:
        self.report(Progress("newton", None, self._record()))
        return self.objective.hessian_product(point, s)

    def _record(self) -> dict[str, float] | None:
        return dict(vars(self.trace[-1])) if self.trace else None

    def _row(self, iteration: int, point: Point, cg: CGResult, decrement: float) -> TraceRow:
        return TraceRow.at(
            self.objective,
            point,
            iteration,
            time.perf_counter() - self.began,
            decrement=decrement,
            cg_iterations=cg.iterations,
            products=cg.iterations + (iteration == 0),
        )

    def result(self, point: Point, status: Status) -> SolverResult:
        """Return the result so far, ending at a point."""
        return SolverResult(point, status, tuple(self.trace), self.precondition)


SHORTENED = 3
"""Every third step is shortened."""

LARGEST_GAP = 1e-2
"""Largest duality gap over objective at which the rule is accepted."""

REFINED, MOST_REFINEMENTS = 1e-10, 100
"""Conjugate gradients with the factor remove rounding errors: forming a kernel's Hessian loses digits."""


@dataclass(frozen=True)
class NewtonYuan:
    """Minimise an objective by the steps of he2009 §2.3, with lengths from yuan2004.

    d = −H^-1 g, and w ← w + d, but every third time w ← w + d/(√‖g‖ + 1). The rule does not use the
    objective, so a step may raise it. Convergence is not proved for the squared hinge and similar losses.
    Each step forms and factors the Hessian, which needs an objective in weights of features.

    Attributes
    ----------
    tol : float
        Stop if ‖g‖ ≤ tol or ‖d‖ ≤ tol, both absolute; the paper has 1e-4.
    max_iter : int
        Largest number of steps.
    """

    tol: float = 1e-4
    max_iter: int = 100

    preconditioned: ClassVar[bool] = False

    def solve(
        self,
        objective: Objective,
        w: FloatArray | None = None,
        report: Report = silent,
        precondition: Preconditioner | None = None,
    ) -> SolverResult:
        """Minimise from w (m,) (default: zeros); a stop through `report` returns the current result."""
        began, rows = time.perf_counter(), list[TraceRow]()
        point = objective.at(objective.start() if w is None else w)

        def tell() -> None:
            report(Progress("newton", None, dict(vars(rows[-1])) if rows else None, point.reported_scores))

        try:
            while True:
                tell()
                row, direction = self._iteration(objective, point, len(rows), began, report)
                if direction is None or len(rows) == self.max_iter:
                    rows.append(row)
                    return SolverResult(point, _status(row, direction), tuple(rows))
                tau = step_length(len(rows) + 1, row.gradient_norm)
                point = objective.at(point.w + tau * direction)
                seconds = time.perf_counter() - began
                rows.append(replace(row, step=tau, seconds=seconds, products=row.products + 1))
        except StopRequested:
            return SolverResult(point, Status.STOPPED, tuple(rows))

    def _iteration(
        self, objective: Objective, point: Point, number: int, began: float, report: Report
    ) -> tuple[TraceRow, FloatArray | None]:
        """Return the row of an iteration and its direction, or None at its end."""
        products = float(number == 0)
        gradient_norm = math.sqrt(objective.inner(point.gradient, point.gradient))
        if gradient_norm <= self.tol:
            seconds = time.perf_counter() - began
            return TraceRow.at(objective, point, number, seconds, products=products), None
        found = _newton_direction(objective, point, report)
        row = TraceRow.at(
            objective,
            point,
            number,
            time.perf_counter() - began,
            decrement=0.5 * abs(objective.inner(point.gradient, found.s)),
            cg_iterations=found.iterations,
            products=products + found.iterations,
        )
        short = math.sqrt(objective.inner(found.s, found.s)) <= self.tol
        return row, None if short else found.s


def _status(row: TraceRow, direction: FloatArray | None) -> Status:
    """Return the final status; a short direction proves nothing: weights of large features are short."""
    if direction is not None:
        return Status.MAX_ITERATIONS
    return Status.RULE if row.gap <= LARGEST_GAP else Status.TOO_EARLY


def _newton_direction(objective: Objective, point: Point, report: Report) -> CGResult:
    """Return −H^-1 g by a factor of H, refined to remove its rounding errors."""
    return conjugate_gradients(
        lambda s: objective.hessian_product(point, s),
        -point.gradient,
        objective.exact_preconditioner(point, report),
        rtol=REFINED,
        max_iterations=MOST_REFINEMENTS,
        inner=objective.inner,
    )


def step_length(k: int, gradient_norm: float) -> float:
    """Return the step length for k = 1, 2, …: 1/(√‖g‖ + 1) if 3 divides k, else 1."""
    return 1.0 / (math.sqrt(gradient_norm) + 1.0) if k % SHORTENED == 0 else 1.0
