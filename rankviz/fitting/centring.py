"""Columns that are far from zero beside what they differ by, moved there query by query.

Only differences within a query count, and an offset that a query has in common changes none of them. But
sums of squares see the offset first: at 10⁸ times the differences nothing of these is left of a Hessian.
"""

from __future__ import annotations

import numpy as np

from rankviz.common.arrays import FloatArray, IntArray
from rankviz.features.operator import FeatureOperator

FAR = 1e3
"""Columns further from zero than this times the largest difference within a query are moved: six digits of
squares are lost then, which ten are left of. Others stay as they are, bit by bit."""


def centred(features: FeatureOperator, ptr: IntArray) -> FeatureOperator:
    """Φ with the stored values of each query's first document taken off its columns that are far from zero.

    Scores are off by a constant for each query. All pairs keep their differences, exactly: what is taken off
    is as large as what it is taken from (Sterbenz).
    """
    base = moved_to_zero(features.base, ptr, far_columns(features.base, ptr))
    return features if base is features.base else FeatureOperator(base, features.basis)


def moved_to_zero(base: FloatArray, ptr: IntArray, columns: IntArray) -> FloatArray:
    """The values of each query's first document taken off these columns; base itself where there are none."""
    if len(columns) == 0 or len(base) == 0:
        return base
    base = base.copy()
    base[:, columns] -= np.repeat(base[ptr[:-1]][:, columns], np.diff(ptr), axis=0)
    return base


def far_columns(X: FloatArray, ptr: IntArray) -> IntArray:
    """Columns of X (n, d) that are further from zero than FAR times the largest spread within a query."""
    size = sizes(X)
    longest = int(np.diff(ptr).argmax())  # one query rules most columns out, and looking at all takes longer
    likely: IntArray = np.flatnonzero(size > FAR * np.ptp(X[ptr[longest] : ptr[longest + 1]], axis=0))
    if len(likely) == 0:
        return likely
    far: IntArray = likely[size[likely] > FAR * spreads(X[:, likely], ptr)]
    return far


def sizes(X: FloatArray) -> FloatArray:
    """How far each column of X (n, d) is from zero at most, (d,)."""
    size: FloatArray = np.maximum(X.max(axis=0, initial=0.0), -X.min(axis=0, initial=0.0))
    return size


def spreads(X: FloatArray, ptr: IntArray) -> FloatArray:
    """By how much each column of X (n, d) differs within a query at most, (d,)."""
    if len(X) == 0:
        return np.zeros(X.shape[1])
    starts = ptr[:-1]
    within = np.maximum.reduceat(X, starts, axis=0) - np.minimum.reduceat(X, starts, axis=0)
    spread: FloatArray = within.max(axis=0)
    return spread
