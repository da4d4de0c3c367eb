"""Regularised RankSVM (xu2019 §5.2): the hinge's dual, coupled to matrices of small nuclear norm.

Minimise ½αᵀMα − eᵀα + nuclear·Σ_l‖A_l‖_* + coupling·Σ_l‖mat(α)_l − A_l‖_F² over 0 ≤ α ≤ C and matrices A (eq.
15; the paper's γ and λ). The distance counts all entries of a block, also outside pairs. Over pairs alone,
thresholding would not give the best A with three or more grades. The best A for given α is
D_{nuclear/(2·coupling)}(mat(α)). The rest is a convex function of α with the gradient Mα − e + 2·coupling·(α
− A): a differentiable problem in a box. A has low rank; α does not.

Singular value thresholding is D_τ(X) = argmin_A τ‖A‖_* + ½‖X − A‖_F² = U diag(max(0, σ − τ)) Vᵀ for
X = U diag(σ) Vᵀ (xu2019 theorem 1, cai2010).

`Fista` takes accelerated steps from the α of plain RankSVM, `Alternating` the paper's steps.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple, TypeAlias

import numpy as np

from rankviz.common.arrays import FloatArray, IntArray
from rankviz.common.parallel import each
from rankviz.common.progress import Progress, Report, StopRequested, silent
from rankviz.common.settings import SEED, Setting
from rankviz.datasets.types import RankingData
from rankviz.learning.feature_space import RankObjective
from rankviz.learning.hinge import HingeContinuation
from rankviz.learning.kernel_space import KernelObjective, first_landmarks
from rankviz.learning.losses import SmoothedHinge
from rankviz.learning.objective import Objective, Status
from rankviz.learning.risk import Risk
from rankviz.learning.solvers import Sizes, Work
from rankviz.learning.sorted_risk import risk_of
from rankviz.models.factorized import box_gap
from rankviz.models.low_rank_blocks import Blocks, FeatureGram, Gram, KernelGram, Stack
from rankviz.models.low_rank_trace import (
    FISTA_STEPS,
    ROUND,
    ROUNDS,
    LowRankResult,
    LowRankSolver,
    Tracer,
    Values,
    by_dual_steps,
    iterations,
)


class Shrunk(NamedTuple):
    """A = D_τ(X) (g, r, c), its nuclear norms (g,), and its ranks (g,)."""

    A: FloatArray
    nuclear: FloatArray
    rank: IntArray


def shrunk(X: FloatArray, tau: float) -> Shrunk:
    """Return D_τ of each block of X (g, r, c).

    It uses eigenvalues σ² of the smaller of XXᵀ and XᵀX, several times faster than singular values. The error
    is at most about √ε·σ₁, 1.5e-8 of the largest singular value, and ε·σ₁²/τ for larger τ.
    """
    if X.shape[1] < X.shape[2]:
        A, nuclear, rank = shrunk(X.transpose(0, 2, 1), tau)
        return Shrunk(A.transpose(0, 2, 1), nuclear, rank)
    squares, V = np.linalg.eigh(X.transpose(0, 2, 1) @ X)
    sigma = np.sqrt(np.maximum(squares, 0.0))
    left = np.maximum(sigma - tau, 0.0)
    share = np.divide(left, sigma, out=np.zeros_like(sigma), where=sigma > 0.0)
    first = int((share > 0.0).argmax(axis=1).min()) if share.any() else share.shape[1]
    kept = V[:, :, first:]  # eigenvalues ascend: those that vanish in all blocks come first
    A = (X @ kept) * share[:, None, first:] @ kept.transpose(0, 2, 1)
    return Shrunk(A, left.sum(axis=1), (left > 0.0).sum(axis=1))


SMALL = 5_000
"""Blocks with fewer entries in total use one thread, which is faster."""


@dataclass(frozen=True, eq=False)
class Thresholded:
    """The matrices A of all blocks.

    Attributes
    ----------
    A : (E,) float64
    nuclear : float
        Σ_l ‖A_l‖_*.
    ranks : (queries with pairs,) int64
        Ranks in the order of `Blocks.queries`.
    """

    A: FloatArray
    nuclear: float
    ranks: IntArray


@dataclass(frozen=True, eq=False)
class DualPoint:
    """Values and gradient at dual variables α and matrices A.

    Attributes
    ----------
    alpha : (E,) float64
        Zero outside pairs.
    low : Thresholded
        The A used in the value.
    c, f : (n,) float64
        c_i = Σ_j α_ij − Σ_j α_ji, and the scores G c.
    dual : float
        ½cᵀf − Σα, the negative dual value of the hinge.
    value : float
        Objective with the nuclear norm and the coupling.
    gradient : (E,) float64
        Over α at this A; for the best A, also the gradient of the value minimised over A.
    """

    alpha: FloatArray
    low: Thresholded
    c: FloatArray
    f: FloatArray
    dual: float
    value: float
    gradient: FloatArray


@dataclass(frozen=True, eq=False)
class RegularizedProblem:
    """The problem of eq. 15 over all blocks.

    Attributes
    ----------
    blocks : Blocks
    gram : Gram
    C, nuclear, coupling : float
    curvature : float
        Largest eigenvalue of M.
    """

    blocks: Blocks
    gram: Gram
    C: float
    nuclear: float
    coupling: float
    curvature: float

    @property
    def lipschitz(self) -> float:
        """Largest curvature of the objective over α: that of M plus that of the coupling."""
        return self.curvature + 2.0 * self.coupling

    def best(self, alpha: FloatArray) -> Thresholded:
        """Return the best A for given α: thresholded at nuclear/(2·coupling) (eq. 19)."""
        A, tau = np.empty_like(alpha), self.nuclear / (2.0 * self.coupling)

        def threshold(stack: Stack) -> tuple[float, IntArray]:
            found = shrunk(stack.of(alpha), tau)
            stack.of(A)[...] = found.A
            return float(found.nuclear.sum()), found.rank

        stacks = self.blocks.stacks
        parts = [threshold(stack) for stack in stacks] if len(A) < SMALL else each(threshold, stacks)
        ranks = np.concatenate([np.empty(0, np.int64), *(rank for _, rank in parts)])
        return Thresholded(A, sum(nuclear for nuclear, _ in parts), ranks)

    def at(self, alpha: FloatArray, low: Thresholded | None = None) -> DualPoint:
        """Return value and gradient at α (E,) and matrices A (default: the best)."""
        low = self.best(alpha) if low is None else low
        c, total = self.blocks.given(alpha), float(alpha.sum())
        f = self.gram.scores(c)
        gradient = self.blocks.margins(f)
        gradient -= self.blocks.is_pair
        apart = alpha - low.A
        dual = 0.5 * float(c @ f) - total
        value = dual + self.nuclear * low.nuclear + self.coupling * float(apart @ apart)
        apart *= self.blocks.is_pair
        apart *= 2.0 * self.coupling
        gradient += apart
        return DualPoint(alpha, low, c, f, dual, value, gradient)

    def quadratic(self, change: FloatArray) -> float:
        """Return ΔᵀMΔ of a change Δ (E,) that is 0 outside pairs."""
        c = self.blocks.given(change)
        return float(c @ self.gram.scores(c))

    def step(self, alpha: FloatArray, gradient: FloatArray, length: float) -> FloatArray:
        """Return a step against the gradient, projected into the box (eq. 18 with the sign reversed)."""
        moved = gradient * -length
        moved += alpha
        return np.clip(moved, 0.0, self.C, out=moved)


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


def plain_alpha(
    data: RankingData, blocks: Blocks, gram: Gram, C: float, tol: float, report: Report = silent
) -> FloatArray:
    """Return α (E,) of the hinge to a duality gap of `tol`: slopes of the last smoothing, 0 outside pairs.

    A stop through `report` returns the current α.
    """
    objective = _objective(data, gram, risk_of(data.y, data.ptr, SmoothedHinge(1.0)), C)
    result = HingeContinuation(tol).solve(objective, report=lambda progress: report(Progress("newton")))
    width = result.trace[-1].smoothing if result.trace else 1.0
    slopes = SmoothedHinge(width).derivative(blocks.margins(result.point.scores))
    return np.where(blocks.is_pair, -C * slopes, 0.0)


def _objective(data: RankingData, gram: Gram, risk: Risk, C: float) -> Objective:
    if isinstance(gram, KernelGram):
        few = first_landmarks(data.n_documents)  # as assumed when memory was counted
        return KernelObjective(data.X, gram.kernel, gram.K, risk, C, most_landmarks=few)
    if isinstance(gram, FeatureGram):
        return RankObjective(gram.features.compact(), risk, C)
    raise TypeError(f"no objective is known for {type(gram).__name__}")
