"""A worker: `python -m rankviz.store.worker NAME` makes runs of the store in RANKVIZ_STORE.

It takes one family after another. It ends after idle time, many families or much memory, after a change of
code, and if the store stays out of reach.

See docs/decisions/0017-workers-stay.md.
"""

from __future__ import annotations

import os
import sys
import time
from contextlib import suppress

from rankviz.common.bounds import bounds
from rankviz.common.memory import go_first, resident_memory
from rankviz.runs.processes import ProcessId
from rankviz.store.errors import StoreOutOfReach
from rankviz.store.execution import log_folder
from rankviz.store.job_reading import note_if_ended
from rankviz.store.making import Making, complaining
from rankviz.store.places import default_niceness, default_workers
from rankviz.store.queue import Lease
from rankviz.store.runs import RunStore
from rankviz.store.workplace import code, server

LOOK_SECONDS, ASK_SECONDS = 0.05, 1.0
"""Seconds between an idle worker's checks for changes of the store; longest time between looks for work."""
AWAY_SECONDS = 120.0
"""Longest wait of a worker for the database, in seconds."""


def main(arguments: list[str]) -> int:
    """Work under the name on the command line; return exit status 0, or 2 for invalid arguments."""
    if len(arguments) != 1:
        print("usage: python -m rankviz.store.worker NAME", file=sys.stderr)  # noqa: T201
        return 2
    go_first()  # if memory runs out, lose a worker rather than the server
    name = arguments[0]
    store = RunStore()
    store.queue.register(name, ProcessId.of(os.getpid()))
    try:
        serve(store, name)
    finally:
        with suppress(StoreOutOfReach):
            store.queue.leave(name)
    log = log_folder(store) / f"{name}.log"
    if log.exists() and not log.stat().st_size:
        log.unlink()
    return 0


def serve(store: RunStore, name: str) -> None:
    """Make one family after another."""
    most, began, making = bounds(), code(), Making(store)
    for _ in range(most.worker_jobs):
        lease = _next(store, name, most.idle_seconds)
        if lease is None:
            return
        making.make(lease)
        if not lease.background:
            note_if_ended(store.database, lease.study)
        if resident_memory() > most.worker_bytes or code() != began:
            return


def _next(store: RunStore, name: str, seconds: float) -> Lease | None:
    """Return the next family; None after `seconds` without one, or once the server has ended."""
    patiently, employer = store.database.patiently, server()
    deadline, asked, seen = time.monotonic() + seconds, -ASK_SECONDS, None
    while time.monotonic() < deadline:
        state, now = patiently(store.queue.state, AWAY_SECONDS), time.monotonic()
        if state != seen or now - asked >= ASK_SECONDS:
            asked, seen = now, state
            if patiently(lambda: store.queue.idle(name), AWAY_SECONDS):
                with complaining(store, name) as tell:
                    lease = patiently(lambda: store.queue.take(name, default_workers()), AWAY_SECONDS, tell)
                if lease is not None:
                    return lease
            elif not employer.alive():
                return None
        time.sleep(LOOK_SECONDS)
    return None


if __name__ == "__main__":
    getattr(os, "nice", int)(default_niceness())  # the server has priority; Windows has no nice
    sys.exit(main(sys.argv[1:]))
