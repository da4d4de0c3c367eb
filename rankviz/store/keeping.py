"""Holds a lease while a family is made: a thread renews it and notices a stop at once."""

from __future__ import annotations

import time
from contextlib import suppress
from threading import Event, Thread
from types import TracebackType
from typing import Any, Self

from rankviz.common.progress import Progress
from rankviz.learning.solver_settings import TOL
from rankviz.runs.estimate import Estimate
from rankviz.runs.remaining import Remaining
from rankviz.runs.spec import RunSpec
from rankviz.store.errors import StoreOutOfReach
from rankviz.store.leases import RENEW_SECONDS
from rankviz.store.queue import Lease, Queue

LOOK_SECONDS = 0.1
"""Seconds between a worker's checks for writes to the store, such as a stop."""
ASK_SECONDS = 0.2
"""Shortest time between checks for awaited families: a check takes as long as saving a short run."""
TELL_SECONDS = 0.5
"""Shortest time between a worker's progress reports."""


class LetGo(Exception):  # noqa: N818 - a request, not an error
    """The family is no longer wanted, another worker has it, or an awaited one goes first."""


class TimeIsUp(Exception):  # noqa: N818 - a bound, not an error
    """Workers have spent all of the study's time."""


class Keeper:
    """Holds a lease in a thread while a family is made; also the callback of all training.

    Called as the callback it raises `LetGo` if the lease is lost, `TimeIsUp` after the study's seconds.
    """

    def __init__(self, queue: Queue, lease: Lease) -> None:
        self._queue, self._lease = queue, lease
        self._deadline = time.monotonic() + lease.seconds
        self._asked = 0.0
        self._news: dict[str, Any] = {}
        self._plan: dict[str, Any] = {}
        self._remaining: Remaining | None = None
        self._over, self._lost = Event(), Event()
        self._thread = Thread(target=self._keep, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        self._thread.join()

    def begin(self, spec: RunSpec, predicted: Estimate | None = None) -> None:
        """Begin a run, with its predicted cost once known."""
        self._remaining = None
        if predicted is not None:
            self._remaining = Remaining(predicted.seconds, spec.get(TOL.name), time.monotonic())
        self._news = {"digest": spec.hash, "stage": "data", "fraction": 0.0, "remaining": self._left()}
        self._news |= self._plan
        self._check()

    def plan(self, words: str) -> None:
        """Note how the family's runs will be made, before they are."""
        self._plan = {"plan": words}
        self._news = {**self._news, **self._plan}
        self._check()

    def __call__(self, progress: Progress) -> None:
        """Note the run's progress; raise if it must end."""
        if self._remaining is not None and progress.record is not None:
            self._remaining.note(progress.record, time.monotonic())
        told: dict[str, Any] = {"stage": progress.stage, "fraction": progress.fraction}
        told |= {"remaining": self._left(), "shards": progress.shards}
        self._news = {**self._news, **told}
        self._check()

    def between(self) -> None:
        """Raise `LetGo` if an awaited family waits, after one run is saved and before the next."""
        if time.monotonic() - self._asked < ASK_SECONDS:
            return
        self._asked = time.monotonic()
        with suppress(StoreOutOfReach):  # nobody else can take a family either
            if self._queue.gives_way(self._lease):
                raise LetGo

    def _left(self) -> float | None:
        return None if self._remaining is None else self._remaining.seconds(time.monotonic())

    def _check(self) -> None:
        if self._lost.is_set():
            raise LetGo
        if time.monotonic() > self._deadline:
            raise TimeIsUp

    def _keep(self) -> None:
        told: dict[str, Any] = {}
        seen, renewed = None, time.monotonic()
        while not self._over.wait(LOOK_SECONDS):
            since = time.monotonic() - renewed
            with suppress(StoreOutOfReach):  # it may return before the lease ends
                state = self._queue.state()
                # an unchanged store needs no query: nobody stopped the study or took the family
                if state != seen and not self._queue.holds(self._lease):
                    break
                seen = state
                if since >= RENEW_SECONDS or (self._news is not told and since >= TELL_SECONDS):
                    told, renewed = self._news, time.monotonic()
                    if not self._queue.renew(self._lease, told):
                        break
        if not self._over.is_set():
            self._lost.set()
