"""Factorised RankSVM (xu2019 §5.1): α_ij = ⟨v_i, v_j⟩ in the dual problem of the hinge.

Minimise D(V) = ½‖Σ_P ⟨v_i, v_j⟩(φ_i − φ_j)‖² − Σ_P ⟨v_i, v_j⟩ over 0 ≤ v_ik ≤ √(C/K). The paper's eq. 9 and
10 print the second term with +, and eq. 11 has −C instead of −1. We follow its eq. 4, the dual itself.

With scores f the gradient is Σ_j (f_i − f_j − 1)v_j over the worse j, plus Σ_j (f_j − f_i − 1)v_j over the
better ones: sums over partners of v_j and of f_j·v_j. So α and pairs are never listed. Value and gradient
take O(nK) plus one product with the Gram matrix.

More factors help little. A column repeated k times and divided by √k gives the same α, so minima decrease
along multiples of K (`Nested` uses this). But α_ij = C requires v_i = v_j = (√(C/K), …). So if pairs (a, c),
(a, d) and (b, c) are at C, then (b, d) is too, for every K. Optima of the dual problem do not have this
structure, so factors cannot reach them.

`Nested` starts K factors from the best result with a divisor of K. So its objective is never above that for
any divisor of K, whereas K random factors mostly end above a single one. Repeated columns alone would stay
equal, because all have the same gradient; the curvature separates them. In directions E that sum to zero over
the copies of a column, α grows by exactly s·EEᵀ at V + √s·E, and D by s·b + ½s²‖w_E‖² with b = ½tr(Eᵀ(T +
Tᵀ)E). T + Tᵀ has a zero diagonal, so it has a negative eigenvalue unless it is zero. So more factors lower
the objective if a pair whose margin is not 1 has factors strictly between zero and the ceiling at both ends.
Mostly it falls very little. `QuerySteps` has the paper's steps query by query. The problem is not convex:
results depend on the start, and both solvers end at stationary points.

See docs/decisions/0007-low-rank-models-solve-the-dual.md.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Protocol

import numpy as np
from scipy.optimize import Bounds, OptimizeResult, minimize

from rankviz.common.arrays import FloatArray
from rankviz.common.errors import SettingError
from rankviz.common.progress import Report, StopRequested, silent
from rankviz.features.operator import FeatureOperator, IdentityBasis
from rankviz.learning.objective import Status
from rankviz.learning.solvers import Sizes, Work
from rankviz.models.low_rank_blocks import Cells, FeatureGram, Gram
from rankviz.models.low_rank_trace import LowRankResult, LowRankSolver, Tracer, Values, by_levels, by_query

MEMORY = 10
"""Number of corrections that approximate the Hessian."""

NEEDS_ROWS = (
    "steps query by query need rows of features, which the matrix of an exact kernel has not. Choose "
    "solver='lbfgs', which does without"
)

TINY = 1e-24
"""Shorter steps (squared, relative) are rounding."""

ROUNDS = 8
"""Products with T + Tᵀ in the search for directions of negative curvature of D."""


@dataclass(frozen=True, eq=False)
class FactorPoint:
    """Value and gradient at factors V.

    Attributes
    ----------
    V : (n, K) float64
    c, f : (n,) float64
        c_i = Σ_j α_ij − Σ_j α_ji, and the scores G c.
    total : float
        Σ_P α_ij.
    value : float
        D(V) = ½cᵀf − Σα, the negative dual value.
    gradient : (n, K) float64
    """

    V: FloatArray
    c: FloatArray
    f: FloatArray
    total: float
    value: float
    gradient: FloatArray

    @property
    def dual(self) -> float:
        """The negative dual value of the hinge, which is minimised."""
        return self.value


@dataclass(frozen=True, eq=False)
class FactorProblem:
    """D(V) with its box constraints.

    Attributes
    ----------
    cells : Cells
    gram : Gram
    C : float
    rank : int
        K. Restricted to pairs, a block of ⟨v_i, v_j⟩ has rank at most K with two grades, (R − 1)·K with R.
    """

    cells: Cells
    gram: Gram
    C: float
    rank: int

    @property
    def ceiling(self) -> float:
        """√(C/K), the largest entry of V, which keeps α_ij ≤ C."""
        return float(np.sqrt(self.C / self.rank))

    def start(self, seed: int) -> FloatArray:
        """Draw factors uniformly between 0 and the ceiling, times the best number up to 1.

        Algorithm 1, line 2, draws them. D(sV) = ½s⁴‖w‖² − s²Σα is smallest at s² = Σα/‖w‖². From far beyond
        it, the first steps would reach V = 0 for many queries, which is stationary.
        """
        V = np.random.default_rng(seed).uniform(0.0, self.ceiling, (self.cells.n, self.rank))
        point = self.at(V)
        weight = float(point.c @ point.f)
        return V * np.sqrt(min(1.0, point.total / weight)) if weight > 0.0 else V

    def at(self, V: FloatArray, rest: FloatArray | None = None) -> FactorPoint:
        """Return the value and gradient at V (n, K).

        `rest` (n,) are scores of fixed weights: f = rest + G c, and ½‖w_rest‖² is left out.
        """
        worse, better = self.cells.partners(V)
        given = np.einsum("ik,ik->i", V, worse)  # Σ_j α_ij
        c, total = given - np.einsum("ik,ik->i", V, better), float(given.sum())
        own = self.gram.scores(c)
        f = own if rest is None else own + rest
        gradient = self._pulled(f, V, worse, better)
        value = float(c @ (f - 0.5 * own)) - total
        return FactorPoint(V, c, f, total, value, gradient)

    def bend(self, f: FloatArray, E: FloatArray) -> FloatArray:
        """Return (T + Tᵀ)E with T_ij = f_i − f_j − 1 if (i, j) is a pair, else 0: (n, k) -> (n, k).

        The gradient is (T + Tᵀ)V, and ½tr(Eᵀ(T + Tᵀ)E) is the slope of D along EEᵀ.
        """
        return self._pulled(f, E, *self.cells.partners(E))

    def _pulled(self, f: FloatArray, E: FloatArray, worse: FloatArray, better: FloatArray) -> FloatArray:
        # Σ_j (f_i − f_j − 1)e_j over the worse j, plus Σ_j (f_j − f_i − 1)e_j over the better ones
        worse_f, better_f = self.cells.partners(f[:, None] * E)
        image: FloatArray = (f - 1.0)[:, None] * worse - worse_f + better_f - (f + 1.0)[:, None] * better
        return image


def box_gap(gradient: FloatArray, x: FloatArray, ceiling: float) -> float:
    """Return max over 0 ≤ s ≤ ceiling of ⟨gradient, x − s⟩: zero exactly if x is stationary in the box.

    If the objective is convex, it bounds its distance from the minimum (frank1956).
    """
    return float(np.vdot(gradient, x) - ceiling * np.minimum(gradient, 0.0).sum())


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
        self.done = _note(self.tracer, self.problem, self.point)


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


@dataclass(frozen=True)
class Nested:
    """L-BFGS-B on all factors at once, from the initial number of factors to K, through divisors of K.

    Attributes
    ----------
    tol : float
        Gap at which to add factors, and finally to stop (see `StepRow`).
    max_iter : int
        Iterations for each number of factors.
    """

    short: ClassVar[str] = "L-BFGS-B"
    label: ClassVar[str] = "L-BFGS-B on all factors (SciPy), from one factor on"
    printed: ClassVar[bool] = False
    needs_rows: ClassVar[bool] = False
    start_words: ClassVar[str] = "one positive factor drawn at random"

    tol: float = 1e-3
    max_iter: int = 1000

    @classmethod
    def work(cls, values: Values, sizes: Sizes) -> Work:
        """Return the typical work, for estimates."""
        return by_levels(sizes, levels(1, values["factors"]))

    def start(self, problem: FactorProblem, seed: int) -> FloatArray:
        """Draw one factor V (n, 1) by `FactorProblem.start`: the same for every K."""
        return replace(problem, rank=1).start(seed)

    def solve(
        self, problem: FactorProblem, V: FloatArray, report: Report = silent
    ) -> LowRankResult[FactorPoint]:
        """Minimise from factors V (n, k), k a divisor of K; a stop through `report` returns the last factors.

        The trace continues from one number of factors to the next.
        """
        one, tracer = BoxedLBFGS(self.tol, self.max_iter), Tracer(report, self.tol)
        ends: dict[int, FactorPoint] = {}
        for rank in levels(V.shape[1], problem.rank):
            level = replace(problem, rank=rank)
            start = more_factors(level, _best(ends, rank)) if ends else V
            ends[rank], status = one.go_on(level, start, tracer)
            if status is Status.STOPPED and rank < problem.rank:
                return LowRankResult(problem.at(copied(problem, ends[rank].V)), status, tuple(tracer.rows))
        return LowRankResult(ends[problem.rank], status, tuple(tracer.rows))


def levels(least: int, rank: int) -> list[int]:
    """Return the numbers of factors on the way to `rank`: its divisors that are multiples of `least`."""
    return [k for k in range(least, rank + 1, least) if rank % k == 0]


def _best(ends: dict[int, FactorPoint], rank: int) -> FloatArray:
    """Return the factors with the lowest objective whose number divides `rank`."""
    return min((end for k, end in ends.items() if rank % k == 0), key=lambda end: end.value).V


def copied(problem: FactorProblem, V: FloatArray) -> FloatArray:
    """Return the columns of V (n, k), k a divisor of K, next to their copies: (n, K) with the same α."""
    copies = problem.rank // V.shape[1]
    # √(C/k)/√copies = √(C/K): the ceilings agree up to rounding
    W: FloatArray = np.minimum(np.repeat(V, copies, axis=1) / np.sqrt(copies), problem.ceiling)
    return W


def more_factors(problem: FactorProblem, V: FloatArray) -> FloatArray:
    """Return a start for K factors from V (n, k), k a divisor of K: copies, separated as far as D falls."""
    W = copied(problem, V)
    point = problem.at(W)
    E = _parting(problem, point, problem.rank // V.shape[1])
    along = problem.at(E)
    # b = Σ_P (EEᵀ)_ij·(f_i − f_j − 1) = c_E·f − Σ_P (EEᵀ)_ij, and ‖w_E‖² = c_E·f_E
    slope, curvature = float(along.c @ point.f) - along.total, float(along.c @ along.f)
    # s·b + ½s²‖w_E‖² is smallest at s = −b/‖w_E‖²; only s ≤ 1 surely stays in the box
    step = 1.0 if slope + curvature <= 0.0 else -slope / curvature
    return np.clip(W + np.sqrt(step) * E, 0.0, problem.ceiling, out=W)


def _parting(problem: FactorProblem, point: FactorPoint, copies: int) -> FloatArray:
    """Return E (n, K), zero in sum over copies of a column, W ± E in the box, with b ≤ 0 in every query.

    Shifted power iterations turn random directions into directions of negative curvature of D in each query.
    They are scaled by the space of each factor in its box.
    """
    room, query = np.minimum(point.V, problem.ceiling - point.V), problem.cells.query

    def in_query(combine: np.ufunc, x: FloatArray) -> FloatArray:
        found = np.zeros(query.max(initial=0) + 1)
        combine.at(found, query, x)
        return found[query, None]

    def unit(Z: FloatArray) -> FloatArray:
        largest = in_query(np.maximum, np.abs(Z).max(axis=1))
        return Z / np.where(largest > 0.0, largest, 1.0)

    def bent(Z: FloatArray) -> FloatArray:  # E = room·Z, so that tr(Eᵀ(T + Tᵀ)E) = ⟨Z, bent(Z)⟩
        return room * problem.bend(point.f, room * Z)

    # copies of a column have the same room, and T + Tᵀ acts on columns: sums over copies stay zero
    drawn = np.random.default_rng(0).uniform(-1.0, 1.0, (len(room), problem.rank // copies, copies))
    Z = unit((drawn - drawn.mean(axis=2, keepdims=True)).reshape(room.shape))
    for _ in range(ROUNDS):
        image = bent(Z)
        squares = in_query(np.add, (Z**2).sum(axis=1))
        # λ becomes growth − λ, which is largest for the most negative λ
        growth = np.sqrt(in_query(np.add, (image**2).sum(axis=1)) / np.where(squares > 0.0, squares, 1.0))
        Z = unit(growth * Z - image)
    falls = in_query(np.add, (Z * bent(Z)).sum(axis=1)) < 0.0
    return room * Z * falls
