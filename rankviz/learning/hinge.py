"""The hinge loss as the limit of smoothed hinges, each solved from the previous one, up to a duality gap.

The hinge has no second derivative. Smoothed over a width h it has one. The slopes of the smoothed hinge are
dual variables that are feasible for the hinge: 0 ≤ α_ij = C·c_ij·clip((1 − t_ij)/h, 0, 1) ≤ C·c_ij. So every
point has a proved distance from the optimum, and h shrinks until it is small enough. RankSVM-Struct's cutting
planes (the 1-slack form) have the same optimum.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from rankviz.common.arrays import FloatArray
from rankviz.common.progress import Report, silent
from rankviz.learning.newton import TruncatedNewton
from rankviz.learning.objective import Objective, Preconditioner, SolverResult, Status, TraceRow, certificate
from rankviz.learning.risk import smoothed_risk

WIDEST, NARROWEST = 1.0, 1e-10
"""First width, and the width below which rounding dominates."""
LOOSEST = 1e-2
"""Largest ratio of Newton decrement to objective at which the width shrinks."""
AIM = 0.3
"""The next width aims at this share of the tolerance; the gap due to smoothing falls about as h²."""
SLOWEST, FASTEST = 0.5, 0.1
"""Range of the next width over the current one."""


@dataclass(frozen=True)
class HingeContinuation:
    """Minimise ½‖w‖² + C Σ c_ij·max(0, 1 − t_ij) up to a duality gap.

    Attributes
    ----------
    tol : float
        Stop once the duality gap is at most tol times the objective.
    max_iter : int
        Largest number of Newton steps, all widths together.
    preconditioned : bool
        See `TruncatedNewton`.
    """

    tol: float = 1e-6
    max_iter: int = 1000
    preconditioned: bool = True

    def solve(
        self,
        objective: Objective,
        w: FloatArray | None = None,
        report: Report = silent,
        precondition: Preconditioner | None = None,
    ) -> SolverResult:
        """Minimise from w (default: zeros); the objective's risk must be that of a smoothed hinge.

        The result's value is that of the hinge. Its dual variables are the slopes of the last smoothed hinge,
        whose width is in the last row of the trace.
        """
        h, inner_tol, rows = WIDEST, LOOSEST, list[TraceRow]()
        best: tuple[float, SolverResult] | None = None
        while True:
            steps = self.max_iter - sum(row.step > 0 for row in rows)
            newton = TruncatedNewton(tol=inner_tol, max_iter=steps, preconditioned=self.preconditioned)
            smooth = objective.with_risk(smoothed_risk(objective.risk, h))
            result = newton.solve(smooth, w, report, precondition)
            w, precondition = result.point.w, result.precondition
            rows = _joined(rows, result.trace, h)
            proved = certificate(smooth, result.point)
            status = self._status(result.status, proved.gap, h)
            found = SolverResult(
                result.point.with_value(proved.value), result.status, tuple(rows), precondition
            )
            if best is None or proved.gap < best[0]:
                best = proved.gap, found
            if status is Status.STALLED:  # rounding may spoil the last width: return the best one, to its row
                return replace(best[1], status=status)
            if status is not None:
                return replace(found, status=status)
            # Two parts of the gap: ½‖∇‖² falls with inner_tol, and the rest with h. Reduce the larger one.
            unsolved = 0.5 * smooth.inner(result.point.gradient, result.point.gradient) / proved.value
            smoothing = proved.gap - unsolved
            if unsolved > smoothing:
                inner_tol /= 100.0
            else:
                h *= float(np.clip(np.sqrt(AIM * self.tol / smoothing), FASTEST, SLOWEST))
                inner_tol = min(inner_tol, 0.1 * smoothing)

    def _status(self, inner: Status, gap: float, h: float) -> Status | None:
        """Return the final status, or None to go on."""
        if inner is Status.STOPPED:
            return inner
        if gap <= self.tol:
            return Status.CERTIFIED
        if inner is Status.MAX_ITERATIONS:
            return inner
        return Status.STALLED if inner is Status.STALLED or h < NARROWEST else None


def _joined(rows: list[TraceRow], more: tuple[TraceRow, ...], h: float) -> list[TraceRow]:
    """Join two traces: if the last row of the first took no step, the second begins with the same point."""
    kept = rows[:-1] if rows and more and rows[-1].step == 0.0 else rows
    spent = rows[-1] if len(kept) < len(rows) else None
    began = rows[-1].seconds if rows else 0.0
    renumbered = [
        replace(row, iteration=len(kept) + k, seconds=began + row.seconds, smoothing=h)
        for k, row in enumerate(more)
    ]
    if spent is not None:
        renumbered[0] = replace(
            renumbered[0],
            cg_iterations=renumbered[0].cg_iterations + spent.cg_iterations,
            products=renumbered[0].products + spent.products,
        )
    return kept + renumbered
