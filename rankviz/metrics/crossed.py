"""Intervals of means over queries and over draws at once: both were drawn, and both vary."""

from __future__ import annotations

import math

import numpy as np
from scipy import stats

from rankviz.common.arrays import FloatArray
from rankviz.metrics.significance import Interval

RESAMPLES = 4999

CROSSED = "percentile bootstrap over queries and draws, widened for few queries"
"""The kind of intervals, in words for captions."""


def crossed_interval(values: FloatArray, *, confidence: float = 0.95, seed: int = 0) -> Interval:
    """Mean of values (draws, Q) with an interval from resampling draws and queries, each by themselves.

    Columns with NaN, queries that a definition leaves out, are left out. With one draw it is over queries
    alone; the level is widened for few queries as `rankviz.metrics.significance.interval` does. Resampling
    both ways errs on the wide side (owen2007 calls it the pigeonhole bootstrap). Raises ValueError for values
    that are no such table.
    """
    if values.ndim != 2 or len(values) == 0:
        raise ValueError("values of draws by queries are needed, one row at least")
    kept = values[:, ~np.isnan(values).any(axis=0)]
    draws, n = kept.shape
    mean = float(kept.mean()) if n else math.nan
    if n < 2:
        return Interval(mean, math.nan, math.nan, confidence, n)
    rng = np.random.default_rng(seed)
    by_draw = rng.multinomial(draws, np.full(draws, 1 / draws), RESAMPLES) / draws
    by_query = rng.multinomial(n, np.full(n, 1 / n), RESAMPLES) / n
    means = np.einsum("bq,bq->b", by_draw @ kept, by_query)
    t = stats.t.ppf(0.5 + confidence / 2.0, n - 1)
    tail = float(stats.norm.sf(t * math.sqrt(n / (n - 1))))
    low, high = np.quantile(means, (tail, 1.0 - tail))
    return Interval(mean, float(low), float(high), confidence, n)
