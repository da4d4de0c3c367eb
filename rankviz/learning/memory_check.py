"""Check that training fits in memory, and memory left for a kernel matrix."""

from __future__ import annotations

from typing import NamedTuple

from rankviz.common.numbers import megabytes
from rankviz.datasets.types import DataError, RankingData
from rankviz.learning import risk_sizes
from rankviz.learning.losses import LOSSES
from rankviz.learning.memory import PAIR_BYTES, TrainingSizes, check_fits, default_budget
from rankviz.learning.pairs import count_pairs
from rankviz.learning.solvers import SOLVERS, USUAL


class Room(NamedTuple):
    """Bytes for training, and bytes left for the matrix of an exact kernel."""

    need: int
    left: float


def room_for(
    data: RankingData, feature_map: str, kernel: str, m: int, loss: str, solver: str, limit: float | None
) -> Room:
    """Return the bytes for training out of `limit` (default: the free memory), and the bytes left.

    Raises `DataError`, with a remedy, if it does not fit even without the matrix of an exact kernel.
    """
    budget, listed = default_budget() if limit is None else limit, SOLVERS[solver].lists_pairs
    pairs, cuts = risk_sizes(data.y, data.ptr, LOSSES[loss].surrogate())
    if listed:
        pairs = int(count_pairs(data.y, data.ptr).sum())
    _refuse_long_lists(pairs, budget, loss, solver)
    sizes = TrainingSizes(feature_map, m, data.n_documents, data.n_features, pairs, cuts, kernel)
    formed = 8.0 * sizes.n * sizes.width if listed and sizes.kind.kept.base else 0.0
    check_fits(sizes, budget, formed, "" if listed else _in_shards(sizes, budget))
    return Room(sizes.bytes + int(formed), budget - sizes.bytes)


def _in_shards(sizes: TrainingSizes, budget: float) -> str:
    """Suggest shards if they would fit: they store features in single precision, or not at all."""
    if not sizes.base_bytes or sizes.kind.is_exact or sizes.bytes - sizes.base_bytes > budget:
        return ""
    return "Or fit in shards, which need not keep them: fit_in_shards(data, Here()), or --where here."


def _refuse_long_lists(pairs: int, budget: float, loss: str, solver: str) -> None:
    """Raise `DataError` if the listed pairs alone do not fit, with an alternative that needs no list."""
    if pairs * PAIR_BYTES <= budget:
        return
    by_solver, nearest = SOLVERS[solver].lists_pairs, LOSSES[loss].unlisted
    instead = f"solver={USUAL!r}" if by_solver else f"loss={nearest!r}" if nearest else ""
    remedy = (
        f"Choose {instead}, which needs no list, or fewer documents."
        if instead
        else "Choose fewer documents."
    )
    raise DataError(
        f"{f'solver={solver!r}' if by_solver else f'loss={loss!r}'} lists its pairs: {pairs:,} take about "
        f"{megabytes(pairs * PAIR_BYTES)}",
        expected=f"at most {megabytes(budget)} of memory",
        remedy=remedy,
    )
