"""Studies on the workers of a Dask cluster: a task takes one family of the store under a lease and makes it.

Leases and records work as for this machine's worker processes (`rankviz.store.execution`). Runs enter the
store as they finish, a lost worker's family goes to another, and no run counts twice.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from typing import Any

from distributed import Future

from rankviz.common.errors import SettingError
from rankviz.common.processes import ProcessId
from rankviz.runs.spec import RunSpec
from rankviz.shards.cluster import OnCluster
from rankviz.store.execution import LocalWorkers, waiting_families
from rankviz.store.family_runner import FamilyRunner
from rankviz.store.queue import host, new_worker_name
from rankviz.store.run_store import RunStore
from rankviz.store.study import TASKS, StoreError, StoreOutOfReach, Study, StudyStatus

OF_A_CLUSTER = "worker"
"""The place of cluster workers in the store; this machine neither starts nor counts them."""
AHEAD = 2
"""Tasks per worker thread, so that none idles until the next poll; a task takes its family late."""
RETRIES = 2
"""Retries of a failed task; Dask itself restarts tasks of a lost worker."""


class ClusterWorkers:
    """Workers of a Dask cluster that make families of a run store's studies in `TASKS`.

    Families are distributed only while a caller polls. Workers open data sets below the same data roots as
    this process, and the store at the same address; a SQLite file serves only workers of this machine.

    Parameters
    ----------
    store : RunStore
    place : OnCluster

    Raises `SettingError` for a SQLite file and workers of other machines.
    """

    def __init__(self, store: RunStore, place: OnCluster) -> None:
        self.store, self._place = store, place
        self._tasks: list[Future[Any]] = []
        elsewhere = sorted(set(place.on_workers(host)) - {host()})
        if store.database.file is not None and elsewhere:
            raise SettingError(
                f"the run store is a SQLite file, which workers on {', '.join(elsewhere)} cannot share; "
                "set RANKVIZ_STORE to a PostgreSQL database"
            )

    @property
    def busy(self) -> bool:
        """True while tasks are on the cluster."""
        return bool(self._tasks)

    def submit(self, study: Study, specs: Iterable[RunSpec]) -> str:
        """Submit a study to these workers and return its id. Raises as `Studies.submit`."""
        study_id = self.store.studies.submit(replace(study, place=TASKS), specs)
        self.distribute()
        return study_id

    def watch(self, study_id: str) -> StudyStatus:
        """Distribute waiting families and return a study's status; `StoreError` if no worker can work."""
        self.distribute()
        return self.store.studies.status(study_id)

    def stop(self, study_id: str, owner: str) -> None:
        """Make no more runs of a study; its current runs end within seconds."""
        self.store.studies.stop(study_id, owner)

    def distribute(self) -> None:
        """Reclaim families of dead workers and submit enough tasks for all threads."""
        for task in [task for task in self._tasks if task.done()]:
            self._tasks.remove(task)
            if task.status == "error":
                raise StoreError(f"A worker of {self._place.address} cannot work: {task.exception()}")
        LocalWorkers(self.store, 0).maintain()
        idle = AHEAD * self._place.threads - len(self._tasks)
        with self.store.database.reading() as connection:
            waiting = len(waiting_families(connection, max(1, idle), TASKS))
        address = self.store.database.address
        self._tasks += [
            self._place.submit(make_a_family, address, retries=RETRIES) for _ in range(min(idle, waiting))
        ]


def make_a_family(address: str) -> int:
    """Take the next family and make it; return its number of runs, 0 if none waited."""
    store, runner = _opened(address)
    name = new_worker_name()
    store.queue.register(name, ProcessId.of(os.getpid()), OF_A_CLUSTER)
    try:
        lease = store.queue.take(name, place=TASKS)
        if lease is not None:
            runner.make(lease)
        return 0 if lease is None else len(lease.specs)
    finally:
        with suppress(StoreOutOfReach):
            store.queue.leave(name)


_mine = threading.local()


def _opened(address: str) -> tuple[RunStore, FamilyRunner]:
    """Return this thread's store and family runner, opened at first use; the runner keeps its fold open."""
    if getattr(_mine, "address", None) != address:
        if hasattr(_mine, "opened"):
            _mine.opened[0].close()
        store = RunStore(address)
        _mine.address, _mine.opened = address, (store, FamilyRunner(store))
    opened: tuple[RunStore, FamilyRunner] = _mine.opened
    return opened
