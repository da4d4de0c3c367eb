"""Storage of features in shards (as computed, in single precision, or none), and the plan of a fit.

A base K_nm of a Nyström map must not be rounded, because T = L^-T multiplies its errors by 10⁵. So single
precision stores Φ = K_nm T itself, whose errors are not multiplied. It is computed in double precision as a
product with the matrix T, which errs by 10^-16 ‖T‖. Solves with L are more accurate but slower, and SciPy's
block all other threads.

See docs/decisions/0011-fits-in-shards.md.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, cast

import numpy as np

from rankviz.common.arrays import FloatArray, IntArray, release_pages
from rankviz.common.errors import DataError, SettingError
from rankviz.common.memory import BUDGET_SHARE
from rankviz.common.numbers import megabytes
from rankviz.common.row_blocks import rounded
from rankviz.common.settings import instance
from rankviz.datasets.types import RankingData
from rankviz.features.kernel_base import Kernel
from rankviz.features.maps import FittedMap
from rankviz.features.operator import Basis, FeatureOperator, IdentityBasis
from rankviz.learning.losses import Loss, loss_of
from rankviz.learning.memory import PAIR_BYTES, TrainingSizes, largest_fitting
from rankviz.learning.solvers import SOLVERS, USUAL
from rankviz.learning.sorted_risk import risk_sizes
from rankviz.shards.backend import Backend

ROWS = 4096
"""Rows of features to compute before they are rounded."""


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


Base = Stored | Recomputed
"""The stored features of a shard, of the widest map."""


class FeatureStorage(ABC):
    """A way to store features.

    Attributes
    ----------
    words : str
        Stored features, in words.
    """

    words: ClassVar[str]

    @abstractmethod
    def base(self, X: FloatArray, fitted: FittedMap) -> Base:
        """Return the features of documents X (n, d)."""

    @abstractmethod
    def bytes(self, n: int, k: int) -> int:
        """Return the bytes for n documents and k columns."""

    def basis(self, basis: Basis) -> Basis:
        """Return T of Φ = B T for the stored features of a map with this basis: by default the same."""
        return basis

    def temporary(self, n: int, k: int) -> int:
        """Return the temporary bytes if all n documents were processed at once: by default none."""
        return 0


@dataclass(frozen=True)
class DoubleStorage(FeatureStorage):
    """Features in double precision, as a map computes them: 8nk bytes."""

    words: ClassVar[str] = "features in double precision"

    def base(self, X: FloatArray, fitted: FittedMap) -> Stored:
        """Return all features."""
        stored = Stored(fitted.operator(X).compact().base)
        release_pages(X)
        return stored

    def bytes(self, n: int, k: int) -> int:
        """Return 8nk."""
        return 8 * n * k


@dataclass(frozen=True)
class SingleStorage(FeatureStorage):
    """Φ itself in single precision: 4nk bytes."""

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


@dataclass(frozen=True)
class NoStorage(FeatureStorage):
    """Features recomputed for every product."""

    words: ClassVar[str] = "features computed again for every product"

    def base(self, X: FloatArray, fitted: FittedMap) -> Recomputed:
        """Return features that are computed on demand."""
        return Recomputed(X, fitted)

    def bytes(self, n: int, k: int) -> int:
        """Return 0."""
        return 0

    def temporary(self, n: int, k: int) -> int:
        """Return 8nk."""
        return 8 * n * k


STORAGES: tuple[FeatureStorage, ...] = (DoubleStorage(), SingleStorage(), NoStorage())
"""The fastest first."""


MOST_TEMPORARY = 64 << 20
"""Most bytes of features per shard if they are recomputed for every use."""
WORKER = 16e9
"""Bytes of a worker's memory, for the suggested number of workers."""


@dataclass(frozen=True)
class Plan:
    """The plan of a fit in shards.

    Attributes
    ----------
    shards : int
    storage : FeatureStorage
    need : int
        Bytes needed where the shards are, besides the documents.
    left : float
        Remaining bytes there.
    """

    shards: int
    storage: FeatureStorage
    need: int
    left: float

    @property
    def words(self) -> str:
        """The plan as a sentence."""
        return f"{self.shards} shards, {self.storage.words}: about {megabytes(self.need)} of memory."


def plan_for(
    data: RankingData,
    feature_map: str,
    kernel: str | Kernel,
    m: int,
    loss: str | Loss,
    backend: Backend,
    limit: float | None = None,
    storages: Sequence[FeatureStorage] = STORAGES,
) -> Plan:
    """Return the fastest plan that fits into `limit` bytes, or into the backend's budget.

    Raises `SettingError` for a map whose weights are coefficients of all documents; `DataError` with a remedy
    if no plan fits.
    """
    instance("where", backend, Backend, "a place to train, such as rankviz.shards.Here()")
    pairs, cuts = risk_sizes(data.y, data.ptr, loss_of(loss).surrogate())
    sizes = TrainingSizes(feature_map, m, data.n_documents, data.n_features, pairs, cuts, kernel)
    refuse_coefficients(sizes)
    budget = backend.budget() if limit is None else limit
    ways = list(storages) if sizes.base_bytes else [DoubleStorage()]
    found = [_plan(sizes, storage, backend, data.n_queries, budget) for storage in ways]
    for plan in found:
        if plan.left >= 0:
            return plan
    need = min(plan.need for plan in found)
    fits = largest_fitting(
        sizes,
        lambda less: any(_plan(less, storage, backend, data.n_queries, budget).left >= 0 for storage in ways),
    )
    listed = f", {megabytes(pairs * PAIR_BYTES)} of it for {pairs:,} listed pairs" if pairs else ""
    raise DataError(
        f"training on {sizes.n:,} documents in shards needs about {megabytes(need)} of memory{listed}",
        expected=f"at most {megabytes(budget)}",
        remedy=_remedy(loss, fits, need),
    )


def _plan(
    sizes: TrainingSizes, storage: FeatureStorage, backend: Backend, n_queries: int, budget: float
) -> Plan:
    """Return the plan with features stored in this way, even if it does not fit."""
    stored = (sizes.n, sizes.width) if sizes.base_bytes else (0, 0)
    temporary = storage.temporary(*stored)
    shards = min(n_queries, max(backend.count(sizes.n), -(-temporary // MOST_TEMPORARY)))
    at_once = min(backend.threads, shards) * temporary // shards
    if sizes.width > sizes.n:  # all features are brought together for the preconditioner
        at_once += 8 * sizes.n * sizes.width
    need = sizes.bytes - sizes.base_bytes + storage.bytes(*stored) + at_once
    return Plan(shards, storage, need, budget - need)


def _remedy(loss: str | Loss, fits: int, need: float) -> str:
    """Suggest alternatives: a loss that lists no pairs, fewer features, more memory."""
    unlisted = loss_of(loss).unlisted
    instead = f"loss={unlisted!r}, which needs no list; " if unlisted else ""
    fewer = f"m = {fits:,} or fewer features; " if fits else ""
    workers = math.ceil(need / (BUDGET_SHARE * WORKER))
    some = "a worker" if workers == 1 else f"{workers:,} workers"
    return f"Choose {instead}{fewer}fewer documents; or a cluster with {some} of {megabytes(WORKER)}."


def refuse_coefficients(sizes: TrainingSizes) -> None:
    """Raise `SettingError` for a model with one coefficient per document."""
    if sizes.in_kernel_space:
        raise SettingError(
            f"feature_map={sizes.feature_map!r} of {sizes.n:,} documents has one coefficient for each, which "
            "shards cannot share; choose an approximation of the kernel, or train without shards"
        )


def check_solver_in_shards(solver: str) -> None:
    """Raise `SettingError` for a solver that needs more than sums over documents."""
    if SOLVERS[solver].lists_pairs:
        raise SettingError(
            f"solver={solver!r} needs all pairs in one place, so it cannot use shards; "
            f"choose solver={USUAL!r}"
        )
