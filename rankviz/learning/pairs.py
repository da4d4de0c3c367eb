"""Preference pairs P = {(i, j) : same query, y_i > y_j} and the pair matrix A, applied but never formed.

Row (i, j) of A (p, n) has +1 at i and −1 at j, so A f is the vector of margins f_i − f_j.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rankviz.common.arrays import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class PreferencePairs:
    """Explicit preference pairs of n documents: document `winner[k]` is preferred to `loser[k]`.

    Attributes
    ----------
    winner, loser : (p,) int64
        Document indices, pairs of one query next to each other.
    n : int
        Number of documents.
    """

    winner: IntArray
    loser: IntArray
    n: int

    def __len__(self) -> int:
        return len(self.winner)

    def margins(self, f: FloatArray) -> FloatArray:
        """Return the margins t = A f of scores f: (n,) -> (p,)."""
        return f[self.winner] - f[self.loser]

    def pull_back(self, u: FloatArray) -> FloatArray:
        """Apply the adjoint Aᵀu: (p,) -> (n,)."""
        z = np.bincount(self.winner, u, self.n) - np.bincount(self.loser, u, self.n)
        return z.astype(np.float64, copy=False)

    def take(self, index: IntArray) -> PreferencePairs:
        """Return the pairs at positions `index`."""
        return PreferencePairs(self.winner[index], self.loser[index], self.n)


@dataclass(frozen=True, eq=False)
class GradeGroups:
    """Documents in groups of equal query and grade; within a query the grades descend.

    Attributes
    Documents sorted by query, then by descending grade; file order within a group.
    order : (n,) int64
        Documents sorted by query, then by falling grade; file order within a group.
    group : (n,) int64
        Group of each sorted document, 0 … G − 1.
    start : (G,) int64
        First position of each group in `order`.
    size : (G,) int64
        Documents in each group.
    query : (G,) int64
        Query of each group.
    """

    order: IntArray
    group: IntArray
    start: IntArray
    size: IntArray
    query: IntArray


@dataclass(frozen=True, eq=False)
class GradeCodes:
    """Grades as codes 0 … R − 1 and the query of each document.

    Attributes
    ----------
    levels : (R,) int64
        The grades that occur, ascending.
    code : (n,) int64
        levels[code] are the grades.
    query : (n,) int64
        Position of each document's query.
    n_queries : int
        Q.
    """

    levels: IntArray
    code: IntArray
    query: IntArray
    n_queries: int

    def counts(self) -> IntArray:
        """Count the documents of each grade in each query, (Q, R)."""
        shape = self.n_queries, len(self.levels)
        return np.bincount(self.query * shape[1] + self.code, minlength=shape[0] * shape[1]).reshape(shape)


def grade_codes(y: IntArray, ptr: IntArray) -> GradeCodes:
    """Return the codes of grades y (n,) in queries with offsets ptr (Q + 1,)."""
    small = len(y) > 0 and int(y.max()) < 2**16  # then counting finds the grades without sorting
    levels = np.flatnonzero(np.bincount(y)) if small else np.unique(y)
    query = np.repeat(np.arange(len(ptr) - 1), np.diff(ptr))
    return GradeCodes(levels, np.searchsorted(levels, y), query, len(ptr) - 1)


def grade_groups(y: IntArray, ptr: IntArray) -> GradeGroups:
    """Group documents with grades y (n,) in queries with offsets ptr (Q + 1,) by query and grade."""
    codes = grade_codes(y, ptr)
    query, levels = codes.query, len(codes.levels)
    order = np.argsort(query * levels + (levels - 1 - codes.code), kind="stable")
    y, query = y[order], query[order]
    starts = np.ones(len(y), bool)
    starts[1:] = (y[1:] != y[:-1]) | (query[1:] != query[:-1])
    start = np.flatnonzero(starts)
    return GradeGroups(order, np.cumsum(starts) - 1, start, np.diff(np.append(start, len(y))), query[start])


def preference_pairs(y: IntArray, ptr: IntArray) -> PreferencePairs:
    """Return all preference pairs of grades y (n,) in queries with offsets ptr (Q + 1,).

    With descending grades in a query, a document's losers are the run from the end of its grade to the end of
    its query. The runs are expanded without a loop. O(n log n + p) time, O(p) memory.
    """
    groups = grade_groups(y, ptr)
    first_worse = (groups.start + groups.size)[groups.group]
    run = ptr[1:][groups.query[groups.group]] - first_worse
    winner = np.repeat(np.arange(len(y)), run)
    loser = np.arange(len(winner)) + np.repeat(first_worse - (np.cumsum(run) - run), run)
    return PreferencePairs(groups.order[winner], groups.order[loser], len(y))


def count_pairs(y: IntArray, ptr: IntArray) -> IntArray:
    """Count the preference pairs of each query, (Q,): (n_q² − Σ_g n_qg²)/2, without listing them."""
    codes = grade_codes(y, ptr)
    group, size = np.unique(codes.query * len(codes.levels) + codes.code, return_counts=True)
    same_grade = np.zeros(len(ptr) - 1, np.int64)
    np.add.at(same_grade, group // max(len(codes.levels), 1), size**2)
    return (np.diff(ptr) ** 2 - same_grade) // 2
