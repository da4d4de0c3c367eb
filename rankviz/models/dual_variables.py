"""Dual variables α of a model, one block per query: the weight of each preference pair in w.

At the optimum of ½‖w‖² + C Σ_P c_ij·ℓ(t_ij) the weights are w = Σ_P α_ij (φ_i − φ_j) with α_ij =
−C·c_ij·ℓ'(t_ij). So the scores of the training part suffice (`SlopeDuals`). Models that solve for α provide
it themselves (`GivenDuals`). Pairs are not listed, and one query is in memory at a time.

`ShuffledDuals` permutes dual variables at random over the same pairs, as a baseline for spectra. If the loss
never rises, no dual variable is negative, and much of the energy of such a matrix lies along its mean. Only a
difference from this baseline shows structure in the order of rows and columns.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
import pandas as pd

from rankviz.common.arrays import BoolArray, FloatArray, IntArray
from rankviz.common.errors import DataError
from rankviz.common.memory import BUDGET_SHARE, free_memory, megabytes
from rankviz.datasets.types import RankingData
from rankviz.learning.losses import Loss, loss_of
from rankviz.learning.pairs import PLAIN, AllPairs, PairCosts


@dataclass(frozen=True, eq=False)
class DualBlock:
    """The dual variables of one query of n_q documents as a rectangle, without its empty rows and columns.

    Attributes
    ----------
    y : (n_q,) int64
        Grades of the query's documents.
    f : (n_q,) float64
        Their scores.
    winners : (r,) int64
        Documents of the query that are preferred to another one, counted from 0: the rows.
    losers : (c,) int64
        Documents that another one is preferred to: the columns. With three or more grades a document can be
        both.
    alpha : (r, c) float64
        α_ij, and 0 where (i, j) is not a pair. None is negative if the loss never rises (`Loss.falling`). A
        matrix that replaces α, such as the low-rank one of xu2019 §5.2, may have other entries there.
    """

    y: IntArray
    f: FloatArray
    winners: IntArray
    losers: IntArray
    alpha: FloatArray

    @classmethod
    def given(cls, y: IntArray, f: FloatArray, alpha: FloatArray) -> Self:
        """Return the block of a query with grades y and scores f (n_q,) from its rectangle (r, c).

        Raises ValueError if the rectangle's shape does not fit the grades (see `sides`).
        """
        winners, losers = sides(y)
        if alpha.shape != (len(winners), len(losers)):
            raise ValueError(
                f"dual variables of shape {alpha.shape} for a query with {len(winners)} documents that are "
                f"preferred to another one and {len(losers)} that another one is preferred to"
            )
        return cls(y, f, winners, losers, alpha)

    @property
    def is_pair(self) -> BoolArray:
        """True where the rectangle has a preference pair, (r, c)."""
        mask: BoolArray = self.y[self.winners][:, None] > self.y[self.losers]
        return mask

    @property
    def n_pairs(self) -> int:
        """Number of preference pairs of the query."""
        return int(self.is_pair.sum())

    @property
    def n_active(self) -> int:
        """Number of pairs with α_ij ≠ 0."""
        return int(np.count_nonzero(self.alpha[self.is_pair]))

    @property
    def document_weights(self) -> FloatArray:
        """c_i = Σ_j α_ij − Σ_j α_ji over pairs, (n_q,): the query's share of w is Σ_i c_i φ_i."""
        pairs, c = np.where(self.is_pair, self.alpha, 0.0), np.zeros(len(self.y))
        c[self.winners] = pairs.sum(axis=1)
        c[self.losers] -= pairs.sum(axis=0)
        return c

    def full(self) -> FloatArray:
        """Return A_l with a row and a column for every document of the query, (n_q, n_q) (xu2019 eq. 7)."""
        A = np.zeros((len(self.y), len(self.y)))
        A[np.ix_(self.winners, self.losers)] = self.alpha
        return A

    def symmetrised(self) -> FloatArray:
        """Return A_l + A_lᵀ, (n_q, n_q)."""
        A = self.full()
        return A + A.T


def sides(y: IntArray) -> tuple[IntArray, IntArray]:
    """Return a query's documents above its lowest grade, and those below its highest, from grades y."""
    return np.flatnonzero(y > y.min()), np.flatnonzero(y < y.max())


def entries_by_query(y: IntArray, ptr: IntArray) -> IntArray:
    """Return r·c of each query's rectangle, (Q,), without making it (see `sides`)."""
    entries, there = np.zeros(len(ptr) - 1, np.int64), np.flatnonzero(np.diff(ptr))
    if len(there):
        starts, sizes = ptr[there], np.diff(ptr)[there]
        lowest, highest = (np.repeat(end.reduceat(y, starts), sizes) for end in (np.minimum, np.maximum))
        sides_of = (np.add.reduceat(side, starts, dtype=np.int64) for side in (y > lowest, y < highest))
        entries[there] = np.prod(list(sides_of), axis=0)
    return entries


ENTRY_BYTES = 75
"""Peak bytes per entry of a query's rectangle while its singular values are computed."""


def check_blocks(train: RankingData, most: float = math.inf) -> None:
    """Raise `DataError` if a query's rectangle has more than `most` entries, or does not fit in memory."""
    entries = entries_by_query(train.y, train.ptr)
    most = min(most, BUDGET_SHARE * free_memory() / ENTRY_BYTES)
    if (largest := int(entries.max(initial=0))) > most:
        query = int(entries.argmax())
        raise DataError(
            f"query {train.query_ids[query]}: the dual variables of its {np.diff(train.ptr)[query]:,} "
            f"documents have {largest:,} entries, about {megabytes(largest * ENTRY_BYTES)} of memory",
            expected=f"at most {int(most):,} entries",
            remedy="Choose data with smaller queries.",
            path=train.name or None,
        )


class Duals(ABC):
    """The dual variables of a model, block by block; each is computed on demand.

    Attributes
    ----------
    train : RankingData
        The training part of the model.
    C : float
        Weight of its loss.
    gap : float
        Duality gap of the model over its objective, NaN if unknown: a bound on its distance from the optimum.
    """

    def __init__(self, train: RankingData, C: float, gap: float) -> None:
        check_blocks(train)
        self.train, self.C, self.gap = train, C, gap

    @abstractmethod
    def block(self, query: int) -> DualBlock:
        """Return the block of the query at position `query`."""

    def ceiling(self, query: int) -> FloatArray | float:
        """Return the largest α_ij of the hinge, C·c_ij, as a number or (r, c)."""
        return self.C

    @property
    def n_queries(self) -> int:
        """Number of queries, and of blocks."""
        return self.train.n_queries

    def __len__(self) -> int:
        """Return the number of blocks."""
        return self.n_queries

    def __iter__(self) -> Iterator[DualBlock]:
        """Iterate over the blocks of all queries."""
        return (self.block(query) for query in range(self.n_queries))

    def document_weights(self) -> FloatArray:
        """Return c (n,) with w(α) = Σ_P α_ij (φ_i − φ_j) = Φᵀ c (xu2019 eq. 6)."""
        return np.concatenate([np.zeros(0), *(block.document_weights for block in self)])


class SlopeDuals(Duals):
    """α_ij = −C·c_ij·ℓ'(t_ij) from the scores f (n,) of the training part.

    w(α) differs from the weights that have these scores by the gradient of the objective.
    """

    def __init__(
        self,
        train: RankingData,
        scores: FloatArray,
        C: float,
        loss: Loss,
        costs: PairCosts = PLAIN,
        gap: float = math.nan,
    ) -> None:
        super().__init__(train, C, gap)
        self.scores, self.loss, self.costs = scores, loss, costs

    def block(self, query: int) -> DualBlock:
        """Return the block of the query at position `query`."""
        return dual_block(self.scores, self.train, query, self.C, self.loss, self.costs)

    def ceiling(self, query: int) -> FloatArray | float:
        """Return C·w·b for pairs of weight w and margin b (see `PairCosts`)."""
        y = self.train.y[self.train.query_slice(query)]
        w, b = _weights_and_margins(self.train, query, self.costs, *(y[side] for side in sides(y)))
        return self.C * w * b


def end_of_training(
    loss: str | Loss, C: float, train: RankingData, costs: PairCosts, trace: pd.DataFrame
) -> tuple[Loss, float]:
    """Return the loss at the end of training, whose slopes are the dual variables, and the duality gap.

    For the hinge it is the last smoothed hinge, and its dual variables prove the gap. NaN without a gap.
    """

    def last(column: str) -> float:
        return float(trace[column].iloc[-1]) if column in trace and len(trace) else math.nan

    adapted = loss_of(loss).at(C, lambda: AllPairs(train.y, train.ptr, costs).weight)
    assert isinstance(adapted, Loss)  # `RankSVM.duals` refuses others
    return adapted.ended_with(last("smoothing")), last("gap")


class GivenDuals(Duals):
    """Dual variables from a model that solves for them, not from the slope of its loss.

    Parameters
    ----------
    train, C, gap
        See `Duals`.
    scores : (n,) float64
        Scores of the training part.
    rectangle : int -> (r, c) float64
        α of the query at a position: rows and columns as in `sides` of its grades.
    """

    def __init__(
        self,
        train: RankingData,
        scores: FloatArray,
        C: float,
        rectangle: Callable[[int], FloatArray],
        gap: float = math.nan,
    ) -> None:
        super().__init__(train, C, gap)
        self.scores, self.rectangle = scores, rectangle

    def block(self, query: int) -> DualBlock:
        """Return the block of the query at position `query`."""
        rows = self.train.query_slice(query)
        return DualBlock.given(self.train.y[rows], self.scores[rows], self.rectangle(query))


def dual_block(
    f: FloatArray, part: RankingData, query: int, C: float, loss: Loss, costs: PairCosts = PLAIN
) -> DualBlock:
    """Return α_ij of the query at position `query`, from the scores f (n,) of the training part.

    α_ij = −C·w·b·ℓ'((f_i − f_j)/b) for a pair of weight w and margin b (see `PairCosts`), 1 without costs.
    Source: xu2019 eq. 4–7; for the squared hinge α_ij = 2C·max(0, 1 − f_i + f_j).
    """
    rows = part.query_slice(query)
    y, f = part.y[rows], f[rows]
    winners, losers = sides(y)
    is_pair = y[winners][:, None] > y[losers]
    w, b = _weights_and_margins(part, query, costs, y[winners], y[losers])
    slope = loss.derivative((f[winners][:, None] - f[losers]) / b)
    return DualBlock(y, f, winners, losers, np.where(is_pair, -C * w * b * slope, 0.0))


def _weights_and_margins(
    part: RankingData, query: int, costs: PairCosts, winners: IntArray, losers: IntArray
) -> tuple[FloatArray | float, FloatArray | float]:
    """Return weights w and margins b of all combinations of grades of one query, (r, c); 1 if 1 for all."""
    if costs.uniform and costs.margin is None:
        return 1.0, 1.0
    levels = np.unique(part.y)
    code = np.searchsorted(levels, winners)[:, None], np.searchsorted(levels, losers)[None, :]
    pairs = np.full((len(winners), len(losers)), query), *np.broadcast_arrays(*code)
    margins = costs.margins(*pairs)
    return costs.weights(*pairs), 1.0 if margins is None else margins


def hinge_values(duals: Duals) -> tuple[float, float]:
    """Return P = ½‖w‖² + C·Σ max(0, 1 − t) and D = Σα − ½‖w‖² of the hinge, w = Σ α (φ_i − φ_j) over pairs.

    ‖w‖² = Σ_i c_i f_i with the document weights c and the scores f of the training part, so no features are
    needed. D ≤ min P if 0 ≤ α ≤ C; for other α, D proves nothing (xu2019 eq. 3 and 4).
    """
    square = hinge = total = 0.0
    for block in duals:
        inside = block.is_pair
        margins = block.f[block.winners][:, None] - block.f[block.losers]
        square += float(block.document_weights @ block.f)
        hinge += float(np.maximum(1.0 - margins[inside], 0.0).sum())
        total += float(block.alpha[inside].sum())
    return 0.5 * square + duals.C * hinge, total - 0.5 * square


SEED = 0


def shuffled(block: DualBlock, rng: np.random.Generator) -> DualBlock:
    """Return the block with its α_ij permuted over its pairs: same pairs, values, zeros and energy Σα²."""
    alpha, is_pair = np.zeros_like(block.alpha), block.is_pair
    alpha[is_pair] = rng.permutation(block.alpha[is_pair])
    return replace(block, alpha=alpha)


class ShuffledDuals(Duals):
    """Dual variables with each query's permuted over its pairs, always in the same way."""

    def __init__(self, duals: Duals) -> None:
        super().__init__(duals.train, duals.C, duals.gap)
        self.duals = duals

    def block(self, query: int) -> DualBlock:
        """Return the shuffled block of the query at position `query`."""
        return shuffled(self.duals.block(query), np.random.default_rng((SEED, query)))
