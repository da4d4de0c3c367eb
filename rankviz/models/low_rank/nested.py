"""Factors from few to many: a model with K starts where the best with a divisor of K has ended.

Columns repeated r times and divided by √r make the same α with r times as many factors, so the objective is
never above that for any divisor of K, where K drawn factors mostly end above a single one. Repeated columns
alone would stay equal: the gradient is the same for all. What parts them is the curvature. In directions E
that sum to zero over the copies of a column, α grows by exactly s·EEᵀ at V + √s·E, and D by s·b + ½s²‖w_E‖²
with b = ½tr(Eᵀ(T + Tᵀ)E). T + Tᵀ has zeros in its diagonal, hence a negative eigenvalue unless it is zero:
more factors lower the objective as soon as a pair whose margin is not 1 has factors between zero and the
ceiling at both ends. Mostly by very little.

See docs/decisions/0007-low-rank-models-solve-the-dual.md.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from rankviz.common.arrays import FloatArray
from rankviz.common.progress import Report, silent
from rankviz.models.low_rank.effort import Values, by_levels
from rankviz.models.low_rank.factorized import FactorPoint, FactorProblem
from rankviz.models.low_rank.factorized_solvers import BoxedLBFGS
from rankviz.models.low_rank.trace import LowRankResult, Tracer
from rankviz.solvers.effort import Sizes, Work
from rankviz.solvers.result import Status

ROUNDS = 8
"""Products with T + Tᵀ in the search for directions along which D bends down."""


@dataclass(frozen=True)
class Nested:
    """L-BFGS-B on all factors at once, from the few it is given to K, by divisors of K.

    Attributes
    ----------
    tol : float
        Gap at which to go on to more factors, and at which to end (see `StepRow`).
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
        """Typical work, for estimates."""
        return by_levels(sizes, levels(1, values["factors"]))

    def start(self, problem: FactorProblem, seed: int) -> FloatArray:
        """One factor V (n, 1), drawn as `FactorProblem.start` says: the same for every K."""
        return replace(problem, rank=1).start(seed)

    def solve(
        self, problem: FactorProblem, V: FloatArray, report: Report = silent
    ) -> LowRankResult[FactorPoint]:
        """Run from factors V (n, k), k a divisor of K; a stop asked for returns the last ones.

        The trace runs on from one number of factors to the next.
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
    """Numbers of factors on the way to `rank`: its divisors that `least` divides."""
    return [k for k in range(least, rank + 1, least) if rank % k == 0]


def _best(ends: dict[int, FactorPoint], rank: int) -> FloatArray:
    """The lowest factors whose number divides `rank`."""
    return min((end for k, end in ends.items() if rank % k == 0), key=lambda end: end.value).V


def copied(problem: FactorProblem, V: FloatArray) -> FloatArray:
    """Columns of V (n, k), k a divisor of K, side by side with their copies: (n, K) with the same α."""
    copies = problem.rank // V.shape[1]
    # √(C/k)/√copies = √(C/K): the ceilings agree, but for rounding
    W: FloatArray = np.minimum(np.repeat(V, copies, axis=1) / np.sqrt(copies), problem.ceiling)
    return W


def more_factors(problem: FactorProblem, V: FloatArray) -> FloatArray:
    """Start for K factors from V (n, k), k a divisor of K: copies, parted as far as D falls."""
    W = copied(problem, V)
    point = problem.at(W)
    E = _parting(problem, point, problem.rank // V.shape[1])
    along = problem.at(E)
    # b = Σ_P (EEᵀ)_ij·(f_i − f_j − 1) = c_E·f − Σ_P (EEᵀ)_ij, and ‖w_E‖² = c_E·f_E
    slope, curvature = float(along.c @ point.f) - along.total, float(along.c @ along.f)
    # s·b + ½s²‖w_E‖² is least at s = −b/‖w_E‖²; only s ≤ 1 is sure to stay in the box
    step = 1.0 if slope + curvature <= 0.0 else -slope / curvature
    return np.clip(W + np.sqrt(step) * E, 0.0, problem.ceiling, out=W)


def _parting(problem: FactorProblem, point: FactorPoint, copies: int) -> FloatArray:
    """E (n, K), summing to zero over the copies of a column, W ± E in the box, with b ≤ 0 in every query.

    Power steps, shifted by their own growth, turn drawn directions to where D bends down in each query. They
    are measured in units of the room that each factor has in the box.
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

    # copies of a column have the same room, and T + Tᵀ acts on columns: the sums over copies stay zero
    drawn = np.random.default_rng(0).uniform(-1.0, 1.0, (len(room), problem.rank // copies, copies))
    Z = unit((drawn - drawn.mean(axis=2, keepdims=True)).reshape(room.shape))
    for _ in range(ROUNDS):
        image = bent(Z)
        squares = in_query(np.add, (Z**2).sum(axis=1))
        # λ becomes growth − λ, which is largest for the λ furthest below zero
        growth = np.sqrt(in_query(np.add, (image**2).sum(axis=1)) / np.where(squares > 0.0, squares, 1.0))
        Z = unit(growth * Z - image)
    falls = in_query(np.add, (Z * bent(Z)).sum(axis=1)) < 0.0
    return room * Z * falls
