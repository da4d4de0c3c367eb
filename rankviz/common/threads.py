"""How many cores this process may use, and how to make it use fewer: several work on one machine at once."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

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
    """Let BLAS use one thread in this process until the last that asks for it leaves.

    For small matrices, several of which are worked on at a time; and for sums that have to come out the same
    however many cores there are: BLAS shares out a sum among its threads, and adds in another order.
    """
    before = _ALONE.enter()
    try:
        yield
    finally:
        _ALONE.leave(before)


class _SingleBlas:
    """Who has asked: the first sets the limit for all, the last puts back what was; nobody waits.

    Only where BLAS has a pool for each thread that calls it, everyone sets and restores their own.
    """

    def __init__(self) -> None:
        self._lock, self._inside, self._first = threading.Lock(), 0, list[int]()

    def enter(self) -> list[int]:
        """Set the limit; returns the threads that every BLAS had, for `leave`."""
        with self._lock:
            before = [library.num_threads for library in _libraries()]
            if self._inside == 0:
                self._first = before
            for library in _libraries():
                _set_threads(library, 1)
            self._inside += 1
            return before

    def leave(self, before: list[int]) -> None:
        """Put back what was, if nobody else needs the limit."""
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
    """The BLAS libraries of this process."""
    found = ThreadpoolController().select(user_api="blas").lib_controllers
    return list(found)


def _set_threads(library: Any, n: int) -> None:
    """Make a BLAS use n threads, whoever set their number before.

    Recent versions of threadpoolctl let one thread of a process do so until it has finished, and do nothing,
    without a word, where another asks.
    """
    release = getattr(library, "clear_controlling_thread", lambda force: None)
    release(force=True)
    library.set_num_threads(n)
    release(force=True)
