"""Kernel errors over seeds: means, ranges, fitted powers of m, and the better of two maps."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from rankviz.analysis.kernel_error import Variant

FLOOR = 1e-9
"""Relative errors below this are near the jitter on the landmarks' kernel (1e-10); slopes omit them."""
DECIDING = 4
"""Draws of each of two maps from which disjoint ranges of errors are significant.

With n draws each from one distribution, all of one lie below all of the other with probability 2·(n!)²/(2n)!:
0.1 for 3 draws, 0.03 for 4.
"""


@dataclass(frozen=True)
class Slope:
    """The line log error = exponent · log m + constant through mean errors, least squares.

    Attributes
    ----------
    exponent : float
    constant : float
        Natural logarithm of the error at m = 1.
    first, last : int
        The smallest and the largest fitted m.
    """

    exponent: float
    constant: float
    first: int
    last: int

    @property
    def level(self) -> bool:
        """True if the error hardly changes with m: |exponent| < 0.05."""
        return abs(self.exponent) < 0.05

    def at(self, m: float) -> float:
        """Return the fitted error at m."""
        return float(np.exp(self.constant + self.exponent * np.log(m)))


def over_seeds(table: pd.DataFrame, norm: str) -> pd.DataFrame:
    """Return errors in one norm over seeds: columns map, choice, m, used, mean, low (min), high (max)."""
    groups = table.groupby(["map", "choice", "m"], sort=False)
    columns = {
        "used": groups["used"].min(),
        "mean": groups[norm].mean(),
        "low": groups[norm].min(),
        "high": groups[norm].max(),
    }
    return pd.DataFrame(columns).reset_index()


def fitted_slope(
    summary: pd.DataFrame, name: str, below: int | None = None, choice: str | None = None
) -> Slope | None:
    """Fit log mean error against log m for one map of `over_seeds`; None with fewer than 3 points.

    `choice` selects one of several variants. Errors below FLOOR are left out, and m ≥ `below`: there all
    distinct documents are landmarks and nothing is approximated.
    """
    rows = summary[(summary["map"] == name) & (summary["mean"] > FLOOR)]
    if choice is not None:
        rows = rows[rows["choice"] == choice]
    if below is not None:
        rows = rows[rows["m"] < below]
    if len(rows) < 3:
        return None
    exponent, constant = np.polyfit(np.log(rows["m"]), np.log(rows["mean"]), 1)
    return Slope(float(exponent), float(constant), int(rows["m"].min()), int(rows["m"].max()))


def at(summary: pd.DataFrame, variant: Variant, m: int) -> pd.Series:
    """Return the row of one map and m of `over_seeds`."""
    own = (summary["map"] == variant.map) & (summary["choice"] == variant.choice) & (summary["m"] == m)
    return summary[own].iloc[0]


def lower(summary: pd.DataFrame, first: Variant, second: Variant, m: int) -> Variant | None:
    """Return the map with errors below all of the other's at m; None if their ranges overlap.

    With `DECIDING` draws of each, chance alone does this less than once in 20.
    """
    one, other = at(summary, first, m), at(summary, second, m)
    if one["high"] < other["low"]:
        return first
    return second if other["high"] < one["low"] else None
