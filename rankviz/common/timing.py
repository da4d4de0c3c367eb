"""Seconds by stage and peak memory of a computation."""

from __future__ import annotations

import contextlib
import resource
import sys
import time
from pathlib import Path


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


def reset_peak_memory() -> None:
    """Start a new measurement of peak memory, where the system can (Linux)."""
    # where it cannot, the peak is the process's since its start, an upper bound
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def peak_memory() -> int:
    """Peak resident memory of this process in bytes, since `reset_peak_memory` where the system can."""
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    # kilobytes on Linux and the BSDs, bytes on macOS
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
