"""What training in shards takes, and how features are kept for it, decided and said before it starts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rankviz.common.errors import DataError, SettingError
from rankviz.common.numbers import megabytes
from rankviz.datasets.types import RankingData
from rankviz.fitting.memory import PAIR_BYTES, TrainingSizes
from rankviz.risk import risk_sizes
from rankviz.risk.losses import LOSSES
from rankviz.shards.backend import Backend
from rankviz.shards.keeping import KEEPINGS, AsComputed, Keeping
from rankviz.solvers.registry import SOLVERS, USUAL


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
    pairs, cuts = risk_sizes(data.y, data.ptr, LOSSES[loss].surrogate())
    sizes = TrainingSizes(feature_map, m, data.n_documents, data.n_features, pairs, cuts, kernel)
    refuse_coefficients(sizes)
    budget = backend.budget() if limit is None else limit
    stored = 8 * sizes.n * sizes.width if sizes.kind.kept.base else 0
    beside, ways = sizes.bytes - stored, list(keepings) if stored else [AsComputed()]
    for keeping in ways:
        need = beside + (keeping.bytes(sizes.n, sizes.width) if stored else 0)
        if need <= budget:
            return Plan(backend.count(sizes.n), keeping, need, budget - need)
    raise DataError(
        f"training on {sizes.n:,} documents in shards needs about {megabytes(need)} of memory, "
        f"{megabytes(pairs * PAIR_BYTES)} of it for {pairs:,} listed pairs"
        if pairs
        else f"training on {sizes.n:,} documents in shards needs about {megabytes(need)} of memory",
        expected=f"at most {megabytes(budget)}",
        remedy=_remedy(loss, need, budget),
    )


def _remedy(loss: str, need: float, budget: float) -> str:
    unlisted, times = LOSSES[loss].unlisted, -(-need // max(budget, 1.0))
    instead = f"Choose loss={unlisted!r}, which needs no list; or " if unlisted else ""
    more = f"train on {times:,.0f} times as much memory (workers of a cluster), or on fewer documents."
    return instead + more if instead else more[0].upper() + more[1:]


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
