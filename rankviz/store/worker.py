"""A worker: `python -m rankviz.store.worker NAME` makes runs of the store that RANKVIZ_STORE names.

It takes one family after the other, and ends when there has been nothing to do for a while, when it has made
much or taken much memory, when the code has changed, and when nobody reaches the store for long.
"""

from __future__ import annotations

import os
import sys
import time
from contextlib import suppress

from rankviz.common.bounds import bounds
from rankviz.common.memory import go_first, resident_memory
from rankviz.experiments.desks import code
from rankviz.experiments.processes import ProcessId
from rankviz.store.errors import StoreOutOfReach
from rankviz.store.execution import log_folder
from rankviz.store.making import Making
from rankviz.store.queue import Lease
from rankviz.store.runs import RunStore

LOOK_SECONDS = 0.25
"""This often a worker that has nothing to do looks for something."""
AWAY_SECONDS = 120.0
"""So long a worker waits for a database that does not answer."""


def main(arguments: list[str]) -> int:
    """Work as the worker that the command line names; the exit status is 0 unless nothing could be done."""
    if len(arguments) != 1:
        print("usage: python -m rankviz.store.worker NAME", file=sys.stderr)  # noqa: T201
        return 2
    go_first()  # the server stays, whose visitors' other work would be lost
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
    """Make one family after the other."""
    most, began, making = bounds(), code(), Making(store)
    for _ in range(most.worker_jobs):
        lease = _next(store, name, most.idle_seconds)
        if lease is None:
            return
        making.make(lease)
        if resident_memory() > most.worker_bytes or code() != began:
            return


def _next(store: RunStore, name: str, seconds: float) -> Lease | None:
    """The next family, once there is one; None after so many seconds without."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if store.database.patiently(lambda: store.queue.idle(name), AWAY_SECONDS):
            lease = store.database.patiently(lambda: store.queue.take(name), AWAY_SECONDS)
            if lease is not None:
                return lease
        time.sleep(LOOK_SECONDS)
    return None


if __name__ == "__main__":
    getattr(os, "nice", int)(10)  # the server answers first; Windows has no such order
    sys.exit(main(sys.argv[1:]))
