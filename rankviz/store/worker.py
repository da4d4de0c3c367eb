"""A worker: `python -m rankviz.store.worker NAME` makes runs of the store in RANKVIZ_STORE.

It takes one family after another. It ends after idle time, many families or much memory, after a change of
code, and if the store stays out of reach.

See docs/decisions/0017-workers-stay.md.
"""

from __future__ import annotations

import sys
import time

from rankviz.common.bounds import bounds
from rankviz.common.memory import prefer_oom_kill, resident_memory
from rankviz.common.processes import stand_back
from rankviz.store.environment import code_digest, default_niceness, default_workers, server_process
from rankviz.store.execution import registered
from rankviz.store.family_runner import FamilyRunner, reporting_trouble
from rankviz.store.queue import LeasedFamily
from rankviz.store.run_store import RunStore
from rankviz.store.watched import log_if_ended

LOOK_SECONDS, ASK_SECONDS = 0.05, 1.0
"""Seconds between an idle worker's checks for changes of the store; longest time between looks for work."""
AWAY_SECONDS = 120.0
"""Longest wait of a worker for the database, in seconds."""


def main(arguments: list[str]) -> int:
    """Work under the name on the command line; return exit status 0, or 2 for invalid arguments."""
    if len(arguments) != 1:
        print("usage: python -m rankviz.store.worker NAME", file=sys.stderr)  # noqa: T201
        return 2
    prefer_oom_kill()  # if memory runs out, lose a worker rather than the server
    with registered(arguments[0]) as store:
        serve(store, arguments[0])
    return 0


def serve(store: RunStore, name: str) -> None:
    """Make one family after another."""
    most, began, runner = bounds(), code_digest(), FamilyRunner(store)
    for _ in range(most.worker_jobs):
        lease = _next(store, name, most.idle_seconds)
        if lease is None:
            return
        runner.make(lease)
        if not lease.background:
            log_if_ended(store.database, lease.study)
        if resident_memory() > most.worker_bytes or code_digest() != began:
            return


def _next(store: RunStore, name: str, seconds: float) -> LeasedFamily | None:
    """Return the next family; None after `seconds` without one, or once the server has ended."""
    retry, employer = store.database.retry, server_process()
    deadline, asked, seen = time.monotonic() + seconds, -ASK_SECONDS, None
    while time.monotonic() < deadline:
        state, now = retry(store.queue.state, AWAY_SECONDS), time.monotonic()
        if state != seen or now - asked >= ASK_SECONDS:
            asked, seen = now, state
            if retry(lambda: store.queue.has_work_for(name), AWAY_SECONDS):
                with reporting_trouble(store, name) as tell:
                    lease = retry(lambda: store.queue.take(name, default_workers()), AWAY_SECONDS, tell)
                if lease is not None:
                    return lease
            elif not employer.alive():
                return None
        time.sleep(LOOK_SECONDS)
    return None


if __name__ == "__main__":
    stand_back(default_niceness())  # the server has priority
    sys.exit(main(sys.argv[1:]))
