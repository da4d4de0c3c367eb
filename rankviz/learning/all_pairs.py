"""The risk with every pair active: sums over groups of equal query and grade, without a list of pairs."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from scipy import sparse

from rankviz.common.arrays import FloatArray, IntArray
from rankviz.learning.costs import PairCosts
from rankviz.learning.pairs import grade_codes, grade_groups, preference_pairs

ROWS = 4096
"""Rows per block of a weighted matrix; a block fits in the cache."""


class AllPairs:
    """The Laplacian L₀ = Aᵀ diag(w) A of all preference pairs with their weights w.

    L₀ = diag(δ) − (weights between documents); a weight depends only on the two documents' groups. So for a
    matrix B with sums S_g of its rows over groups, BᵀL₀B = Bᵀ diag(δ) B − Σ_{g ≠ h} w_gh S_g S_hᵀ over groups
    g, h of the same query. For a document i of group g, δ_i = Σ_h w_gh n_h.
    """

    def __init__(self, y: IntArray, ptr: IntArray, costs: PairCosts) -> None:
        self.groups = grade_groups(y, ptr)
        group_ptr = np.searchsorted(self.groups.query, np.arange(len(ptr)))
        level = grade_codes(y, ptr).code[self.groups.order[self.groups.start]]
        pairs = preference_pairs(level, group_ptr)
        i, j, n_groups = pairs.winner, pairs.loser, len(level)
        weight = costs.weights(self.groups.query[i], level[i], level[j])
        # one entry for each pair of groups; the transpose makes it symmetric
        half = sparse.coo_array((weight, (i, j)), shape=(n_groups, n_groups)).tocsr()
        self._between = sparse.csr_array(half + half.T)

    @cached_property
    def degree(self) -> FloatArray:
        """δ of each group, (G,)."""
        degree: FloatArray = self._between @ self.groups.size.astype(np.float64)
        return degree

    @property
    def weight(self) -> float:
        """Σ_P w."""
        return 0.5 * float(self.degree @ self.groups.size)

    def gram(self, B: FloatArray) -> FloatArray:
        """Return the Gram matrix Bᵀ L₀ B, (n, m) -> (m, m): O(n m²)."""
        groups, n = self.groups, len(B)
        ends = np.append(groups.start, n)
        members = sparse.csr_array((np.ones(n), groups.order, ends), shape=(len(groups.start), n))
        sums = members @ B
        degree = np.empty(n)
        degree[groups.order] = self.degree[groups.group]
        return weighted_gram(B, degree) - sums.T @ (self._between @ sums)


def weighted_gram(B: FloatArray, weight: FloatArray) -> FloatArray:
    """Return Bᵀ diag(weight) B of B (n, m) for weights (n,) ≥ 0, computed in row blocks."""
    out, root = np.zeros((B.shape[1], B.shape[1])), np.sqrt(weight)
    for start in range(0, len(B), ROWS):
        block = B[start : start + ROWS] * root[start : start + ROWS, None]
        out += block.T @ block
    return out
