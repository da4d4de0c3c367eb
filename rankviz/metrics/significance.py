"""How far the mean over queries reaches: its interval, and paired comparison of two models.

Two models scored on the same queries are compared by the differences query by query: what makes a query easy
or hard for both cancels, which an interval around each mean alone would not see.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy.special import stdtrit

from rankviz.common.arrays import FloatArray
from rankviz.common.numbers import interval_in_words
from rankviz.datasets.array_checks import real_array

METHOD = "Student's t over queries, with the end on the side of the longer tail moved out"
"""The kind of intervals, in words for captions and help texts."""

ROUNDING = 1e-12  # of the largest value: two ways to sum one differ by 1e-15, two rankings by 1e-6 or more


@dataclass(frozen=True)
class Interval:
    """A mean over queries with its interval.

    Attributes
    ----------
    mean, low, high : float
        The mean and its interval, in the values' own units. The mean of no queries is NaN. Both ends are NaN
        where the queries are too few for an interval; see `interval`.
    confidence : float
        Nominal coverage, such as 0.95.
    n_queries : int
        Queries that were counted.
    """

    mean: float
    low: float
    high: float
    confidence: float
    n_queries: int

    @property
    def known(self) -> bool:
        """Whether the queries are enough for an interval."""
        return not math.isnan(self.low)

    def __str__(self) -> str:
        return f"{_number(self.mean)} ({self.in_words('z.3f')}, {queries_in_words(self.n_queries)})"

    def in_words(self, form: str = "+z.3f") -> str:
        """The ends in a format, for a sentence, or that queries are too few; see `interval_in_words`."""
        return interval_in_words(self.low, self.high, form, _percent(self.confidence))


@dataclass(frozen=True)
class Comparison:
    """The mean of the differences a − b over queries, and what may be said from it.

    Attributes
    ----------
    interval : Interval
        Of the differences.
    n_uneven : int or None
        Queries whose difference is not 0; None where that is not known, which is taken for all.
    """

    interval: Interval
    n_uneven: int | None = None

    @property
    def difference(self) -> float:
        """Mean of a − b over the queries."""
        return self.interval.mean

    @property
    def n_queries(self) -> int:
        """Number of queries compared."""
        return self.interval.n_queries

    @property
    def n_needed(self) -> int:
        """Fewest uneven queries that can decide; see `queries_needed`."""
        return queries_needed(self.interval.confidence)

    @property
    def distinguishable(self) -> bool:
        """Whether uneven queries are enough (`n_needed`) and there is an interval that leaves out 0."""
        uneven = self.n_queries if self.n_uneven is None else self.n_uneven
        return uneven >= self.n_needed and (self.interval.low > 0.0 or self.interval.high < 0.0)

    def _few(self) -> str:
        """That few queries differ, where these alone decide nothing."""
        if self.n_uneven is None or self.n_uneven >= self.n_needed:
            return ""
        return f", of which {self.n_uneven or 'none'} differ{'s' * (self.n_uneven < 2)}"

    def sentence(self, name_a: str, name_b: str, metric: str) -> str:
        """Say in words whether a is better or worse than b, by how much, or that it cannot be told."""
        queries, level = queries_in_words(self.n_queries), _percent(self.interval.confidence)
        if self.n_queries < self.n_needed:
            verb = "is" if self.n_queries == 1 else "are"
            return (
                f"By {metric}, {queries} {verb} too few to tell {name_a} from {name_b} "
                f"(at least {self.n_needed} are needed for {level})"
            )
        low, high = self.interval.low, self.interval.high
        if not self.distinguishable:
            ends = self.interval.in_words()
            if math.isnan(low):
                ends = f"too many equal differences for a {level} interval"
            return (
                f"By {metric}, {name_a} is not distinguishable from {name_b} with {queries}{self._few()} "
                f"(difference {_number(self.difference)}, {ends})"
            )
        word = "better" if low > 0 else "worse"
        near, far = sorted((abs(low), abs(high)))
        digits = max(3, math.ceil(-math.log10(near)))
        return (
            f"{name_a} is {word} than {name_b} by {_number(abs(self.difference), digits)} {metric} "
            f"({level} interval [{_number(near, digits)}, {_number(far, digits)}], {queries})"
        )


def compare(
    a: pd.Series[float],
    b: pd.Series[float],
    *,
    confidence: float = 0.95,
) -> Comparison:
    """Compare two models by one metric, query by query: the mean of a − b and its paired interval.

    `a` and `b` hold the metric by query id (a column of `Evaluation.per_query`), in any order; with repeated
    ids, in the same order. A query that is NaN in both (left out by the definition) is left out here.
    Differences are those of `differences_of`. The interval is that of :func:`interval`; swapping a and b
    mirrors it.

    Raises `ValueError` where the queries differ, one value of a pair is missing, or values come without ids.
    """
    found = differences_of(a, b)
    values = interval(found, confidence=confidence)
    return Comparison(values, int(np.count_nonzero(np.nan_to_num(found))))


def differences_of(a: pd.Series[float], b: pd.Series[float]) -> FloatArray:
    """Return the differences a − b (Q,) of values by query id, equal ones tied; ValueError as `compare`.

    Differences count as equal where their sizes are apart by less than 1e-12 of the largest value in a and b,
    as those of 0.3 − 0.2 and 0.2 − 0.1 are; see `tied`.
    """
    for values in (a, b):
        if not isinstance(values, pd.Series):
            raise ValueError(
                f"compare matches queries by id, and a {type(values).__name__} has none: pass columns of "
                'evaluate(…).per_query, such as ["NDCG@10"], or pd.Series(values, index=query_ids).'
            )
    matched = _matched(a, b)
    first, second = a.to_numpy(dtype=np.float64), matched.to_numpy(dtype=np.float64)
    lonely = np.flatnonzero(np.isnan(first) != np.isnan(second))
    if len(lonely):
        raise ValueError(
            f"Query {a.index[lonely[0]]} has a value in only one of the two: compare values that were "
            "computed by the same definition on the same data."
        )
    return tied(first - second, largest(first, second))


def largest(*values: NDArray[np.floating[Any]]) -> float:
    """Return the largest size among values; 0 without any that is known."""
    return max(float(np.nanmax(np.abs(one), initial=0.0)) for one in values)


def tied(values: NDArray[np.floating[Any]], scale: float | None = None) -> FloatArray:
    """Return values (n,) with those made equal that differ by rounding only, so that ties and zeros count.

    In order of size, a value takes the size of the one before where that is nearer than 1e-12·`scale`; the
    smallest is compared with 0. Signs stay, and so does NaN. Without a `scale` it is the largest size.
    """
    scale = largest(values) if scale is None else scale
    size = np.abs(values)
    order = np.argsort(size, kind="stable")
    apart = np.diff(size[order], prepend=0.0) > ROUNDING * scale
    found = np.empty_like(size)
    found[order] = np.maximum.accumulate(np.where(apart, size[order], 0.0))
    return np.where(np.isnan(values), np.nan, np.where(values < 0.0, -found, found)) + 0.0  # no −0


def queries_needed(confidence: float = 0.95) -> int:
    """Return the fewest queries that can decide: 2^(1 − n) ≤ 1 − confidence, 6 at 95 %.

    With fewer, all differences have the same sign by chance alone (a fair coin for each query) more often
    than 1 − confidence, and no sample of them is evidence enough.
    """
    return 1 + math.ceil(-math.log2(1.0 - confidence))


def interval(values: ArrayLike, *, confidence: float = 0.95) -> Interval:
    """Return the mean of per-query `values` (Q,) with its interval over queries; NaN values are left out.

    Let n values have the mean m, the standard error σ, and the skewness γ·√(n − 1). Both ends are m ± σT
    with T = (1 + 1/n)·t, where t is the quantile of Student's distribution with n − 1 degrees of freedom. The
    end on the side of the longer tail then moves out to σ·(3/|γ|)·(1 − ∛(1 − |γ|·(T + |γ|/6))) from m. That
    is Hall's correction for skewness (hall1992). The other end stays, for a sample may be skewed by chance.

    The factor 1 + 1/n was found by simulation. In samples of 8 to 106 values of nine shapes, 95 % intervals
    cover the mean in 93 to 100 of 100 cases (benchmarks/results/intervals.md). For normal values they are
    42 % wider than Student's with 8 queries, 9 % with 21, 2 % with 106.

    There is no interval (both ends are NaN) where values are too few, or too many are equal; see `enough`.

    Raises `ValueError` for infinite values, values that are no vector, or a confidence outside (0, 1).
    """
    given = real_array(values, "values", "one real number for each query").astype(np.float64)
    if given.ndim != 1 or np.isinf(given).any():
        raise ValueError(
            "An interval needs one finite value for each query: check the values' shape and range."
        )
    if not 0.0 < confidence < 1.0:
        raise ValueError(f"confidence={confidence} is not between 0 and 1; 0.95 is usual.")
    return interval_of_table(given[None, ~np.isnan(given)], confidence)


def interval_of_table(table: FloatArray, confidence: float) -> Interval:
    """Return the mean of values (D, n) with its interval; of one row, see `interval`.

    The squared error of several rows is that of resampling rows and columns each by themselves (owen2007):
    s_c²/(n − 1) + s_r²/D + s_e²/(D n), with the variances of columns, of rows, and of what both leave.
    """
    draws, n = table.shape
    mean = float(table.mean()) if n else math.nan
    if not enough(tied(table.mean(axis=0), largest(table)), confidence):
        return Interval(mean, math.nan, math.nan, confidence, n)
    unit = largest(table - mean)  # cubes of very small or large values are no numbers
    scaled = (table - mean) / unit
    columns, rows = scaled.mean(axis=0), scaled.mean(axis=1)
    rest = scaled - columns - rows[:, None]
    variance = (columns**2).mean() / (n - 1) + (rows**2).mean() / draws + (rest**2).mean() / (draws * n)
    third = (columns**3).mean() / (n - 1) ** 2 + (rows**3).mean() / draws**2
    below, above = _reach(float(third / variance**1.5), n, confidence)
    error = unit * math.sqrt(variance)
    return Interval(mean, mean - error * below, mean + error * above, confidence, n)


def enough(values: FloatArray, confidence: float) -> bool:
    """Return whether values (n,) are enough for an interval: `queries_needed`, and not too many equal.

    With c the number of times that the commonest value is there, (c/n)^n must be at most (1 − confidence)/2.
    That is the share of resamples with no other value, which have no spread to judge a mean by. At 95 %, four
    of 21 values must differ from the commonest one.
    """
    n = len(values)
    if n < queries_needed(confidence):
        return False
    commonest = np.unique(values, return_counts=True)[1].max()
    return bool((commonest / n) ** n <= (1.0 - confidence) / 2.0)


def _reach(skewness: float, n: int, confidence: float) -> tuple[float, float]:
    """How many standard errors the ends lie below and above a mean; see `interval`."""
    near = (1.0 + 1.0 / n) * float(stdtrit(n - 1, 0.5 + confidence / 2.0))
    tail, far = abs(skewness), near
    if tail > 1e-6:  # below, both are the same to a millionth, and the formula would divide 0 by 0
        far = 3.0 / tail * (1.0 - float(np.cbrt(1.0 - tail * (near + tail / 6.0))))
    return (near, far) if skewness > 0.0 else (far, near)


def _matched(a: pd.Series[float], b: pd.Series[float]) -> pd.Series[float]:
    """`b` in the order of `a`, or `ValueError` where they are not about the same queries."""
    if a.index.equals(b.index):
        return b
    only_a, only_b = a.index.difference(b.index), b.index.difference(a.index)
    if len(only_a) or len(only_b):
        raise ValueError(
            f"The queries differ: {len(only_a)} only in the first ({_some(only_a)}), {len(only_b)} only in "
            f"the second ({_some(only_b)}). Compare models on the same part of the same data."
        )
    if not (a.index.is_unique and b.index.is_unique):
        raise ValueError(
            "Query ids repeat and their order differs, so pairs cannot be told: give both in the same order."
        )
    return b.reindex(a.index)


def _some(queries: pd.Index) -> str:
    """Up to three query ids, or "none"."""
    shown = ", ".join(str(query) for query in queries[:3])
    return f"{shown}, …" if len(queries) > 3 else shown or "none"


def queries_in_words(n: int) -> str:
    """A number of queries: "1 query", "3,000 queries"."""
    return "1 query" if n == 1 else f"{n:,} queries"


def _percent(confidence: float) -> str:
    return f"{100 * confidence:g} %"


def _number(value: float, digits: int = 3) -> str:
    """Fixed decimals with a true minus sign, and no sign on zero."""
    return f"{value:z.{digits}f}".replace("-", "−")
