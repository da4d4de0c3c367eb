"""Paired tests of models on the same queries, with corrections for several tests.

A test gives the chance of differences this large if both models were equal on every query. Of twenty tests of
equal models, one has p ≤ 0.05 on average, so several tests need a correction. `max_statistic` compares many
candidates with one baseline: it uses the correlation between candidates, such as models with neighbouring C,
where Holm's correction assumes the worst case.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeVar

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from rankviz.common.arrays import FloatArray
from rankviz.datasets.array_checks import real_array
from rankviz.metrics.significance import Interval, differences_of, interval

Signs = NDArray[np.int8]
"""Signs 1 and −1."""
_BATCH = 500  # draws per block
_KEPT = 10_000_000  # cached signs, 10 MB: up to 1,000 queries with the usual 9,999 draws
_ROUNDING = 1e-9  # of a statistic: sums of the same numbers in another order count as ties
Values = TypeVar("Values", "pd.Series[float]", pd.DataFrame)
"""One metric, or one column per metric."""


@dataclass(frozen=True)
class PairedTests:
    """Results of the usual two-sided tests of the difference a − b.

    Attributes
    ----------
    interval : Interval
        Interval of the mean difference, see `significance.interval`.
    randomisation : float
        p of the randomisation test (smucker2007): the mean difference under random signs. It is exact for up
        to 13 queries with nonzero differences.
    wilcoxon : float
        p of Wilcoxon's signed ranks. Queries with difference 0 are left out. Differences of equal size share
        a rank, also if only rounding separates them.
    t : float
        p of Student's t, which assumes normal differences.
    effect : float
        The mean difference in standard deviations of the differences (Cohen's d of pairs); NaN if all
        differences are equal.
    better, worse, even : int
        Number of queries on which a is better, worse or equal.
    """

    interval: Interval
    randomisation: float
    wilcoxon: float
    t: float
    effect: float
    better: int
    worse: int
    even: int


def paired_tests(
    a: pd.Series[float], b: pd.Series[float], *, n_resamples: int = 9999, seed: int = 0
) -> PairedTests:
    """Test two models by one metric on the same queries; values by query id as in `significance.compare`.

    If all differences are 0, all p-values are 1; with fewer than two queries they are NaN. Scaling a and b by
    the same factor changes only the interval. Raises ValueError like `compare`.

    Examples
    --------
    >>> import pandas as pd
    >>> from rankviz.metrics.paired_tests import paired_tests
    >>> a = pd.Series([0.5, 0.7, 0.9, 0.4, 0.6], index=range(5))
    >>> found = paired_tests(a, a - [0.1, 0.2, 0.1, 0.3, 0.2])
    >>> found.randomisation, found.wilcoxon, found.better
    (0.0625, 0.0625, 5)
    """
    values = differences_of(a, b)
    values = values[~np.isnan(values)]
    spread = float(values.std(ddof=1)) if len(values) and np.ptp(values) > 0 else 0.0
    return PairedTests(
        interval(values),
        randomisation=float(max_statistic(values[:, None], n_resamples=n_resamples, seed=seed)[0]),
        wilcoxon=_p_of(values, lambda moved: float(stats.wilcoxon(moved).pvalue)),
        t=_p_of(values, lambda _: float(stats.ttest_1samp(values, 0.0).pvalue) if spread > 0 else 0.0),
        effect=float(values.mean()) / spread if spread > 0 else math.nan,
        better=int((values > 0).sum()),
        worse=int((values < 0).sum()),
        even=int((values == 0).sum()),
    )


def mean_over_seeds(values: Values) -> Values:
    """Average values over seeds: one value per query and fold (index levels fold, query, and perhaps seed).

    Seeds do not multiply queries, so they are averaged first. Queries of all folds are kept: in LETOR each is
    in the test part of one fold only.
    Raises ValueError if the index has no level "query", or repeats a query with the same fold and seed.
    """
    if "query" not in values.index.names:
        raise ValueError(f"values need an index with a level “query”; theirs has {list(values.index.names)}")
    if not values.index.is_unique:
        raise ValueError("a query has several values for the same fold and seed")
    levels = [name for name in values.index.names if name != "seed"]
    return values.groupby(level=levels, sort=False).mean()


def max_statistic(differences: ArrayLike, *, n_resamples: int = 9999, seed: int = 0) -> FloatArray:
    """Return p-values (k,) of k candidates by their differences (Q, k) to a baseline, adjusted for all k.

    T_j = |Σ_q d_qj| / √(Σ_q d_qj²) increases with Student's |t|. Each draw flips the signs of whole rows at
    random, because under the null hypothesis d_q and −d_q are equally likely. The p of the largest T is the
    share of draws whose largest T* reaches it. Each next p uses only that candidate and those with smaller T.
    p never decreases along this order (westfall1993 algorithm 4.1). The chance of any false positive below α
    is at most α (romano2005). Two-sided.
    With few queries the test enumerates all signs; otherwise the observed data count as one draw. Queries
    with NaN for every candidate are left out. A candidate that equals the baseline on every query has p = 1.
    With fewer than two queries all p are NaN.

    Raises ValueError unless differences are a finite numeric table with NaN only in whole rows.
    """
    d = _checked_differences(differences)
    n, k = d.shape
    if n < 2:
        return np.full(k, math.nan)
    norm = np.sqrt((d**2).sum(axis=0))
    found = np.ones(k)
    moved = np.flatnonzero(norm > 0)
    if len(moved) == 0:
        return found
    unit = d[:, moved] / norm[moved]
    seen = np.abs(unit.sum(axis=0))
    order = np.argsort(-seen, kind="stable")
    p = _shares(unit[:, order], seen[order], n_resamples, seed)
    found[moved[order]] = np.maximum.accumulate(p)
    return found


def _checked_differences(differences: ArrayLike) -> FloatArray:
    given = real_array(differences, "differences", "one real number for each query and candidate")
    d = given.astype(np.float64)
    if d.ndim != 2 or d.shape[1] == 0 or np.isinf(d).any():
        raise ValueError("differences need a row of finite numbers for each query, one for each candidate")
    missing = np.isnan(d)
    if (missing.any(axis=1) != missing.all(axis=1)).any():
        raise ValueError("a query has a value for some candidates only: compare them on the same queries")
    kept: FloatArray = d[~missing.all(axis=1)]
    return kept


def _shares(unit: FloatArray, seen: FloatArray, n_resamples: int, seed: int) -> FloatArray:
    """Return, for columns by falling statistic, how often the largest of it and later columns reaches it."""
    uneven = unit.any(axis=1)
    exact = 2 ** int(uneven.sum()) <= n_resamples
    if exact:
        unit, blocks = unit[uneven], iter([_all_signs(int(uneven.sum()))])
    else:
        blocks = _drawn_signs(len(unit), n_resamples, seed)
    count, total = np.zeros(len(seen)), 0
    for signs in blocks:
        drawn = np.abs(signs.astype(np.float64) @ unit)
        largest = np.maximum.accumulate(drawn[:, ::-1], axis=1)[:, ::-1]
        count += (largest >= seen - _ROUNDING).sum(axis=0)
        total += len(signs)
    return count / total if exact else (count + 1) / (total + 1)


def _all_signs(n: int) -> Signs:
    """Return every row of n signs."""
    bits = (np.arange(2**n)[:, None] >> np.arange(n)) & 1
    return (1 - 2 * bits).astype(np.int8)


def _drawn_signs(n: int, n_resamples: int, seed: int) -> Iterator[Signs]:
    """Yield blocks of rows of n signs (s, n); the same for the same n and seed."""
    if n * n_resamples <= _KEPT:
        return iter(_kept_signs(n, n_resamples, seed))
    return _new_signs(n, n_resamples, seed)


def _new_signs(n: int, n_resamples: int, seed: int) -> Iterator[Signs]:
    rng = np.random.default_rng(seed)
    for start in range(0, n_resamples, _BATCH):
        yield np.asarray(1 - 2 * rng.integers(0, 2, (min(_BATCH, n_resamples - start), n), dtype=np.int8))


@lru_cache(maxsize=2)
def _kept_signs(n: int, n_resamples: int, seed: int) -> list[Signs]:
    """Return all draws, cached: pages run dozens of tests on the same few queries."""
    return list(_new_signs(n, n_resamples, seed))


def _checked(p: ArrayLike) -> FloatArray:
    given = real_array(p, "p-values", "numbers from 0 to 1").astype(np.float64)
    if given.ndim != 1 or not ((given >= 0) & (given <= 1)).all():
        raise ValueError("p-values must be a list of numbers from 0 to 1")
    return given


def _p_of(values: FloatArray, test: Callable[[FloatArray], float]) -> float:
    """Return p of a test of the nonzero differences: 1 without any, NaN with fewer than two queries."""
    moved = values[values != 0]
    if len(values) < 2:
        return math.nan
    return float(test(moved)) if len(moved) else 1.0


def holm(p: ArrayLike) -> FloatArray:
    """Return adjusted p-values (k,): the chance of any false positive below α is at most α (holm1979).

    After sorting, p₍ᵢ₎ becomes the largest of (k − j + 1) p₍ⱼ₎ over j ≤ i, at most 1. Raises ValueError for
    values outside [0, 1].
    """
    given = _checked(p)
    order = np.argsort(given, kind="stable")
    raised = np.maximum.accumulate((len(given) - np.arange(len(given))) * given[order])
    found = np.empty_like(given)
    found[order] = np.minimum(raised, 1.0)
    return found


def benjamini_hochberg(p: ArrayLike) -> FloatArray:
    """Return p-values (k,) adjusted for an expected share of false positives ≤ α below α (benjamini1995).

    Raises ValueError for values outside [0, 1].
    """
    found: FloatArray = stats.false_discovery_control(_checked(p), method="bh")
    return found
