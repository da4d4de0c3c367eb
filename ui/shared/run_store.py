"""The run store as pages see it: opened once, fed by whatever pages make or find, asked before a run is made.

Pages wait for no database: what they have made is handed to a thread that keeps it. Where the store cannot
be reached pages work as without it, and those that show what is in it say why.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import cache, lru_cache
from queue import Empty, Queue
from threading import Lock, Thread

import streamlit as st

from rankviz.experiments.record import RunRecord
from rankviz.experiments.spec import RunSpec
from rankviz.store import RunStore, StoreError, StoreOutOfReach
from rankviz.store.execution import LocalWorkers
from rankviz.store.room import purge
from ui.shared.foreign import escaped

MOST_PENDING = 2000
"""Records that wait to be kept; of more those that come are not, as where the disk is full for long."""
TOGETHER = 100
"""So many records are written together."""
PURGE_SECONDS = 6 * 3600.0
"""This often the store is purged of what was deleted long ago."""
MOST_SEEN = 100_000
"""So many records are remembered as handed over."""


@cache
def _opened() -> list[LocalWorkers]:
    """Where the store is kept once it could be opened; one that could not is tried again."""
    return []


_lock = Lock()


def workers() -> LocalWorkers:
    """The run store of this machine's user, and the processes that work on it; `StoreOutOfReach`."""
    with _lock:
        if not _opened():
            _opened().append(LocalWorkers(RunStore()))
        return _opened()[0]


def run_store() -> RunStore:
    """The run store of this machine's user; `StoreOutOfReach` where it cannot be opened."""
    return workers().store


def say_what_was_set_aside() -> None:
    """Say that a store of another version was set aside, as long as the server that did so runs."""
    with suppress(StoreOutOfReach):
        if notice := run_store().database.notice:
            st.info(escaped(notice), icon=":material/inventory_2:")


def find(specs: Sequence[RunSpec]) -> dict[RunSpec, RunRecord]:
    """The records that the run store has of these specs; none where it cannot be reached."""
    if not specs:
        return {}
    with suppress(StoreOutOfReach):
        return run_store().records.find(specs)
    return {}


def look_after() -> None:
    """Have sweeps go on whose workers have ended, with the machine or the app that started them.

    What was deleted long ago goes for good.
    """
    with suppress(StoreError):
        purge_now_and_then(int(time.monotonic() / PURGE_SECONDS))
        workers().see_to_it()


@lru_cache(maxsize=1)
def purge_now_and_then(_: int) -> None:
    """Purge the store, once for each number."""
    with run_store().database.writing() as connection:
        purge(connection)


class Keeper:
    """Keeps records of visitors in a thread, each once."""

    def __init__(self) -> None:
        self._waiting: Queue[tuple[str, RunRecord]] = Queue(MOST_PENDING)
        self._seen = set[tuple[str, RunSpec]]()
        self._thread: Thread | None = None
        self.why = ""

    def keep(self, owner: str, records: Iterable[RunRecord]) -> None:
        """Have records kept as runs of a visitor's."""
        if len(self._seen) > MOST_SEEN:  # what is handed over again is found to be there
            self._seen = set()
        for record in records:
            place = owner, record.spec
            if place in self._seen or self._waiting.full():
                continue
            self._seen.add(place)
            self._waiting.put((owner, record))
        if self._thread is None and not self._waiting.empty():
            self._thread = Thread(target=self._work, daemon=True, name="keeper of runs")
            self._thread.start()

    def settle(self) -> None:
        """Wait until all is kept that was handed over."""
        self._waiting.join()

    def _work(self) -> None:
        while True:
            batch = [self._waiting.get()]
            with suppress(Empty):
                while len(batch) < TOGETHER:
                    batch.append(self._waiting.get_nowait())
            for owner in dict.fromkeys(owner for owner, _ in batch):
                self._keep(owner, [record for whose, record in batch if whose == owner])
            for _ in batch:
                self._waiting.task_done()

    def _keep(self, owner: str, records: list[RunRecord]) -> None:
        """Keep records; those that the store has already are written down as this visitor's too, no more."""
        digests = {record.spec.hash: record for record in records}
        try:
            store = run_store().records
            made = store.made(list(digests))
            store.claim(sorted(made), owner)
            store.keep([record for digest, record in digests.items() if digest not in made], owner)
            self.why = ""
        except StoreError as error:
            self.why = str(error)
            self._seen -= {(owner, record.spec) for record in records}  # kept when asked for again


@cache
def keeper() -> Keeper:
    """One for the server."""
    return Keeper()


def forget() -> None:
    """Close the store and begin anew, for tests."""
    keeper().settle()
    for execution in _opened():
        execution.store.close()
    for kept in (_opened, keeper, purge_now_and_then):
        kept.cache_clear()
