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
    columns = far_columns(features.base, ptr)
    if len(columns) == 0:
        return features
    base = features.base.copy()
    base[:, columns] -= np.repeat(base[ptr[:-1]][:, columns], np.diff(ptr), axis=0)
    return FeatureOperator(base, features.basis)


def far_columns(X: FloatArray, ptr: IntArray) -> IntArray:
    """Columns of X (n, d) that are further from zero than FAR times the largest spread within a query."""
    size = np.maximum(X.max(axis=0, initial=0.0), -X.min(axis=0, initial=0.0))
    longest = int(np.diff(ptr).argmax())  # one query rules most columns out, and looking at all takes longer
    likely: IntArray = np.flatnonzero(size > FAR * np.ptp(X[ptr[longest] : ptr[longest + 1]], axis=0))
    if len(likely) == 0:
        return likely
    columns, starts = X[:, likely], ptr[:-1]
    spread = np.maximum.reduceat(columns, starts, axis=0) - np.minimum.reduceat(columns, starts, axis=0)
    far: IntArray = likely[size[likely] > FAR * spread.max(axis=0)]
    return far
