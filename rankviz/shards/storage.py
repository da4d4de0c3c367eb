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
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar, cast

import numpy as np
from numpy.typing import NDArray

from rankviz.common.arrays import FloatArray, IntArray, mapping_of, release_pages
from rankviz.common.errors import DataError, SettingError
from rankviz.common.memory import BUDGET_SHARE, megabytes
from rankviz.common.parallel import rounded
from rankviz.common.settings import instance
from rankviz.datasets.types import RankingData
from rankviz.features.kernel_base import Kernel
from rankviz.features.kernel_matrix import LARGEST_DOUBLE, planned_matrix
from rankviz.features.maps import FittedMap
from rankviz.features.operator import Basis, FeatureOperator, IdentityBasis
from rankviz.learning.kernel_space import growth_bytes, growth_words
from rankviz.learning.loss_facts import AnyLoss
from rankviz.learning.losses import loss_of
from rankviz.learning.memory import PAIR_BYTES, TrainingSizes, largest_fitting, too_large, training_sizes
from rankviz.learning.solvers import SOLVERS, USUAL
from rankviz.shards.backend import DOCUMENTS, Backend, Here

ROWS = 1024
"""Rows of features to compute before they are rounded."""
RANGE = 1e-30, 1e30
"""Largest values of features that single precision holds with all digits, also those of smaller ones."""
COLUMNS = 64
"""Columns of Φ to form at a time: about half of a triangular T is then skipped."""


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

    def first(self, n: int) -> Stored:
        """Return the features of the first n documents, not copied."""
        return Stored(self.base[:n])

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

    def first(self, n: int) -> Recomputed:
        """Return the features of the first n documents."""
        return Recomputed(self.X[:n], self.fitted)

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
    reads_once : bool
        True if the documents are not needed once their features are stored.
    """

    words: ClassVar[str]
    reads_once: ClassVar[bool] = False

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
    reads_once: ClassVar[bool] = True

    def base(self, X: FloatArray, fitted: FittedMap) -> Stored:
        """Return all features."""
        stored = Stored(fitted.operator(X).compact().base)
        release_pages(X)
        return stored

    def bytes(self, n: int, k: int) -> int:
        """Return 8nk."""
        return 8 * n * k


def _forming(basis: Basis) -> Callable[[FloatArray, NDArray[np.float32]], None]:
    """Return a function that writes base·T into an array, without the parts of T that are 0."""
    T = basis.expand(np.eye(basis.shape[1]))
    used = T != 0
    if np.array_equal(used, np.diag(np.diag(used))):
        return lambda base, out: np.copyto(out, base * np.diag(T), casting="same_kind")
    parts = []
    for start in range(0, T.shape[1], COLUMNS):
        columns = slice(start, start + COLUMNS)
        rows = np.flatnonzero(used[:, columns].any(axis=1))
        own = slice(int(rows.min(initial=len(T))), int(rows.max(initial=-1)) + 1)
        parts.append((columns, own, np.ascontiguousarray(T[own, columns])))

    def form(base: FloatArray, out: NDArray[np.float32]) -> None:
        for columns, own, part in parts:
            out[:, columns] = base[:, own] @ part

    return form


@dataclass(frozen=True)
class SingleStorage(FeatureStorage):
    """Φ itself in single precision: 4nk bytes."""

    words: ClassVar[str] = "features in single precision"
    reads_once: ClassVar[bool] = True

    def base(self, X: FloatArray, fitted: FittedMap) -> Stored:
        """Return Φ of all documents, computed in blocks; `SettingError` if it exceeds single precision."""
        largest = np.abs(fitted.operator(X[:ROWS]).dense()).max(initial=0.0)
        if 0 < largest < RANGE[0] or largest > RANGE[1]:
            raise SettingError(
                f"the largest of some features is {largest:.2g}, and single precision holds {RANGE[0]:g} to "
                f"{RANGE[1]:g}; choose another gamma or coef0, or fewer documents, which need less memory"
            )
        out = np.empty((len(X), fitted.n_components), np.float32)
        form = _forming(fitted.basis)
        for start in range(0, len(X), ROWS):
            rows = slice(start, start + ROWS)
            form(fitted.operator(X[rows]).base, out[rows])
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


@dataclass(frozen=True)
class DocumentStorage(DoubleStorage):
    """Documents as features."""

    words: ClassVar[str] = "the documents as features"
    reads_once: ClassVar[bool] = False


STORAGES: tuple[FeatureStorage, ...] = (DoubleStorage(), SingleStorage(), NoStorage())
"""The fastest first."""


MOST_TEMPORARY = 64 << 20
"""Most bytes of features per shard if they are recomputed for every use."""
WORKER = 16e9
"""Bytes of a worker's memory, for the suggested number of workers."""


@dataclass(frozen=True)
class Plan:
    """The plan of a fit.

    Attributes
    ----------
    shards : int
        1 for one piece.
    storage : FeatureStorage
    need : int
        Bytes needed where the shards are, besides the documents.
    left : float
        Remaining bytes there.
    spare : int
        Bytes of a copy of the features in single precision, or of an exact kernel's matrix; 0 if it does not
        pay or has no room.
    documents : int
        Bytes of the documents; 0 if they are mapped from a file and need not stay in memory.
    kernel : str
        Storage of an exact kernel's matrix, in words; "" without one.
    more : int
        Further bytes that an exact kernel may take if its Newton systems are hard to solve, as for large C.
    """

    shards: int
    storage: FeatureStorage
    need: int
    left: float
    spare: int = 0
    documents: int = 0
    kernel: str = ""
    more: int = 0

    @property
    def in_one_piece(self) -> bool:
        """True if nothing is left of shards: there is one, with features in double precision."""
        return self.shards == 1 and isinstance(self.storage, DoubleStorage)

    @property
    def total(self) -> int:
        """Bytes of memory at the peak, with the documents."""
        return self.documents + self.need + self.spare

    def of(self, data: RankingData) -> Plan:
        """Return the plan of these documents, which may be mapped from a file."""
        once = self.storage.reads_once and not self.in_one_piece and mapping_of(data.X) is not None
        return replace(self, documents=0) if once else self

    @property
    def words(self) -> str:
        """The plan as a sentence."""
        pieces = "one piece" if self.in_one_piece else f"{self.shards} shard{'s' * (self.shards > 1)}"
        parts = f"{megabytes(self.documents)} of it for the documents"
        parts = parts if self.documents else "the documents stay in their file"
        storage = self.kernel or self.storage.words
        plan = f"{pieces}, {storage}: about {megabytes(self.total)} of memory, {parts}"
        return "; ".join(filter(None, (plan, growth_words(self.more)))) + "."


def plan_for(
    data: RankingData,
    feature_map: str,
    kernel: str | Kernel,
    m: int,
    loss: str | AnyLoss,
    backend: Backend,
    limit: float | None = None,
    storages: Sequence[FeatureStorage] = STORAGES,
) -> Plan:
    """Return the fastest plan that fits into `limit` bytes, or into the backend's budget.

    Raises `SettingError` for a map whose weights are coefficients of all documents; `DataError` with a remedy
    if no plan fits.
    """
    instance("where", backend, Backend, "a place to train, such as rankviz.shards.Here()")
    sizes = training_sizes(data, feature_map, kernel, m, loss)
    refuse_coefficients(sizes)
    budget = backend.budget() if limit is None else limit
    plan, fits = _fastest(lambda one: _in_shards(one, backend, data.n_queries, budget, storages), sizes)
    if plan.left >= 0:
        return plan.of(data)
    pairs = sizes.pairs
    listed = f", {megabytes(pairs * PAIR_BYTES)} of it for {pairs:,} listed pairs" if pairs else ""
    raise DataError(
        f"training on {sizes.n:,} documents in shards needs about {megabytes(plan.need)} of memory{listed}",
        expected=f"at most {megabytes(budget)}",
        remedy=_remedy(loss, fits, plan.need),
    )


IN_SHARDS = 2 * DOCUMENTS
"""Documents from which training in this process works in shards, whose sums and sorts fit in the caches."""
FEWEST = 16
"""Least number of these shards."""


def plan_here(
    sizes: TrainingSizes, n_queries: int, solver: str, budget: float, *, beside: float = 0.0
) -> Plan:
    """Return the fastest plan of training in this process; `DataError` with a remedy if none fits.

    `beside` are bytes of other things, also out of `budget`.
    """
    plan, fits = fastest_here(sizes, n_queries, solver, budget - beside)
    if plan.left < 0:
        raise too_large(sizes, plan.need + beside, budget, fits)
    return plan


def fastest_here(sizes: TrainingSizes, n_queries: int, solver: str, budget: float) -> tuple[Plan, int]:
    """Return the fastest plan that fits, or the smallest if none does; and the largest m that fits."""
    return _fastest(lambda one: _here(one, n_queries, solver, budget), sizes)


def _here(sizes: TrainingSizes, n_queries: int, solver: str, budget: float) -> Iterator[Plan]:
    """Yield the plans of training in this process, the fastest first.

    The number of shards does not depend on the number of threads, so neither does the model.
    """
    forms = SOLVERS[solver].lists_pairs  # such solvers form Φ
    formed = 8 * sizes.n * sizes.width if forms and sizes.kind.memory.base else 0
    storage = DoubleStorage() if sizes.base_bytes else DocumentStorage()
    one = _with_copy(sizes, Plan(1, storage, sizes.bytes + formed, budget - sizes.bytes - formed))
    in_one_piece = forms or sizes.kind.is_exact or sizes.width > sizes.n
    if in_one_piece or sizes.n < IN_SHARDS:
        yield one
    if not in_one_piece:
        shards = Here(max(FEWEST, round(sizes.n / DOCUMENTS)))
        more = _in_shards(sizes, shards, n_queries, budget, STORAGES)
        yield from more if sizes.n >= IN_SHARDS else more[1:]


def _fastest(plans: Callable[[TrainingSizes], Iterable[Plan]], sizes: TrainingSizes) -> tuple[Plan, int]:
    """Return the first plan that fits; if none does, the smallest, and the largest m for which one would."""
    found = []
    for plan in plans(sizes):
        if plan.left >= 0:
            return plan, sizes.m
        found.append(plan)
    fits = largest_fitting(sizes, lambda less: any(plan.left >= 0 for plan in plans(less)))
    return min(found, key=lambda plan: plan.need), fits


def _in_shards(
    sizes: TrainingSizes,
    backend: Backend,
    n_queries: int,
    budget: float,
    storages: Sequence[FeatureStorage],
) -> list[Plan]:
    """Return the plans with features stored in these ways, also those that do not fit.

    Double precision is left out above `LARGEST_DOUBLE`, where half of the bytes are also read faster.
    """
    ways = list(storages) if sizes.base_bytes else [DocumentStorage()]
    if sizes.base_bytes > LARGEST_DOUBLE:
        ways = [way for way in ways if not isinstance(way, DoubleStorage)] or ways
    return [_plan(sizes, storage, backend, n_queries, budget) for storage in ways]


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
    return _with_copy(sizes, Plan(shards, storage, need, budget - need))


def _with_copy(sizes: TrainingSizes, plan: Plan) -> Plan:
    """Return the plan with the bytes of the documents, and of what uses the room that is left.

    This is an exact kernel's matrix, or a copy of the features in single precision.
    """
    documents = 8 * sizes.n * sizes.d
    if sizes.in_kernel_space:
        words, size = planned_matrix(sizes.n, plan.left)
        more = growth_bytes(sizes.n, plan.left - size)
        return replace(plan, spare=size, documents=documents, kernel=words, more=more)
    pays = isinstance(plan.storage, DoubleStorage) and 0 < sizes.copy_bytes <= plan.left
    return replace(plan, spare=sizes.copy_bytes if pays else 0, documents=documents)


def _remedy(loss: str | AnyLoss, fits: int, need: float) -> str:
    """Suggest alternatives: a loss that lists no pairs, fewer features, more memory."""
    unlisted = loss_of(loss).unlisted
    instead = f"loss={unlisted!r}, which needs no list; " if unlisted else ""
    fewer = f"m = {fits:,} or fewer features; " if fits else ""
    workers = math.ceil(need / (BUDGET_SHARE * WORKER))
    some = "a worker" if workers == 1 else f"{workers:,} workers"
    return f"Choose {instead}{fewer}fewer documents; or a cluster with {some} of {megabytes(WORKER)}."


def refuse_coupled(loss: AnyLoss) -> None:
    """Raise `SettingError` for a loss that is no sum over queries."""
    if not loss.by_query:
        raise SettingError(
            f"the {loss.label} loss has an intercept common to all queries, so it is no sum over shards; "
            "train without shards, with memory for one piece, or choose another loss, such as 'rankrls'"
        )


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
