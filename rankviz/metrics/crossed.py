"""Intervals of means over queries and over draws at once: both were drawn, and both vary."""

from __future__ import annotations

import numpy as np

from rankviz.common.arrays import FloatArray
from rankviz.metrics.significance import Interval, interval_of_table

CROSSED = "over queries and draws together, with the end on the side of the longer tail moved out"
"""The kind of intervals, in words for captions."""


def crossed_interval(values: FloatArray, *, confidence: float = 0.95) -> Interval:
    """Return the mean of values (draws, Q) with an interval that counts both draws and queries as drawn.

    Columns with NaN, queries that a definition leaves out, are left out. With one draw it is the interval
    over queries alone. Otherwise it errs on the wide side (owen2007); see
    `rankviz.metrics.significance.interval_of_table`. Raises ValueError for values that are no such table.
    """
    if values.ndim != 2 or len(values) == 0:
        raise ValueError("values of draws by queries are needed, one row at least")
    return interval_of_table(values[:, ~np.isnan(values).any(axis=0)], confidence)
