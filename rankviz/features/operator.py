"""Feature matrices as operators: Φ = B T with a stored base B (n, k) and a basis change T (k, m).

Linear features store Φ itself (T = I), random Fourier features the cosines (T = √(2/m) I). The Nyström map
stores the kernel matrix B = K_nm and applies T = L^-T or U Σ^-1/2 to vectors. This saves the n·m² product
that forms Φ. All but U Σ^-1/2 are nested: the map for fewer columns is B[:, :k] with its own T.

See docs/decisions/0006-features-are-an-operator.md.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Literal, cast

import numpy as np
from scipy import linalg

from rankviz.common.arrays import FloatArray, IntArray
from rankviz.common.npz import Arrays, shaped
from rankviz.common.parallel import BLOCK_ENTRIES, adjoint, norm_bound, product, rounded


class Basis(ABC):
    """A basis change T (k, m), applied from the left to vectors or to columns of a matrix.

    Attributes
    ----------
    nested : bool
        True if leading columns are a coarser map of the same kind.
    """

    nested: ClassVar[bool]

    @property
    @abstractmethod
    def shape(self) -> tuple[int, int]:
        """(k, m): stored columns, feature dimensions."""

    @abstractmethod
    def expand(self, w: FloatArray) -> FloatArray:
        """Apply T w: (m,) -> (k,), or (m, s) -> (k, s)."""

    @abstractmethod
    def contract(self, u: FloatArray) -> FloatArray:
        """Apply Tᵀ u: (k,) -> (m,), or (k, s) -> (m, s)."""

    @abstractmethod
    def leading(self, k: int) -> Basis:
        """Return T of the map whose base is the first k columns; ValueError if it is not nested."""

    def padded(self, w: FloatArray) -> FloatArray:
        """Return weights of this map (m,) with the scores of weights w of a leading one: zeros appended."""
        return np.concatenate((w, np.zeros(self.shape[1] - len(w))))

    def weight(self, k: int) -> float:
        """Return the factor of the first k columns of Φ in the map for k; ValueError like `leading`."""
        return 1.0

    def single(self) -> Basis:
        """Return T in single precision, for vectors in single precision."""
        return self

    def arrays(self) -> Arrays:
        """Return the matrices to store; empty if there are none."""
        return {}


@dataclass(frozen=True)
class IdentityBasis(Basis):
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


@dataclass(frozen=True)
class CosineBasis(Basis):
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
        return super().padded(w * math.sqrt(self.size / len(w)))

    def weight(self, k: int) -> float:
        """Return √(m/k)."""
        return math.sqrt(self.size / k)


@dataclass(frozen=True, eq=False)
class CholeskyBasis(Basis):
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

    def arrays(self) -> Arrays:
        """Return L."""
        return {"L": self.L}

    def single(self) -> CholeskyBasis:
        """Return L rounded to single precision."""
        return CholeskyBasis(self.L.astype(np.float32))


@dataclass(frozen=True, eq=False)
class DenseBasis(Basis):
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


def _solve_triangular(L: FloatArray, b: FloatArray, trans: Literal["N", "T"]) -> FloatArray:
    x: FloatArray = linalg.solve_triangular(L, b, trans=trans, lower=True, check_finite=False)
    return x


def landmark_basis(arrays: Arrays, k: int) -> CholeskyBasis | DenseBasis:
    """Return the basis of k landmarks from `arrays`; ValueError for invalid arrays."""
    if "L" not in arrays:
        return DenseBasis(shaped(arrays, "T", k, arrays["T"].shape[1]))
    L = shaped(arrays, "L", k, k)
    if not (np.diag(L) > 0).all():
        raise ValueError("array 'L' is not a Cholesky factor")
    return CholeskyBasis(L)


SPARSE = 10
"""Copy a base if its rows are at least this many times wider in memory."""


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
        return _double(product(self.base, self.basis.expand(self._own(w))))

    def adjoint(self, u: FloatArray) -> FloatArray:
        """Return Φᵀ u: (n,) -> (m,), or (n, s) -> (m, s)."""
        total = adjoint(self.base, self._own(u))
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
        """Return columns φ(x_i) − φ(x_j) of pairs: (s,), (s,) -> (m, s), in the base's precision.

        Where j is negative, the column is φ(x_i).
        """
        differences = self.base[i]
        if j.min(initial=0) < 0:  # single rows
            differences -= np.where(j[:, None] < 0, self.base.dtype.type(0), self.base[j])
        else:
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


# Only differences within a query matter; an offset common to a query changes none of them. But sums of
# squares contain the offset. At 10⁸ times the differences, a Hessian loses all their digits.
CACHED = 1 << 17
"""Numbers that fit in a processor's cache."""
FAR = 1e3
"""Columns are shifted if their largest value exceeds this times the largest difference within a query.
Squares then lose six digits and keep ten. Other columns stay the same bit by bit."""


def centred(features: FeatureOperator, ptr: IntArray) -> FeatureOperator:
    """Return Φ with each query's first row subtracted, in columns with large offsets.

    Scores change by a constant for each query. All differences of pairs stay exact, because both numbers of
    each subtraction have a similar size (Sterbenz).
    """
    base = moved_to_zero(features.base, ptr, far_columns(features.base, ptr))
    return features if base is features.base else FeatureOperator(base, features.basis)


def moved_to_zero(base: FloatArray, ptr: IntArray, columns: IntArray) -> FloatArray:
    """Subtract each query's first row in these columns; return base itself if there are none."""
    if len(columns) == 0 or len(base) == 0:
        return base
    base = base.copy()
    base[:, columns] -= np.repeat(base[ptr[:-1]][:, columns], np.diff(ptr), axis=0)
    return base


def far_columns(X: FloatArray, ptr: IntArray) -> IntArray:
    """Return the columns of X (n, d) whose size exceeds FAR times the largest spread within a query."""
    longest = int(np.diff(ptr).argmax())  # one query excludes most columns; checking all takes longer
    spread = np.ptp(X[ptr[longest] : ptr[longest + 1]], axis=0)
    likely: IntArray = np.flatnonzero(norm_bound(X) > FAR * spread)
    if len(likely) == 0:
        return likely
    size = sizes(X[:, likely])
    likely, size = likely[kept := size > FAR * spread[likely]], size[kept]
    far: IntArray = likely[size > FAR * spreads(X[:, likely], ptr)]
    return far


def largest(X: FloatArray) -> float:
    """Return the largest absolute value of X (n, d); each part is read twice, but fetched once."""
    step, found = max(1, CACHED // max(X.shape[1], 1)), 0.0
    for start in range(0, len(X), step):
        rows = X[start : start + step]
        found = max(found, float(rows.max(initial=0.0)), -float(rows.min(initial=0.0)))
    return found


def sizes(X: FloatArray) -> FloatArray:
    """Return the largest absolute value of each column of X (n, d), (d,)."""
    size, d = np.zeros(X.shape[1]), X.shape[1]
    for start in range(0, len(X), 1024):  # read twice, but fetched from memory once
        rows = X[start : start + 1024]
        side = 16 if len(rows) % 16 == 0 and rows.flags.c_contiguous else 1
        wide = rows.reshape(len(rows) // side, side * d)  # rows side by side: NumPy loops along rows
        found = np.maximum(wide.max(axis=0), -wide.min(axis=0))
        np.maximum(size, found.reshape(side, d).max(axis=0), out=size)
    return size


def spreads(X: FloatArray, ptr: IntArray) -> FloatArray:
    """Return the largest difference within a query for each column of X (n, d), (d,)."""
    if len(X) == 0:
        return np.zeros(X.shape[1])
    starts = ptr[:-1]
    within = np.maximum.reduceat(X, starts, axis=0) - np.minimum.reduceat(X, starts, axis=0)
    spread: FloatArray = within.max(axis=0)
    return spread
