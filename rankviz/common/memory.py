"""How much memory is free, and how much this process has taken: what each system has to say about it.

Linux tells in files; others tell psutil or `resource`, both looked for only when asked and done without
where they are missing (in a browser, by Pyodide, there is neither).
"""

from __future__ import annotations

import contextlib
import math
import os
import sys
from pathlib import Path

from rankviz.common.groups import left_in_groups

BUDGET_SHARE = 0.7
"""Of the memory that is free one thing may take this much."""
UNTOLD = 1 << 30
"""Bytes that are taken to be free where no one tells."""


def reset_peak_memory() -> None:
    """Start a new measurement of peak memory, where the system can (Linux)."""
    # where it cannot, the peak is the process's since its start, an upper bound
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def peak_memory() -> float:
    """Peak resident memory of this process in bytes, since `reset_peak_memory` where the system can.

    NaN where nobody tells.
    """
    for told in (_peak_of_linux, _peak_of_unix, _peak_of_windows):
        if (peak := told()) is not None:
            return peak
    return math.nan


def resident_memory() -> float:
    """Resident memory of this process now, in bytes; the peak where the system tells only that."""
    if (told := _told_by_linux("VmRSS")) is not None:
        return told
    try:
        import psutil
    except ImportError:
        return peak_memory()
    return int(psutil.Process().memory_info().rss)


def free_memory() -> int:
    """Bytes that a program may still take: what the system has available, or a control group it is in."""
    return min([_available(), *left_in_groups()])


def go_first() -> None:
    """Where memory runs out, have the system end this process before larger ones (Linux)."""
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("500")


def return_freed_memory() -> None:
    """Give the system back what was freed, where the C library keeps it for itself (glibc)."""
    if sys.platform == "linux":
        with contextlib.suppress(ImportError, OSError, AttributeError):  # other C libraries have no such call
            import ctypes

            ctypes.CDLL(None).malloc_trim(0)


def _peak_of_linux() -> int | None:
    return _told_by_linux("VmHWM")


def _told_by_linux(name: str) -> int | None:
    """Bytes that the system's page on this process has under a name; None where there is no such page."""
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith(f"{name}:"):
                return 1024 * int(line.split()[1])
    return None


def _peak_of_unix() -> int | None:
    try:
        import resource
    except ImportError:  # Windows and Pyodide
        return None
    # kilobytes on Linux and the BSDs, bytes on macOS
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def _peak_of_windows() -> int | None:
    try:
        import psutil
    except ImportError:
        return None
    peak: int | None = getattr(psutil.Process().memory_info(), "peak_wset", None)
    return peak


def _available() -> int:
    with contextlib.suppress(OSError):
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    try:
        import psutil
    except ImportError:
        return _half_of_all()
    return int(psutil.virtual_memory().available)


def _half_of_all() -> int:
    """Half of all memory, a careful guess; or a careful constant where not even that is told."""
    try:
        return int(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2) or UNTOLD
    except (AttributeError, OSError, ValueError):
        return UNTOLD
