"""Feature matrices as operators: Φ = B T with a stored base B (n, k) and a basis change T (k, m).

Linear and random Fourier features store Φ itself (T = I). The Nyström map stores the kernel matrix
B = K_nm and applies T = L^-T or U Σ^-1/2 to vectors, which saves the n·m² product that forms Φ.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np
from scipy import linalg

from rankviz._typing import FloatArray, IntArray


class Basis(Protocol):
    """A basis change T (k, m), applied from the left to vectors or to columns of a matrix."""

    @property
    def shape(self) -> tuple[int, int]:
        """(k, m): stored columns, feature dimensions."""
        ...

    def expand(self, w: FloatArray) -> FloatArray:
        """T w: (m,) -> (k,), or (m, s) -> (k, s)."""
        ...

    def contract(self, u: FloatArray) -> FloatArray:
        """Tᵀ u: (k,) -> (m,), or (k, s) -> (m, s)."""
        ...


@dataclass(frozen=True)
class IdentityBasis:
    """T = I: the base is Φ itself."""

    size: int

    @property
    def shape(self) -> tuple[int, int]:
        """(m, m)."""
        return self.size, self.size

    def expand(self, w: FloatArray) -> FloatArray:
        """W itself."""
        return w

    def contract(self, u: FloatArray) -> FloatArray:
        """U itself."""
        return u


@dataclass(frozen=True, eq=False)
class CholeskyBasis:
    """T = L^-T for K_mm = L Lᵀ: leading columns of Φ belong to leading landmarks (nested).

    Attributes
    ----------
    L : (m, m) float64, lower triangular
    """

    L: FloatArray

    @property
    def shape(self) -> tuple[int, int]:
        """(m, m)."""
        return len(self.L), len(self.L)

    def expand(self, w: FloatArray) -> FloatArray:
        """L^-T w."""
        return _solve_triangular(self.L, w, "T")

    def contract(self, u: FloatArray) -> FloatArray:
        """L^-1 u."""
        return _solve_triangular(self.L, u, "N")


def _solve_triangular(L: FloatArray, b: FloatArray, trans: Literal["N", "T"]) -> FloatArray:
    x: FloatArray = linalg.solve_triangular(L, b, trans=trans, lower=True, check_finite=False)
    return x


@dataclass(frozen=True, eq=False)
class DenseBasis:
    """T stored as a (k, m) matrix, as for chen2017's truncated map U_k Σ_k^-1/2 (eq. 18)."""

    T: FloatArray

    @property
    def shape(self) -> tuple[int, int]:
        """(k, m)."""
        return self.T.shape[0], self.T.shape[1]

    def expand(self, w: FloatArray) -> FloatArray:
        """T w."""
        return self.T @ w

    def contract(self, u: FloatArray) -> FloatArray:
        """Tᵀ u."""
        return self.T.T @ u


@dataclass(frozen=True, eq=False)
class FeatureOperator:
    """Φ (n, m) of given documents, for products only.

    Attributes
    ----------
    base : (n, k) float64
    basis : Basis
        T (k, m), so that Φ = base · T.
    """

    base: FloatArray
    basis: Basis

    @property
    def shape(self) -> tuple[int, int]:
        """(n, m): documents, feature dimensions."""
        return len(self.base), self.basis.shape[1]

    def product(self, w: FloatArray) -> FloatArray:
        """Φ w: (m,) -> (n,)."""
        return self.base @ self.basis.expand(w)

    def adjoint(self, u: FloatArray) -> FloatArray:
        """Φᵀ u: (n,) -> (m,)."""
        return self.basis.contract(self.base.T @ u)

    def reduce(self, G: FloatArray) -> FloatArray:
        """Tᵀ G T: a (k, k) form on the base as an (m, m) form on features."""
        return self.basis.contract(self.basis.contract(G).T).T

    def row_differences(self, i: IntArray, j: IntArray) -> FloatArray:
        """Columns φ(x_i) − φ(x_j) of the pairs (i, j): (s,), (s,) -> (m, s)."""
        return self.basis.contract((self.base[i] - self.base[j]).T)

    def dense(self) -> FloatArray:
        """Φ as an array (n, m): O(n m²) for the Nyström map, so for small sizes and for checks."""
        return np.ascontiguousarray(self.basis.contract(self.base.T).T)
