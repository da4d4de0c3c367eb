"""What is left of a run that trains: predicted before, then extrapolated from its own Newton steps."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from rankviz.experiments.estimate import in_words

BELIEVED = 1.5
"""A new extrapolation replaces what was told where they are so many times apart: words do not flip."""


GROWTH = 1.5
"""What a Newton step gains, as a logarithm, over what the one before gained: at first little, then much."""


class Remaining:
    """Seconds that are left of one run, counted down between Newton steps and corrected by them.

    Parameters
    ----------
    predicted : float
        Seconds of the run as estimated beforehand.
    tol : float or None
        Where its solver stops: the Newton decrement over the objective. None has nothing extrapolated.
    now : float
        Seconds on the clock that later calls go by.
    """

    def __init__(self, predicted: float, tol: float | None, now: float) -> None:
        self._tol, self._until, self._stepped = tol, now + predicted, now
        self._above = self._first = math.inf

    def note(self, row: Mapping[str, Any], now: float) -> None:
        """A row of the trace; those of solvers that tell no Newton decrement are passed over."""
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
        # first steps are the cheapest: they may raise what is told, and lower it past half of the way only
        if left > told * BELIEVED or (left < told / BELIEVED and self._above < self._first / 2):
            self._until = now + left

    def seconds(self, now: float) -> float:
        """Seconds that are left; a step that takes longer than expected is taken to be half done."""
        return max(self._until - now, now - self._stepped)


def steps_left(above: float, gained: float) -> float:
    """Newton steps until a decrement is at the tolerance, where the latest one has gained so much.

    `above` is the logarithm of how many times it is above; each step gains `GROWTH` times the one before.
    """
    if above <= 0:
        return 0.0
    return math.log(1 + above * (GROWTH - 1) / (GROWTH * gained)) / math.log(GROWTH)


def roughly(seconds: float) -> str:
    """A duration that is only known roughly: "a few seconds", "about 40 s", "about 3 min"."""
    if seconds < 5:
        return "a few seconds"
    step = next((one for one in (10, 20, 40, 60, 90) if seconds <= one), None)
    return f"about {in_words(max(seconds, 100)) if step is None else f'{step} s'}"
