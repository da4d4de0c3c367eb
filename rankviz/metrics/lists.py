"""Ranked lists of a block of queries, one per row, with a definition's rule for equal scores."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

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
class Lists:
    """Ranked lists of similar size.

    Attributes
    ----------
    queries : (b,) int64
        Positions of the queries in the data.
    grades : (b, w) float64
        Grades in ranked order, with zeros after the documents. With the rule "worst" or "best", equal scores
        are in that order; otherwise in the order of the file.
    sizes : (b, 1) int64
        Number of documents.
    definition : Definition
    tied : (b,) bool
        Lists in which documents of different grades have equal scores.
    ties : Ties or None
        Groups of equal scores, if the definition takes the mean over their orders, and some list is `tied`.
    """

    queries: IntArray
    grades: FloatArray
    sizes: IntArray
    definition: Definition
    tied: BoolArray
    ties: Ties | None

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
        if self.definition.relevant_to is None:
            return self.grades
        return np.where(self.grades <= self.definition.relevant_to, self.grades, 0.0)

    @cached_property
    def gainless(self) -> BoolArray:
        """Return True for lists without a document graded above 0, (b,)."""
        return np.asarray(~self.known.any(axis=1))

    def expected(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return the expectation of `values` (b, w) at each place: their mean over equal scores, by rule."""
        return values if self.ties is None else self.ties.total(values) / self.ties.length

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

    @cached_property
    def ndcg(self) -> FloatArray:
        """Return NDCG@1, @2, …, @w, (b, w); the definition's `empty_value` for lists without gain."""
        gains = self.definition.gains(self.known)
        discounts = self.definition.discounts(self.grades.shape[1])
        found = np.cumsum(self.expected(gains) * discounts, axis=1)
        best = np.cumsum(np.sort(gains, axis=1)[:, ::-1] * discounts, axis=1)
        return np.divide(found, best, out=np.full_like(found, self.definition.empty_value), where=best > 0)


def not_beyond(grades: FloatArray, definition: Definition) -> BoolArray:
    """Return True for grades that are not above the highest relevant grade."""
    return grades <= (np.inf if definition.relevant_to is None else definition.relevant_to)


def ranked(scores: FloatArray, data: RankingData, definition: Definition) -> Iterator[Lists]:
    """Yield all queries as blocks whose sizes differ by less than a factor of two.

    At most half of a block is padding. Scores are (n,).
    """
    sizes = np.diff(data.ptr)
    in_file_order = np.lexsort((data.rows, np.repeat(np.arange(data.n_queries), sizes)))
    bands = np.frexp(sizes)[1]
    for band in np.unique(bands):
        queries = np.flatnonzero(bands == band)
        places = np.arange(sizes[queries].max())
        present = places < sizes[queries, None]
        documents = in_file_order[np.where(present, data.ptr[queries, None] + places, 0)]
        keys = np.where(present, -scores[documents], np.inf)
        grades = np.where(present, data.y[documents], 0).astype(np.float64)
        order = _order(keys, grades, definition)
        keys, grades = (np.take_along_axis(one, order, axis=1) for one in (keys, grades))
        same = np.zeros(keys.shape, np.bool_)
        same[:, 1:] = keys[:, 1:] == keys[:, :-1]
        tied = _tied(same, grades, definition)
        ties = Ties.of(same) if definition.ties == "mean" and tied.any() else None
        yield Lists(queries, grades, sizes[queries, None], definition, tied, ties)


def _order(keys: FloatArray, grades: FloatArray, definition: Definition) -> IntArray:
    """Return the order of documents by ascending keys (b, w), with equal ones by the definition's rule.

    The worst and the best order of equal scores sort by grade, ascending and descending; grades above
    `relevant_to` count as 0. Moving a document of a higher grade up makes no measure worse.
    """
    if definition.ties in ("order", "mean"):
        return np.argsort(keys, axis=1, kind="stable")
    known = np.where(not_beyond(grades, definition), grades, 0.0)
    return np.lexsort((known if definition.ties == "worst" else -known, keys), axis=1)


def _tied(same: BoolArray, grades: FloatArray, definition: Definition) -> BoolArray:
    """Return True for lists with equal scores of different grades, (b,); ties of one grade change nothing."""
    if not same.any():
        return np.zeros(len(same), np.bool_)
    known = np.where(not_beyond(grades, definition), grades, 0.0)
    return np.asarray((same[:, 1:] & (known[:, 1:] != known[:, :-1])).any(axis=1))


def _before(values: NDArray[Any]) -> NDArray[Any]:
    """Return the sum of `values` (b, w) at the places before each, (b, w)."""
    sums: NDArray[Any] = np.cumsum(values, axis=1, dtype=_sums(values))
    return np.asarray(sums - values)


def _sums(values: NDArray[Any]) -> type[np.int64 | np.float64]:
    """Return the type of sums of values: whole numbers stay whole."""
    return np.float64 if values.dtype.kind == "f" else np.int64
