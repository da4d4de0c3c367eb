"""Preference pairs P = {(i, j) : same query, y_i > y_j}, their costs, and sums over all of them.

The pair matrix A is applied but never formed. Row (i, j) of A (p, n) has +1 at i and −1 at j, so A f is the
vector of margins f_i − f_j.

Costs are the factors c_ij in C Σ c_ij·ℓ(f_i − f_j), or rescaled margins. A cost depends on the query and the
two grades only. So risks can be computed by sorting, without forming pairs. To add a cost, write a rule from
grades to `PairCosts`. `RankSVM(costs=CostRule(...))` takes it. Enter it in `RULES` to give it a name, for
runs, files and the app.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Union

import numpy as np
from scipy import sparse

from rankviz.common.arrays import FloatArray, IntArray
from rankviz.common.errors import SettingError
from rankviz.common.parallel import summed
from rankviz.common.settings import Setting


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
    ----------
    order : (n,) int64
        Documents sorted by query, then by descending grade; file order within a group.
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


MORE_COUNTS = 4
"""Counting by query and grade takes less time than sorting up to so many counts per document."""


def grade_codes(y: IntArray, ptr: IntArray) -> GradeCodes:
    """Return the codes of grades y (n,) in queries with offsets ptr (Q + 1,)."""
    small = len(y) > 0 and int(y.max()) < 2**16  # then counting finds the grades without sorting
    levels = np.flatnonzero(np.bincount(y)) if small else np.unique(y)
    query = np.repeat(np.arange(len(ptr) - 1), np.diff(ptr))
    dense = small and int(levels[-1]) == len(levels) - 1  # then grades are their own codes
    return GradeCodes(levels, y if dense else np.searchsorted(levels, y), query, len(ptr) - 1)


def grade_groups(y: IntArray, ptr: IntArray) -> GradeGroups:
    """Group documents with grades y (n,) in queries with offsets ptr (Q + 1,) by query and grade."""
    codes = grade_codes(y, ptr)
    query, levels = codes.query, len(codes.levels)
    key = query * levels + (levels - 1 - codes.code)
    if codes.n_queries * levels <= 2**16:
        key = key.astype(np.uint16)  # NumPy sorts these in linear time
    order = np.argsort(key, kind="stable")
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
    if codes.n_queries * len(codes.levels) <= MORE_COUNTS * len(y):
        pairs: IntArray = (np.diff(ptr) ** 2 - (codes.counts() ** 2).sum(axis=1)) // 2
        return pairs
    group, size = np.unique(codes.query * len(codes.levels) + codes.code, return_counts=True)
    same_grade = np.zeros(len(ptr) - 1, np.int64)
    np.add.at(same_grade, group // max(len(codes.levels), 1), size**2)
    return (np.diff(ptr) ** 2 - same_grade) // 2


Costs = Union[str, tuple[object, ...], "CostRule", None]
"""None, a name in `RULES`, a rule, a table λ[r][s] as nested tuples, or ("query", table)."""

LARGEST_TABLE = 20_000_000
"""Largest number of entries Q·R² of a table of costs by query and grades: 160 MB."""

NEARBY = 0.3
"""he2009 §4.2 has λ = 1, 1.3 and 2 for grades (1, 0), (2, 1) and (2, 0): (r − s) + 0.3·s."""


@dataclass(frozen=True, eq=False)
class PairCosts:
    """The loss of a pair (i, j) of query q, whose grades have codes r > s, is w·b²·ℓ((f_i − f_j)/b).

    With b = 1 that is w·ℓ(t); with w = 1 it is max(0, b − t)² for the squared hinge.

    Attributes
    ----------
    weight : array that broadcasts to (Q, R, R)
        w[q, r, s] ≥ 0.
    margin : array that broadcasts to (Q, R, R), or None
        b[q, r, s] > 0; None for 1.
    """

    weight: FloatArray
    margin: FloatArray | None = None

    @property
    def uniform(self) -> bool:
        """True if every pair has weight one."""
        return self.weight.size == 1 and self.weight.flat[0] == 1.0

    @property
    def largest(self) -> float:
        """Largest w·b² of any pair."""
        margin = 1.0 if self.margin is None else float(self.margin.max(initial=0.0))
        return float(self.weight.max(initial=0.0)) * margin * margin

    def weighed(self, of_query: FloatArray) -> PairCosts:
        """Return these costs times a weight for each query, of_query (Q,)."""
        if np.all(of_query == 1.0):  # sums of equal costs round differently
            return self
        return PairCosts(self.weight * of_query[:, None, None], self.margin)

    def of_queries(self, queries: slice, codes: IntArray) -> PairCosts:
        """Return the costs of some queries, restricted to grades with these codes."""
        margin = None if self.margin is None else _some(self.margin, queries, codes)
        return PairCosts(_some(self.weight, queries, codes), margin)

    def weights(self, query: IntArray, winner: IntArray, loser: IntArray) -> FloatArray:
        """Return the weights w of pairs given by query and codes of both grades, (p,)."""
        return _looked_up(self.weight, query, winner, loser)

    def margins(self, query: IntArray, winner: IntArray, loser: IntArray) -> FloatArray | None:
        """Return the margins b of pairs given by query and codes of both grades, (p,); None for 1."""
        return None if self.margin is None else _looked_up(self.margin, query, winner, loser)


def _some(table: FloatArray, queries: slice, codes: IntArray) -> FloatArray:
    """Return part of a table; an axis of length one applies to all."""
    table = table[queries] if len(table) > 1 else table
    table = table[:, codes] if table.shape[1] > 1 else table
    return table[:, :, codes] if table.shape[2] > 1 else table


def _looked_up(table: FloatArray, *indices: IntArray) -> FloatArray:
    """Return entries of a table; an axis of length one applies to all."""
    full = tuple(i if size > 1 else np.zeros_like(i) for i, size in zip(indices, table.shape, strict=True))
    found: FloatArray = table[full]
    return found


PLAIN = PairCosts(np.ones((1, 1, 1)))
"""Every pair costs one."""


def pair_costs(costs: Costs, y: IntArray, ptr: IntArray) -> PairCosts:
    """Return the costs named `costs`, for grades y (n,) in queries with offsets ptr (Q + 1,).

    Raises `SettingError` for a table that is too small for the grades, or grades too large for a rule.
    """
    check_costs(costs)
    if costs is None or len(y) == 0:
        return PLAIN
    codes = grade_codes(y, ptr)
    if isinstance(costs, str | CostRule):
        return (RULES[costs] if isinstance(costs, str) else costs).checked(codes, y, ptr)
    if costs[0] == "query":
        return PairCosts(_by_query(codes, y, ptr).weight * _from_table(costs[1], codes))
    return PairCosts(_from_table(costs, codes))


def check_costs(costs: object) -> None:
    """Raise `SettingError` unless `costs` is valid."""
    if costs is None or isinstance(costs, CostRule) or (isinstance(costs, str) and costs in RULES):
        return
    if isinstance(costs, str):
        raise SettingError(f"costs={costs!r} is not known; choose one of {choices_in_words()}")
    if isinstance(costs, tuple | list) and len(costs) == 2 and costs[0] == "query":
        costs = costs[1]
    table = _as_table(costs)
    if table.ndim != 2 or table.shape[0] != table.shape[1] or len(table) < 2:
        raise SettingError(
            f"costs=a table of shape {table.shape}; it needs a row and a column for every grade"
        )
    if not (np.isfinite(table) & (table >= 0)).all():
        raise SettingError("costs=a table with entries that are negative or not finite")


def choices_in_words() -> str:
    """List the valid costs in words."""
    return f"None, {', '.join(map(repr, RULES))}, a table, ('query', a table), or a CostRule"


def _as_table(costs: object) -> FloatArray:
    try:
        if np.asarray(costs).dtype.kind == "c":
            raise TypeError("its numbers are complex")
        return np.asarray(costs, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise SettingError(
            f"costs={costs!r} is not a table of numbers; choose one of {choices_in_words()}"
        ) from error


def _from_table(costs: object, codes: GradeCodes) -> FloatArray:
    """Return λ of the grades that occur, (1, R, R), from a table indexed by grade [preferred, other]."""
    table, levels = _as_table(costs), codes.levels
    if levels[-1] >= len(table):
        raise SettingError(
            f"a table of costs for grades 0 … {len(table) - 1}, but there are grades up to {levels[-1]}; "
            f"give {levels[-1] + 1} rows and columns"
        )
    return table[np.ix_(levels, levels)][None]


def _by_query(codes: GradeCodes, y: IntArray, ptr: IntArray) -> PairCosts:
    """Return μ_q = ln(1 + max_q' pairs(q')/pairs(q)): queries with few pairs weigh more (he2009 §4.2)."""
    pairs = count_pairs(y, ptr).astype(np.float64)
    mu = np.zeros_like(pairs)  # a query without pairs has weight 0
    np.divide(pairs.max(initial=0.0), pairs, out=mu, where=pairs > 0)
    return PairCosts(np.log1p(mu)[:, None, None])


def _by_grade(codes: GradeCodes, y: IntArray, ptr: IntArray) -> PairCosts:
    """Return λ(r, s) = (r − s) + 0.3·s, which equals he2009's for grades 0, 1, 2.

    Pairs with a larger difference of grades cost more, and so do pairs of higher grades.
    """
    low = np.minimum.outer(codes.levels, codes.levels)
    return PairCosts((np.abs(np.subtract.outer(codes.levels, codes.levels)) + NEARBY * low)[None])


def _by_grade_and_query(codes: GradeCodes, y: IntArray, ptr: IntArray) -> PairCosts:
    """Return λ(r, s)·μ_q (he2009 eq. 1)."""
    return PairCosts(_by_grade(codes, y, ptr).weight * _by_query(codes, y, ptr).weight)


def _slack(codes: GradeCodes, y: IntArray, ptr: IntArray) -> PairCosts:
    """Return costs with slack rescaling: δ·ℓ(t) (chapelle2010 §6.2)."""
    return PairCosts(dcg_differences(codes))


def _margin(codes: GradeCodes, y: IntArray, ptr: IntArray) -> PairCosts:
    """Return margin rescaling: max(0, √δ − t)² for the squared hinge, else δ·ℓ(t/√δ) (chapelle2010 §6.2)."""
    delta = dcg_differences(codes)
    return PairCosts(np.ones((1, 1, 1)), np.sqrt(np.where(delta > 0, delta, 1.0)))


def dcg_differences(codes: GradeCodes) -> FloatArray:
    """Return the DCG lost by swapping two documents of the ideal ranking, (Q, R, R), 0 for absent grades.

    δ_q[r, s] = |2^r − 2^s|·|D_qr − D_qs|. D_qr is the mean discount 1/log₂(p + 1) over the places p of grade
    r in the ideal ranking of query q. The mean is taken because the order within a grade is arbitrary.
    chapelle2010 §6.2 prints 1/log₂(p), which is infinite at the first place.
    """
    counts, levels = codes.counts(), codes.levels
    if counts.size * len(levels) > LARGEST_TABLE or levels[-1] > 1000:
        raise SettingError(
            f"costs by DCG for {len(levels)} grades up to {levels[-1]} in {codes.n_queries} queries need too "
            "large a table or too large numbers; choose fewer, smaller grades, or costs='query'"
        )
    discounts = np.concatenate(([0.0], np.cumsum(1.0 / np.log2(np.arange(2.0, counts.sum(1).max() + 2.0)))))
    end = np.cumsum(counts[:, ::-1], axis=1)[:, ::-1]  # last place of each grade
    mean = (discounts[end] - discounts[end - counts]) / np.maximum(counts, 1)
    there = counts > 0
    gains = np.abs(np.subtract.outer(2.0**levels, 2.0**levels))
    delta: FloatArray = gains * np.abs(mean[:, :, None] - mean[:, None, :])
    delta[~(there[:, :, None] & there[:, None, :])] = 0.0
    return delta


@dataclass(frozen=True)
class CostRule:
    """A rule for costs of pairs: its label, and its costs for grades y (n,), offsets ptr (Q + 1,).

    `rescales_margins` is True if a cost sets the required margin, instead of a factor of the loss. `meaning`
    describes the costs for help texts; "" for a product of other rules.
    """

    label: str
    costs: Callable[[GradeCodes, IntArray, IntArray], PairCosts]
    rescales_margins: bool = False
    meaning: str = ""

    def checked(self, codes: GradeCodes, y: IntArray, ptr: IntArray) -> PairCosts:
        """Return its costs; `SettingError` for tables of another shape, or with invalid numbers."""
        found, shape = self.costs(codes, y, ptr), (codes.n_queries, len(codes.levels), len(codes.levels))
        if not isinstance(found, PairCosts):
            raise SettingError(f"costs {self.label!r} returned {type(found).__name__}; return PairCosts")
        for name, table, least in (("weights", found.weight, 0.0), ("margins", found.margin, math.ulp(0.0))):
            if table is None:
                continue
            if len(table.shape) != 3 or any(k not in (1, n) for k, n in zip(table.shape, shape, strict=True)):
                raise SettingError(
                    f"costs {self.label!r} returned {name} of shape {table.shape}; return 3 axes for "
                    f"queries, preferred and other grades, here {shape}, each of full length or 1"
                )
            if not (np.isfinite(table) & (table >= least)).all():
                sign = "at least 0" if least == 0.0 else "above 0"
                raise SettingError(f"costs {self.label!r} returned {name} that are not finite and {sign}")
        return found


RULES = {
    "query": CostRule("μ by query", _by_query, meaning="more for queries with few pairs (he2009 §4.2)"),
    "grade": CostRule(
        "λ by grades", _by_grade, meaning="(r − s) + 0.3·s for grade r preferred to s (he2009)"
    ),
    "grade_query": CostRule("λ by grades × μ by query", _by_grade_and_query),
    "slack": CostRule(
        "slack rescaling by DCG",
        _slack,
        meaning="the loss of DCG if the two documents are swapped (chapelle2010 §6.2)",
    ),
    "margin": CostRule(
        "margin rescaling by DCG", _margin, True, "requires a margin equal to this loss of DCG"
    ),
}
"""Rules by their names in `RankSVM(costs=...)` and the app: he2009's λ and μ, chapelle2010's rescaling."""


def frozen_costs(costs: object) -> Costs:
    """Return the costs as a hashable value: lists and arrays become tuples of floats."""
    if costs is None or isinstance(costs, str | CostRule):
        return costs
    if isinstance(costs, list | tuple) and len(costs) == 2 and isinstance(costs[0], str):
        return (costs[0], frozen_costs(costs[1]))
    table = _as_table(costs)
    if table.ndim != 2:
        raise SettingError(f"costs={costs!r} is not a table; choose one of {choices_in_words()}")
    return tuple(tuple(float(v) for v in row) for row in table)


def stored_costs(costs: object) -> str | tuple[object, ...] | None:
    """Return `frozen_costs` with a rule's name in `RULES`; `SettingError` if it has none."""
    frozen = frozen_costs(costs)
    if not isinstance(frozen, CostRule):
        return frozen
    name = next((name for name, rule in RULES.items() if rule == frozen), None)
    if name is None:
        raise SettingError(
            f"costs {frozen.label!r} have no name for storage; register the rule in "
            f"rankviz.learning.pairs.RULES, or choose one of {choices_in_words()}"
        )
    return name


_SUBSCRIPT = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")


def cost_words(costs: Costs) -> str:
    """Describe costs in words: "λ by grades", "λ₁₀ = 1, λ₂₀ = 2, λ₂₁ = 1.3"."""
    if costs is None:
        return "every pair costs 1"
    if isinstance(costs, str | CostRule):
        return (RULES[costs] if isinstance(costs, str) else costs).label
    pairs = [f"{r}{s}".translate(_SUBSCRIPT) for r in range(12) for s in range(r)]
    words = ", ".join(f"λ{pair} = {value:g}" for pair, value in zip(pairs, triangle(costs), strict=False))
    return f"{words}, × μ by query" if costs[0] == "query" else words


def triangle(costs: tuple[object, ...]) -> list[float]:
    """Return λ₁₀, λ₂₀, λ₂₁, λ₃₀, … of a table of costs, alone or as ("query", table)."""
    table: Any = costs[1] if costs[0] == "query" else costs
    return [float(table[r][s]) for r in range(len(table)) for s in range(r)]


@dataclass(frozen=True)
class CostDomain:
    """None, the name of a rule, a table λ[r][s], or ("query", a table)."""

    def check(self, name: str, value: object) -> None:
        """Raise `SettingError` unless `value` is a valid choice of costs."""
        check_costs(value)

    def plain(self, value: Any) -> Any:
        """Return the value as nested tuples; `SettingError` for a rule without a name."""
        return stored_costs(value)

    @property
    def words(self) -> str:
        """Valid values, in words."""
        return choices_in_words()


COSTS = Setting(
    name="costs",
    symbol="costs",
    label="Costs of pairs",
    domain=CostDomain(),
    default=None,
    help="Factor of the loss of each pair. "
    + "; ".join(f"{rule.label}: {rule.meaning}" for rule in RULES.values() if rule.meaning)
    + ".",
    key="costs",
    caption=cost_words,
    quiet=True,
)


class AllPairs:
    """The Laplacian L₀ = Aᵀ diag(w) A of all preference pairs with their weights w.

    L₀ = diag(δ) − (weights between documents); a weight depends only on the two documents' groups. So for a
    matrix B with sums S_g of its rows over groups, BᵀL₀B = Bᵀ diag(δ) B − Σ_{g ≠ h} w_gh S_g S_hᵀ over groups
    g, h of the same query. For a document i of group g, δ_i = Σ_h w_gh n_h.
    """

    def __init__(self, y: IntArray, ptr: IntArray, costs: PairCosts) -> None:
        self.groups = grade_groups(y, ptr)
        group_ptr = np.searchsorted(self.groups.query, np.arange(len(ptr)))
        self._first = group_ptr[:-1]
        self._between: sparse.csr_array | None = None
        if costs.uniform:
            return
        level = grade_codes(y, ptr).code[self.groups.order[self.groups.start]]
        pairs = preference_pairs(level, group_ptr)
        i, j, n_groups = pairs.winner, pairs.loser, len(level)
        weight = costs.weights(self.groups.query[i], level[i], level[j])
        # one entry for each pair of groups; the transpose makes it symmetric
        half = sparse.coo_array((weight, (i, j)), shape=(n_groups, n_groups)).tocsr()
        self._between = sparse.csr_array(half + half.T)

    def _others(self, sums: FloatArray) -> FloatArray:
        """Return the weighted sums over the other groups of each group's query, (G, …) -> (G, …)."""
        if self._between is None:  # all weights are one
            total: FloatArray = np.add.reduceat(sums, self._first)
            return total[self.groups.query] - sums
        weighted: FloatArray = self._between @ sums
        return weighted

    @cached_property
    def degree(self) -> FloatArray:
        """δ of each group, (G,)."""
        return self._others(self.groups.size.astype(np.float64))

    @property
    def weight(self) -> float:
        """Σ_P w."""
        return 0.5 * float(self.degree @ self.groups.size)

    def gram(self, B: FloatArray) -> FloatArray:
        """Return the Gram matrix Bᵀ L₀ B, (n, m) -> (m, m): O(n m²)."""
        groups, n = self.groups, len(B)
        ends = np.append(groups.start, n)
        members = sparse.csr_array((np.ones(n), groups.order, ends), shape=(len(groups.start), n))
        sums = members @ B
        degree = np.empty(n)
        degree[groups.order] = self.degree[groups.group]
        return weighted_gram(B, degree) - sums.T @ self._others(sums)


def weighted_gram(B: FloatArray, weight: FloatArray) -> FloatArray:
    """Return Bᵀ diag(weight) B of B (n, m) for weights (n,) ≥ 0, computed in row blocks."""
    root, least = np.sqrt(weight), float(weight.min(initial=np.inf))
    equal = len(B) > 0 and least == weight.max()

    def part(rows: slice) -> FloatArray:
        block = B[rows] if equal else B[rows] * root[rows, None]
        return block.T @ block

    gram = summed(part, len(B), np.zeros((B.shape[1], B.shape[1])))
    return gram * least if equal else gram
