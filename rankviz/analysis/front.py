"""Time and quality: who is beaten in neither, and the cheapest that is about as good as the best."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from rankviz.analysis.matched import Matched
from rankviz.common.arrays import BoolArray, FloatArray
from rankviz.common.errors import SettingError
from rankviz.common.numbers import small
from rankviz.metrics.significance import differences_of, interval

DIGITS = 12
"""Means that differ by less are equal: two ways to sum one differ by 1e-15."""


@dataclass(frozen=True, eq=False)
class Front:
    """What `front` found.

    Attributes
    ----------
    metric : str
    table : DataFrame
        A row for each contestant, from the cheapest on: method (its look), label, seconds (of training, mean
        over runs), mean, low, high, behind (the best's mean less its own), se (standard error of that
        difference over queries), efficient (no other is as cheap and better, or as good and cheaper).
    best, cheapest : str
        Labels: of the highest mean, the cheapest of those that have it, and of the cheapest that is within
        one standard error of it.
    """

    metric: str
    table: pd.DataFrame
    best: str
    cheapest: str

    def sentence(self) -> str:
        """Say which model is the best, and which is about as good for less time."""
        rows = self.table.set_index("label")
        told = {
            label: f"{rows['mean'][label]:.3f} in {small(float(rows['seconds'][label]))} s"
            for label in (self.best, self.cheapest)
        }
        head = f"{self.best} has the best {self.metric}, {told[self.best]}"
        if self.cheapest == self.best:
            return f"{head}; nothing cheaper is within one standard error of it"
        return (
            f"{head}; the cheapest within one standard error of it is {self.cheapest}, {told[self.cheapest]}"
        )


def front(matched: Matched, metric: str) -> Front:
    """Training seconds against a metric.

    "Within one standard error" is breiman1984's rule with the standard error of the paired difference to the
    best: that of the best's own mean is mostly how far queries differ, which all models share. Raises
    `SettingError` where seconds of a contestant are not known, and as `Matched.by_query`.
    """
    unknown = [one.label for one in matched.contestants if not one.seconds > 0]
    if unknown:
        raise SettingError(
            f"the training seconds of {unknown[0]} are not known: run it again, or leave it out"
        )
    values = matched.by_query(metric)
    rows = []
    for one in matched.contestants:
        found = interval(values[one.label])
        rows.append((matched.looks[one.label], one.label, one.seconds, found.mean, found.low, found.high))
    table = pd.DataFrame(rows, columns=["method", "label", "seconds", "mean", "low", "high"])
    table = table.sort_values(["seconds", "mean"], ascending=[True, False], ignore_index=True)
    quality = table["mean"].to_numpy().round(DIGITS)
    best = str(table["label"][quality.argmax()])
    behind = np.column_stack([differences_of(values[best], values[label]) for label in table["label"]])
    table["behind"] = behind.mean(axis=0)
    table["se"] = behind.std(axis=0, ddof=1) / np.sqrt(len(behind)) if len(behind) > 1 else np.nan
    table["efficient"] = efficient(table["seconds"].to_numpy(), quality)
    near = table[(table["behind"] <= table["se"]) | (table["label"] == best)]
    return Front(metric, table, best, str(near["label"].iloc[0]))


def efficient(cost: FloatArray, quality: FloatArray) -> BoolArray:
    """Whether no other point costs as little or less and is as good or better, one of both strictly."""
    better = (cost[:, None] <= cost) & (quality[:, None] >= quality)
    strictly = (cost[:, None] < cost) | (quality[:, None] > quality)
    return np.asarray(~(better & strictly).any(axis=0))
