"""How shards keep features: as they are computed, as Φ in single precision, or not at all.

A base K_nm of a Nyström map must not be rounded, for T = L^-T makes its errors 10⁵ times as large; so what is
kept in single precision is Φ = K_nm T itself, whose errors nothing multiplies. It is a product in double
precision with T as a matrix: that errs by 10^-16 ‖T‖, where solves with L would err less, but are slower, and
SciPy's let no other thread of the process work meanwhile.

See docs/decisions/0011-fits-in-shards.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Protocol, cast

import numpy as np

from rankviz.common.arrays import FloatArray, IntArray
from rankviz.common.mapped import let_pages_go
from rankviz.features.bases import Basis, IdentityBasis
from rankviz.features.maps import FittedMap
from rankviz.features.operator import FeatureOperator
from rankviz.features.row_blocks import rounded

ROWS = 4096
"""Rows of features that are computed at a time before they are rounded."""


class Columns(Protocol):
    """Products with stored features B (n, k) of a shard."""

    def product(self, v: FloatArray) -> FloatArray:
        """B v: (k,) -> (n,)."""
        ...

    def adjoint(self, u: FloatArray) -> FloatArray:
        """Bᵀ u: (n,) -> (k,)."""
        ...

    def row_differences(self, i: IntArray, j: IntArray) -> FloatArray:
        """Columns b_i − b_j of pairs: (s,), (s,) -> (k, s)."""
        ...


class Base(Protocol):
    """The stored features of a shard, of the widest map."""

    def columns(self, k: int, single: bool = False) -> Columns:
        """Products with the first k, in single precision where that is asked for and kept."""
        ...

    def array(self, k: int) -> FloatArray:
        """The first k as an array (n, k)."""
        ...

    def __sizeof__(self) -> int:
        """Bytes."""
        ...


@dataclass(frozen=True, eq=False)
class Stored:
    """Features (n, k) in an array."""

    base: FloatArray

    def columns(self, k: int, single: bool = False) -> FeatureOperator:
        """Products with the first k."""
        return FeatureOperator((self._rounded if single else self.base)[:, :k], IdentityBasis(k))

    def array(self, k: int) -> FloatArray:
        """The first k, not copied."""
        return self.base[:, :k]

    @cached_property
    def _rounded(self) -> FloatArray:
        return cast(FloatArray, rounded(self.base))

    def __sizeof__(self) -> int:
        """Bytes of the array, and of its copy where there is one."""
        return int(self.base.nbytes + (self._rounded.nbytes if "_rounded" in vars(self) else 0))


@dataclass(frozen=True, eq=False)
class Recomputed:
    """Features of documents X (n, d) that are computed whenever they are worked with."""

    X: FloatArray
    fitted: FittedMap

    def columns(self, k: int, single: bool = False) -> RecomputedColumns:
        """Products with the first k."""
        return RecomputedColumns(self, k)

    def array(self, k: int) -> FloatArray:
        """The first k, computed."""
        return self.of(self.X, k)

    def of(self, X: FloatArray, k: int) -> FloatArray:
        """The first k of documents X (s, d), without the others where a narrower map has just these."""
        fitted = self.fitted
        if fitted.basis.nested and k < fitted.basis.shape[0]:
            narrower = fitted.leading(k)
            fitted = narrower if narrower.basis.shape[0] == k else fitted
        return fitted.operator(X).base[:, :k]

    def __sizeof__(self) -> int:
        """Hardly anything: documents are counted elsewhere."""
        return object.__sizeof__(self)


@dataclass(frozen=True, eq=False)
class RecomputedColumns:
    """Products with the first k features, computed by the first and kept for those after it."""

    base: Recomputed
    k: int

    @cached_property
    def _features(self) -> FeatureOperator:
        return Stored(self.base.array(self.k)).columns(self.k)

    def product(self, v: FloatArray) -> FloatArray:
        """B v."""
        return self._features.product(v)

    def adjoint(self, u: FloatArray) -> FloatArray:
        """Bᵀ u."""
        return self._features.adjoint(u)

    def row_differences(self, i: IntArray, j: IntArray) -> FloatArray:
        """Columns b_i − b_j, of which only these rows are computed."""
        X = self.base.X
        return (self.base.of(X[i], self.k) - self.base.of(X[j], self.k)).T


class Keeping(Protocol):
    """A way to keep features."""

    @property
    def words(self) -> str:
        """What is kept, in words."""
        ...

    def base(self, X: FloatArray, fitted: FittedMap) -> Base:
        """The features of documents X (n, d)."""
        ...

    def basis(self, basis: Basis) -> Basis:
        """T of Φ = B T, for what is kept of a map with this one."""
        ...

    def bytes(self, n: int, k: int) -> int:
        """What n documents take."""
        ...

    def passing(self, n: int, k: int) -> int:
        """What n documents would take meanwhile, were all worked on at once."""
        ...


@dataclass(frozen=True)
class AsComputed:
    """In double precision, as a map computes them."""

    words: ClassVar[str] = "features in double precision"

    def base(self, X: FloatArray, fitted: FittedMap) -> Stored:
        """All of them."""
        stored = Stored(fitted.operator(X).compact().base)
        let_pages_go(X)
        return stored

    def basis(self, basis: Basis) -> Basis:
        """That of the map."""
        return basis

    def bytes(self, n: int, k: int) -> int:
        """8nk."""
        return 8 * n * k

    def passing(self, n: int, k: int) -> int:
        """Nothing."""
        return 0


@dataclass(frozen=True)
class InSingle:
    """Φ itself in single precision."""

    words: ClassVar[str] = "features in single precision"

    def base(self, X: FloatArray, fitted: FittedMap) -> Stored:
        """Φ of all documents, block by block."""
        out = np.empty((len(X), fitted.n_components), np.float32)
        T = fitted.basis.expand(np.eye(fitted.n_components))
        for start in range(0, len(X), ROWS):
            rows = slice(start, start + ROWS)
            out[rows] = fitted.operator(X[rows]).base @ T
        let_pages_go(X)
        return Stored(cast(FloatArray, out))

    def basis(self, basis: Basis) -> Basis:
        """None: what is kept is Φ."""
        return IdentityBasis(basis.shape[1])

    def bytes(self, n: int, k: int) -> int:
        """4nk."""
        return 4 * n * k

    def passing(self, n: int, k: int) -> int:
        """Nothing."""
        return 0


@dataclass(frozen=True)
class NotKept:
    """Computed again for every product."""

    words: ClassVar[str] = "features computed again for every product"

    def base(self, X: FloatArray, fitted: FittedMap) -> Recomputed:
        """What computes them."""
        return Recomputed(X, fitted)

    def basis(self, basis: Basis) -> Basis:
        """That of the map."""
        return basis

    def bytes(self, n: int, k: int) -> int:
        """Nothing."""
        return 0

    def passing(self, n: int, k: int) -> int:
        """8nk."""
        return 8 * n * k


KEEPINGS: tuple[Keeping, ...] = (AsComputed(), InSingle(), NotKept())
"""The fastest first."""
