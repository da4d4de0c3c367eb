"""Confidence interval of a mean over queries, and paired comparison of two models.

Two models scored on the same queries are compared by their differences per query. Effects of easy and hard
queries cancel in the differences; separate intervals of both means would include them.
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
from rankviz.common.numbers import interval_in_words, with_minus
from rankviz.datasets.array_checks import real_array
from rankviz.metrics.formulas import direction

METHOD = "Student's t over queries, with the end on the side of the longer tail moved out"
"""Name of the interval method, for captions and help texts."""
ROUNDING = 1e-12  # relative to the largest value: rounding differs by 1e-15, rankings by 1e-6 or more
CROSSED = "over queries and draws together, with the end on the side of the longer tail moved out"
"""Name of the interval method, for captions."""


@dataclass(frozen=True)
class Interval:
    """A mean over queries with its interval.

    Attributes
    ----------
    mean, low, high : float
        The mean and its interval, in the values' own units. The mean of no queries is NaN. Both ends are NaN
        with too few queries; see `interval`.
    confidence : float
        Nominal coverage, such as 0.95.
    n_queries : int
        Number of queries counted.
    """

    mean: float
    low: float
    high: float
    confidence: float
    n_queries: int

    @property
    def known(self) -> bool:
        """True if the queries are enough for an interval."""
        return not math.isnan(self.low)

    def __str__(self) -> str:
        return (
            f"{with_minus(self.mean, 'z.3f')} ({self.in_words('z.3f')}, {queries_in_words(self.n_queries)})"
        )

    def in_words(self, form: str = "+z.3f") -> str:
        """Format both ends for a sentence, or say that queries are too few; see `interval_in_words`."""
        return interval_in_words(self.low, self.high, form, _percent(self.confidence))


@dataclass(frozen=True)
class Comparison:
    """The mean of the differences a − b over queries, and its interpretation.

    Attributes
    ----------
    interval : Interval
        Interval of the mean difference.
    n_uneven : int or None
        Queries with a nonzero difference. None means unknown: all are assumed.
    """

    interval: Interval
    n_uneven: int | None = None

    @property
    def difference(self) -> float:
        """Return the mean of a − b over the queries."""
        return self.interval.mean

    @property
    def n_queries(self) -> int:
        """Number of queries compared."""
        return self.interval.n_queries

    @property
    def n_needed(self) -> int:
        """Return the fewest queries with nonzero differences for a decision; see `queries_needed`."""
        return queries_needed(self.interval.confidence)

    @property
    def distinguishable(self) -> bool:
        """True if at least `n_needed` differences are nonzero and the interval exists and excludes 0."""
        uneven = self.n_queries if self.n_uneven is None else self.n_uneven
        return uneven >= self.n_needed and (self.interval.low > 0.0 or self.interval.high < 0.0)

    def verdict(self, metric: str) -> int:
        """Return 1 if a is better than b by this metric, −1 if it is worse, 0 if not distinguishable."""
        return int(np.sign(self.difference)) * direction(metric) if self.distinguishable else 0

    def _few(self) -> str:
        """Mention how few queries differ, if too few for a decision; "" otherwise."""
        if self.n_uneven is None or self.n_uneven >= self.n_needed:
            return ""
        return f", of which {self.n_uneven or 'none'} differ{'s' * (self.n_uneven < 2)}"

    def effect(self, metric: str) -> str:
        """Say in short how far a is from b: "NDCG@10 +0.008 [−0.003, +0.018], 40 queries: significant"."""
        queries, ends, form = queries_in_words(self.n_queries), "", self.form
        if self.interval.known:
            ends = f" [{with_minus(self.interval.low, form)}, {with_minus(self.interval.high, form)}]"
        verdict = "significant" if self.distinguishable else "no significant difference"
        if self.n_queries < self.n_needed or not self.interval.known:
            verdict = f"too few {'queries' if self.n_queries < self.n_needed else 'differences'} to decide"
        less = " (less is better)" * (direction(metric) < 0)
        return f"{metric}{less} {with_minus(self.difference, form)}{ends}, {queries}: {verdict}"

    @property
    def form(self) -> str:
        """Format of the difference and its interval: 3 decimals, or more, so that no end is printed as 0."""
        return f"+z.{self._digits()}f"

    def _digits(self) -> int:
        """Return the decimals with which an interval that excludes 0 does not end in 0.000; else 3."""
        near = min(abs(self.interval.low), abs(self.interval.high))
        return max(3, math.ceil(-math.log10(near))) if self.distinguishable else 3

    def sentence(self, name_a: str, name_b: str, metric: str) -> str:
        """Say that a is better or worse than b and by how much, or that they do not differ significantly."""
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
                f"By {metric}, {name_a} does not differ significantly from {name_b} with {queries}"
                f"{self._few()} (difference {with_minus(self.difference, '+z.3f')}, {ends})"
            )
        word = "better" if self.verdict(metric) > 0 else "worse"
        (near, far), digits = sorted((abs(low), abs(high))), self._digits()
        return (
            f"{name_a} is {word} than {name_b} by {abs(self.difference):.{digits}f} {metric} "
            f"({level} interval [{near:.{digits}f}, {far:.{digits}f}], {queries})"
        )


def compare(
    a: pd.Series[float],
    b: pd.Series[float],
    *,
    confidence: float = 0.95,
) -> Comparison:
    """Compare two models by one metric: the mean of a − b over queries, and its paired interval.

    `a` and `b` hold the metric by query id (a column of `Evaluation.per_query`), in any order; repeated ids
    need the same order. A query that is NaN in both is left out. See `differences_of` and :func:`interval`.
    Swapping a and b mirrors the interval.

    Raises `ValueError` if the queries differ, one value of a pair is missing, or values have no ids.
    """
    found = differences_of(a, b)
    values = interval(found, confidence=confidence)
    return Comparison(values, int(np.count_nonzero(np.nan_to_num(found))))


def differences_of(a: pd.Series[float], b: pd.Series[float]) -> FloatArray:
    """Return the differences a − b (Q,) by query id, with equal sizes tied; ValueError like `compare`.

    Sizes within 1e-12 of the largest value in a and b count as equal, like 0.3 − 0.2 and 0.2 − 0.1; see
    `tied`.
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


def interval(values: ArrayLike, *, confidence: float = 0.95) -> Interval:
    """Return the mean of per-query `values` (Q,) with its interval over queries; NaN values are left out.

    Let n values have mean m, standard error σ and skewness γ·√(n − 1). Both ends are m ± σT with T = (1 +
    1/n)·t. Here t is the quantile of Student's distribution with n − 1 degrees of freedom. The end on the
    side of the longer tail then moves out to σ·(3/|γ|)·(1 − ∛(1 − |γ|·(T + |γ|/6))) from m. This is Hall's
    correction for skewness (hall1992). The other end stays, because a sample may be skewed by chance.

    The factor 1 + 1/n was found by simulation. In samples of 8 to 106 values of nine shapes, 95 % intervals
    cover the mean in 93 to 100 of 100 cases (benchmarks/results/intervals.md). For normal values they are
    42 % wider than Student's with 8 queries, 9 % with 21, 2 % with 106.

    Both ends are NaN if values are too few, or too many are equal; see `enough`.

    Raises `ValueError` for infinite values, an array that is not a vector, or a confidence outside (0, 1).
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
    """Return the mean of values (D, n) with its interval; for one row, see `interval`.

    For several rows, the squared error is that of resampling rows and columns separately (owen2007): s_c²/(n
    − 1) + s_r²/D + s_e²/(D n), with the variances of columns, rows and residuals.
    """
    draws, n = table.shape
    mean = float(table.mean()) if n else math.nan
    if not enough(tied(table.mean(axis=0), largest(table)), confidence):
        return Interval(mean, math.nan, math.nan, confidence, n)
    unit = largest(table - mean)  # scale first: cubes of very small or large values under- or overflow
    scaled = (table - mean) / unit
    columns, rows = scaled.mean(axis=0), scaled.mean(axis=1)
    rest = scaled - columns - rows[:, None]
    variance = (columns**2).mean() / (n - 1) + (rows**2).mean() / draws + (rest**2).mean() / (draws * n)
    third = (columns**3).mean() / (n - 1) ** 2 + (rows**3).mean() / draws**2
    below, above = _reach(float(third / variance**1.5), n, confidence)
    error = unit * math.sqrt(variance)
    return Interval(mean, mean - error * below, mean + error * above, confidence, n)


def crossed_interval(values: FloatArray, *, confidence: float = 0.95) -> Interval:
    """Return the mean of values (draws, Q) with an interval that treats draws and queries as random.

    Columns with NaN are left out: the definition leaves out these queries. With one draw the interval is over
    queries alone. Otherwise it is conservative (owen2007); see
    `rankviz.metrics.significance.interval_of_table`. Raises ValueError unless values are a table with at
    least one row.
    """
    if values.ndim != 2 or len(values) == 0:
        raise ValueError("give a table of draws by queries, with at least one row")
    return interval_of_table(values[:, ~np.isnan(values).any(axis=0)], confidence)


def enough(values: FloatArray, confidence: float) -> bool:
    """Return True if values (n,) suffice for an interval: `queries_needed`, and not too many are equal.

    If the commonest value occurs c times, (c/n)^n must be at most (1 − confidence)/2. This is the share of
    resamples that contain only this value and so have no spread. At 95 %, four of 21 values must differ from
    the commonest one.
    """
    n = len(values)
    if n < queries_needed(confidence):
        return False
    commonest = np.unique(values, return_counts=True)[1].max()
    return bool((commonest / n) ** n <= (1.0 - confidence) / 2.0)


def queries_needed(confidence: float = 0.95) -> int:
    """Return the fewest queries for a decision: 2^(1 − n) ≤ 1 − confidence, 6 at 95 %.

    With fewer, chance alone (a fair coin for each query) gives all differences the same sign more often than
    1 − confidence.
    """
    return 1 + math.ceil(-math.log2(1.0 - confidence))


def leader(values: pd.Series[float], metric: str) -> Any:
    """Return the label of the best of several means, the first one in a tie; some may be NaN."""
    return pd.Series(direction(metric) * tied(values.to_numpy(np.float64)), values.index).idxmax()


def largest(*values: NDArray[np.floating[Any]]) -> float:
    """Return the largest absolute value; 0 if there is none."""
    return max(float(np.nanmax(np.abs(one), initial=0.0)) for one in values)


def tied(values: NDArray[np.floating[Any]], scale: float | None = None) -> FloatArray:
    """Return values (n,) after making those equal that differ by rounding only.

    In order of size, a value takes the size of its predecessor if they differ by less than 1e-12·`scale`. The
    smallest is compared with 0. Signs and NaN stay. The default `scale` is the largest size.
    """
    scale = largest(values) if scale is None else scale
    size = np.abs(values)
    order = np.argsort(size, kind="stable")
    apart = np.diff(size[order], prepend=0.0) > ROUNDING * scale
    found = np.empty_like(size)
    found[order] = np.maximum.accumulate(np.where(apart, size[order], 0.0))
    return np.where(np.isnan(values), np.nan, np.where(values < 0.0, -found, found)) + 0.0  # no −0


def _reach(skewness: float, n: int, confidence: float) -> tuple[float, float]:
    """Return the distances of both ends from the mean, in standard errors; see `interval`."""
    near = (1.0 + 1.0 / n) * float(stdtrit(n - 1, 0.5 + confidence / 2.0))
    tail, far = abs(skewness), near
    if tail > 1e-6:  # below, both agree to 1e-6, and the formula would divide 0 by 0
        far = 3.0 / tail * (1.0 - float(np.cbrt(1.0 - tail * (near + tail / 6.0))))
    return (near, far) if skewness > 0.0 else (far, near)


def _matched(a: pd.Series[float], b: pd.Series[float]) -> pd.Series[float]:
    """Return `b` in the order of `a`; raise `ValueError` if their queries differ."""
    if a.index.equals(b.index):
        return b
    only_a, only_b = a.index.difference(b.index), b.index.difference(a.index)
    if len(only_a) or len(only_b):
        raise ValueError(
            f"The queries differ: {len(only_a)} only in the first ({_some(only_a)}), {len(only_b)} only in "
            f"the second ({_some(only_b)}). Compare models on the same part of the same data."
        )
    if not (a.index.is_unique and b.index.is_unique):
        raise ValueError("Query ids repeat and their order differs: give both in the same order.")
    return b.reindex(a.index)


def _some(queries: pd.Index) -> str:
    """List up to three query ids, or "none"."""
    shown = ", ".join(str(query) for query in queries[:3])
    return f"{shown}, …" if len(queries) > 3 else shown or "none"


def queries_in_words(n: int) -> str:
    """Format a number of queries: "1 query", "3,000 queries"."""
    return "1 query" if n == 1 else f"{n:,} queries"


def _percent(confidence: float) -> str:
    return f"{100 * confidence:g} %"
