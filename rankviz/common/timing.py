"""Seconds by stage of a computation."""

from __future__ import annotations

import time


class Stopwatch:
    """Seconds between calls of `lap`, by name; laps of the same name add up.

    Attributes
    ----------
    laps : dict
        Stage -> seconds.
    """

    def __init__(self) -> None:
        self.laps: dict[str, float] = {}
        self._last = time.perf_counter()

    def lap(self, stage: str) -> None:
        """End a stage."""
        now = time.perf_counter()
        self.laps[stage] = self.laps.get(stage, 0.0) + now - self._last
        self._last = now
