"""How much memory there is for what a program is about to do, and sizes in words."""

from __future__ import annotations

import os
from pathlib import Path

BUDGET_SHARE = 0.7
"""Of the memory that is free one thing may take this much."""


def megabytes(size: float) -> str:
    """A size in MB or GB."""
    return f"{max(size / 1e6, 1):.0f} MB" if size < 1e9 else f"{size / 1e9:.1f} GB"


def free_memory() -> int:
    """Bytes that a program may still take: what the system has available, or its group of processes."""
    available = _meminfo()
    limit = _number(Path("/sys/fs/cgroup/memory.max"))
    used = _number(Path("/sys/fs/cgroup/memory.current"))
    if limit is not None and used is not None:
        available = min(available, max(0, limit - used))
    return available


def _meminfo() -> int:
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    # no such file: half of all memory is a careful guess
    return int(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2)


def _number(path: Path) -> int | None:
    try:
        return int(path.read_text())
    except (OSError, ValueError):
        return None
