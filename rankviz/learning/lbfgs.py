"""SciPy's L-BFGS-B on the same objective: a general optimiser, for comparison with the specialised ones."""

from __future__ import annotations

import math
import time
from dataclasses import asdict, dataclass, replace
from typing import ClassVar

import numpy as np
from scipy.optimize import OptimizeResult, minimize

from rankviz.common.arrays import FloatArray
from rankviz.common.progress import Progress, Report, StopRequested, silent
from rankviz.learning.objective import Objective, Point, Preconditioner, SolverResult, Status, TraceRow

MEMORY = 10
"""Number of corrections that approximate the Hessian."""
SHORTER, SHORTEST = 0.1, 1e-100
"""Factor of the unit after a first step that was too long, and the smallest unit."""


@dataclass(frozen=True)
class LBFGS:
    """Minimise an objective over Euclidean weights by L-BFGS (byrd1995; SciPy has zhu1997's code).

    Attributes
    ----------
    tol : float
        Stop once ½‖g‖² is at most tol times the objective. For a convex objective it is the duality gap, and
        stricter than the Newton decrement ½gᵀH^-1g ≤ ½‖g‖², which L-BFGS cannot compute.
    max_iter : int
        Largest number of iterations.
    """

    tol: float = 1e-6
    max_iter: int = 10_000

    preconditioned: ClassVar[bool] = False

    def solve(
        self,
        objective: Objective,
        w: FloatArray | None = None,
        report: Report = silent,
        precondition: Preconditioner | None = None,
    ) -> SolverResult:
        """Minimise from w (m,) (default: zeros); a stop through `report` returns the current result."""
        run = _Run(self, objective, report)
        run.begin(objective.start() if w is None else w)
        try:
            run.tell(begins=True)
            if not run.proved:
                run.minimise()
        except StopRequested:
            return run.result(Status.STOPPED)
        return run.result()


class _TooFar(Exception):  # noqa: N818 - marks a trial point
    """The objective is not finite at this point."""


class _Run:
    """Trial points of SciPy, and accepted ones; SciPy's variables are weights in units of `unit`."""

    def __init__(self, solver: LBFGS, objective: Objective, report: Report) -> None:
        self.solver, self.objective, self.report = solver, objective, report
        self.began = time.perf_counter()
        self.rows: list[TraceRow] = []
        self.tried: list[Point] = []
        self.unit = 1.0

    def begin(self, w: FloatArray) -> None:
        self.point = self.objective.at(w)
        self.rows.append(self._row(products=1.0))

    @property
    def proved(self) -> bool:
        row = self.rows[-1]
        return 0.5 * row.gradient_norm**2 <= self.solver.tol * abs(row.objective)

    def tell(self, *, begins: bool = False) -> None:
        """Report the row of the current iteration, with scores when it begins."""
        scores = self.point.reported_scores if begins else None
        self.report(Progress("newton", None, asdict(self.rows[-1]), scores))

    def minimise(self) -> None:
        """Minimise; if a trial overflows, restart from the latest point with a shorter first step.

        SciPy's first step has length one, which may be too long for a loss that grows fast.
        """
        while self.unit >= SHORTEST:
            try:
                self._descend()
            except _TooFar:
                self.unit *= SHORTER
            else:
                return

    def _descend(self) -> None:
        """Run SciPy with its own limits out of reach: only `accepted` and rounding end it."""
        limit = self.solver.max_iter - (len(self.rows) - 1)
        minimize(
            self._value,
            self.point.w / self.unit,
            jac=True,
            method="L-BFGS-B",
            callback=self._accepted,
            options={"maxcor": MEMORY, "maxiter": limit, "maxfun": 20 * limit, "ftol": 0.0, "gtol": 0.0},
        )

    def _value(self, x: FloatArray) -> tuple[float, FloatArray]:
        self.tell()
        with np.errstate(over="ignore", invalid="ignore"):
            point = self.objective.at(self.unit * x)
        self.tried.append(point)
        if not (math.isfinite(point.value) and np.isfinite(point.gradient).all()):
            raise _TooFar
        return point.value, self.unit * point.gradient

    def _accepted(self, intermediate_result: OptimizeResult) -> None:
        """Record the point of an iteration; StopIteration stops SciPy."""
        w = self.unit * intermediate_result.x
        found = next((p for p in reversed(self.tried) if np.array_equal(p.w, w)), None)
        point = self.objective.at(w) if found is None else found
        step = float(np.linalg.norm(point.w - self.point.w)) or math.ulp(0.0)
        spent = self.rows[-1].products + len(self.tried)
        seconds = time.perf_counter() - self.began
        self.rows[-1] = replace(self.rows[-1], step=step, products=spent, seconds=seconds)
        self.tried, self.point = [], point
        self.rows.append(self._row())
        self.tell(begins=True)
        if self.proved:
            raise StopIteration

    def _row(self, products: float = 0.0) -> TraceRow:
        seconds = time.perf_counter() - self.began
        return TraceRow.at(self.objective, self.point, len(self.rows), seconds, products=products)

    def result(self, status: Status | None = None) -> SolverResult:
        """Return the result so far, with the given status or the actual one."""
        if status is None and self.proved:
            status = Status.CERTIFIED if self.objective.convex else Status.FLAT
        elif status is None:
            reached = len(self.rows) > self.solver.max_iter
            status = Status.MAX_ITERATIONS if reached else Status.STALLED
        return SolverResult(self.point, status, tuple(self.rows))
