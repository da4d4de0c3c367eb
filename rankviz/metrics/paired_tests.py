"""Paired tests of two models on the same queries, and what several of them at once are worth.

A test asks how often differences as large as those seen would come about if both models were alike on every
query. Who compares many models and reports the smallest p-value needs the corrections below: of twenty tests
of models that are alike, one says 0.05.
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
"""One metric, or a column for each of several."""


@dataclass(frozen=True)
class PairedTests:
    """What queries say of the difference a − b, by the usual tests, two-sided.

    Attributes
    ----------
    interval : Interval
        Of the mean difference, see `significance.interval`.
    randomisation : float
        p of the randomisation test (smucker2007): the mean of differences whose signs are drawn anew. Of up
        to 13 queries whose values differ it is exact.
    wilcoxon : float
        p of Wilcoxon's signed ranks. Queries on which both are even are left out. Differences of the same
        size share a rank, also where rounding sets them apart.
    t : float
        p of Student's t; it takes differences for normal ones.
    effect : float
        The mean difference in standard deviations of the differences (Cohen's d of pairs); NaN where these
        are all the same.
    better, worse, even : int
        Queries on which a is better, worse, as good.
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
    """Test two models by one metric, query by query; values by query id as in `significance.compare`.

    Where every query is even all p-values are 1; with fewer than two queries they are NaN. For 10·a and 10·b
    all is the same but the interval. Raises ValueError as `compare` does.

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
    """One value for each query of values by fold, query and seed (levels of these names, seed perhaps).

    Seeds of a query are no further queries: they are averaged first. Queries of folds stand beside one
    another where each is in the test part of one fold only, as in LETOR.
    Raises ValueError where the index has no level "query", or a query comes twice with one fold and seed.
    """
    if "query" not in values.index.names:
        raise ValueError(f"values need an index with a level “query”; theirs has {list(values.index.names)}")
    if not values.index.is_unique:
        raise ValueError("a query has several values for the same fold and seed")
    levels = [name for name in values.index.names if name != "seed"]
    return values.groupby(level=levels, sort=False).mean()


def holm(p: ArrayLike) -> FloatArray:
    """p-values (k,) adjusted so that one below α is wrong in at most α of all such families (holm1979).

    Sorted, p₍ᵢ₎ becomes the largest of (k − j + 1) p₍ⱼ₎ over j ≤ i, at most 1. Raises ValueError for values
    that are no p-values.
    """
    given = _checked(p)
    order = np.argsort(given, kind="stable")
    raised = np.maximum.accumulate((len(given) - np.arange(len(given))) * given[order])
    found = np.empty_like(given)
    found[order] = np.minimum(raised, 1.0)
    return found


def benjamini_hochberg(p: ArrayLike) -> FloatArray:
    """p-values (k,) adjusted so that of those below α at most a share α is wrong on average (benjamini1995).

    Raises ValueError for values that are no p-values.
    """
    found: FloatArray = stats.false_discovery_control(_checked(p), method="bh")
    return found


def _checked(p: ArrayLike) -> FloatArray:
    given = real_array(p, "p-values", "numbers from 0 to 1").astype(np.float64)
    if given.ndim != 1 or not ((given >= 0) & (given <= 1)).all():
        raise ValueError("p-values are numbers from 0 to 1, in a row")
    return given


def _p_of(values: FloatArray, test: Callable[[FloatArray], float]) -> float:
    """p of a test of the differences that are not 0: 1 without any, NaN with fewer than two queries."""
    moved = values[values != 0]
    if len(values) < 2:
        return math.nan
    return float(test(moved)) if len(moved) else 1.0
