"""Feature matrices as operators: Φ = B T with a stored base B (n, k) and a basis change T (k, m).

Linear features store Φ itself (T = I), random Fourier features the cosines (T = √(2/m) I). The Nyström map
stores the kernel matrix B = K_nm and applies T = L^-T or U Σ^-1/2 to vectors. This saves the n·m² product
that forms Φ. All but U Σ^-1/2 are nested: the map for fewer columns is B[:, :k] with its own T.

See docs/decisions/0006-features-are-an-operator.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import cast

import numpy as np

from rankviz.common.arrays import FloatArray, IntArray
from rankviz.features.bases import Basis
from rankviz.features.row_blocks import BLOCK_ENTRIES, rounded

SPARSE = 10
"""Copy a base if its rows are at least this many times wider in memory."""
ROWS = 8192
"""Rows summed at a time, to keep single-precision sums short."""


@dataclass(frozen=True, eq=False)
class FeatureOperator:
    """Φ (n, m) of given documents, for products only.

    Attributes
    ----------
    base : (n, k) float64 or float32
        Products have its precision; vectors are always float64 outside.
    basis : Basis
        T (k, m), so that Φ = base · T.
    """

    base: FloatArray
    basis: Basis

    @property
    def shape(self) -> tuple[int, int]:
        """(n, m): documents, feature dimensions."""
        return len(self.base), self.basis.shape[1]

    def leading(self, k: int) -> FeatureOperator:
        """Return Φ of the map with the first k stored columns, which are not copied."""
        return FeatureOperator(self.base[:, :k], self.basis.leading(k))

    def compact(self) -> FeatureOperator:
        """Return the same with a contiguous base, if it is a small part of wider rows.

        Products then read only their data; this pays after two or three of them.
        """
        row = self.base.strides[0] // self.base.itemsize
        narrow = SPARSE * self.base.shape[1] <= row
        return FeatureOperator(np.ascontiguousarray(self.base), self.basis) if narrow else self

    @cached_property
    def single(self) -> FeatureOperator:
        """The same in single precision: half the base's memory in addition, half the time per product."""
        base = cast(FloatArray, rounded(self.base))
        return FeatureOperator(base, self.basis.single())

    def product(self, w: FloatArray) -> FloatArray:
        """Return Φ w: (m,) -> (n,), or (m, s) -> (n, s)."""
        return _double(self.base @ self.basis.expand(self._own(w)))

    def adjoint(self, u: FloatArray) -> FloatArray:
        """Return Φᵀ u: (n,) -> (m,), or (n, s) -> (m, s)."""
        v = self._own(u).T
        total = np.zeros((*v.shape[:-1], self.base.shape[1]))
        for start in range(0, v.shape[-1], ROWS):
            total += v[..., start : start + ROWS] @ self.base[start : start + ROWS]
        return _double(self.basis.contract(self._own(total.T)))

    @cached_property
    def kernel(self) -> FloatArray:
        """K = ΦΦᵀ, (n, n), in blocks: O(n²m) time, and no copy of Φ."""
        n, k = self.base.shape
        K, step = np.zeros((n, n)), max(1, BLOCK_ENTRIES // max(k, 1))
        for start in range(0, n, step):
            rows = slice(start, start + step)
            columns = self.basis.expand(self.basis.contract(self.base[rows].T))
            K[start:, rows] = self.base[start:] @ columns
            K[rows, start:] = K[start:, rows].T
        return K

    def reduce(self, G: FloatArray) -> FloatArray:
        """Return Tᵀ G T: a (k, k) form on the base as an (m, m) form on features."""
        return self.basis.contract(self.basis.contract(G).T).T

    def row_differences(self, i: IntArray, j: IntArray) -> FloatArray:
        """Return columns φ(x_i) − φ(x_j) of pairs: (s,), (s,) -> (m, s), in the base's precision."""
        differences = self.base[i]
        differences -= self.base[j]  # in place: allocating memory costs as much as the subtraction
        return self.basis.contract(differences.T)

    def dense(self) -> FloatArray:
        """Return Φ as an array (n, m): O(n m²) for the Nyström map, so only for small sizes and checks."""
        return np.ascontiguousarray(self.basis.contract(self.base.T).T)

    def _own(self, v: FloatArray) -> FloatArray:
        """Return a vector in the base's precision; products with another precision would convert the base."""
        return v.astype(self.base.dtype, copy=False)


def _double(v: FloatArray) -> FloatArray:
    return v.astype(np.float64, copy=False)
