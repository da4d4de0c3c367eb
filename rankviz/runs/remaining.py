"""Remaining time of a run: predicted first, then extrapolated from its own Newton steps."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from rankviz.runs.estimate import in_words

BELIEVED = 1.5
"""Factor by which an extrapolation must differ to replace the shown time, so that it stays stable."""


GROWTH = 1.5
"""Growth of a Newton step's gain, in logarithms, over the previous step's: convergence accelerates."""


class Remaining:
    """Remaining seconds of one run, counted down between Newton steps and corrected by them.

    Parameters
    ----------
    predicted : float
        Estimated seconds of the run.
    tol : float or None
        The solver's tolerance: Newton decrement over objective. None disables extrapolation.
    now : float
        Seconds on the same clock as in later calls.
    """

    def __init__(self, predicted: float, tol: float | None, now: float) -> None:
        self._tol, self._until, self._stepped = tol, now + predicted, now
        self._above = self._first = math.inf

    def note(self, row: Mapping[str, Any], now: float) -> None:
        """Read a row of the trace; ignore rows without a Newton decrement."""
        decrement, objective = row.get("decrement"), row.get("objective")
        if self._tol is None or not decrement or not objective:
            return
        before, self._above = self._above, math.log(abs(decrement / objective) / self._tol)
        if before == math.inf:
            self._first = self._above
        told, self._stepped = self.seconds(now), now
        gained = before - self._above
        if not 0 < gained < math.inf:
            return
        left = steps_left(self._above, gained) * row["seconds"] / (row["iteration"] + 1)
        # first steps are the cheapest: they may raise the estimate, but lower it only in the second half
        if left > told * BELIEVED or (left < told / BELIEVED and self._above < self._first / 2):
            self._until = now + left

    def seconds(self, now: float) -> float:
        """Return the remaining seconds; an overlong step counts as half done."""
        return max(self._until - now, now - self._stepped)


def steps_left(above: float, gained: float) -> float:
    """Return the Newton steps to the tolerance, if the latest step gained `gained`.

    `above` is log(decrement / tolerance); each step gains `GROWTH` times the one before.
    """
    if above <= 0:
        return 0.0
    return math.log(1 + above * (GROWTH - 1) / (GROWTH * gained)) / math.log(GROWTH)


def roughly(seconds: float) -> str:
    """Format a rough duration: "a few seconds", "about 40 s", "about 3 min"."""
    if seconds < 5:
        return "a few seconds"
    step = next((one for one in (10, 20, 40, 60, 90) if seconds <= one), None)
    return f"about {in_words(max(seconds, 100)) if step is None else f'{step} s'}"
