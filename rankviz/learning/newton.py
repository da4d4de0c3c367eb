"""Truncated Newton: directions by preconditioned conjugate gradients, steps by exact line search.

See docs/decisions/0008-conjugate-gradients-not-direct-newton.md.
"""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass, replace

from rankviz.common.arrays import FloatArray
from rankviz.common.progress import Progress, Report, StopRequested, silent
from rankviz.learning.cg import CGResult, conjugate_gradients
from rankviz.learning.feature_space import Objective, Point
from rankviz.learning.line_search import exact_step
from rankviz.learning.preconditioner import Preconditioner
from rankviz.learning.result import SolverResult, Status, TraceRow

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
            self.report(Progress("newton", None, self._record(), point.told, point.w))
            cg = self._direction(point)
            slope = self.objective.inner(point.gradient, cg.s)
            row = self._row(iteration, point, cg, decrement=0.5 * abs(slope))
            met = cg.converged and row.decrement <= self.solver.tol * point.value
            done = met and self._borne_out(point)
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

    def _borne_out(self, point: Point) -> bool:
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
        limit = max(self.solver.rebuild_after, self.objective.patience)
        cg = self._solve(point, self.precondition, min(limit, self.solver.cg_max_iter))
        if not cg.converged and limit < self.solver.cg_max_iter:
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
        return asdict(self.trace[-1]) if self.trace else None

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
