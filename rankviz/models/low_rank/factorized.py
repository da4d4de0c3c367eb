"""Factorised RankSVM (xu2019 §5.1): α_ij = ⟨v_i, v_j⟩ in the dual problem of the hinge.

Minimise D(V) = ½‖Σ_P ⟨v_i, v_j⟩(φ_i − φ_j)‖² − Σ_P ⟨v_i, v_j⟩ over 0 ≤ v_ik ≤ √(C/K). The paper's eq. 9 and
10 print the second term with +, and eq. 11 has −C instead of −1. We follow its eq. 4, the dual itself.

With scores f the gradient is Σ_j (f_i − f_j − 1)v_j over the worse j, plus Σ_j (f_j − f_i − 1)v_j over the
better ones: sums over partners of v_j and of f_j·v_j. So α and pairs are never listed. Value and gradient
take O(nK) plus one product with the Gram matrix.

More factors help little. A column repeated k times and divided by √k gives the same α, so minima decrease
along multiples of K (`nested` uses this). But α_ij = C requires v_i = v_j = (√(C/K), …). So if pairs (a, c),
(a, d) and (b, c) are at C, then (b, d) is too, for every K. Optima of the dual problem do not have this
structure, so factors cannot reach them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rankviz.common.arrays import FloatArray
from rankviz.models.low_rank.cells import Cells
from rankviz.models.low_rank.gram import Gram


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
