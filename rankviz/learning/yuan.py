"""Newton-YUAN: Newton directions by Cholesky factors; a rule sets the step lengths, without line search."""

from __future__ import annotations

import math
import time
from dataclasses import asdict, dataclass, replace
from typing import ClassVar

from rankviz.common.arrays import FloatArray
from rankviz.common.progress import Progress, Report, StopRequested, silent
from rankviz.learning.cg import CGResult, conjugate_gradients
from rankviz.learning.feature_space import Objective, Point
from rankviz.learning.preconditioner import Preconditioner
from rankviz.learning.result import SolverResult, Status, TraceRow

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

        def told() -> None:
            report(Progress("newton", None, asdict(rows[-1]) if rows else None, point.told))

        try:
            while True:
                told()
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
