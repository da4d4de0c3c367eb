"""Paired tests of two models on the same queries, with corrections for several tests.

A test gives the chance of differences this large if both models were equal on every query. The corrections
below are for several tests at once: of twenty tests of equal models, one has p ≤ 0.05 on average.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import stats

from rankviz.common.arrays import FloatArray
from rankviz.datasets.array_checks import real_array
from rankviz.metrics.max_statistic import max_statistic
from rankviz.metrics.significance import Interval, differences_of, interval

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


def _checked(p: ArrayLike) -> FloatArray:
    given = real_array(p, "p-values", "numbers from 0 to 1").astype(np.float64)
    if given.ndim != 1 or not ((given >= 0) & (given <= 1)).all():
        raise ValueError("p-values are numbers from 0 to 1, in a row")
    return given


def _p_of(values: FloatArray, test: Callable[[FloatArray], float]) -> float:
    """Return p of a test of the nonzero differences: 1 without any, NaN with fewer than two queries."""
    moved = values[values != 0]
    if len(values) < 2:
        return math.nan
    return float(test(moved)) if len(moved) else 1.0
