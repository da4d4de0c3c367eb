"""Sums over each document's worse or better partners, without forming pairs.

Documents of equal query and grade form a cell. Two documents form a pair depending on their cells only. So
sums over partners are sums over a few cells, O(n) for all documents.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np
from scipy import sparse

from rankviz.common.arrays import FloatArray, IntArray
from rankviz.learning.pairs import grade_codes, grade_groups, preference_pairs


class Cells:
    """Documents by query and grade, for sums over partners.

    Attributes
    ----------
    n : int
        Documents.
    n_pairs : int
        Number of preference pairs p.
    degree : (n,) float64
        Number of pairs of each document.
    query : (n,) int64
        The query of each document, from 0.
    """

    def __init__(self, y: IntArray, ptr: IntArray) -> None:
        groups, self.n = grade_groups(y, ptr), len(y)
        self._y, self._ptr = y, ptr
        self.query: IntArray = np.repeat(np.arange(len(ptr) - 1), np.diff(ptr))
        ends = np.append(groups.start, self.n)
        self._members = sparse.csr_array((np.ones(self.n), groups.order, ends), (len(groups.start), self.n))
        self._cell = np.empty(self.n, np.int64)
        self._cell[groups.order] = groups.group
        level = grade_codes(y, ptr).code[groups.order[groups.start]]
        pairs = preference_pairs(level, np.searchsorted(groups.query, np.arange(len(ptr))))
        shape = len(level), len(level)
        self._worse = sparse.csr_array((np.ones(len(pairs)), (pairs.winner, pairs.loser)), shape)
        self._better = sparse.csr_array(self._worse.T)
        below, above = self.partners(np.ones((self.n, 1)))
        self.degree: FloatArray = (below + above)[:, 0]
        self.n_pairs = round(float(below.sum()))

    def partners(self, X: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return Σ x_j over the worse and over the better partners of each document: (n, k) -> 2 × (n, k)."""
        sums = self._members @ X
        return (self._worse @ sums)[self._cell], (self._better @ sums)[self._cell]

    def queries(self) -> Iterator[tuple[slice, Cells]]:
        """Yield each query with pairs: its documents, and their own cells."""
        for start, end in itertools.pairwise(self._ptr.tolist()):
            cells = Cells(self._y[start:end], np.array([0, end - start]))
            if cells.n_pairs:
                yield slice(start, end), cells

    def laplacian(self, f: FloatArray) -> FloatArray:
        """Return L₀ f = Σ_P (f_i − f_j)(e_i − e_j), (n,) -> (n,)."""
        below, above = self.partners(f[:, None])
        image: FloatArray = self.degree * f - (below + above)[:, 0]
        return image
