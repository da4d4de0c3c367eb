"""Costs of misordered pairs: the factors c_ij in C Σ c_ij·ℓ(f_i − f_j), or rescaled margins.

A cost depends on the query and the two grades only. So risks can be computed by sorting, without forming
pairs. To add a cost, write a rule from grades to `PairCosts` and enter it in `RULES`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from rankviz.common.arrays import FloatArray, IntArray
from rankviz.common.errors import SettingError
from rankviz.learning.pairs import GradeCodes, count_pairs, grade_codes

Costs = str | tuple[object, ...] | None
"""None, a name in `RULES`, a table λ[r][s] as nested tuples, or ("query", table)."""

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
    if isinstance(costs, str):
        return RULES[costs].costs(codes, y, ptr)
    if costs[0] == "query":
        return PairCosts(_by_query(codes, y, ptr).weight * _from_table(costs[1], codes))
    return PairCosts(_from_table(costs, codes))


def check_costs(costs: object) -> None:
    """Raise `SettingError` unless `costs` is valid."""
    if costs is None or (isinstance(costs, str) and costs in RULES):
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
    return f"None, {', '.join(map(repr, RULES))}, a table, or ('query', a table)"


def _as_table(costs: object) -> FloatArray:
    try:
        if np.asarray(costs).dtype.kind == "c":
            raise TypeError("its numbers are complex")
        return np.asarray(costs, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise SettingError(
            f"costs={costs!r} is no table of numbers; choose one of {choices_in_words()}"
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


RULES = {
    "query": CostRule("μ by query", _by_query, meaning="more for queries with few pairs (he2009 §4.2)"),
    "grade": CostRule(
        "λ by grades", _by_grade, meaning="(r − s) + 0.3·s for grade r preferred to s (he2009)"
    ),
    "grade_query": CostRule("λ by grades × μ by query", _by_grade_and_query),
    "slack": CostRule(
        "slack rescaling by DCG", _slack, meaning="what swapping the two costs in DCG (chapelle2010 §6.2)"
    ),
    "margin": CostRule(
        "margin rescaling by DCG", _margin, True, "the margin asked for is what swapping costs in DCG"
    ),
}
"""Rules by their names in `RankSVM(costs=...)` and the app: he2009's λ and μ, chapelle2010's rescaling."""


def frozen_costs(costs: object) -> Costs:
    """Return the costs as a hashable value: lists and arrays become tuples of floats."""
    if costs is None or isinstance(costs, str):
        return costs
    if isinstance(costs, list | tuple) and len(costs) == 2 and isinstance(costs[0], str):
        return (costs[0], frozen_costs(costs[1]))
    table = _as_table(costs)
    if table.ndim != 2:
        raise SettingError(f"costs={costs!r} is no table; choose one of {choices_in_words()}")
    return tuple(tuple(float(v) for v in row) for row in table)


_SUBSCRIPT = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")


def cost_words(costs: Costs) -> str:
    """Describe costs in words: "λ by grades", "λ₁₀ = 1, λ₂₀ = 2, λ₂₁ = 1.3"."""
    if costs is None:
        return "every pair costs 1"
    if isinstance(costs, str):
        return RULES[costs].label
    pairs = [f"{r}{s}".translate(_SUBSCRIPT) for r in range(12) for s in range(r)]
    words = ", ".join(f"λ{pair} = {value:g}" for pair, value in zip(pairs, triangle(costs), strict=False))
    return f"{words}, × μ by query" if costs[0] == "query" else words


def triangle(costs: tuple[object, ...]) -> list[float]:
    """Return λ₁₀, λ₂₀, λ₂₁, λ₃₀, … of a table of costs, alone or as ("query", table)."""
    table: Any = costs[1] if costs[0] == "query" else costs
    return [float(table[r][s]) for r in range(len(table)) for s in range(r)]
