"""Confidence intervals of means over queries and draws, both taken as random samples."""

from __future__ import annotations

import numpy as np

from rankviz.common.arrays import FloatArray
from rankviz.metrics.significance import Interval, interval_of_table

CROSSED = "over queries and draws together, with the end on the side of the longer tail moved out"
"""Name of the interval method, for captions."""


def crossed_interval(values: FloatArray, *, confidence: float = 0.95) -> Interval:
    """Return the mean of values (draws, Q) with an interval that treats draws and queries as random.

    Columns with NaN are left out: the definition leaves out these queries. With one draw the interval is over
    queries alone. Otherwise it is conservative (owen2007); see
    `rankviz.metrics.significance.interval_of_table`. Raises ValueError unless values are a table with at
    least one row.
    """
    if values.ndim != 2 or len(values) == 0:
        raise ValueError("values of draws by queries are needed, one row at least")
    return interval_of_table(values[:, ~np.isnan(values).any(axis=0)], confidence)
