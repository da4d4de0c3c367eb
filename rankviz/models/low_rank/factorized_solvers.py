"""Two solvers for factors in a box: L-BFGS-B on all of them, or steps query by query as printed.

The problem is not convex: results depend on the start, and both solvers end at stationary points.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np
from scipy.optimize import Bounds, OptimizeResult, minimize

from rankviz.common.arrays import FloatArray
from rankviz.common.errors import SettingError
from rankviz.common.progress import Report, StopRequested, silent
from rankviz.features.bases import IdentityBasis
from rankviz.features.operator import FeatureOperator
from rankviz.learning.effort import Sizes, Work
from rankviz.learning.result import Status
from rankviz.models.low_rank.cells import Cells
from rankviz.models.low_rank.effort import Values, by_query
from rankviz.models.low_rank.factorized import FactorPoint, FactorProblem, box_gap
from rankviz.models.low_rank.gram import FeatureGram
from rankviz.models.low_rank.trace import LowRankResult, LowRankSolver, Tracer

MEMORY = 10
"""Number of corrections that approximate the Hessian."""

NEEDS_ROWS = (
    "steps query by query need rows of features, which the matrix of an exact kernel has not. Choose "
    "solver='lbfgs', which does without"
)


class FactorSolver(LowRankSolver[FactorProblem, FactorPoint], Protocol):
    """A solver for a `FactorProblem` from factors V (n, K), with its initial factors."""

    start_words: ClassVar[str]

    def start(self, problem: FactorProblem, seed: int) -> FloatArray:
        """Draw positive factors."""
        ...


class _AllDrawn:
    """Solvers that start from K random factors (xu2019 Algorithm 1, line 2)."""

    start_words: ClassVar[str] = "positive factors drawn at random"

    def start(self, problem: FactorProblem, seed: int) -> FloatArray:
        """Draw V (n, K) by `FactorProblem.start`."""
        return problem.start(seed)


@dataclass(frozen=True)
class BoxedLBFGS(_AllDrawn):
    """SciPy's L-BFGS-B on all factors at once, those of document i in units of 1/√(number of its pairs).

    Gradients grow with the number of pairs; in equal units, queries with few documents would hardly move.
    Source: byrd1995 for the method, zhu1997 for its code.

    Attributes
    ----------
    tol : float
        Gap at which to stop (see `StepRow`).
    max_iter : int
    """

    label: ClassVar[str] = "L-BFGS-B on all factors (SciPy)"

    tol: float = 1e-3
    max_iter: int = 1000

    def solve(
        self, problem: FactorProblem, V: FloatArray, report: Report = silent
    ) -> LowRankResult[FactorPoint]:
        """Minimise from factors V (n, K); a stop through `report` returns the last iteration."""
        tracer = Tracer(report, self.tol)
        point, status = self.go_on(problem, V, tracer)
        return LowRankResult(point, status, tuple(tracer.rows))

    def go_on(self, problem: FactorProblem, V: FloatArray, tracer: Tracer) -> tuple[FactorPoint, Status]:
        """Minimise from factors V (n, K) as part of a longer run; rows go to its `tracer`."""
        run = _BoxedRun(self, problem, tracer)
        try:
            run.begin(V)
            status = run.minimise()
        except StopRequested:
            status = Status.STOPPED
        return run.point, status


class _BoxedRun:
    """The last accepted point of SciPy, and its last trial."""

    def __init__(self, solver: BoxedLBFGS, problem: FactorProblem, tracer: Tracer) -> None:
        self.solver, self.problem = solver, problem
        self.tracer, self.done, self.last = tracer, False, len(tracer.rows) + solver.max_iter
        self.unit = np.repeat(1.0 / np.sqrt(np.maximum(problem.cells.degree, 1.0)), problem.rank)

    def begin(self, V: FloatArray) -> None:
        self.point = self.tried = self.problem.at(V)
        self._note()

    def minimise(self) -> Status:
        """Run SciPy with its own limits out of reach: only the gap, `max_iter` and rounding end it."""
        if self.done:
            return Status.STATIONARY
        limit = self.solver.max_iter
        minimize(
            self._value,
            self.point.V.ravel() / self.unit,
            jac=True,
            method="L-BFGS-B",
            bounds=Bounds(np.zeros(1), self.problem.ceiling / self.unit),
            callback=self._accepted,
            options={"maxcor": MEMORY, "maxiter": limit, "maxfun": 20 * limit, "ftol": 0.0, "gtol": 0.0},
        )
        if self.done:
            return Status.STATIONARY
        return Status.MAX_ITERATIONS if len(self.tracer.rows) > self.last else Status.STALLED

    def _factors(self, x: FloatArray) -> FloatArray:
        V = (x * self.unit).reshape(self.problem.cells.n, self.problem.rank)
        return np.clip(V, 0.0, self.problem.ceiling, out=V)  # rounding of the units may exceed the ceiling

    def _value(self, x: FloatArray) -> tuple[float, FloatArray]:
        self.tracer.tell()
        self.tried = self.problem.at(self._factors(x))
        return self.tried.value, self.tried.gradient.ravel() * self.unit

    def _accepted(self, intermediate_result: OptimizeResult) -> None:
        """Record the point of an iteration, usually the last trial; StopIteration stops SciPy."""
        V = self._factors(intermediate_result.x)
        self.point = self.tried if np.array_equal(V, self.tried.V) else self.problem.at(V)
        self._note()
        if self.done:
            raise StopIteration

    def _note(self) -> None:
        gap = box_gap(self.point.gradient, self.point.V, self.problem.ceiling)
        self.done = self.tracer.note(len(self.tracer.rows), self.point.value, gap, self.point.f)


@dataclass(frozen=True)
class QuerySteps(_AllDrawn):
    """One projected-gradient step for the factors of each query in turn, repeatedly (xu2019 Algorithm 1).

    w is updated after each query (lines 6, 10 and 11). Backtracking replaces the paper's fixed learning rate.
    A step is halved until the objective falls by at least the quadratic bound for its length, and doubled for
    the next pass.

    Attributes
    ----------
    tol : float
        Gap at which to stop (see `StepRow`), checked after each pass.
    max_iter : int
        Passes over all queries.
    """

    short: ClassVar[str] = "paper's steps"
    label: ClassVar[str] = "projected gradients, query by query (xu2019)"
    printed: ClassVar[bool] = True
    needs_rows: ClassVar[bool] = True

    tol: float = 1e-3
    max_iter: int = 500

    @classmethod
    def work(cls, values: Values, sizes: Sizes) -> Work:
        """Return the typical work, for estimates."""
        return by_query(values, sizes, cls.max_iter)

    def solve(
        self, problem: FactorProblem, V: FloatArray, report: Report = silent
    ) -> LowRankResult[FactorPoint]:
        """Minimise from factors V (n, K); `SettingError` for an exact kernel without rows of features."""
        if not isinstance(problem.gram, FeatureGram):
            raise SettingError(NEEDS_ROWS)
        point, tracer = problem.at(V), Tracer(report, self.tol)
        try:
            done = _note(tracer, problem, point)
            queries = _Queries(problem, problem.gram.features.dense(), point, tracer)
            while not done:
                if len(tracer.rows) > self.max_iter:
                    return LowRankResult(point, Status.MAX_ITERATIONS, tuple(tracer.rows))
                queries.step()
                point = problem.at(queries.V)
                done = _note(tracer, problem, point)
        except StopRequested:
            return LowRankResult(point, Status.STOPPED, tuple(tracer.rows))
        return LowRankResult(point, Status.STATIONARY, tuple(tracer.rows))


def _note(tracer: Tracer, problem: FactorProblem, point: FactorPoint) -> bool:
    gap = box_gap(point.gradient, point.V, problem.ceiling)
    return tracer.note(len(tracer.rows), point.value, gap, point.f)


class _Queries:
    """The factors of all queries, w, and the subproblem of each query with the others fixed."""

    def __init__(self, problem: FactorProblem, Phi: FloatArray, point: FactorPoint, tracer: Tracer) -> None:
        self.tracer = tracer
        self.V, self.w = point.V.copy(), Phi.T @ point.c
        self.parts = [_Part(problem, cells, Phi, rows, point) for rows, cells in problem.cells.queries()]

    def step(self) -> None:
        """Take one step for each query."""
        for part in self.parts:
            self.tracer.tell()
            self.w += part.step(self.V, self.w)


class _Part:
    """One query's subproblem: minimise ½‖w_rest + Φ_qᵀc‖² − Σα over its factors."""

    def __init__(
        self, problem: FactorProblem, cells: Cells, Phi: FloatArray, rows: slice, point: FactorPoint
    ) -> None:
        self.rows, self.Phi, self.c = rows, np.ascontiguousarray(Phi[rows]), point.c[rows]
        gram = FeatureGram(FeatureOperator(self.Phi, IdentityBasis(self.Phi.shape[1])))
        self.problem = FactorProblem(cells, gram, problem.C, problem.rank)
        self.length = 1.0 / max(1.0, float(np.abs(point.gradient[rows]).max()))

    def step(self, V: FloatArray, w: FloatArray) -> FloatArray:
        """Move this query's rows of V (n, K) by one step; return the change of w."""
        rest = self.Phi @ (w - self.Phi.T @ self.c)
        here = self.problem.at(V[self.rows], rest)
        while True:
            moved = np.clip(here.V - self.length * here.gradient, 0.0, self.problem.ceiling)
            change = moved - here.V
            size = float(np.vdot(change, change))
            there = self.problem.at(moved, rest)
            promised = float(np.vdot(here.gradient, change)) + size / (2.0 * self.length)
            at_rest = size <= TINY * float(np.vdot(moved, moved))
            if at_rest or there.value <= here.value + promised:
                break
            self.length *= 0.5
        if not at_rest:  # else it would grow without bound
            self.length *= 2.0
        change_of_w = self.Phi.T @ (there.c - self.c)
        V[self.rows], self.c = moved, there.c
        return change_of_w


TINY = 1e-24
"""Shorter steps (squared, relative) are rounding."""
