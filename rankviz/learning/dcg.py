"""Gains, discounts and ideal DCG of losses that approximate NDCG: gain 2^y − 1, discount 1/log₂(rank + 1)."""

from __future__ import annotations

import numpy as np

from rankviz.common.arrays import FloatArray, IntArray
from rankviz.common.errors import SettingError

HIGHEST = 1000
"""Largest grade: 2^y must be finite."""


def gains(y: IntArray) -> FloatArray:
    """Return 2^y − 1, (n,) -> (n,); `SettingError` for grades beyond `HIGHEST`."""
    if y.max(initial=0) > HIGHEST:
        raise SettingError(
            f"NDCG of grades up to {y.max()} has gains 2^y beyond double precision; choose smaller grades"
        )
    gain: FloatArray = np.exp2(y.astype(np.float64)) - 1.0
    return gain


def discounts(most: int) -> FloatArray:
    """Return 1/log₂(rank + 1) of ranks 1 to `most`."""
    found: FloatArray = 1.0 / np.log2(np.arange(2.0, most + 2.0))
    return found


def places(f: FloatArray, ptr: IntArray) -> tuple[IntArray, IntArray]:
    """Return documents in order of query and descending score (file order if equal), and their rank − 1."""
    sizes = np.diff(ptr)
    order = np.lexsort((-f, np.arange(len(sizes)).repeat(sizes)))
    return order, np.arange(len(f)) - ptr[:-1].repeat(sizes)


def ideal(y: IntArray, ptr: IntArray, cutoff: int = 0) -> FloatArray:
    """Return the largest DCG of each query, (Q,), of the first `cutoff` ranks; 0 stands for all."""
    if len(y) == 0:
        return np.zeros(len(ptr) - 1)
    order, rank = places(y.astype(np.float64), ptr)
    terms = gains(y)[order] * discounts(int(np.diff(ptr).max()))[rank]
    if cutoff:
        terms[rank >= cutoff] = 0.0
    best: FloatArray = np.add.reduceat(terms, ptr[:-1])
    return best
