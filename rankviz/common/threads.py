"""How many cores this process may use, and how to make it use fewer: several work on one machine at once."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

from threadpoolctl import ThreadpoolController, threadpool_limits

from rankviz.common.system import ALONE

ENVIRONMENT = "RANKVIZ_THREADS"


def cores() -> int:
    """Cores this process may use: those it is allowed to run on, or fewer where RANKVIZ_THREADS says so."""
    asked = os.environ.get(ENVIRONMENT, "")
    return min(_allowed(), max(1, int(asked))) if asked.isdecimal() else _allowed()


def limit_threads(n: int) -> None:
    """Make BLAS and the block-wise loops of this process use at most n threads from now on."""
    os.environ[ENVIRONMENT] = str(n)
    threadpool_limits(limits=n)


def _allowed() -> int:
    """Cores that the system lets this process run on; one where it has no threads (in a browser)."""
    if ALONE:
        return 1
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def single_blas() -> Iterator[None]:
    """Let BLAS use one thread in this process: for small matrices, several of which are worked on at a time.

    Threads that ask for it wait for each other: leaving in another order, they would not restore what was.
    """
    with _ALONE, _controller().limit(limits=1):
        yield


_ALONE = threading.RLock()


@cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()
