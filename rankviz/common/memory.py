"""Free memory and this process's memory, as each system and its control groups report them.

Linux reports in files, other systems through psutil or `resource`. Both are imported at use and optional; a
browser (Pyodide) has neither.
"""

from __future__ import annotations

import contextlib
import math
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

BUDGET_SHARE = 0.7
"""Largest share of the free memory for one object."""
LARGEST_REUSED = 1 << 25
"""Bytes of the largest array whose memory is kept when it is freed; twice as much is kept in all."""
_FROM_HEAP, _KEPT, _HEAPS = -3, -1, -8  # M_MMAP_THRESHOLD, M_TRIM_THRESHOLD and M_ARENA_MAX of malloc.h
UNKNOWN_FREE_BYTES = 1 << 30
"""Assumed free bytes if the system reports none."""


def reset_peak_memory() -> None:
    """Start a new measurement of peak memory, if the system can (Linux)."""
    # otherwise the peak counts from the start of the process, an upper bound
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def peak_memory() -> float:
    """Return peak resident memory of this process in bytes, since `reset_peak_memory` if the system can.

    NaN if unknown.
    """
    if (peak := _linux_status("VmHWM")) is not None:
        return peak
    with contextlib.suppress(ImportError):  # Windows and Pyodide
        import resource

        # kilobytes on Linux and the BSDs, bytes on macOS
        unit = 1 if sys.platform == "darwin" else 1024
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
    with contextlib.suppress(ImportError):
        import psutil

        return float(getattr(psutil.Process().memory_info(), "peak_wset", math.nan))
    return math.nan


def resident_memory() -> float:
    """Return resident memory of this process in bytes; the peak if the system reports only that."""
    if (size := _linux_status("VmRSS")) is not None:
        return size
    try:
        import psutil
    except ImportError:
        return peak_memory()
    return int(psutil.Process().memory_info().rss)


def free_memory() -> int:
    """Return the bytes a program may still take, as the system or a control group limits them."""
    return min([_available(), *free_in_groups()])


def prefer_oom_kill() -> None:
    """Ask the system to end this process before larger ones when memory runs out (Linux)."""
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("500")


@cache
def reuse_freed_memory() -> None:
    """Ask the C library (glibc) to keep freed arrays for later ones, as it does after freeing large ones.

    Otherwise it may return and fetch the pages of every temporary array: sums over 42,000 documents then take
    up to 13 times as long.
    """
    _ask_c_library("mallopt", _FROM_HEAP, LARGEST_REUSED)
    _ask_c_library("mallopt", _KEPT, 2 * LARGEST_REUSED)


def share_freed_memory() -> None:
    """Ask the C library (glibc) to make no more heaps for threads; call it before they start.

    Otherwise there are eight for each core. Each keeps freed memory for its own threads, and
    `return_freed_memory` does not return the end of any but the first.
    """
    _ask_c_library("mallopt", _HEAPS, 1)


def return_freed_memory() -> None:
    """Return freed memory to the system if the C library keeps it (glibc)."""
    _ask_c_library("malloc_trim", 0)


def _ask_c_library(name: str, *values: int) -> None:
    """Call a function of glibc; other C libraries do not have it."""
    if sys.platform == "linux":
        with contextlib.suppress(ImportError, OSError, AttributeError):
            import ctypes

            getattr(ctypes.CDLL(None), name)(*values)


def _linux_status(name: str) -> int | None:
    """Return the bytes under a name in the process's status file; None without this file."""
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith(f"{name}:"):
                return 1024 * int(line.split()[1])
    return None


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
    """Return half of all memory, a careful guess; a constant if even the total is unknown."""
    try:
        return int(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2) or UNKNOWN_FREE_BYTES
    except (AttributeError, OSError, ValueError):
        return UNKNOWN_FREE_BYTES


# Control groups of Linux: /proc/self/cgroup lists this process's groups. Any group above may set a limit; a
# container sees its own group as the top.


@dataclass(frozen=True)
class _Hierarchy:
    """File layout of a version of control groups: its root, and the names of its files."""

    root: Path
    limit: str
    used: str
    reclaimable: str


_VERSIONS = {
    "": _Hierarchy(Path("/sys/fs/cgroup"), "memory.max", "memory.current", "inactive_file"),
    "memory": _Hierarchy(
        Path("/sys/fs/cgroup/memory"),
        "memory.limit_in_bytes",
        "memory.usage_in_bytes",
        "total_inactive_file",
    ),
}
"""By the controllers in /proc/self/cgroup; version 2 names none."""


def free_in_groups() -> Iterator[int]:
    """Yield the free bytes of each group with a limit, the process's own group first."""
    for line in _text("/proc/self/cgroup").splitlines():
        _, controllers, path = line.split(":", 2)
        if (version := _VERSIONS.get(controllers)) is not None:
            names = [name for name in path.split("/") if name]
            for depth in range(len(names), -1, -1):  # texts: pathlib takes as long as reading the files
                yield from _free_in_group(version, "/".join([str(version.root), *names[:depth]]))


def _free_in_group(version: _Hierarchy, folder: str) -> Iterator[int]:
    limit = _text(f"{folder}/{version.limit}")
    if not limit.strip().isdigit():  # "max", or no group of this name in here
        return
    used = _text(f"{folder}/{version.used}")
    if used.strip().isdigit():
        yield max(0, int(limit) - int(used) + _reclaimable(version, folder))


def _reclaimable(version: _Hierarchy, folder: str) -> int:
    """Return the used bytes of files read once, which the system frees first."""
    lines = (line.split() for line in _text(f"{folder}/memory.stat").splitlines())
    return next((int(value) for name, value in lines if name == version.reclaimable), 0)


def _text(path: str) -> str:
    try:
        return Path(path).read_text()
    except OSError:
        return ""


def megabytes(size: float) -> str:
    """Format a size in MB or GB."""
    if size >= 1e24:  # a whole number may be too large for a float
        return "more than 10¹⁵ GB"
    return f"{max(size / 1e6, 1):.0f} MB" if size < 1e9 else f"{size / 1e9:.1f} GB"
