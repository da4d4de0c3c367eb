"""Distributes studies to the cluster of RANKVIZ_CLUSTER: `python -m rankviz.store.dispatcher NAME PLACE`.

It is a separate process because a cluster client needs memory and a thread that the app should not spend.
While the cluster does not answer it retries, and notes the reason in the store, where pages read it.

See docs/decisions/0017-workers-stay.md.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from threading import Event, Thread
from typing import Any

from rankviz.common.bounds import bounds
from rankviz.common.errors import SettingError
from rankviz.common.memory import prefer_oom_kill
from rankviz.common.processes import stand_back
from rankviz.shards.cluster import OnCluster
from rankviz.store.cluster import ClusterWorkers
from rankviz.store.environment import cluster_address, code_digest, default_niceness, server_process
from rankviz.store.execution import registered
from rankviz.store.family_runner import FamilyRunner
from rankviz.store.run_store import RunStore
from rankviz.store.study import SHARDS, TASKS, StoreError, StoreOutOfReach
from rankviz.store.watched import log_if_ended

LOOK_SECONDS, REPORT_SECONDS, RETRY_SECONDS = 0.2, 1.0, 3.0
"""Seconds between looks for work, between looks at the cluster, and before a retry."""
CODE_SECONDS, QUIET_SECONDS = 5.0, 8.0
"""Seconds between checks for changed code; longest silence while nothing has changed."""
ROUNDING = 5e7
"""Rounding of reported memory, in bytes: every write wakes all processes that poll the store."""


class Dispatcher:
    """Distributes the studies of one place until none has come for a while.

    Parameters
    ----------
    store : RunStore
    name : str
        Its name as a worker in the store.
    place : str
        `TASKS` or `SHARDS`.
    """

    def __init__(self, store: RunStore, name: str, place: str) -> None:
        self._store, self._name, self._place = store, name, place
        self._code, self._employer = code_digest(), server_process()
        self._used = self._looked = time.monotonic()
        self._same = True

    def work(self) -> None:
        """Work until nothing waits after an idle time or the server's end, or until the code changes."""
        while self._continues():
            try:
                with OnCluster(cluster_address()) as cluster, _reporting(self._store, self._name, cluster):
                    self._store.queue.report_trouble(self._name, "")
                    _PLACES[self._place](self, cluster)
            except (SettingError, StoreError) as error:
                self._wait(str(error))

    def as_tasks(self, cluster: OnCluster) -> None:
        """Give each worker its own family."""
        execution = ClusterWorkers(self._store, cluster)
        while self._continues():
            execution.distribute()
            if execution.busy:
                self._used = time.monotonic()
            time.sleep(LOOK_SECONDS)

    def in_shards(self, cluster: OnCluster) -> None:
        """Make one run after another, each with all workers together."""
        runner, queue = FamilyRunner(self._store, cluster), self._store.queue
        while self._continues() and cluster.answers:
            lease = queue.take(self._name, place=SHARDS) if queue.has_work_for(self._name) else None
            if lease is None:
                time.sleep(LOOK_SECONDS)
                continue
            runner.make(lease)
            log_if_ended(self._store.database, lease.study)
            self._used = time.monotonic()

    def _continues(self) -> bool:
        now = time.monotonic()
        if now - self._looked > CODE_SECONDS:
            self._looked, self._same = now, code_digest() == self._code
        if now - self._used < bounds().idle_seconds and self._employer.alive():
            return self._same
        return self._same and self._store.queue.has_waiting(self._place)

    def _wait(self, why: str) -> None:
        with suppress(StoreOutOfReach):
            self._store.queue.report_trouble(self._name, why)
            self._store.queue.report_cluster(self._name, {})
        time.sleep(RETRY_SECONDS)


_PLACES: dict[str, Callable[[Dispatcher, OnCluster], None]] = {
    TASKS: Dispatcher.as_tasks,
    SHARDS: Dispatcher.in_shards,
}


@contextmanager
def _reporting(store: RunStore, name: str, cluster: OnCluster) -> Iterator[None]:
    """Report the cluster's workers to the store from a thread, because a fit may take long."""
    over = Event()

    def report() -> None:
        before: set[str] | None = None
        came, left, reported, last = 0, 0, dict[str, object](), 0.0
        while True:
            with suppress(SettingError, StoreOutOfReach):
                found = [_rounded(worker) for worker in cluster.list_workers()]
                names = {worker["address"] for worker in found}
                if before is not None:
                    came += len(names - before)
                    left += len(before - names)
                before, now = names, time.monotonic()
                news = {"workers": found, "came": came, "left": left}
                if news != reported or now - last > QUIET_SECONDS:
                    store.queue.report_cluster(name, news)
                    reported, last = news, now
            if over.wait(REPORT_SECONDS):
                return

    thread = Thread(target=report, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def _rounded(worker: Mapping[str, Any]) -> dict[str, Any]:
    return {**worker, "memory": ROUNDING * round(worker["memory"] / ROUNDING)}


def main(arguments: list[str]) -> int:
    """Distribute studies as the command line says; return exit status 0, or 2 for invalid arguments."""
    if len(arguments) != 2 or arguments[1] not in _PLACES:
        print("usage: python -m rankviz.store.dispatcher NAME tasks|shards", file=sys.stderr)  # noqa: T201
        return 2
    prefer_oom_kill()
    name, place = arguments
    with registered(name, place) as store:
        Dispatcher(store, name, place).work()
    return 0


if __name__ == "__main__":
    stand_back(default_niceness())
    sys.exit(main(sys.argv[1:]))
