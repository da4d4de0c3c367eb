"""Basis changes T (k, m) of Φ = B T: identity, scaling, and for landmarks L^-T or U Σ^-1/2."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Literal, Protocol

import numpy as np
from scipy import linalg

from rankviz.common.arrays import FloatArray
from rankviz.common.npz import Arrays, shaped


class Basis(Protocol):
    """A basis change T (k, m), applied from the left to vectors or to columns of a matrix."""

    @property
    def shape(self) -> tuple[int, int]:
        """(k, m): stored columns, feature dimensions."""
        ...

    def expand(self, w: FloatArray) -> FloatArray:
        """Apply T w: (m,) -> (k,), or (m, s) -> (k, s)."""
        ...

    def contract(self, u: FloatArray) -> FloatArray:
        """Apply Tᵀ u: (k,) -> (m,), or (k, s) -> (m, s)."""
        ...

    @property
    def nested(self) -> bool:
        """True if leading columns are a coarser map of the same kind."""
        ...

    def leading(self, k: int) -> Basis:
        """Return T of the map whose base is the first k columns; ValueError if it is not nested."""
        ...

    def padded(self, w: FloatArray) -> FloatArray:
        """Return weights of this map (m,) with the same scores as weights w of a leading one."""
        ...

    def weight(self, k: int) -> float:
        """Return the factor of the first k columns of Φ in the map for k; ValueError like `leading`."""
        ...

    def single(self) -> Basis:
        """Return T in single precision, for vectors in single precision."""
        ...

    def arrays(self) -> Arrays:
        """Return the matrices to store; empty if there are none."""
        ...


@dataclass(frozen=True)
class IdentityBasis:
    """T = I: the base is Φ itself."""

    size: int

    nested: ClassVar[bool] = False

    @property
    def shape(self) -> tuple[int, int]:
        """(m, m)."""
        return self.size, self.size

    def expand(self, w: FloatArray) -> FloatArray:
        """Return w."""
        return w

    def contract(self, u: FloatArray) -> FloatArray:
        """Return u."""
        return u

    def leading(self, k: int) -> IdentityBasis:
        """Return the identity of k columns."""
        return IdentityBasis(k)

    def padded(self, w: FloatArray) -> FloatArray:
        """Append zeros to w."""
        return _with_zeros(w, self.size)

    def weight(self, k: int) -> float:
        """Return 1."""
        return 1.0

    def arrays(self) -> Arrays:
        """Return no arrays."""
        return {}

    def single(self) -> IdentityBasis:
        """Return this basis."""
        return self


@dataclass(frozen=True)
class CosineBasis:
    """T = √(2/m) I: the base holds cosines, which weigh more for smaller m."""

    size: int

    nested: ClassVar[bool] = True

    @property
    def shape(self) -> tuple[int, int]:
        """(m, m)."""
        return self.size, self.size

    def expand(self, w: FloatArray) -> FloatArray:
        """Return √(2/m) w."""
        return w * math.sqrt(2 / self.size)

    def contract(self, u: FloatArray) -> FloatArray:
        """Return √(2/m) u."""
        return u * math.sqrt(2 / self.size)

    def leading(self, k: int) -> CosineBasis:
        """Return √(2/k) I."""
        return CosineBasis(k)

    def padded(self, w: FloatArray) -> FloatArray:
        """Return √(m/m') w with zeros appended, for w (m',)."""
        return _with_zeros(w * math.sqrt(self.size / len(w)), self.size)

    def weight(self, k: int) -> float:
        """Return √(m/k)."""
        return math.sqrt(self.size / k)

    def arrays(self) -> Arrays:
        """Return no arrays."""
        return {}

    def single(self) -> CosineBasis:
        """Return this basis."""
        return self


@dataclass(frozen=True, eq=False)
class CholeskyBasis:
    """T = L^-T for K_mm = L Lᵀ: leading columns of Φ belong to leading landmarks (nested).

    Attributes
    ----------
    L : (m, m) float64, lower triangular
    """

    L: FloatArray

    nested: ClassVar[bool] = True

    @property
    def shape(self) -> tuple[int, int]:
        """(m, m)."""
        return len(self.L), len(self.L)

    def expand(self, w: FloatArray) -> FloatArray:
        """Return L^-T w."""
        return _solve_triangular(self.L, w, "T")

    def contract(self, u: FloatArray) -> FloatArray:
        """Return L^-1 u."""
        return _solve_triangular(self.L, u, "N")

    def leading(self, k: int) -> CholeskyBasis:
        """Return the factor of the first k landmarks, copied: each solve would copy a view of L."""
        return self if k == len(self.L) else CholeskyBasis(self.L[:k, :k].copy())

    def padded(self, w: FloatArray) -> FloatArray:
        """Append zeros to w."""
        return _with_zeros(w, len(self.L))

    def weight(self, k: int) -> float:
        """Return 1."""
        return 1.0

    def arrays(self) -> Arrays:
        """Return L."""
        return {"L": self.L}

    def single(self) -> CholeskyBasis:
        """Return L rounded to single precision."""
        return CholeskyBasis(self.L.astype(np.float32))


def _with_zeros(w: FloatArray, m: int) -> FloatArray:
    return np.concatenate((w, np.zeros(m - len(w))))


def _solve_triangular(L: FloatArray, b: FloatArray, trans: Literal["N", "T"]) -> FloatArray:
    x: FloatArray = linalg.solve_triangular(L, b, trans=trans, lower=True, check_finite=False)
    return x


@dataclass(frozen=True, eq=False)
class DenseBasis:
    """T stored as a (k, m) matrix, as for chen2017's truncated map U_k Σ_k^-1/2 (eq. 18)."""

    T: FloatArray

    nested: ClassVar[bool] = False

    @property
    def shape(self) -> tuple[int, int]:
        """(k, m)."""
        return self.T.shape[0], self.T.shape[1]

    def expand(self, w: FloatArray) -> FloatArray:
        """Return T w."""
        return self.T @ w

    def contract(self, u: FloatArray) -> FloatArray:
        """Return Tᵀ u."""
        return self.T.T @ u

    def leading(self, k: int) -> DenseBasis:
        """Return this basis for its own k; ValueError for others: fewer landmarks have other eigenvectors."""
        return _not_nested(self, k, self.shape[0])

    def padded(self, w: FloatArray) -> FloatArray:
        """Return w; ValueError for a shorter one."""
        _not_nested(self, len(w), self.shape[1])
        return w

    def weight(self, k: int) -> float:
        """Return 1 for its own k; ValueError for others."""
        _not_nested(self, k, self.shape[1])
        return 1.0

    def arrays(self) -> Arrays:
        """Return T."""
        return {"T": self.T}

    def single(self) -> DenseBasis:
        """Return T rounded to single precision."""
        return DenseBasis(self.T.astype(np.float32))


def _not_nested(basis: DenseBasis, asked: int, there: int) -> DenseBasis:
    if asked != there:
        raise ValueError("feature maps truncated to a rank are not nested; fit each on its own")
    return basis


def landmark_basis(arrays: Arrays, k: int) -> CholeskyBasis | DenseBasis:
    """Return the basis of k landmarks from `arrays`; ValueError for invalid arrays."""
    if "L" not in arrays:
        return DenseBasis(shaped(arrays, "T", k, arrays["T"].shape[1]))
    L = shaped(arrays, "L", k, k)
    if not (np.diag(L) > 0).all():
        raise ValueError("array 'L' is not a Cholesky factor")
    return CholeskyBasis(L)
