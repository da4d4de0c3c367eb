"""Where studies are worked on: one small interface, and this machine's worker processes behind it."""

from __future__ import annotations

import contextlib
import json
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from threading import Lock
from typing import Any, Protocol

import platformdirs
from sqlalchemy import Connection, delete, func, insert, select, update

from rankviz.common.threads import cores
from rankviz.experiments.desks import environment_of_worker
from rankviz.experiments.jobs import default_workers
from rankviz.experiments.processes import ProcessId, can_start, reap, start
from rankviz.experiments.spec import RunSpec
from rankviz.store.database import ENVIRONMENT
from rankviz.store.errors import StoreError
from rankviz.store.leases import host, reclaim
from rankviz.store.queue import new_name, process_of
from rankviz.store.runs import RunStore
from rankviz.store.study import QUEUED, RUNNING, Study, StudyStatus
from rankviz.store.tables import families, members, runs, studies, workers

LOOK_SECONDS = 1.0
"""At most this often who watches also sees to it that all is worked on."""
START_SECONDS = 30.0
"""A worker that has not said within this that it is there is taken for gone."""


class Execution(Protocol):
    """What works on studies: asked for runs, asked how far they are, asked to stop."""

    def submit(self, study: Study, specs: Iterable[RunSpec]) -> str:
        """Ask for runs and have them worked on; the study's id."""
        ...

    def watch(self, study_id: str) -> StudyStatus:
        """How far a study is."""
        ...

    def stop(self, study_id: str, owner: str) -> None:
        """Make no more runs of a study."""
        ...


class LocalWorkers:
    """Worker processes of this machine, which outlive the one that started them.

    Whoever watches also starts what is missing, so that a study goes on by itself once anybody looks, after
    whatever has ended: a worker, the app, the machine.

    Parameters
    ----------
    store : RunStore
    workers : int, optional
        Processes at once. Default: RANKVIZ_WORKERS from the environment, or half the cores, at least 2.
    """

    def __init__(self, store: RunStore, workers: int | None = None) -> None:
        self.store = store
        self.workers = default_workers() if workers is None else max(1, workers)
        self._lock, self._looked = Lock(), 0.0

    def submit(self, study: Study, specs: Iterable[RunSpec]) -> str:
        """Ask for runs and have them worked on; the study's id. Raises as `Studies.submit`."""
        study_id = self.store.studies.submit(study, specs)
        self.see_to_it()
        return study_id

    def watch(self, study_id: str) -> StudyStatus:
        """How far a study is; what died meanwhile is started again. `NoSuchStudy` where there is none."""
        with self._lock:
            due = time.monotonic() - self._looked >= LOOK_SECONDS
            if due:
                self._looked = time.monotonic()
        if due:
            self.see_to_it()
        return self.store.studies.status(study_id)

    def stop(self, study_id: str, owner: str) -> None:
        """Make no more runs of a study; those that are being made end within seconds."""
        self.store.studies.stop(study_id, owner)

    def see_to_it(self) -> None:
        """Give up workers that are gone, and start as many as there is work for."""
        reap()
        with self.store.database.writing() as connection:
            reclaim(connection)
            forget_the_dead(connection)
            names = [new_name() for _ in range(self._missing(connection))]
            for name in names:
                connection.execute(
                    insert(workers).values(
                        id=name, host=host(), process="", until=time.time() + START_SECONDS
                    )
                )
        for name in names:
            self._start(name)

    def _missing(self, connection: Connection) -> int:
        """How many workers are to be started: one for each family that waits, as far as may be."""
        there = connection.execute(select(func.count()).where(workers.c.host == host())).scalar_one()
        if there >= self.workers:
            return 0
        busy = connection.execute(select(func.count()).where(families.c.worker.is_not(None))).scalar_one()
        waiting = (
            select(families.c.id)
            .join(studies, studies.c.id == families.c.study)
            .where(studies.c.asked == RUNNING, studies.c.deleted.is_(None))
            .where(families.c.worker.is_(None), ~families.c.done)
            .where(
                select(members.c.run)
                .join(runs, runs.c.id == members.c.run)
                .where(members.c.family == families.c.id, runs.c.state == QUEUED)
                .exists()
            )
            .limit(self.workers)
        )
        wait = len(connection.execute(waiting).all())
        return max(0, min(self.workers - there, wait - max(0, there - busy)))

    def _start(self, name: str) -> None:
        """Start a worker process; `StoreError` where the system starts none."""
        environment = environment_of_worker(max(1, cores() // self.workers), self.workers)
        # not on the command line, which every user of the machine may read
        environment[ENVIRONMENT] = self.store.database.address
        try:
            if not can_start():
                raise OSError("this system starts no processes")
            log = log_folder(self.store) / f"{name}.log"
            log.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            process = start([sys.executable, "-m", "rankviz.store.worker", name], environment, log)
        except OSError as error:
            with self.store.database.writing() as connection:
                connection.execute(delete(workers).where(workers.c.id == name))
            raise StoreError(f"No worker can be started ({error.strerror or error}).") from error
        with self.store.database.writing() as connection:  # whoever looks can tell when it has died
            row = update(workers).where(workers.c.id == name, workers.c.process == "")
            connection.execute(row.values(process=process_of(process)))


def log_folder(store: RunStore) -> Path:
    """Where workers write what went wrong."""
    file = store.database.file
    return (Path(platformdirs.user_data_dir("rankviz")) if file is None else file.parent) / "workers"


def forget_the_dead(connection: Connection) -> None:
    """Strike out the workers of this machine that are known to be gone."""
    for row in connection.execute(
        select(workers.c.id, workers.c.process).where(workers.c.host == host())
    ).all():
        if row.process and not _process(row).alive():
            connection.execute(delete(workers).where(workers.c.id == row.id))


def at_work(store: RunStore) -> list[ProcessId]:
    """The worker processes of this machine."""
    with contextlib.suppress(StoreError), store.database.reading() as connection:
        rows = connection.execute(select(workers.c.process).where(workers.c.host == host())).all()
        return [_process(row) for row in rows if row.process]
    return []


def _process(row: Any) -> ProcessId:
    return ProcessId(**json.loads(row.process))
