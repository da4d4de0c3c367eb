"""The run store for pages: opened once, filled with runs that pages make or find, and searched before
training.

Pages never wait for the database: a thread stores their results. If the store is out of reach, pages work
without it, and pages about its contents explain why.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import cache, lru_cache
from queue import Empty, Queue
from threading import Lock, Thread

import streamlit as st

from rankviz.runs.record import RunRecord
from rankviz.runs.spec import RunSpec
from rankviz.store import Database, RunStore, StoreError, StoreOutOfReach
from rankviz.store.execution import LocalWorkers
from rankviz.store.room import purge
from ui.shell.texts import escaped

LOG = logging.getLogger("rankviz.app")

MOST_PENDING = 2000
"""Largest number of records that wait for storage; further ones are dropped, for example if the disk stays
full."""
TOGETHER = 100
"""Number of records written together."""
PURGE_SECONDS = 6 * 3600.0
"""Seconds between purges of runs that were deleted long ago, and between checks of every row."""
CHECK_SECONDS, MOST_CHECKED = 600.0, 1 << 30
"""Seconds between checks of a file of at most so many bytes; a larger one is checked at each purge."""
UNSOUND_SECONDS = 60.0
"""Seconds between checks of a file that was not sound: a copy may have been put back."""
MOST_SEEN = 100_000
"""Largest number of records remembered as handed over."""


NOT_STORED = "A fault kept runs from being stored. Who runs the app finds it in the log."

_opened: list[LocalWorkers] = []
"""The store with its workers, once it could be opened; failures are retried."""
_lock = Lock()


def workers() -> LocalWorkers:
    """Return the run store of this machine's user, with its worker processes; `StoreOutOfReach`."""
    with _lock:
        if not _opened:
            _opened.append(LocalWorkers(RunStore()))
        return _opened[0]


def run_store() -> RunStore:
    """Return the run store of this machine's user; `StoreOutOfReach` if it cannot be opened."""
    return workers().store


def show_store_notice() -> None:
    """Say that a store of another version was set aside, as long as the server that did so runs."""
    with suppress(StoreOutOfReach):
        if notice := run_store().database.notice:
            st.info(escaped(notice), icon=":material/inventory_2:")


def find(specs: Sequence[RunSpec]) -> dict[RunSpec, RunRecord]:
    """Return the stored records of these specs; none if the store is out of reach."""
    if not specs:
        return {}
    with suppress(StoreOutOfReach):
        return run_store().records.find(specs)
    return {}


def continue_sweeps() -> None:
    """Continue sweeps whose workers have ended, with the machine or the app.

    Also purge runs that were deleted long ago.
    """
    with suppress(StoreError, OSError):
        workers().maintain()
        purge_now_and_then(int(time.monotonic() / PURGE_SECONDS))
        every = UNSOUND_SECONDS if run_store().database.unsound else CHECK_SECONDS
        check_now_and_then(int(time.monotonic() / every))


@lru_cache(maxsize=1)
def purge_now_and_then(_: int) -> None:
    """Purge the store and check all of it in a thread, once for each number."""
    database = run_store().database
    with database.writing() as connection:
        purge(connection)
    Thread(target=_check, args=[database], daemon=True, name="check of the store").start()


@lru_cache(maxsize=1)
def check_now_and_then(_: int) -> None:
    """Check the file of the store in a thread, once for each number."""
    database = run_store().database
    if database.unsound or (database.file is not None and database.file.stat().st_size <= MOST_CHECKED):
        Thread(target=_check, args=[database, False], daemon=True, name="check of the file").start()


def _check(database: Database, rows: bool = True) -> None:
    with suppress(StoreError):  # the pages say it too
        database.check(rows)


class Keeper:
    """Stores records of visitors in a thread, each once."""

    def __init__(self) -> None:
        self._waiting: Queue[tuple[tuple[str, str], RunRecord]] = Queue(MOST_PENDING)
        self._seen = set[tuple[str, RunSpec]]()
        self._thread: Thread | None = None
        self.why = ""

    def keep(self, owner: str, records: Iterable[RunRecord], address: str = "") -> None:
        """Queue records for storage as runs of a visitor, who asked from this network address."""
        if len(self._seen) > MOST_SEEN:  # repeated records are found in the store
            self._seen = set()
        for record in records:
            place = owner, record.spec
            if place in self._seen or self._waiting.full():
                continue
            self._seen.add(place)
            self._waiting.put(((owner, address), record))
        if self._thread is None and not self._waiting.empty():
            self._thread = Thread(target=self._work, daemon=True, name="keeper of runs")
            self._thread.start()

    def wait(self) -> None:
        """Wait until all queued records are stored."""
        self._waiting.join()

    def _work(self) -> None:
        while True:
            batch = [self._waiting.get()]
            with suppress(Empty):
                while len(batch) < TOGETHER:
                    batch.append(self._waiting.get_nowait())
            for who in dict.fromkeys(who for who, _ in batch):
                self._keep(*who, [record for whose, record in batch if whose == who])
            for _ in batch:
                self._waiting.task_done()

    def _keep(self, owner: str, address: str, records: list[RunRecord]) -> None:
        """Store records; those already in the store are only claimed for this visitor."""
        digests = {record.spec.hash: record for record in records}
        try:
            store = run_store().records
            made = store.made(list(digests))
            store.claim(sorted(made), owner, address)
            new = [record for digest, record in digests.items() if digest not in made]
            store.keep(new, owner, address)
            self.why = ""
        except Exception as error:  # else the thread would end, and nobody's runs were stored any more
            if not isinstance(error, StoreError):
                LOG.exception("Runs could not be stored.")
            self.why = str(error) if isinstance(error, StoreError) else NOT_STORED
            self._seen -= {(owner, record.spec) for record in records}  # they are stored at the next request


@cache
def keeper() -> Keeper:
    """Return the instance for the server."""
    return Keeper()


def forget() -> None:
    """Close the store and start again, for tests."""
    keeper().wait()
    while _opened:
        _opened.pop().store.close()
    for kept in (keeper, purge_now_and_then, check_now_and_then):
        kept.cache_clear()
