"""Blocks of dual variables from models that solve for them directly."""

from __future__ import annotations

import numpy as np

from rankviz.common.arrays import FloatArray
from rankviz.datasets.types import DataError, RankingData
from rankviz.models.dual_variables import GivenDuals, sides
from rankviz.models.low_rank.blocks import Blocks


def factor_duals(
    data: RankingData, scores: FloatArray, C: float, V: FloatArray, gap: float = float("nan")
) -> GivenDuals:
    """Return the blocks of α_ij = ⟨v_i, v_j⟩, from scores (n,) and factors V (n, K).

    Raises `DataError` for data of another size, like `entry_duals`.
    """
    _refuse_other_sizes(data, "factors", len(V), data.n_documents)

    def rectangle(query: int) -> FloatArray:
        rows = data.query_slice(query)
        y, factors = data.y[rows], V[rows]
        winners, losers = sides(y)
        alpha: FloatArray = factors[winners] @ factors[losers].T
        return alpha * (y[winners][:, None] > y[losers])

    return GivenDuals(data, scores, C, rectangle, gap)


def entry_duals(
    data: RankingData, scores: FloatArray, C: float, entries: FloatArray, gap: float = float("nan")
) -> GivenDuals:
    """Return the blocks of entries (E,) in the layout of `Blocks`."""
    blocks = Blocks(data.y, data.ptr)
    _refuse_other_sizes(data, "entries", len(entries), blocks.size)
    places = {query: (stack, place) for query, stack, place in blocks.queries()}

    def rectangle(query: int) -> FloatArray:
        if query not in places:
            winners, losers = sides(data.y[data.query_slice(query)])
            return np.zeros((len(winners), len(losers)))
        stack, place = places[query]
        block: FloatArray = stack.of(entries)[place]
        return block

    return GivenDuals(data, scores, C, rectangle, gap)


def _refuse_other_sizes(data: RankingData, what: str, found: int, expected: int) -> None:
    if found != expected:
        raise DataError(
            f"documents that need {expected:,} {what}",
            expected=f"the training documents, for which the model has {found:,} {what}",
            remedy="Give the training part, the very documents that `fit` was given.",
            path=data.name or None,
        )
