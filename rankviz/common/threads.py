"""The number of cores this process may use, and ways to limit it when several processes work at once."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from threadpoolctl import ThreadpoolController, threadpool_limits

from rankviz.common.files import IN_BROWSER

ENVIRONMENT = "RANKVIZ_THREADS"


def cores() -> int:
    """Return the cores this process may use: those allowed by the system, or fewer by RANKVIZ_THREADS."""
    asked = os.environ.get(ENVIRONMENT, "")
    return min(_allowed(), max(1, int(asked))) if asked.isdecimal() else _allowed()


def limit_threads(n: int) -> None:
    """Limit BLAS and the block-wise loops of this process to n threads."""
    os.environ[ENVIRONMENT] = str(n)
    threadpool_limits(limits=n)


def _allowed() -> int:
    """Return the cores that the system allows this process; 1 without threads (in a browser)."""
    if IN_BROWSER:
        return 1
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def single_blas() -> Iterator[None]:
    """Limit BLAS to one thread in this process until the last caller leaves.

    Use it for small matrices processed in parallel, and for sums that must not depend on the number of cores:
    BLAS splits a sum among its threads, which changes the order of addition.
    """
    before = _ALONE.enter()
    try:
        yield
    finally:
        _ALONE.leave(before)


class _SingleBlas:
    """Counter of callers: the first sets the limit for all, the last restores it; nobody waits.

    If BLAS has a pool per calling thread, each caller sets and restores its own.
    """

    def __init__(self) -> None:
        self._lock, self._inside, self._first = threading.Lock(), 0, list[int]()

    def enter(self) -> list[int]:
        """Set the limit and return each BLAS library's previous threads, for `leave`."""
        with self._lock:
            before = [library.num_threads for library in _libraries()]
            if self._inside == 0:
                self._first = before
            for library in _libraries():
                _set_threads(library, 1)
            self._inside += 1
            return before

    def leave(self, before: list[int]) -> None:
        """Restore the previous threads if nobody else needs the limit."""
        with self._lock:
            self._inside -= 1
            for library, own, first in zip(_libraries(), before, self._first, strict=True):
                if getattr(library, "threading_layer", "") == "openmp":
                    _set_threads(library, own)
                elif self._inside == 0:
                    _set_threads(library, first)


_ALONE = _SingleBlas()


@cache
def _libraries() -> list[Any]:
    """Return the BLAS libraries of this process."""
    found = ThreadpoolController().select(user_api="blas").lib_controllers
    return list(found)


def _set_threads(library: Any, n: int) -> None:
    """Set a BLAS library's threads to n, even if another thread set them before.

    Recent versions of threadpoolctl allow one thread of a process to do so until it ends; calls of other
    threads silently do nothing.
    """
    release = getattr(library, "clear_controlling_thread", lambda force: None)
    release(force=True)
    library.set_num_threads(n)
    release(force=True)
