"""Nested numbers of factors: a model with K starts from the best result with a divisor of K.

Columns repeated r times and divided by √r make the same α with r times as many factors. So the objective is
never above that for any divisor of K, whereas K random factors mostly end above a single one. Repeated
columns alone would stay equal, because all have the same gradient; the curvature separates them. In
directions E that sum to zero over the copies of a column, α grows by exactly s·EEᵀ at V + √s·E, and D by s·b
+ ½s²‖w_E‖² with b = ½tr(Eᵀ(T + Tᵀ)E). T + Tᵀ has a zero diagonal, so it has a negative eigenvalue unless it
is zero. So more factors lower the objective if a pair whose margin is not 1 has factors strictly between zero
and the ceiling at both ends. Mostly it falls very little.

See docs/decisions/0007-low-rank-models-solve-the-dual.md.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from rankviz.common.arrays import FloatArray
from rankviz.common.progress import Report, silent
from rankviz.learning.effort import Sizes, Work
from rankviz.learning.result import Status
from rankviz.models.low_rank.effort import Values, by_levels
from rankviz.models.low_rank.factorized import FactorPoint, FactorProblem
from rankviz.models.low_rank.factorized_solvers import BoxedLBFGS
from rankviz.models.low_rank.trace import LowRankResult, Tracer

ROUNDS = 8
"""Products with T + Tᵀ in the search for directions of negative curvature of D."""


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
