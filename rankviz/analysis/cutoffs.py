"""Metrics at a cut-off, such as NDCG@k, for every k: contestants with intervals."""

from __future__ import annotations

import pandas as pd

from rankviz.analysis.matched import Matched
from rankviz.common.errors import SettingError
from rankviz.metrics.significance import interval


def cutoffs(matched: Matched, metric: str = "NDCG") -> pd.DataFrame:
    """Means over queries at every k, with 95 % intervals.

    Columns method (the look), label, k, value, low, high. Raises `SettingError` where the contestants have
    the metric at no common k.
    """
    names = [name for name in matched.metrics if name.startswith(f"{metric}@")]
    if not names:
        raise SettingError(f"the models have no {metric}@k in common; they have {', '.join(matched.metrics)}")
    tables = {name: matched.by_query(name) for name in names}
    rows = []
    for one in matched.contestants:
        for name, table in tables.items():
            found = interval(table[one.label])
            k = int(name.removeprefix(f"{metric}@"))
            rows.append((matched.looks[one.label], one.label, k, found.mean, found.low, found.high))
    table = pd.DataFrame(rows, columns=["method", "label", "k", "value", "low", "high"])
    return table.sort_values("k", kind="stable", ignore_index=True)
