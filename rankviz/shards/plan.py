"""Memory of training in shards, and storage of features, planned in advance."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from rankviz.common.errors import DataError, SettingError
from rankviz.common.memory import BUDGET_SHARE
from rankviz.common.numbers import megabytes
from rankviz.common.settings import instance
from rankviz.datasets.types import RankingData
from rankviz.learning import risk_sizes
from rankviz.learning.losses import LOSSES
from rankviz.learning.memory import PAIR_BYTES, TrainingSizes, largest_fitting
from rankviz.learning.solvers import SOLVERS, USUAL
from rankviz.shards.backend import Backend
from rankviz.shards.keeping import KEEPINGS, AsComputed, Keeping

PASSING = 64 << 20
"""Most bytes of features per shard if they are recomputed for every use."""
WORKER = 16e9
"""Bytes of a worker's memory, for the suggested number of workers."""


@dataclass(frozen=True)
class Plan:
    """The plan of a fit in shards.

    Attributes
    ----------
    shards : int
    keeping : Keeping
    need : int
        Bytes needed where the shards are, besides the documents.
    left : float
        Remaining bytes there.
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
    """Return the fastest plan that fits into `limit` bytes, or into the backend's budget.

    Raises `SettingError` for a map whose weights are coefficients of all documents; `DataError` with a remedy
    if no plan fits.
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
    """Return the plan with features stored in this way, even if it does not fit."""
    stored = (sizes.n, sizes.width) if sizes.base_bytes else (0, 0)
    passing = keeping.passing(*stored)
    shards = min(n_queries, max(backend.count(sizes.n), -(-passing // PASSING)))
    meanwhile = min(backend.threads, shards) * passing // shards
    if sizes.width > sizes.n:  # all features are brought together for the preconditioner
        meanwhile += 8 * sizes.n * sizes.width
    need = sizes.bytes - sizes.base_bytes + keeping.bytes(*stored) + meanwhile
    return Plan(shards, keeping, need, budget - need)


def _remedy(loss: str, fits: int, need: float) -> str:
    """Suggest alternatives: a loss that lists no pairs, fewer features, more memory."""
    unlisted = LOSSES[loss].unlisted
    instead = f"loss={unlisted!r}, which needs no list; " if unlisted else ""
    fewer = f"m = {fits:,} or fewer features; " if fits else ""
    workers = math.ceil(need / (BUDGET_SHARE * WORKER))
    some = "a worker" if workers == 1 else f"{workers:,} workers"
    return f"Choose {instead}{fewer}fewer documents; or a cluster with {some} of {megabytes(WORKER)}."


def refuse_coefficients(sizes: TrainingSizes) -> None:
    """Raise `SettingError` for a model with one coefficient per document."""
    if sizes.in_kernel_space:
        raise SettingError(
            f"feature_map={sizes.feature_map!r} of {sizes.n:,} documents has a coefficient for each of them, "
            "which shards cannot share; choose an approximation of the kernel, or train without shards"
        )


def check_solver_in_shards(solver: str) -> None:
    """Raise `SettingError` for a solver that needs more than sums over documents."""
    if SOLVERS[solver].lists_pairs:
        raise SettingError(
            f"solver={solver!r} lists the pairs of all documents in one place, which shards do not have; "
            f"choose solver={USUAL!r}"
        )
