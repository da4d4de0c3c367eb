"""Regularised RankSVM (xu2019 §5.2): the dual problem of the hinge, coupled to matrices of small nuclear
norm.

Minimise ½αᵀMα − eᵀα + nuclear·Σ_l‖A_l‖_* + coupling·Σ_l‖mat(α)_l − A_l‖_F² over 0 ≤ α ≤ C and matrices A (eq.
15; the paper's γ and λ). The distance counts all entries of a block, also outside pairs. Over pairs alone,
thresholding would not give the best A with three or more grades. The best A for given α is
D_{nuclear/(2·coupling)}(mat(α)). The rest is a convex function of α with the gradient Mα − e + 2·coupling·(α
− A): a differentiable problem in a box. A has low rank; α does not.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rankviz.common.arrays import FloatArray, IntArray
from rankviz.features.row_blocks import each
from rankviz.models.low_rank.blocks import Blocks, Stack
from rankviz.models.low_rank.gram import Gram
from rankviz.models.low_rank.shrinkage import shrunk

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
