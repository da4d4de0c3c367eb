"""Workers of studies: this machine's worker processes, and their rows in the store."""

from __future__ import annotations

import contextlib
import json
import os
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path
from threading import Lock

from sqlalchemy import Connection, delete, func, insert, select, update

from rankviz.common.parallel import cores
from rankviz.common.processes import ProcessId, can_start, reap, start
from rankviz.runs.spec import RunSpec
from rankviz.store.database import ENVIRONMENT
from rankviz.store.environment import cluster_address, default_folder, default_workers, environment_of_worker
from rankviz.store.queue import (
    LEASE_SECONDS,
    RENEW_SECONDS,
    format_process,
    has_ended,
    host,
    leased_families,
    leased_here,
    new_worker_name,
    overdue_families,
    parse_process,
    reclaim,
    stop_overdue,
)
from rankviz.store.run_store import RunStore
from rankviz.store.study import (
    HERE,
    QUEUED,
    RUNNING,
    SHARDS,
    TASKS,
    StoreError,
    StoreOutOfReach,
    Study,
    StudyStatus,
)
from rankviz.store.tables import families, members, parse_object, runs, studies, workers

NO_CLUSTER = "No cluster is configured here any more (RANKVIZ_CLUSTER)."
NO_DASK = 'RANKVIZ_CLUSTER needs Dask: pip install "rankviz[dask]".'
LOOK_SECONDS = 0.25
"""Shortest time between two checks of the workers, in seconds."""
STALE_SECONDS = LEASE_SECONDS - RENEW_SECONDS - 2.0
"""A lease with fewer seconds left was not renewed in time."""


class LocalWorkers:
    """Worker processes of this machine, which outlive the process that started them.

    Any poll restarts missing workers, so a study continues after a worker, the app or the machine has ended.

    Parameters
    ----------
    store : RunStore
    workers : int, optional
        Processes at once. Default: RANKVIZ_WORKERS from the environment, or half the cores, at least 2.
        With 0 none is started, but families of dead workers are still reclaimed.
    """

    def __init__(self, store: RunStore, workers: int | None = None) -> None:
        self.store = store
        self.workers = default_workers() if workers is None else max(0, workers)
        self._lock, self._looked = Lock(), 0.0

    def submit(self, study: Study, specs: Iterable[RunSpec]) -> str:
        """Submit a study to the workers and return its id. Raises as `Studies.submit`."""
        study_id = self.store.studies.submit(study, specs)
        self.maintain()
        return study_id

    def watch(self, study_id: str) -> StudyStatus:
        """Return a study's status and restart dead workers. Raises `NoSuchStudy` for an unknown id."""
        self.maintain_if_due()
        return self.store.studies.status(study_id)

    def stop(self, study_id: str, owner: str) -> None:
        """Make no more runs of a study; its current runs end within seconds."""
        self.store.studies.stop(study_id, owner)

    def maintain_if_due(self) -> None:
        """Call `maintain`, at most once per `LOOK_SECONDS` in this process."""
        with self._lock:
            due = time.monotonic() - self._looked >= LOOK_SECONDS
            if due:
                self._looked = time.monotonic()
        if due:
            self.maintain()

    def maintain(self) -> None:
        """Reclaim leases of dead workers, end overdue ones, and start a worker for each waiting family.

        Write to the store only if there is something to do.
        """
        reap()
        with self.store.database.reading() as connection:
            if not self._anything(connection):
                return
        with self.store.database.writing() as connection:
            for process in stop_overdue(connection):
                process.terminate()
            probe_writing(connection)
            reclaim(connection)
            remove_dead_workers(self.store, connection)
            places = [HERE] * self._missing(connection) + self._idle(connection)
            names = {announce_worker(connection, place): place for place in places}
        self._start(names)

    def start_dispatcher(self, place: str) -> None:
        """Start this machine's dispatcher for a place, before it has any work."""
        if self.trouble(place) in (NO_CLUSTER, NO_DASK):
            return
        with self.store.database.reading() as connection:
            if has_worker_here(connection, place) and not dead_workers(connection):
                return
        with self.store.database.writing() as connection:
            remove_dead_workers(self.store, connection)
            if has_worker_here(connection, place):
                return
            name = announce_worker(connection, place)
        self._start({name: place})

    def trouble(self, place: str = HERE) -> str:
        """Return why this machine's workers cannot do a place's work, as a sentence; "" if they can."""
        if place != HERE and not cluster_address():
            return NO_CLUSTER
        if place != HERE and find_spec("distributed") is None:
            return NO_DASK
        asked = select(workers.c.trouble).where(workers.c.host == host(), workers.c.trouble != "")
        with self.store.database.reading() as connection:
            return str(connection.execute(asked.where(workers.c.place == place).limit(1)).scalar() or "")

    def _anything(self, connection: Connection) -> bool:
        """Return True if `maintain` has anything to do."""
        leases = connection.execute(leased_families()).all()
        return (
            any(has_ended(row) or (row.until or 0.0) < time.time() + STALE_SECONDS for row in leases)
            or bool(overdue_families(connection))
            or bool(dead_workers(connection))
            or self._missing(connection) > 0
            or bool(self._idle(connection))
        )

    def _idle(self, connection: Connection) -> list[str]:
        """Return the cluster places with waiting families and no dispatcher on this machine."""
        if not cluster_address() or not self.workers or find_spec("distributed") is None:
            return []
        waiting = [place for place in (TASKS, SHARDS) if waiting_families(connection, 1, place)]
        return [place for place in waiting if not has_worker_here(connection, place)]

    def _missing(self, connection: Connection) -> int:
        """Return the number of workers to start: one per waiting family, up to `workers`.

        One more may start if all are at background runs and somebody waits for others.
        """
        here = select(func.count()).where(workers.c.host == host(), workers.c.place == HERE)
        there = int(connection.execute(here).scalar_one())
        busy, background = leased_here(connection)
        waiting = waiting_families(connection, self.workers + 1)
        spare = 0 < self.workers <= background and not all(waiting)
        idle = max(0, there - busy)
        return max(0, min(self.workers + spare - there, len(waiting) - idle))

    def _start(self, names: dict[str, str]) -> None:
        """Start announced workers, by name with their places; keep in `unrecorded` those not recorded.

        Raises `StoreError` if the system starts no process, or the store cannot be written.
        """
        left: dict[str, ProcessId | None] = dict.fromkeys(names)
        try:
            for name, place in names.items():
                process = left[name] = self._process(name, place)
                with self.store.database.writing() as connection:
                    record_process(connection, name, process)
                del left[name]
        finally:
            unrecorded.update(left)

    def _process(self, name: str, place: str) -> ProcessId:
        """Start a new worker's process; raise `StoreError` if the system cannot."""
        environment = environment_of_worker(max(1, cores() // max(1, self.workers)), self.workers)
        program = ["rankviz.store.worker", name]
        if place != HERE:
            program = ["rankviz.store.dispatcher", name, place]
        # the address may hold a password, and every user of the machine can read command lines
        environment[ENVIRONMENT] = self.store.database.address
        try:
            if not can_start():
                raise OSError("this system cannot start processes")
            log = log_folder(self.store) / f"{name}.log"
            log.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            return start([sys.executable, "-m", *program], environment, log)
        except OSError as error:
            raise StoreError(f"No worker can be started ({error.strerror or error}).") from error


@contextlib.contextmanager
def registered(name: str, place: str = HERE) -> Iterator[RunStore]:
    """Open the store as a registered worker; at the end remove its row, and its log if that is empty."""
    store = RunStore()
    store.queue.register(name, ProcessId.of(os.getpid()), place)
    try:
        yield store
    finally:
        with contextlib.suppress(StoreOutOfReach):
            store.queue.leave(name)
    remove_empty_log(store, name)


def remove_empty_log(store: RunStore, name: str) -> None:
    """Remove the log of a worker if it says nothing."""
    log = log_folder(store) / f"{name}.log"
    if log.exists() and not log.stat().st_size:
        log.unlink(missing_ok=True)


def log_folder(store: RunStore) -> Path:
    """Return the folder of the workers' logs."""
    file = store.database.file
    return (default_folder() if file is None else file.parent) / "workers"


def waiting_families(connection: Connection, most: int, place: str = HERE) -> list[bool]:
    """Return up to `most` waiting families of a place, awaited ones first: True for each background one."""
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


def probe_writing(connection: Connection) -> None:
    """Write without effect if leases are not renewed, to find out if the store can be written."""
    late = families.c.worker.is_not(None), families.c.until < time.time() + STALE_SECONDS
    connection.execute(update(families).where(*late).values(waits=families.c.waits))


START_SECONDS = 60.0
"""An announced worker counts as dead after this many seconds without a sign."""


unrecorded: dict[str, ProcessId | None] = {}
"""Workers whose process could not be stored, by name; None if there is no process.

A full disk causes this, for example. They are removed once known to be dead.
"""


def announce_worker(connection: Connection, place: str) -> str:
    """Announce a worker that will be started, and return its name."""
    name, until = new_worker_name(), time.time() + START_SECONDS
    noted = {"host": host(), "process": _starting(), "until": until, "place": place}
    connection.execute(insert(workers).values(id=name, **noted))
    return name


def _starting() -> str:
    """Format the placeholder of a worker to be started; it is dead if this process has ended."""
    return json.dumps({"starter": asdict(ProcessId.of(os.getpid()))})


def record_process(connection: Connection, name: str, process: ProcessId) -> None:
    """Record a worker's process, so that others can notice its death."""
    row = update(workers).where(workers.c.id == name, workers.c.process == _starting())
    connection.execute(row.values(process=format_process(process)))


def has_worker_here(connection: Connection, place: str) -> bool:
    """Return True if this machine has a worker for the place."""
    here = select(workers.c.id).where(workers.c.host == host(), workers.c.place == place)
    return connection.execute(here).first() is not None


def dead_workers(connection: Connection) -> list[str]:
    """Return the names of this machine's dead workers."""
    here = select(workers.c.id, workers.c.process).where(workers.c.host == host())
    return [row.id for row in connection.execute(here) if _is_gone(row.id, row.process)]


def _is_gone(name: str, text: str) -> bool:
    """Return True if a worker is known to be dead, or its starter before it began."""
    process = parse_process(text)
    if process is None and name in unrecorded:
        process = unrecorded[name]
        return process is None or not process.alive()
    process = process or parse_process(json.dumps(parse_object(text).get("starter")))
    return process is not None and not process.alive()


def remove_dead_workers(store: RunStore, connection: Connection) -> None:
    """Remove this machine's dead workers, and their logs if those are empty."""
    gone = dead_workers(connection)
    connection.execute(delete(workers).where(workers.c.id.in_(gone)))
    for name in gone:
        unrecorded.pop(name, None)
        remove_empty_log(store, name)


def worker_processes(store: RunStore) -> list[ProcessId]:
    """Return the worker processes and dispatchers of this machine."""
    with contextlib.suppress(StoreError), store.database.reading() as connection:
        rows = connection.execute(select(workers.c.process).where(workers.c.host == host())).all()
        return [process for row in rows if (process := parse_process(row.process)) is not None]
    return []


def cluster_seen(store: RunStore, place: str) -> dict[str, object]:
    """Return the cluster as this machine's dispatcher of the place sees it; {} without one."""
    asked = select(workers.c.report).where(workers.c.host == host(), workers.c.place == place)
    with store.database.reading() as connection:
        return parse_object(str(connection.execute(asked.limit(1)).scalar() or ""))
