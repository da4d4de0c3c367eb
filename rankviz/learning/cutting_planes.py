"""Cutting planes: minimise a convex objective that need not have a derivative, with a proved gap.

Each point gives a plane a·w + b below C·risk. The minimum of ½‖w‖² plus the largest plane bounds the
optimum from below. By duality it is the maximum of b·λ − ½‖Σ λ_t a_t‖² over λ ≥ 0 with Σ λ = 1, and every
such λ gives a bound. So rounding of the quadratic program cannot spoil the gap (joachims2006). The next
planes are taken along the line from the best weights to the model's minimum, so the objective falls steadily
(franc2009).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import Any, ClassVar

import numpy as np

from rankviz.common.arrays import FloatArray, IntArray
from rankviz.common.progress import Progress, Report, StopRequested, silent
from rankviz.learning.objective import Objective, Point, Preconditioner, SolverResult, Status, TraceRow

TRIALS = 8
"""Halvings of the line's interval; each takes one evaluation of the risk, without features."""
BEYOND = 0.1
"""The outer plane lies at this share of the rest of the line, as in franc2009."""
MOST_PLANES = 400
"""Beyond this number, planes with weight 0 are dropped; this does not lower the bound."""


@dataclass(frozen=True)
class CuttingPlanes:
    """Minimise an objective by cutting planes.

    Attributes
    ----------
    tol : float
        Stop once the duality gap is at most tol times the objective.
    max_iter : int
        Largest number of iterations, each of which adds up to three planes.
    """

    tol: float = 1e-6
    max_iter: int = 1000

    preconditioned: ClassVar[bool] = False

    def solve(
        self,
        objective: Objective,
        w: FloatArray | None = None,
        report: Report = silent,
        precondition: Preconditioner | None = None,
    ) -> SolverResult:
        """Minimise from w (default: the objective's start); a stop returns the best weights so far."""
        run = _Run(self, objective, report, objective.start() if w is None else w)
        try:
            return run.iterate()
        except StopRequested:
            return run.result(Status.STOPPED)


class _Run:
    """The best point, the planes, and the trace."""

    def __init__(self, solver: CuttingPlanes, objective: Objective, report: Report, w: FloatArray) -> None:
        self.solver, self.objective, self.report = solver, objective, report
        self.began, self.rows = time.perf_counter(), list[TraceRow]()
        self.best = objective.at(w)
        self.model = Model(objective.inner)
        self.model.add(self.best)
        self.bound = -np.inf
        self._note(products=1.0)

    def iterate(self) -> SolverResult:
        """Add planes until the gap, the limit of iterations or rounding ends it."""
        while True:
            self.report(Progress("newton", None, asdict(self.rows[-1]), self.best.reported_scores))
            if self.rows[-1].gap <= self.solver.tol:
                return self.result(Status.CERTIFIED)
            if len(self.rows) > self.solver.max_iter:
                return self.result(Status.MAX_ITERATIONS)
            before = self.bound, self.best.value
            step = self._step()
            seconds = time.perf_counter() - self.began
            products = self.rows[-1].products + 2.0
            row = self.rows[-1]
            self.rows[-1] = replace(row, step=step, seconds=seconds, products=products)
            self._note()
            if (self.bound, self.best.value) == before:
                self.rows[-2:] = [row]
                return self.result(Status.STALLED)

    def _step(self) -> float:
        """Move the best point along the line to the model's minimum, and add planes; return the step."""
        ray = self.objective.ray(self.best, self.model.minimum - self.best.w)
        tried: dict[float, Any] = {}

        def slope(tau: float) -> float:
            tried[tau] = ray.at(tau)
            return float(tried[tau][0])

        low, high = bracket(slope)
        outer = high + BEYOND * (1.0 - high)
        if outer not in tried:
            slope(outer)
        points = {tau: ray.end(tau, tried[tau][2]) for tau in {low, high, outer} - {0.0}}
        for point in points.values():
            self.model.add(point)
        tau = min(points, key=lambda one: points[one].value)
        if points[tau].value >= self.best.value:
            return float(np.finfo(np.float64).tiny)  # only planes were added
        self.best = points[tau]
        return tau

    def _note(self, products: float = 0.0) -> None:
        """Solve the model, and record the row of the iteration that begins now."""
        self.bound = max(self.bound, self.model.solve())
        seconds = time.perf_counter() - self.began
        row = TraceRow.at(self.objective, self.best, len(self.rows), seconds, products=products)
        gap = (self.best.value - self.bound) / self.best.value if self.best.value > 0 else 0.0
        self.rows.append(replace(row, gap=max(gap, 0.0)))

    def result(self, status: Status) -> SolverResult:
        """Return the result so far."""
        return SolverResult(self.best, status, tuple(self.rows))


def bracket(slope: Callable[[float], float]) -> tuple[float, float]:
    """Return steps low ≤ high in [0, 1] around the minimum of a convex function, from its slopes."""
    low, high = 0.0, 1.0
    if slope(high) <= 0.0:
        return high, high
    for _ in range(TRIALS):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if slope(middle) <= 0.0 else (low, middle)
    return low, high


class Model:
    """½‖w‖² plus the largest of the planes a·w + b, by its dual in weights λ of the planes."""

    def __init__(self, inner: Callable[[FloatArray, FloatArray], float]) -> None:
        self._inner, self._a = inner, list[FloatArray]()
        self.gram, self.b, self.weights = np.zeros((0, 0)), np.zeros(0), np.zeros(0)

    def add(self, point: Point | Any) -> None:
        """Add the plane of a point: its slope is C·∂risk."""
        a = point.gradient - point.w
        value = point.value - 0.5 * self._inner(point.w, point.w)
        products = np.array([self._inner(other, a) for other in (*self._a, a)])
        self._a.append(a)
        self.gram = np.block([[self.gram, products[:-1, None]], [products]])
        self.b = np.append(self.b, value - self._inner(point.w, a))
        self.weights = np.append(self.weights, float(len(self._a) == 1))

    def solve(self) -> float:
        """Find the best weights; return their lower bound of the objective."""
        if len(self._a) > MOST_PLANES:
            self._drop()
        self.weights = best_weights(self.gram, self.b, self.weights)
        return float(self.b @ self.weights - 0.5 * self.weights @ self.gram @ self.weights)

    @property
    def minimum(self) -> FloatArray:
        """The model's minimum, −Σ λ a."""
        found: FloatArray = -sum(
            (weight * a for weight, a in zip(self.weights, self._a, strict=True) if weight),
            np.zeros_like(self._a[0]),
        )
        return found

    def _drop(self) -> None:
        kept = np.flatnonzero(self.weights)
        self._a = [self._a[t] for t in kept]
        self.gram, self.b, self.weights = self.gram[np.ix_(kept, kept)], self.b[kept], self.weights[kept]


def best_weights(G: FloatArray, b: FloatArray, weights: FloatArray) -> FloatArray:
    """Maximise b·λ − ½ λᵀGλ over λ ≥ 0 with Σ λ = 1, from feasible weights, by active sets.

    The weights of a set solve a linear system; those that would become negative leave the set, and the one
    with the largest slope enters it. Any result is feasible.
    """
    weights = weights.copy()
    noise = 1e-14 * (float(np.trace(G)) + float(np.abs(b).max()) + 1e-300)
    for _ in range(10 * len(b)):
        slopes = b - G @ weights
        enters = int(slopes.argmax())
        if slopes[enters] - float(slopes @ weights) <= noise or weights[enters] > 0.0:
            break
        _optimise(G, b, weights, np.append(np.flatnonzero(weights), enters))
    return weights


def _optimise(G: FloatArray, b: FloatArray, weights: FloatArray, active: IntArray) -> None:
    """Set the weights of the active planes to their best, without those that would be negative."""
    ridge = 1e-13 * (float(np.trace(G)) / len(b) + 1e-300)
    while True:
        k = len(active)
        system = np.ones((k + 1, k + 1))
        system[:k, :k], system[k, k] = G[np.ix_(active, active)], 0.0
        system[np.arange(k), np.arange(k)] += ridge  # planes may repeat
        found = np.linalg.solve(system, np.append(b[active], 1.0))[:k]
        if (found > 0.0).all():
            weights[:] = 0.0
            weights[active] = found / found.sum()
            return
        now = weights[active]
        falls = found <= 0.0
        share = min(1.0, float((now[falls] / np.maximum(now - found, 1e-300)[falls]).min()))
        moved = np.maximum(now + share * (found - now), 0.0)
        leaves = falls & (moved <= 1e-15)
        leaves[np.flatnonzero(falls)[(moved[falls]).argmin()]] = True
        moved[leaves] = 0.0
        if not moved.sum() > 0.0:
            return
        weights[:] = 0.0
        weights[active] = moved / moved.sum()
        active = active[~leaves]
        if not len(active):
            return
