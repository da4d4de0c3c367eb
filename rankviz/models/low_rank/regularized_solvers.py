"""Two solvers for the regularised problem: FISTA, and the alternating steps as printed."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar, TypeAlias

from rankviz.common.arrays import FloatArray
from rankviz.common.progress import Report, StopRequested, silent
from rankviz.common.settings import SEED, Setting
from rankviz.learning.effort import Sizes, Work
from rankviz.learning.result import Status
from rankviz.models.low_rank.effort import FISTA_STEPS, ROUND, ROUNDS, Values, by_dual_steps, iterations
from rankviz.models.low_rank.factorized import box_gap
from rankviz.models.low_rank.regularized import DualPoint, RegularizedProblem
from rankviz.models.low_rank.trace import LowRankResult, LowRankSolver, Tracer

CHECK_EVERY = 5
"""Steps of FISTA between evaluations of the objective, which cost as much as a step."""


DualSolver: TypeAlias = LowRankSolver[RegularizedProblem, DualPoint]
"""A solver for a `RegularizedProblem`, from α (E,) in the box."""


@dataclass(frozen=True)
class Fista:
    """Accelerated projected gradients (beck2009) on the objective over α with the best A at each α.

    Steps are 1/L with L the curvature of M plus that of the coupling. M's curvature is checked at every step
    and raised if it was too small. Momentum is reset if it leads uphill.

    Attributes
    ----------
    tol : float
        Gap at which to stop (see `StepRow`): a proved bound on the distance from the minimum.
    max_iter : int
    """

    short: ClassVar[str] = "FISTA"
    label: ClassVar[str] = "FISTA, from the plain model"
    printed: ClassVar[bool] = False
    from_plain: ClassVar[bool] = True

    tol: float = 1e-3
    max_iter: int = 500

    @classmethod
    def work(cls, values: Values, sizes: Sizes) -> Work:
        """Return the typical work, for estimates; a smaller nuclear norm means a closer start."""
        share = min(1.0, values["nuclear"])
        return by_dual_steps(iterations(FISTA_STEPS, values, cls.max_iter, share), sizes)

    def solve(
        self, problem: RegularizedProblem, alpha: FloatArray, report: Report = silent
    ) -> LowRankResult[DualPoint]:
        """Minimise from α (E,) in the box; a stop through `report` returns the last evaluation."""
        tracer, point = Tracer(report, self.tol), problem.at(alpha)
        try:
            run = _FistaRun(problem, alpha, tracer)
            done = _note(tracer, problem, 0, point)
            while not done:
                if run.steps >= self.max_iter:
                    return LowRankResult(point, Status.MAX_ITERATIONS, tuple(tracer.rows))
                for _ in range(min(CHECK_EVERY, self.max_iter - run.steps)):
                    run.step()
                point = problem.at(run.alpha)
                done = _note(tracer, problem, run.steps, point)
        except StopRequested:
            return LowRankResult(point, Status.STOPPED, tuple(tracer.rows))
        return LowRankResult(point, Status.CERTIFIED, tuple(tracer.rows))


def _note(tracer: Tracer, problem: RegularizedProblem, steps: int, point: DualPoint) -> bool:
    gap = box_gap(point.gradient, point.alpha, problem.C)
    return tracer.note(steps, point.value, gap, point.f)


class _FistaRun:
    """Current point, extrapolated point for the next step, and momentum."""

    def __init__(self, problem: RegularizedProblem, alpha: FloatArray, tracer: Tracer) -> None:
        self.problem, self.tracer, self.steps = problem, tracer, 0
        self.alpha = self.ahead = alpha
        self.momentum = 1.0

    def step(self) -> None:
        """Take one step from `ahead`."""
        self.tracer.tell()
        point = self.problem.at(self.ahead)
        moved = self._descend(point)
        # the last move points uphill: restart the momentum
        if float(point.gradient @ (moved - self.alpha)) > 0.0:
            self.momentum = 1.0
        following = 0.5 * (1.0 + math.sqrt(1.0 + 4.0 * self.momentum**2))
        self.ahead = moved + (self.momentum - 1.0) / following * (moved - self.alpha)
        self.alpha, self.momentum, self.steps = moved, following, self.steps + 1

    def _descend(self, point: DualPoint) -> FloatArray:
        """Return a projected-gradient step that satisfies the curvature along it."""
        while True:
            moved = self.problem.step(point.alpha, point.gradient, 1.0 / self.problem.lipschitz)
            change = moved - point.alpha
            found, size = self.problem.quadratic(change), float(change @ change)
            if found <= self.problem.curvature * size or size == 0.0:
                return moved
            self.problem = replace(self.problem, curvature=1.05 * found / size)


@dataclass(frozen=True)
class Alternating:
    """Projected-gradient steps on α for fixed A, then the best A, repeatedly (xu2019 Algorithm 2).

    The learning rate is 1/L, which never raises the objective; L is checked as in `Fista`. The paper searches
    it.

    Attributes
    ----------
    tol : float
        Gap at which to stop.
    max_iter : int
        Rounds T.
    inner : int
        Steps on α in a round, T'.
    """

    settings: ClassVar[tuple[Setting, ...]] = (SEED,)
    short: ClassVar[str] = "paper's steps"
    label: ClassVar[str] = "alternating steps from random α (xu2019)"
    printed: ClassVar[bool] = True
    from_plain: ClassVar[bool] = False

    tol: float = 1e-3
    max_iter: int = 200
    inner: int = 10

    @classmethod
    def work(cls, values: Values, sizes: Sizes) -> Work:
        """Return the typical work, for estimates."""
        return by_dual_steps(iterations(ROUNDS, values, cls.max_iter), sizes, ROUND)

    def solve(
        self, problem: RegularizedProblem, alpha: FloatArray, report: Report = silent
    ) -> LowRankResult[DualPoint]:
        """Minimise from α (E,) in the box; a stop through `report` returns the last round."""
        tracer, point = Tracer(report, self.tol), problem.at(alpha)
        try:
            done = _note(tracer, problem, 0, point)
            for rounds in range(1, self.max_iter + 1):
                if done:
                    return LowRankResult(point, Status.CERTIFIED, tuple(tracer.rows))
                moved = point
                for _ in range(self.inner):
                    tracer.tell()
                    moved, problem = _step(problem, moved)
                point = problem.at(moved.alpha)
                done = _note(tracer, problem, rounds, point)
        except StopRequested:
            return LowRankResult(point, Status.STOPPED, tuple(tracer.rows))
        return LowRankResult(point, Status.CERTIFIED if done else Status.MAX_ITERATIONS, tuple(tracer.rows))


def _step(problem: RegularizedProblem, point: DualPoint) -> tuple[DualPoint, RegularizedProblem]:
    """Return a step on α for fixed A, and the problem with a sufficient curvature, checked by c and f."""
    while True:
        there = problem.at(problem.step(point.alpha, point.gradient, 1.0 / problem.lipschitz), point.low)
        change = there.alpha - point.alpha
        found, size = float((there.c - point.c) @ (there.f - point.f)), float(change @ change)
        if found <= problem.curvature * size or size == 0.0:
            return there, problem
        problem = replace(problem, curvature=1.05 * found / size)
