"""Dual variables α of a fitted model, one block per query: what each preference pair weighs in w.

At the optimum of ½‖w‖² + C Σ_P c_ij·ℓ(t_ij) the weights are w = Σ_P α_ij (φ_i − φ_j) with
α_ij = −C·c_ij·ℓ'(t_ij), so the scores of the training part are all that is needed; no pair is listed, and
one query is held at a time.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rankviz._typing import BoolArray, FloatArray, IntArray
from rankviz.costs import PLAIN, PairCosts
from rankviz.datasets.types import RankingData
from rankviz.losses import Loss


@dataclass(frozen=True, eq=False)
class DualBlock:
    """The dual variables of one query of n_q documents as a rectangle, without its empty rows and columns.

    Attributes
    ----------
    y : (n_q,) int64
        Grades of the query's documents.
    f : (n_q,) float64
        Their scores.
    winners : (r,) int64
        Documents of the query that are preferred to some other, counted from 0: the rows.
    losers : (c,) int64
        Documents that some other is preferred to: the columns. With three grades or more a document can be
        both.
    alpha : (r, c) float64
        α_ij ≥ 0, and 0 where (i, j) is no pair.
    """

    y: IntArray
    f: FloatArray
    winners: IntArray
    losers: IntArray
    alpha: FloatArray

    @property
    def is_pair(self) -> BoolArray:
        """Where the rectangle has a preference pair, (r, c)."""
        mask: BoolArray = self.y[self.winners][:, None] > self.y[self.losers]
        return mask

    @property
    def n_pairs(self) -> int:
        """Preference pairs of the query."""
        return int(self.is_pair.sum())

    @property
    def n_active(self) -> int:
        """Pairs with α_ij ≠ 0."""
        return int(np.count_nonzero(self.alpha))

    def full(self) -> FloatArray:
        """A_l with a row and a column for every document of the query, (n_q, n_q) (xu2019 eq. 7)."""
        A = np.zeros((len(self.y), len(self.y)))
        A[np.ix_(self.winners, self.losers)] = self.alpha
        return A

    def symmetrised(self) -> FloatArray:
        """A_l + A_lᵀ, (n_q, n_q)."""
        A = self.full()
        return A + A.T


def dual_block(
    f: FloatArray, part: RankingData, query: int, C: float, loss: Loss, costs: PairCosts = PLAIN
) -> DualBlock:
    """α_ij of the query at position `query`, from the scores f (n,) of the training part.

    α_ij = −C·w·b·ℓ'((f_i − f_j)/b) for a pair of weight w and margin b (see `PairCosts`), 1 without costs.
    Source: xu2019 eq. 4–7; for the squared hinge α_ij = 2C·max(0, 1 − f_i + f_j).
    """
    rows = part.query_slice(query)
    y, f = part.y[rows], f[rows]
    winners, losers = np.flatnonzero(y > y.min()), np.flatnonzero(y < y.max())
    is_pair = y[winners][:, None] > y[losers]
    w, b = _weights_and_margins(part, query, costs, y[winners], y[losers])
    slope = loss.derivative((f[winners][:, None] - f[losers]) / b)
    return DualBlock(y, f, winners, losers, np.where(is_pair, -C * w * b * slope, 0.0))


def _weights_and_margins(
    part: RankingData, query: int, costs: PairCosts, winners: IntArray, losers: IntArray
) -> tuple[FloatArray | float, FloatArray | float]:
    """W and b of all combinations of grades of one query, (r, c); 1 where they are 1 for all."""
    if costs.uniform and costs.margin is None:
        return 1.0, 1.0
    levels = np.unique(part.y)
    code = np.searchsorted(levels, winners)[:, None], np.searchsorted(levels, losers)[None, :]
    pairs = np.full((len(winners), len(losers)), query), *np.broadcast_arrays(*code)
    margins = costs.margins(*pairs)
    return costs.weights(*pairs), 1.0 if margins is None else margins
