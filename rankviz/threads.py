"""How many cores this process may use, and how to make it use fewer: several work on one machine at once."""

from __future__ import annotations

import os

from threadpoolctl import threadpool_limits

ENVIRONMENT = "RANKVIZ_THREADS"


def cores() -> int:
    """Cores this process may use: those it is allowed to run on, or fewer where RANKVIZ_THREADS says so."""
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    asked = os.environ.get(ENVIRONMENT, "")
    return min(allowed, max(1, int(asked))) if asked.isdecimal() else allowed


def limit_threads(n: int) -> None:
    """Make BLAS and the block-wise loops of this process use at most n threads from now on."""
    os.environ[ENVIRONMENT] = str(n)
    threadpool_limits(limits=n)
