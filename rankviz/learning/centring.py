"""Shift of columns with large offsets towards zero, query by query.

Only differences within a query matter; an offset common to a query changes none of them. But sums of squares
contain the offset. At 10⁸ times the differences, a Hessian loses all their digits.
"""

from __future__ import annotations

import numpy as np

from rankviz.common.arrays import FloatArray, IntArray
from rankviz.features.operator import FeatureOperator

FAR = 1e3
"""Columns are shifted if their largest value exceeds this times the largest difference within a query.
Squares then lose six digits and keep ten. Other columns stay the same bit by bit."""


def centred(features: FeatureOperator, ptr: IntArray) -> FeatureOperator:
    """Return Φ with each query's first row subtracted, in columns with large offsets.

    Scores change by a constant for each query. All differences of pairs stay exact, because both numbers of
    each subtraction have a similar size (Sterbenz).
    """
    base = moved_to_zero(features.base, ptr, far_columns(features.base, ptr))
    return features if base is features.base else FeatureOperator(base, features.basis)


def moved_to_zero(base: FloatArray, ptr: IntArray, columns: IntArray) -> FloatArray:
    """Subtract each query's first row in these columns; return base itself if there are none."""
    if len(columns) == 0 or len(base) == 0:
        return base
    base = base.copy()
    base[:, columns] -= np.repeat(base[ptr[:-1]][:, columns], np.diff(ptr), axis=0)
    return base


def far_columns(X: FloatArray, ptr: IntArray) -> IntArray:
    """Return the columns of X (n, d) whose size exceeds FAR times the largest spread within a query."""
    size = sizes(X)
    longest = int(np.diff(ptr).argmax())  # one query excludes most columns; checking all takes longer
    likely: IntArray = np.flatnonzero(size > FAR * np.ptp(X[ptr[longest] : ptr[longest + 1]], axis=0))
    if len(likely) == 0:
        return likely
    far: IntArray = likely[size[likely] > FAR * spreads(X[:, likely], ptr)]
    return far


def sizes(X: FloatArray) -> FloatArray:
    """Return the largest absolute value of each column of X (n, d), (d,)."""
    size: FloatArray = np.maximum(X.max(axis=0, initial=0.0), -X.min(axis=0, initial=0.0))
    return size


def spreads(X: FloatArray, ptr: IntArray) -> FloatArray:
    """Return the largest difference within a query for each column of X (n, d), (d,)."""
    if len(X) == 0:
        return np.zeros(X.shape[1])
    starts = ptr[:-1]
    within = np.maximum.reduceat(X, starts, axis=0) - np.minimum.reduceat(X, starts, axis=0)
    spread: FloatArray = within.max(axis=0)
    return spread
