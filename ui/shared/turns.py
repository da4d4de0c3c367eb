"""Turns: one at a time, first come, first served."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Condition


class Turns:
    """A queue of threads; `every` is the seconds between calls of `wait`."""

    def __init__(self, every: float) -> None:
        self._every, self._queue, self._changed = every, deque[object](), Condition()

    @contextmanager
    def taken(self, wait: Callable[[], None]) -> Iterator[None]:
        """Join the queue and continue at its head; `wait` is called meanwhile, and may raise."""
        place = object()
        with self._changed:
            self._queue.append(place)
        try:
            while not self._first(place):
                wait()
            yield
        finally:
            with self._changed:
                self._queue.remove(place)
                self._changed.notify_all()

    def _first(self, place: object) -> bool:
        with self._changed:
            return self._changed.wait_for(lambda: self._queue[0] is place, self._every)
