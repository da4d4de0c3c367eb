"""Dual variables α of a fitted model, one block per query: what each preference pair weighs in w.

At the optimum of ½‖w‖² + C Σ_P ℓ(t_ij) the weights are w = Σ_P α_ij (φ_i − φ_j) with α_ij = −C·ℓ'(t_ij), so
the scores of the training part are all that is needed; no pair is listed, and one query is held at a time.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rankviz._typing import BoolArray, FloatArray, IntArray
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


def dual_block(f: FloatArray, part: RankingData, query: int, C: float, loss: Loss) -> DualBlock:
    """α_ij = −C·ℓ'(f_i − f_j) of the query at position `query`, from the scores f (n,) of the training part.

    Source: xu2019 eq. 4–7; for the squared hinge α_ij = 2C·max(0, 1 − f_i + f_j).
    """
    rows = part.query_slice(query)
    y, f = part.y[rows], f[rows]
    winners, losers = np.flatnonzero(y > y.min()), np.flatnonzero(y < y.max())
    t = f[winners][:, None] - f[losers]
    is_pair = y[winners][:, None] > y[losers]
    alpha: FloatArray = np.where(is_pair, -C * loss.derivative(t), 0.0)
    return DualBlock(y, f, winners, losers, alpha)
