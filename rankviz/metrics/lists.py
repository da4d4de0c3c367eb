"""Ranked lists of a block of queries, one per row, with a definition's rule for equal scores."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from rankviz.common.arrays import BoolArray, FloatArray, IntArray
from rankviz.datasets.types import RankingData
from rankviz.metrics.definitions import Definition


@dataclass(frozen=True, eq=False)
class Ties:
    """The groups of equal scores of a block, row after row; a document without an equal is a group of one.

    Attributes
    ----------
    starts, lengths : (groups,) int64
        First place of each group in the flattened block, and its number of documents.
    shape : (b, w)
        Shape of the block.
    """

    starts: IntArray
    lengths: IntArray
    shape: tuple[int, ...]

    @classmethod
    def of(cls, same: BoolArray) -> Ties:
        """Return the groups of a block (b, w) whose documents have the score of the one before: `same`."""
        starts = np.flatnonzero(~same)
        return cls(starts, np.diff(starts, append=same.size), same.shape)

    def of_each(self, by_group: NDArray[Any]) -> NDArray[Any]:
        """Return a value of each group at all its documents, (b, w)."""
        return np.repeat(by_group, self.lengths).reshape(self.shape)

    def total(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return the sum of `values` (b, w) over the group of each document."""
        return self.of_each(np.add.reduceat(values.ravel(), self.starts, dtype=_sums(values)))

    def mean(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return the mean of `values` (b, w) over the group of each document."""
        sums = np.add.reduceat(values.ravel(), self.starts, dtype=_sums(values))
        return self.of_each(sums / self.lengths)

    def before(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return the sum of `values` (b, w) over the list before the group of each document."""
        return self.of_each(_before(values).ravel()[self.starts])

    @cached_property
    def length(self) -> IntArray:
        """Return the number of documents in the group of each document, (b, w)."""
        return np.asarray(self.of_each(self.lengths))

    @cached_property
    def inside(self) -> IntArray:
        """Return the place of each document in its group, 0, 1, …: (b, w)."""
        return np.asarray(np.arange(self.length.size).reshape(self.shape) - self.of_each(self.starts))


@dataclass(frozen=True, eq=False)
class Block:
    """Queries of similar size, in the order of the file (`_bands`).

    Attributes
    ----------
    queries : (b,) int64
        Positions of the queries in the data.
    sizes : (b, 1) int64
        Number of documents.
    documents : (b, w) int64
        Positions of the documents, then any position.
    absent : (b, w) bool
        True after the documents; at most half of a block, and `JOINED` entries for each smaller size.
    grades : (b, w) float64
        Grades, with zeros after the documents.
    """

    queries: IntArray
    sizes: IntArray
    documents: IntArray
    absent: BoolArray
    grades: FloatArray
    _best: dict[Definition, FloatArray] = field(default_factory=dict, init=False)

    def best(self, definition: Definition) -> FloatArray:
        """Return the DCG of the best order at 1, …, w, (b, w); it is kept."""
        if (found := self._best.get(definition)) is None:
            gains = np.sort(definition.gains(known(self.grades, definition)), axis=1)[:, ::-1]
            found = np.cumsum(gains * definition.discounts(gains.shape[1]), axis=1)
            self._best[definition] = found
        return found

    def keys(self, scores: FloatArray) -> FloatArray:
        """Return minus the scores (n,), and infinity after the documents, (b, w)."""
        keys = -scores.take(self.documents)
        keys[self.absent] = np.inf
        return np.asarray(keys)


@dataclass(frozen=True, eq=False)
class Lists:
    """Ranked lists of similar size.

    Attributes
    ----------
    block : Block
        The queries.
    grades : (b, w) float64
        Grades in ranked order, with zeros after the documents. With the rule "worst" or "best", equal scores
        are in that order; otherwise in the order of the file.
    definition : Definition
    tied : (b,) bool
        Lists in which documents of different grades have equal scores.
    ties : Ties or None
        Groups of equal scores, if the definition takes the mean over their orders, and some list is `tied`.
    """

    block: Block
    grades: FloatArray
    definition: Definition
    tied: BoolArray
    ties: Ties | None

    @property
    def sizes(self) -> IntArray:
        """Return the number of documents, (b, 1)."""
        return self.block.sizes

    @cached_property
    def places(self) -> IntArray:
        """Return the ranks 1, 2, …, w."""
        return np.arange(1, self.grades.shape[1] + 1)

    @cached_property
    def present(self) -> BoolArray:
        """Return True for documents, False for the zeros after them: (b, w)."""
        return self.places <= self.sizes

    @cached_property
    def relevant(self) -> BoolArray:
        """Return True for relevant documents, (b, w)."""
        return np.asarray(self.known >= self.definition.relevant_from)

    @cached_property
    def n_relevant(self) -> IntArray:
        """Return the number of relevant documents, (b, 1)."""
        return np.asarray(self.relevant.sum(axis=1, keepdims=True))

    @cached_property
    def known(self) -> FloatArray:
        """Return the grades (b, w), 0 for those above the highest relevant grade."""
        return known(self.grades, self.definition)

    @cached_property
    def gainless(self) -> BoolArray:
        """Return True for lists without a document graded above 0, (b,)."""
        return np.asarray(~self.known.any(axis=1))

    def expected(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return the expectation of `values` (b, w) at each place: their mean over equal scores, by rule."""
        return values if self.ties is None else self.ties.mean(values)

    def in_group(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return the sum of `values` (b, w) over each document and those with which it is tied."""
        return values if self.ties is None else self.ties.total(values)

    def before_group(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return the sum of `values` (b, w) over the documents that rank above in every order of ties."""
        return _before(values) if self.ties is None else self.ties.before(values)

    @cached_property
    def share(self) -> NDArray[Any]:
        """Return the probability that the document at a place is relevant, (b, w); 0 or 1 without ties."""
        return self.expected(self.relevant)

    @cached_property
    def hits(self) -> NDArray[Any]:
        """Return the expected number of relevant documents up to each place, (b, w).

        It is a whole number at the end of each group, so that no share of hits exceeds 1 by rounding.
        """
        if (ties := self.ties) is None:
            return np.asarray(np.cumsum(self.relevant, axis=1))
        inside = ties.total(self.relevant) * (ties.inside + 1) / ties.length
        return np.asarray(ties.before(self.relevant) + inside)

    @cached_property
    def precision(self) -> FloatArray:
        """Return P@1, P@2, …, P@w, (b, w)."""
        return np.asarray(self.hits / self.places)

    def ndcg(self, most: int | None = None) -> FloatArray:
        """Return NDCG@1, …, @w or at most @`most`, (b, k); `empty_value` of the definition without gain."""
        gains = self.expected(self.definition.gains(self.known))[:, :most]
        found = np.cumsum(gains * self.definition.discounts(gains.shape[1]), axis=1)
        best = self.block.best(self.definition)[:, :most]
        return np.divide(found, best, out=np.full_like(found, self.definition.empty_value), where=best > 0)


def known(grades: FloatArray, definition: Definition) -> FloatArray:
    """Return grades, 0 for those above the highest relevant grade."""
    most = definition.relevant_to
    return grades if most is None else np.where(grades <= most, grades, 0.0)


MOST_KEPT = 500_000
"""Documents of data whose blocks are kept: about 60 bytes each."""
JOINED = 8192
"""Entries without a document that a block may gain to save another block, whose calls take 0.6 ms."""
_BLOCKS: WeakKeyDictionary[RankingData, list[Block]] = WeakKeyDictionary()


def blocks(data: RankingData) -> list[Block]:
    """Return the blocks of all queries; those of up to `MOST_KEPT` documents are kept."""
    if (found := _BLOCKS.get(data)) is None:
        sizes, found = np.diff(data.ptr), []
        in_file_order = np.lexsort((data.rows, np.repeat(np.arange(data.n_queries), sizes)))
        for queries in _bands(sizes):
            places = np.arange(sizes[queries].max())
            absent = places >= sizes[queries, None]
            documents = in_file_order[np.where(absent, 0, data.ptr[queries, None] + places)]
            grades = np.where(absent, 0, data.y[documents]).astype(np.float64)
            found.append(Block(queries, sizes[queries, None], documents, absent, grades))
        if data.n_documents <= MOST_KEPT:
            _BLOCKS[data] = found
    return found


def _bands(sizes: IntArray) -> list[IntArray]:
    """Return positions of queries (Q,), those of similar size together, each in the order of the file.

    Sizes differ by less than a factor of two, or more where the smaller queries add at most `JOINED` entries.
    """
    exponents = np.frexp(sizes)[1]
    found: list[tuple[int, IntArray]] = []  # the largest size, and the queries
    for exponent in np.unique(exponents)[::-1]:
        queries = np.flatnonzero(exponents == exponent)
        own = int(sizes[queries].max())
        if found and len(queries) * (found[-1][0] - own) <= JOINED:
            largest, others = found.pop()
            found.append((largest, np.sort(np.concatenate([others, queries]))))
        else:
            found.append((own, queries))
    return [queries for _, queries in reversed(found)]


def ranked(scores: FloatArray, data: RankingData, definition: Definition) -> Iterator[Lists]:
    """Yield all queries by blocks, ranked by scores (n,)."""
    for block in blocks(data):
        keys = block.keys(scores)
        order = _order(keys, block.grades, definition)
        order += np.arange(0, order.size, order.shape[1])[:, None]  # positions in the flattened block
        keys, grades = keys.take(order), block.grades.take(order)
        same = np.zeros(keys.shape, np.bool_)
        np.equal(keys[:, 1:], keys[:, :-1], out=same[:, 1:])
        tied = _tied(same, grades, definition)
        ties = Ties.of(same) if definition.ties == "mean" and tied.any() else None
        yield Lists(block, grades, definition, tied, ties)


def _order(keys: FloatArray, grades: FloatArray, definition: Definition) -> IntArray:
    """Return the order of documents by ascending keys (b, w), with equal ones by the definition's rule.

    The worst and the best order of equal scores sort by grade, ascending and descending; grades above
    `relevant_to` count as 0. Moving a document of a higher grade up makes no measure worse.
    """
    if definition.ties in ("order", "mean"):
        return np.argsort(keys, axis=1, kind="stable")
    own = known(grades, definition)
    return np.lexsort((own if definition.ties == "worst" else -own, keys), axis=1)


def _tied(same: BoolArray, grades: FloatArray, definition: Definition) -> BoolArray:
    """Return True for lists with equal scores of different grades, (b,); ties of one grade change nothing."""
    if not same.any():
        return np.zeros(len(same), np.bool_)
    own = known(grades, definition)
    return np.asarray((same[:, 1:] & (own[:, 1:] != own[:, :-1])).any(axis=1))


def _before(values: NDArray[Any]) -> NDArray[Any]:
    """Return the sum of `values` (b, w) at the places before each, (b, w)."""
    sums: NDArray[Any] = np.cumsum(values, axis=1, dtype=_sums(values))
    return np.asarray(sums - values)


def _sums(values: NDArray[Any]) -> type[np.int64 | np.float64]:
    """Return the type of sums of values: whole numbers stay whole."""
    return np.float64 if values.dtype.kind == "f" else np.int64
