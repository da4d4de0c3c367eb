"""Documents sorted by grade, query and score: the fixed layout, and the cuts between partners."""

from __future__ import annotations

import itertools
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from rankviz.common.arrays import FloatArray, IntArray
from rankviz.learning.costs import PairCosts
from rankviz.learning.losses import Zone
from rankviz.learning.pairs import grade_codes

RADIX = 2**16
"""NumPy sorts 16-bit integers stably in linear time, and wider ones by comparisons."""


class GradeLayout:
    """The part of the sorted layout that does not depend on scores.

    Documents are sorted by grade, then query, then score, so each place has a fixed query and grade. Arrays
    (R − 1, n) have one row for each other grade: row k of a document of grade r is grade k if k < r, else k +
    1.

    Attributes
    ----------
    first : (n,) int64
        First document of each document's query.
    starts : (R, Q + 1) int64
        First place of each grade and query.
    anchor : (R − 1, n) int64
        For a winner the end of its partners of a query and grade (below), for a loser their beginning
        (above).
    role : (R − 1, n) float64
        +1 if the document at this place is preferred to that grade, −1 in the opposite case.
    signed_weight : (R − 1, n) float64
        role times the cost of the pairs.
    """

    def __init__(self, y: IntArray, ptr: IntArray, costs: PairCosts) -> None:
        codes = grade_codes(y, ptr)
        self.n_grades, n_queries = len(codes.levels), codes.n_queries
        self.first = ptr[:-1].repeat(np.diff(ptr))
        group = codes.code * n_queries + codes.query  # grades outermost: the documents of a grade are a slice
        sizes = np.bincount(group, minlength=self.n_grades * n_queries)
        self._digits = _digits(group, len(sizes))
        end = np.cumsum(sizes).reshape(self.n_grades, n_queries)
        start = end - sizes.reshape(end.shape)
        self._borders = np.append(start[:, 0], len(y)) if n_queries else np.zeros(self.n_grades + 1, np.int64)
        self.starts = np.column_stack((start, self._borders[1:]))
        sizes = sizes.reshape(end.shape)
        self._query = np.tile(np.arange(n_queries), self.n_grades).repeat(sizes.ravel())
        shape = max(self.n_grades - 1, 0), len(y)
        self.anchor, self.role = np.empty(shape, np.int64), np.empty(shape)
        for grade, other in itertools.permutations(range(self.n_grades), 2):
            # cuts at b = −∞: no f_j exceeds f_i + ∞, so a winner's cut lies after its last partner, and a
            # loser's before its first (partners ascend by score)
            places = other - (other > grade), slice(self._borders[grade], self._borders[grade + 1])
            self.anchor[places] = (end if other < grade else start)[other].repeat(sizes[grade])
            self.role[places] = 1.0 if other < grade else -1.0
        self.signed_weight, self._margin = self.role, None
        if not costs.uniform or costs.margin is not None:
            pairs = self._pairs_at_places()
            self.signed_weight, self._margin = self.role * costs.weights(*pairs), costs.margins(*pairs)

    def _pairs_at_places(self) -> tuple[IntArray, IntArray, IntArray]:
        """Return query and codes of the higher and the lower grade, each (R − 1, n)."""
        grade = np.arange(self.n_grades).repeat(np.diff(self._borders))
        row = np.arange(len(self.role))[:, None]
        other = row + (row >= grade)
        query = np.broadcast_to(self._query, other.shape)
        return query, np.maximum(grade, other), np.minimum(grade, other)

    def order(self, f: FloatArray) -> IntArray:
        """Return the documents sorted by grade, query and score f (n,)."""
        order = np.argsort(f)  # by score; each stable radix pass below keeps the earlier order
        for digit in self._digits:
            order = order.take(np.argsort(digit.take(order), kind="stable"))
        return order

    def scaled(self, b: float) -> FloatArray | float:
        """Return the margin of each pair times b, (R − 1, n), or b if all margins are 1."""
        return b if self._margin is None else b * self._margin

    def cuts(self, f: FloatArray, zones: Iterable[Zone]) -> list[tuple[Zone, IntArray, IntArray]]:
        """Return each zone with the cuts at its upper and lower end, for sorted scores f (n,).

        A winner's cut at b is its first partner with f_i − b < f_j. A loser's cut is its first partner
        for which this is false.
        """
        found: dict[float, IntArray] = {-np.inf: self.anchor}
        for b in {b for zone in zones for b in (zone.high, zone.low)} - found.keys():
            found[b] = self._cut(f, b)
        return [(zone, found[zone.high], found[zone.low]) for zone in zones]

    def _cut(self, f: FloatArray, b: float) -> IntArray:
        """Return the cuts at b; complex keys query + i·score sort by query, then by score."""
        cut, margin, keys = np.empty_like(self.anchor), self.scaled(b), self._query + 1j * f
        reached = keys.copy()
        for winners in range(1, self.n_grades):
            w = slice(self._borders[winners], self._borders[winners + 1])
            if isinstance(margin, float):
                reached.imag[w] = f[w] - margin  # t < b exactly if f_i − b < f_j
            for losers in range(winners):
                x = slice(self._borders[losers], self._borders[losers + 1])
                if not isinstance(margin, float):
                    reached.imag[w] = f[w] - margin[losers, w]
                for_winners, for_losers = _merged(reached[w], keys[x])
                cut[losers, w] = x.start + for_winners
                cut[winners - 1, x] = w.start + for_losers  # seen from a lower grade, grade r is row r − 1
        return cut


def _merged(low: FloatArray, keys: FloatArray) -> tuple[IntArray, IntArray]:
    """Return for each sorted `low` the number of sorted `keys` ≤ it; for each key the number of lows < it.

    The shorter side is searched in the longer one; the other counts follow from the result. So each pair is
    decided once. Rounding cannot make it active for only one of its two documents.
    """
    if len(low) <= len(keys):
        # low_i < key_j exactly if first_i ≤ j, so the lows below key_j are the i with first_i ≤ j
        first = np.searchsorted(keys, low, side="right")
        return first, np.cumsum(np.bincount(first, minlength=len(keys) + 1))[: len(keys)]
    # key_j ≤ low_i exactly if first_j ≤ i, so the keys up to low_i are the j with first_j ≤ i
    first = np.searchsorted(low, keys, side="left")
    return np.cumsum(np.bincount(first, minlength=len(low) + 1))[: len(low)], first


def _digits(group: IntArray, size: int) -> list[NDArray[np.uint16]]:
    """Split numbers below `size` into 16-bit digits, the lowest first."""
    digits = [(group % RADIX).astype(np.uint16)]
    while size > RADIX:
        group, size = group // RADIX, -(-size // RADIX)
        digits.append((group % RADIX).astype(np.uint16))
    return digits
