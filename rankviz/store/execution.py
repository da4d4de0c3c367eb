"""Where studies are worked on: one small interface, and this machine's worker processes behind it."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import Protocol

from sqlalchemy import Connection, func, select, update

from rankviz.common.threads import cores
from rankviz.experiments.processes import ProcessId, can_start, reap, start
from rankviz.experiments.spec import RunSpec
from rankviz.store.database import ENVIRONMENT
from rankviz.store.errors import StoreError
from rankviz.store.leases import (
    LEASE_SECONDS,
    RENEW_SECONDS,
    end_overdue,
    held,
    held_here,
    host,
    is_over,
    overdue,
    reclaim,
)
from rankviz.store.places import cluster_address, default_folder, default_workers
from rankviz.store.roster import announced, dead, forget_the_dead, handed_out_here, note_process, untold
from rankviz.store.runs import RunStore
from rankviz.store.study import HERE, QUEUED, RUNNING, SHARDS, TASKS, Study, StudyStatus
from rankviz.store.tables import families, members, runs, studies, workers
from rankviz.store.workplace import environment_of_worker

NO_CLUSTER = "No cluster is configured here any more (RANKVIZ_CLUSTER)."
NO_DASK = 'RANKVIZ_CLUSTER needs Dask: pip install "rankviz[dask]".'
LOOK_SECONDS = 0.25
"""At most this often who watches also sees to it that all is worked on."""
STALE_SECONDS = LEASE_SECONDS - RENEW_SECONDS - 2.0
"""A lease that ends sooner was not renewed when it should have been."""


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
        With 0 none is started: what others leave is given up all the same.
    """

    def __init__(self, store: RunStore, workers: int | None = None) -> None:
        self.store = store
        self.workers = default_workers() if workers is None else max(0, workers)
        self._lock, self._looked = Lock(), 0.0

    def submit(self, study: Study, specs: Iterable[RunSpec]) -> str:
        """Ask for runs and have them worked on; the study's id. Raises as `Studies.submit`."""
        study_id = self.store.studies.submit(study, specs)
        self.see_to_it()
        return study_id

    def watch(self, study_id: str) -> StudyStatus:
        """How far a study is; what died meanwhile is started again. `NoSuchStudy` where there is none."""
        self.look()
        return self.store.studies.status(study_id)

    def stop(self, study_id: str, owner: str) -> None:
        """Make no more runs of a study; those that are being made end within seconds."""
        self.store.studies.stop(study_id, owner)

    def look(self) -> None:
        """`see_to_it`, unless that was done just now by this process."""
        with self._lock:
            due = time.monotonic() - self._looked >= LOOK_SECONDS
            if due:
                self._looked = time.monotonic()
        if due:
            self.see_to_it()

    def see_to_it(self) -> None:
        """Give up workers that are gone, end those that should have let go, start as many as there is work.

        Nothing is written where nothing is to be done.
        """
        reap()
        with self.store.database.reading() as connection:
            if not self._anything(connection):
                return
        with self.store.database.writing() as connection:
            for process in end_overdue(connection):
                process.terminate()
            probe(connection)
            reclaim(connection)
            forget_the_dead(connection)
            places = [HERE] * self._missing(connection) + self._idle(connection)
            names = {announced(connection, place): place for place in places}
        self._start(names)

    def call(self, place: str) -> None:
        """Have somebody here who hands work of a place to its cluster, before there is any."""
        if self.trouble(place) in (NO_CLUSTER, NO_DASK):
            return
        with self.store.database.reading() as connection:
            if handed_out_here(connection, place) and not dead(connection):
                return
        with self.store.database.writing() as connection:
            forget_the_dead(connection)
            if handed_out_here(connection, place):
                return
            name = announced(connection, place)
        self._start({name: place})

    def trouble(self, place: str = HERE) -> str:
        """What keeps workers of this machine from the work of a place, as a sentence; "" for nothing."""
        if place != HERE and not cluster_address():
            return NO_CLUSTER
        if place != HERE and find_spec("distributed") is None:
            return NO_DASK
        asked = select(workers.c.trouble).where(workers.c.host == host(), workers.c.trouble != "")
        with self.store.database.reading() as connection:
            return str(connection.execute(asked.where(workers.c.place == place).limit(1)).scalar() or "")

    def _anything(self, connection: Connection) -> bool:
        """Whether there is anything to see to."""
        leases = connection.execute(held()).all()
        return (
            any(is_over(row) or row.until < time.time() + STALE_SECONDS for row in leases)
            or bool(overdue(connection))
            or bool(dead(connection))
            or self._missing(connection) > 0
            or bool(self._idle(connection))
        )

    def _idle(self, connection: Connection) -> list[str]:
        """The places of a cluster whose families wait and that nobody here hands out."""
        if not cluster_address() or not self.workers or find_spec("distributed") is None:
            return []
        waiting = [place for place in (TASKS, SHARDS) if families_that_wait(connection, 1, place)]
        return [place for place in waiting if not handed_out_here(connection, place)]

    def _missing(self, connection: Connection) -> int:
        """How many workers are to be started: one for each family that waits, as far as may be.

        There is one more while all are at runs that can wait and somebody waits for others.
        """
        here = select(func.count()).where(workers.c.host == host(), workers.c.place == HERE)
        there = int(connection.execute(here).scalar_one())
        busy, background = held_here(connection)
        waiting = families_that_wait(connection, self.workers + 1)
        spare = background >= self.workers and not all(waiting)
        idle = max(0, there - busy)
        return max(0, min(self.workers + spare - there, len(waiting) - idle))

    def _start(self, names: dict[str, str]) -> None:
        """Start workers that were announced, by name with their places; what the store does not hear is kept.

        Raises `StoreError` where the system starts none, or the store cannot be told.
        """
        left: dict[str, ProcessId | None] = dict.fromkeys(names)
        try:
            for name, place in names.items():
                process = left[name] = self._process(name, place)
                with self.store.database.writing() as connection:
                    note_process(connection, name, process)
                del left[name]
        finally:
            untold.update(left)

    def _process(self, name: str, place: str) -> ProcessId:
        """The process of a new worker; `StoreError` where the system starts none."""
        environment = environment_of_worker(max(1, cores() // max(1, self.workers)), self.workers)
        program = ["rankviz.store.worker", name]
        if place != HERE:
            program = ["rankviz.store.dispatcher", name, place]
        # not on the command line, which every user of the machine may read
        environment[ENVIRONMENT] = self.store.database.address
        try:
            if not can_start():
                raise OSError("this system starts no processes")
            log = log_folder(self.store) / f"{name}.log"
            log.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            return start([sys.executable, "-m", *program], environment, log)
        except OSError as error:
            raise StoreError(f"No worker can be started ({error.strerror or error}).") from error


def log_folder(store: RunStore) -> Path:
    """Where workers write what went wrong."""
    file = store.database.file
    return (default_folder() if file is None else file.parent) / "workers"


def families_that_wait(connection: Connection, most: int, place: str = HERE) -> list[bool]:
    """Of so many waiting families of a place, those first that somebody waits for: whether each can wait."""
    asked = (
        select(studies.c.background)
        .select_from(families)
        .join(studies, studies.c.id == families.c.study)
        .where(studies.c.asked == RUNNING, studies.c.deleted.is_(None), studies.c.place == place)
        .where(families.c.worker.is_(None), ~families.c.done)
        .where(
            select(members.c.run)
            .join(runs, runs.c.id == members.c.run)
            .where(members.c.family == families.c.id, runs.c.state == QUEUED)
            .exists()
        )
        .order_by(studies.c.background)
        .limit(most)
    )
    return list(connection.execute(asked).scalars())


def probe(connection: Connection) -> None:
    """Write what changes nothing where workers do not renew their leases: perhaps nothing can be written."""
    late = families.c.worker.is_not(None), families.c.until < time.time() + STALE_SECONDS
    connection.execute(update(families).where(*late).values(waits=families.c.waits))
