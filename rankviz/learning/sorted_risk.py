"""The risk by sorting: piecewise-quadratic losses in O(n log n), without forming pairs (chapelle2010 §4).

Documents are sorted by grade, then query, then score. A pair is in the zone [low, high) of a loss exactly if
f_i − high < f_j and not f_i − low < f_j. So a document's partners of one grade in a zone are contiguous, and
sums over them are differences of cumulative sums at two cuts. One binary search finds each cut for both
roles, winners' and losers'. This keeps the Hessian symmetric.

`risk_of` chooses the faster form of a risk.

See docs/decisions/0004-two-forms-of-a-risk.md.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from rankviz.common.arrays import FloatArray, IntArray
from rankviz.common.parallel import ROWS, reading_pays, sum_of
from rankviz.learning.loss_facts import AnyLoss
from rankviz.learning.losses import Loss, PiecewiseQuadratic, Zone
from rankviz.learning.pairs import PLAIN, AllPairs, PairCosts, count_pairs, grade_codes, weighted_gram
from rankviz.learning.risk import ActivePairs, PairRisk, Risk
from rankviz.learning.score_losses import ScoreLoss
from rankviz.learning.score_risk import ScoreRisk

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
        self.role = np.empty(shape)
        for grade, other in itertools.permutations(range(self.n_grades), 2):
            self.role[self._places(grade, other)] = 1.0 if other < grade else -1.0
        # cuts at b = −∞: no f_j exceeds f_i + ∞, so a winner's cut lies after its last partner, and a
        # loser's before its first (partners ascend by score)
        self.anchor = self._at_partners(end, start)
        self.signed_weight, self._margin = self.role, None
        if not costs.uniform or costs.margin is not None:
            pairs = self._pairs_at_places()
            self.signed_weight, self._margin = self.role * costs.weights(*pairs), costs.margins(*pairs)

    def _places(self, grade: int, other: int) -> tuple[int, slice]:
        """Return row and columns of a grade's documents with another grade as partners."""
        return other - (other > grade), slice(self._borders[grade], self._borders[grade + 1])

    def _at_partners(self, of_winners: IntArray, of_losers: IntArray) -> IntArray:
        """Return each document's entry for the partners' grade and its query, from two tables (R, Q)."""
        out = np.empty(self.role.shape, np.int64)
        sizes = np.diff(self.starts, axis=1)
        for grade, other in itertools.permutations(range(self.n_grades), 2):
            table = of_winners if other < grade else of_losers
            out[self._places(grade, other)] = table[other].repeat(sizes[grade])
        return out

    def _pairs_at_places(self) -> tuple[IntArray, IntArray, IntArray]:
        """Return query and codes of the higher and the lower grade, each (R − 1, n)."""
        grade = np.arange(self.n_grades).repeat(np.diff(self._borders))
        row = np.arange(len(self.role))[:, None]
        other = row + (row >= grade)
        query = np.broadcast_to(self._query, other.shape)
        return query, np.maximum(grade, other), np.minimum(grade, other)

    @cached_property
    def counted(self) -> FloatArray:
        """Role at each place, but 0 for pairs of cost 0, (R − 1, n)."""
        return self.role if self.signed_weight is self.role else np.sign(self.signed_weight)

    def order(self, f: FloatArray) -> IntArray:
        """Return the documents sorted by grade, query and score f (n,)."""
        # by score; each stable radix pass below keeps the earlier order
        order = np.argsort(f) if f.any() else np.arange(len(f))
        for digit in self._digits:
            order = order.take(np.argsort(digit.take(order), kind="stable"))
        return order

    def scaled(self, b: float) -> FloatArray | float:
        """Return the margin of each pair times b, (R − 1, n), or b if all margins are 1."""
        return b if self._margin is None else b * self._margin

    def times_margin(self, values: FloatArray) -> float:
        """Return the sum of values (R − 1, n) times the cost and margin of their pairs."""
        if self._margin is None and self.signed_weight is self.role:  # both are one
            return float(values.sum())
        return _total(self.signed_weight, self.scaled(1.0) * self.role * values)

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
        if not f.any():  # at the start of training: below each b > 0 are all margins, below others none
            return self._at_partners(self.starts[:, :-1], self.starts[:, 1:]) if b > 0.0 else self.anchor
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


def cumulated(v: FloatArray) -> FloatArray:
    """Return the sums of the first 0 … n entries, (n + 1,)."""
    out = np.zeros(len(v) + 1)
    np.cumsum(v, out=out[1:])
    return out


@dataclass(frozen=True, eq=False)
class SortedRiskPoint:
    """The risk at one vector of scores (see `RiskPoint`).

    Arrays (R − 1, n) have one row for each other grade and one column for each document in sorted order.

    Attributes
    ----------
    value : float
    gradient : (n,) float64
    total_slope : float
    layout : GradeLayout
    order : (n,) int64
        Documents by grade, query and score.
    ends : tuple of (Zone, (R − 1, n) int64, (R − 1, n) int64)
        Cuts at the upper and lower end of each zone. A winner's partners in a zone are from the first to the
        second cut, a loser's from the second to the first.
    """

    value: float
    gradient: FloatArray
    total_slope: float
    layout: GradeLayout
    order: IntArray
    ends: tuple[tuple[Zone, IntArray, IntArray], ...]

    @cached_property
    def _degree(self) -> FloatArray:
        """Diagonal of the Hessian in sorted order, (n,)."""
        total = np.zeros(self.layout.role.shape)
        for zone, upper, lower in self.ends:
            # ℓ'' = 2·bend in a zone; for a loser both lower − upper and the signed weight are negative
            total += 2.0 * zone.bend * (lower - upper)
        return _summed(self.layout.signed_weight, total)

    @property
    def n_active(self) -> int:
        """Number of pairs with c·ℓ'' ≠ 0."""
        # pairs of cost 0 do not count; every other pair appears in both roles
        weighed = self.layout.counted
        return int(0.5 * sum(np.vdot(weighed, lower - upper) for _, upper, lower in self.ends))

    def _active_counts(self) -> IntArray:
        """Return the numbers of active partners of winners, (zones, R − 1, n)."""
        winners = self.layout.signed_weight > 0.0
        counts = [np.where(winners, lower - upper, 0) for _, upper, lower in self.ends]
        return np.array(counts, np.int64).reshape(len(counts), *winners.shape)

    @property
    def total_curvature(self) -> float:
        """Σ_P c·ℓ''."""
        return 0.5 * float(self._degree.sum())

    def hessian_product(self, v: FloatArray) -> FloatArray:
        """Return R v, (n,) -> (n,): one cumulative sum, then a difference per other grade, no sorting."""
        # (R v)_i = Σ_j c_ij·ℓ''_ij·(v_i − v_j) over all partners j of i, winners and losers
        v = v.take(self.order)
        sums, total = cumulated(v), None
        for zone, upper, lower in self.ends:
            scaled = 2.0 * zone.bend * sums
            part = scaled.take(lower)
            part -= scaled.take(upper)
            total = part if total is None else total + part
        v *= self._degree
        if total is not None:
            v -= _summed(self.layout.signed_weight, total)
        out = np.empty_like(v)
        out[self.order] = v
        return out

    def gram(self, B: FloatArray) -> FloatArray:
        """Return the Gram matrix Bᵀ R B, (n, m) -> (m, m): O(n m²), 2 to 3 times as slow as `AllPairs.gram`.

        Bᵀ R B = Bᵀ diag(degree) B − M − Mᵀ, M = Σ_i b_i (Σ_j c_ij·ℓ'' b_j)ᵀ over winners i and their active
        partners j. Inner sums are differences of cumulative sums, over blocks of queries that fit in the
        cache.
        """
        degree = np.empty(len(B))
        # exact arithmetic gives degrees ≥ 0; rounding may not, and `weighted_gram` takes square roots
        degree[self.order] = np.maximum(self._degree, 0.0)
        jobs = itertools.product(self._query_blocks(), range(1, self.layout.n_grades))
        zeros, pays = np.zeros((B.shape[1], B.shape[1])), reading_pays(B)
        between = sum_of(lambda job: self._between(B, job[1], *job[0]), list(jobs), zeros, pays)
        return weighted_gram(B, degree) - between - between.T

    def _query_blocks(self) -> list[tuple[int, int]]:
        """Return runs of queries with about `ROWS` documents."""
        ends = self.layout.starts.sum(axis=0) - self.layout.starts[:, 0].sum()  # documents before each query
        cuts = np.searchsorted(ends, np.arange(0, ends[-1] + ROWS, ROWS))
        cuts = np.unique(np.minimum(cuts, len(ends) - 1)).tolist()
        return list(itertools.pairwise(cuts))

    def _between(self, B: FloatArray, grade: int, first: int, last: int) -> FloatArray:
        """Return M of the winners of one grade in the queries first … last − 1."""
        starts, (start, end) = self.layout.starts, self.layout.starts[grade, [first, last]]
        w = slice(start, end)
        partners = np.zeros((end - start, B.shape[1]))
        if start == end:
            return B[:0].T @ partners
        for losers in range(grade):
            begin, stop = starts[losers, [first, last]]
            sums = np.zeros((stop - begin + 1, B.shape[1]))
            np.cumsum(B[self.order[begin:stop]], axis=0, out=sums[1:])
            weight = self.layout.signed_weight[losers, w, None]
            for zone, upper, lower in self.ends:
                part = sums.take(lower[losers, w] - begin, axis=0)
                part -= sums.take(upper[losers, w] - begin, axis=0)
                part *= 2.0 * zone.bend * weight
                partners += part
        return B[self.order[w]].T @ partners

    def sample_active(self, rng: np.random.Generator, size: int) -> ActivePairs:
        """Draw at most `size` active pairs by their numbers in a list that is never formed."""
        shape, counts = (found := self._active_counts()).shape, found.ravel()
        last = np.cumsum(counts)
        drawn = np.sort(rng.choice(self.n_active, min(size, self.n_active), replace=False, shuffle=False))
        at = np.searchsorted(last, drawn, side="right")
        zone, row, winner = np.unravel_index(at, shape)
        uppers = [upper for _, upper, _ in self.ends]
        first = np.array([uppers[z][r, i] for z, r, i in zip(zone, row, winner, strict=True)], np.int64)
        loser = first + drawn - (last[at] - counts[at])  # minus the pairs of all earlier winners
        bends = np.array([zone.bend for zone, _, _ in self.ends])
        weight = self.layout.signed_weight[row, winner]
        return ActivePairs(self.order[winner], self.order[loser], 2.0 * bends[zone] * weight)


@dataclass(frozen=True, eq=False)
class SortedRisk:
    """Σ c_ij·ℓ(f_i − f_j) for a piecewise-quadratic loss and costs by query and grade (see `Risk`).

    Attributes
    ----------
    y : (n,) int64
        Relevance grades.
    ptr : (Q + 1,) int64
        Query offsets.
    loss : PiecewiseQuadratic
    costs : PairCosts
    """

    y: IntArray
    ptr: IntArray
    loss: PiecewiseQuadratic
    costs: PairCosts = field(default=PLAIN)

    @cached_property
    def layout(self) -> GradeLayout:
        """Parts of the risk that do not depend on the scores."""
        return GradeLayout(self.y, self.ptr, self.costs)

    @cached_property
    def n_pairs(self) -> int:
        """Number of preference pairs p."""
        return int(count_pairs(self.y, self.ptr).sum())

    @property
    def n_terms(self) -> int:
        """Number of preference pairs p."""
        return self.n_pairs

    @cached_property
    def all_pairs(self) -> AllPairs:
        """The Laplacian of all pairs."""
        return AllPairs(self.y, self.ptr, self.costs)

    @property
    def total_cost(self) -> float:
        """Σ_P c_ij."""
        return self.all_pairs.weight

    def with_loss(self, loss: AnyLoss) -> SortedRisk:
        """Return the risk with the same layout and another piecewise-quadratic loss; TypeError for others."""
        if not isinstance(loss, PiecewiseQuadratic):
            raise TypeError(f"the {loss.label} loss is not piecewise quadratic: its pairs must be listed")
        other = replace(self, loss=loss)
        vars(other).update({name: value for name, value in vars(self).items() if name != "loss"})
        return other

    def at(self, f: FloatArray) -> SortedRiskPoint:
        """Return the value, gradient and Hessian of the risk at scores f (n,), which must be finite.

        Each pair in a zone adds bend·(high − t)². Each pair below it adds bend·width·(2(high − t) − width).
        Both are sums over one document's partners of a number and of scores. Squares are not summed, because
        the two roles of a pair share (high − t)².
        """
        layout = self.layout
        f = f - f.take(layout.first)  # scores matter only relative to their query; ties stay exact
        order = layout.order(f)
        f = f.take(order)
        sums, role, weight = cumulated(f), layout.role, layout.signed_weight
        force, value, slope = np.zeros(len(f)), 0.0, 0.0
        ends = layout.cuts(f, self.loss.zones)
        for zone, upper, lower in ends:
            reach = role * layout.scaled(zone.high) - f
            inside = _shortfall(sums, upper, lower, reach)  # Σ_j s, s = high − t, over partners in the zone
            own, margins = _summed(weight, inside), layout.times_margin(inside)
            force += 2.0 * zone.bend * own  # −ℓ' = 2·bend·s
            slope += zone.bend * margins  # each pair appears in both roles
            # s² = s·(½high − f_i) + s·(½high + f_j): shares of the winner and of the loser, with its sign
            value += zone.bend * (0.5 * zone.high * margins - float(own @ f))
            if np.isfinite(zone.low):
                # below the zone ℓ continues as its tangent: slope −2·bend·width
                width = layout.scaled(zone.width)
                below = _shortfall(sums, lower, layout.anchor, reach)
                outside = width * (role * (layout.anchor - lower))
                force += 2.0 * zone.bend * _summed(weight, outside)
                slope += zone.bend * layout.times_margin(outside)
                # each role adds half of width·(2s − width)
                value += zone.bend * _total(weight, role * (width * (below - 0.5 * outside)))
        gradient = np.empty_like(f)
        gradient[order] = -force
        return SortedRiskPoint(value, gradient, slope, layout, order, tuple(ends))


def _shortfall(sums: FloatArray, start: IntArray, end: IntArray, reach: FloatArray) -> FloatArray:
    """Return Σ (high − t) over partners between two cuts: number·(high − f_i) + Σ f_j for a winner i.

    `reach` is role·high − f. A loser's partners are from `end` to `start`, so both signs come out right.
    """
    out = (end - start) * reach
    out += sums.take(end)
    out -= sums.take(start)
    return out


def _summed(weight: FloatArray, values: FloatArray) -> FloatArray:
    """Return weighted sums over other grades, (R − 1, n) -> (n,)."""
    out: FloatArray = np.einsum("kn,kn->n", weight, values)
    return out


def _total(weight: FloatArray, values: FloatArray) -> float:
    return float(np.vdot(weight, values))


PAIRS_PER_READ = 0.7
"""Number of listed pairs that take as long as one read of a cumulative sum. Measured for queries of 3 to 100
documents: break-even was between 0.3 (seven zones) and 1.1 (one zone, two grades)."""

LEAST_PAIRS = 5000
"""With fewer pairs both ways take less than 1 ms, and listing needs less preparation."""


def sorts(y: IntArray, ptr: IntArray, loss: AnyLoss) -> bool:
    """Return True if sorting is faster for grades y (n,) in queries with offsets ptr (Q + 1,)."""
    if not isinstance(loss, PiecewiseQuadratic):
        return False
    cuts = (len(grade_codes(y, ptr).levels) - 1) * len(y)
    return sorting_pays(int(count_pairs(y, ptr).sum()), cuts, loss)


def sorting_pays(pairs: int, cuts: int, loss: AnyLoss) -> bool:
    """Return True if sorting is faster, from the number of pairs and of cuts, (R − 1)·n.

    Each cut needs zones + 1 reads of cumulative sums, at the ends of the zones.
    """
    if not isinstance(loss, PiecewiseQuadratic):
        return False
    return pairs > max(LEAST_PAIRS, PAIRS_PER_READ * cuts * (len(loss.zones) + 1))


def stored_entries(pairs: int, cuts: int, n: int, loss: AnyLoss) -> tuple[int, int]:
    """Return the entries that the risk of n documents stores: listed pairs and 0, or 0 and others."""
    if not loss.of_pairs:
        return 0, n
    return (0, cuts) if sorting_pays(pairs, cuts, loss) else (pairs, 0)


def risk_sizes(y: IntArray, ptr: IntArray, loss: AnyLoss) -> tuple[int, int]:
    """Return the entries stored by the faster way: listed pairs and 0, or 0 and (R − 1)·n for sorting."""
    pairs, cuts = int(count_pairs(y, ptr).sum()), (len(grade_codes(y, ptr).levels) - 1) * len(y)
    return stored_entries(pairs, cuts, len(y), loss)


def risk_of(y: IntArray, ptr: IntArray, loss: AnyLoss, costs: PairCosts = PLAIN) -> Risk:
    """Return the risk of grades y (n,) in queries with offsets ptr (Q + 1,), in the faster form."""
    if isinstance(loss, ScoreLoss):
        return ScoreRisk(y, ptr, loss, costs)
    assert isinstance(loss, Loss)
    if isinstance(loss, PiecewiseQuadratic) and sorts(y, ptr, loss):
        return SortedRisk(y, ptr, loss, costs)
    return PairRisk(y, ptr, loss, costs)
