"""Comparison of several candidates with one baseline on the same queries.

The best of many candidates looks better than the baseline by chance alone. The test computes the null
distribution of the largest statistic. It uses the correlation between candidates, such as models with
neighbouring C; Holm's correction assumes the worst case.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankviz.common.arrays import FloatArray
from rankviz.datasets.array_checks import real_array

Signs = NDArray[np.int8]
"""Signs 1 and −1."""

_BATCH = 500  # draws per block
_KEPT = 10_000_000  # cached signs, 10 MB: up to 1,000 queries with the usual 9,999 draws
_ROUNDING = 1e-9  # of a statistic: sums of the same numbers in another order count as ties


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
    d = _checked(differences)
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


def _checked(differences: ArrayLike) -> FloatArray:
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
