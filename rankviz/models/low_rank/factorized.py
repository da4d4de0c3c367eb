"""Factorised RankSVM (xu2019 §5.1): α_ij = ⟨v_i, v_j⟩ in the dual problem of the hinge.

Minimise D(V) = ½‖Σ_P ⟨v_i, v_j⟩(φ_i − φ_j)‖² − Σ_P ⟨v_i, v_j⟩ over 0 ≤ v_ik ≤ √(C/K). The paper's eq. 9 and
10 print the second term with +, and eq. 11 has −C in the place of −1; its eq. 4, the dual itself, decides.

With scores f the gradient is Σ_j (f_i − f_j − 1)v_j over the worse j, plus Σ_j (f_j − f_i − 1)v_j over the
better ones: sums over partners of v_j and of f_j·v_j. So neither α nor a pair is ever listed, and value and
gradient take O(nK) beside one product with the Gram matrix.

More factors bring little. A column repeated k times and divided by √k gives the same α, so minima fall along
multiples of K (which `nested` uses); but α_ij = C asks for v_i = v_j = (√(C/K), …), so where
pairs (a, c), (a, d) and (b, c) are at C, (b, d) is too, whatever K is. Optima of the dual problem have such
stairs, and remain out of reach.
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
        """The negative dual value of the hinge, which is what is minimised."""
        return self.value


@dataclass(frozen=True, eq=False)
class FactorProblem:
    """D(V) with its box.

    Attributes
    ----------
    cells : Cells
    gram : Gram
    C : float
    rank : int
        K. Masked to the pairs, a block of ⟨v_i, v_j⟩ has rank K at most with two grades, (R − 1)·K with R.
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
        """Factors drawn uniformly between 0 and the ceiling, times the best number up to 1.

        Algorithm 1, line 2, draws them. D(sV) = ½s⁴‖w‖² − s²Σα is least at s² = Σα/‖w‖²; from far beyond it,
        the first steps would end at V = 0 for many queries, which is stationary.
        """
        V = np.random.default_rng(seed).uniform(0.0, self.ceiling, (self.cells.n, self.rank))
        point = self.at(V)
        weight = float(point.c @ point.f)
        return V * np.sqrt(min(1.0, point.total / weight)) if weight > 0.0 else V

    def at(self, V: FloatArray, rest: FloatArray | None = None) -> FactorPoint:
        """Value and gradient at V (n, K).

        `rest` (n,) are scores by weights that stay as they are: f = rest + G c, and ½‖w_rest‖² is left out.
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
        """(T + Tᵀ)E with T_ij = f_i − f_j − 1 where (i, j) is a pair, else 0: (n, k) -> (n, k).

        The gradient is (T + Tᵀ)V, and ½tr(Eᵀ(T + Tᵀ)E) is how fast D falls or grows along EEᵀ.
        """
        return self._pulled(f, E, *self.cells.partners(E))

    def _pulled(self, f: FloatArray, E: FloatArray, worse: FloatArray, better: FloatArray) -> FloatArray:
        worse_f, better_f = self.cells.partners(f[:, None] * E)
        image: FloatArray = (f - 1.0)[:, None] * worse - worse_f + better_f - (f + 1.0)[:, None] * better
        return image


def box_gap(gradient: FloatArray, x: FloatArray, ceiling: float) -> float:
    """max over 0 ≤ s ≤ ceiling of ⟨gradient, x − s⟩: zero exactly where x is stationary in the box.

    It bounds the objective's distance from its minimum where that is convex (frank1956).
    """
    return float(np.vdot(gradient, x) - ceiling * np.minimum(gradient, 0.0).sum())
