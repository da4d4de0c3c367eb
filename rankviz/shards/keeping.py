"""Storage of features in shards: as computed, as Φ in single precision, or not at all.

A base K_nm of a Nyström map must not be rounded, because T = L^-T multiplies its errors by 10⁵. So single
precision stores Φ = K_nm T itself, whose errors are not multiplied. It is computed in double precision as a
product with the matrix T, which errs by 10^-16 ‖T‖. Solves with L are more accurate but slower, and SciPy's
block all other threads.

See docs/decisions/0011-fits-in-shards.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Protocol, cast

import numpy as np

from rankviz.common.arrays import FloatArray, IntArray, release_pages
from rankviz.features.bases import Basis, IdentityBasis
from rankviz.features.maps import FittedMap
from rankviz.features.operator import FeatureOperator
from rankviz.features.row_blocks import rounded

ROWS = 4096
"""Rows of features to compute before they are rounded."""


class Columns(Protocol):
    """Products with stored features B (n, k) of a shard."""

    def product(self, v: FloatArray) -> FloatArray:
        """Return B v: (k,) -> (n,)."""
        ...

    def adjoint(self, u: FloatArray) -> FloatArray:
        """Return Bᵀ u: (n,) -> (k,)."""
        ...

    def row_differences(self, i: IntArray, j: IntArray) -> FloatArray:
        """Return columns b_i − b_j of pairs: (s,), (s,) -> (k, s)."""
        ...


class Base(Protocol):
    """The stored features of a shard, of the widest map."""

    def columns(self, k: int, single: bool = False) -> Columns:
        """Return products with the first k, in single precision if asked and stored."""
        ...

    def array(self, k: int) -> FloatArray:
        """Return the first k as an array (n, k)."""
        ...

    def __sizeof__(self) -> int:
        """Return the bytes."""
        ...


@dataclass(frozen=True, eq=False)
class Stored:
    """Features (n, k) in an array."""

    base: FloatArray

    def columns(self, k: int, single: bool = False) -> FeatureOperator:
        """Return products with the first k."""
        return FeatureOperator((self._rounded if single else self.base)[:, :k], IdentityBasis(k))

    def array(self, k: int) -> FloatArray:
        """Return the first k, not copied."""
        return self.base[:, :k]

    @cached_property
    def _rounded(self) -> FloatArray:
        return cast(FloatArray, rounded(self.base))

    def __sizeof__(self) -> int:
        """Return the bytes of the array, and of its copy if there is one."""
        return int(self.base.nbytes + (self._rounded.nbytes if "_rounded" in vars(self) else 0))


@dataclass(frozen=True, eq=False)
class Recomputed:
    """Features of documents X (n, d), recomputed for every use."""

    X: FloatArray
    fitted: FittedMap

    def columns(self, k: int, single: bool = False) -> RecomputedColumns:
        """Return products with the first k."""
        return RecomputedColumns(self, k)

    def array(self, k: int) -> FloatArray:
        """Compute the first k."""
        return self.of(self.X, k)

    def of(self, X: FloatArray, k: int) -> FloatArray:
        """Compute the first k of documents X (s, d), by a narrower map if it has just these."""
        fitted = self.fitted
        if fitted.basis.nested and k < fitted.basis.shape[0]:
            narrower = fitted.leading(k)
            fitted = narrower if narrower.basis.shape[0] == k else fitted
        return fitted.operator(X).base[:, :k]

    def __sizeof__(self) -> int:
        """Return almost nothing: documents are counted elsewhere."""
        return object.__sizeof__(self)


@dataclass(frozen=True, eq=False)
class RecomputedColumns:
    """Products with the first k features, computed at first use and stored."""

    base: Recomputed
    k: int

    @cached_property
    def _features(self) -> FeatureOperator:
        return Stored(self.base.array(self.k)).columns(self.k)

    def product(self, v: FloatArray) -> FloatArray:
        """Return B v."""
        return self._features.product(v)

    def adjoint(self, u: FloatArray) -> FloatArray:
        """Return Bᵀ u."""
        return self._features.adjoint(u)

    def row_differences(self, i: IntArray, j: IntArray) -> FloatArray:
        """Return columns b_i − b_j; only these rows are computed."""
        X = self.base.X
        return (self.base.of(X[i], self.k) - self.base.of(X[j], self.k)).T


class Keeping(Protocol):
    """A way to store features."""

    @property
    def words(self) -> str:
        """Stored features, in words."""
        ...

    def base(self, X: FloatArray, fitted: FittedMap) -> Base:
        """Return the features of documents X (n, d)."""
        ...

    def basis(self, basis: Basis) -> Basis:
        """Return T of Φ = B T for the stored features of a map with this basis."""
        ...

    def bytes(self, n: int, k: int) -> int:
        """Return the bytes for n documents."""
        ...

    def passing(self, n: int, k: int) -> int:
        """Return the temporary bytes if all n documents were processed at once."""
        ...


@dataclass(frozen=True)
class AsComputed:
    """Features in double precision, as a map computes them."""

    words: ClassVar[str] = "features in double precision"

    def base(self, X: FloatArray, fitted: FittedMap) -> Stored:
        """Return all features."""
        stored = Stored(fitted.operator(X).compact().base)
        release_pages(X)
        return stored

    def basis(self, basis: Basis) -> Basis:
        """Return the map's basis."""
        return basis

    def bytes(self, n: int, k: int) -> int:
        """Return 8nk."""
        return 8 * n * k

    def passing(self, n: int, k: int) -> int:
        """Return 0."""
        return 0


@dataclass(frozen=True)
class InSingle:
    """Φ itself in single precision."""

    words: ClassVar[str] = "features in single precision"

    def base(self, X: FloatArray, fitted: FittedMap) -> Stored:
        """Return Φ of all documents, computed in blocks."""
        out = np.empty((len(X), fitted.n_components), np.float32)
        T = fitted.basis.expand(np.eye(fitted.n_components))
        for start in range(0, len(X), ROWS):
            rows = slice(start, start + ROWS)
            out[rows] = fitted.operator(X[rows]).base @ T
        release_pages(X)
        return Stored(cast(FloatArray, out))

    def basis(self, basis: Basis) -> Basis:
        """Return the identity: Φ itself is stored."""
        return IdentityBasis(basis.shape[1])

    def bytes(self, n: int, k: int) -> int:
        """Return 4nk."""
        return 4 * n * k

    def passing(self, n: int, k: int) -> int:
        """Return 0."""
        return 0


@dataclass(frozen=True)
class NotKept:
    """Features recomputed for every product."""

    words: ClassVar[str] = "features computed again for every product"

    def base(self, X: FloatArray, fitted: FittedMap) -> Recomputed:
        """Return features that are computed on demand."""
        return Recomputed(X, fitted)

    def basis(self, basis: Basis) -> Basis:
        """Return the map's basis."""
        return basis

    def bytes(self, n: int, k: int) -> int:
        """Return 0."""
        return 0

    def passing(self, n: int, k: int) -> int:
        """Return 8nk."""
        return 8 * n * k


KEEPINGS: tuple[Keeping, ...] = (AsComputed(), InSingle(), NotKept())
"""The fastest first."""
