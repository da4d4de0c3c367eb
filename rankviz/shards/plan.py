"""What training in shards takes, and how features are kept for it, decided and said before it starts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from rankviz.common.errors import DataError, SettingError
from rankviz.common.memory import BUDGET_SHARE
from rankviz.common.numbers import megabytes
from rankviz.common.settings import instance
from rankviz.datasets.types import RankingData
from rankviz.fitting.memory import PAIR_BYTES, TrainingSizes, largest_fitting
from rankviz.risk import risk_sizes
from rankviz.risk.losses import LOSSES
from rankviz.shards.backend import Backend
from rankviz.shards.keeping import KEEPINGS, AsComputed, Keeping
from rankviz.solvers.registry import SOLVERS, USUAL

PASSING = 64 << 20
"""Bytes of features that a shard takes at most where they are computed again whenever it is worked on."""
WORKER = 16e9
"""Bytes of a worker's memory, where somebody is told how many would do."""


@dataclass(frozen=True)
class Plan:
    """How a fit in shards is done.

    Attributes
    ----------
    shards : int
    keeping : Keeping
    need : int
        Bytes that it takes where the shards are, beyond the documents.
    left : float
        Bytes that are left there.
    """

    shards: int
    keeping: Keeping
    need: int
    left: float

    @property
    def words(self) -> str:
        """The plan as a sentence."""
        return f"{self.shards} shards, {self.keeping.words}: about {megabytes(self.need)} of memory."


def plan_for(
    data: RankingData,
    feature_map: str,
    kernel: str,
    m: int,
    loss: str,
    backend: Backend,
    limit: float | None = None,
    keepings: Sequence[Keeping] = KEEPINGS,
) -> Plan:
    """The fastest way that fits into `limit` bytes, or into those that the backend may take.

    Raises `SettingError` for a map whose weights are coefficients of all documents; `DataError` where no way
    fits, saying what would do.
    """
    instance("where", backend, Backend, "a place to train, such as rankviz.shards.Here()")
    pairs, cuts = risk_sizes(data.y, data.ptr, LOSSES[loss].surrogate())
    sizes = TrainingSizes(feature_map, m, data.n_documents, data.n_features, pairs, cuts, kernel)
    refuse_coefficients(sizes)
    budget = backend.budget() if limit is None else limit
    ways = list(keepings) if sizes.base_bytes else [AsComputed()]
    found = [_plan(sizes, keeping, backend, data.n_queries, budget) for keeping in ways]
    for plan in found:
        if plan.left >= 0:
            return plan
    need = min(plan.need for plan in found)
    fits = largest_fitting(
        sizes,
        lambda less: any(_plan(less, keeping, backend, data.n_queries, budget).left >= 0 for keeping in ways),
    )
    listed = f", {megabytes(pairs * PAIR_BYTES)} of it for {pairs:,} listed pairs" if pairs else ""
    raise DataError(
        f"training on {sizes.n:,} documents in shards needs about {megabytes(need)} of memory{listed}",
        expected=f"at most {megabytes(budget)}",
        remedy=_remedy(loss, fits, need),
    )


def _plan(sizes: TrainingSizes, keeping: Keeping, backend: Backend, n_queries: int, budget: float) -> Plan:
    """With features kept that way, whether it fits or not."""
    stored = (sizes.n, sizes.width) if sizes.base_bytes else (0, 0)
    passing = keeping.passing(*stored)
    shards = min(n_queries, max(backend.count(sizes.n), -(-passing // PASSING)))
    meanwhile = min(backend.threads, shards) * passing // shards
    if sizes.width > sizes.n:  # all features come together for the preconditioner
        meanwhile += 8 * sizes.n * sizes.width
    need = sizes.bytes - sizes.base_bytes + keeping.bytes(*stored) + meanwhile
    return Plan(shards, keeping, need, budget - need)


def _remedy(loss: str, fits: int, need: float) -> str:
    """What would do instead: a loss that lists no pairs, fewer features, more memory."""
    unlisted = LOSSES[loss].unlisted
    instead = f"loss={unlisted!r}, which needs no list; " if unlisted else ""
    fewer = f"m = {fits:,} or fewer features; " if fits else ""
    workers = math.ceil(need / (BUDGET_SHARE * WORKER))
    some = "a worker" if workers == 1 else f"{workers:,} workers"
    return f"Choose {instead}{fewer}fewer documents; or a cluster with {some} of {megabytes(WORKER)}."


def refuse_coefficients(sizes: TrainingSizes) -> None:
    """Raise `SettingError` for a model that has a coefficient for each document."""
    if sizes.in_kernel_space:
        raise SettingError(
            f"feature_map={sizes.feature_map!r} of {sizes.n:,} documents has a coefficient for each of them, "
            "which shards cannot share; choose an approximation of the kernel, or train without shards"
        )


def check_solver_in_shards(solver: str) -> None:
    """Raise `SettingError` for a solver that asks for more than sums over documents."""
    if SOLVERS[solver].lists_pairs:
        raise SettingError(
            f"solver={solver!r} lists the pairs of all documents in one place, which shards do not have; "
            f"choose solver={USUAL!r}"
        )
