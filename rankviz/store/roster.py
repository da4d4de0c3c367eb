"""The workers of this machine in their table: announced, present and dead ones."""

from __future__ import annotations

import contextlib
import json
import os
import time
from dataclasses import asdict

from sqlalchemy import Connection, delete, insert, select, update

from rankviz.runs.processes import ProcessId
from rankviz.store.errors import StoreError
from rankviz.store.leases import host, process_from
from rankviz.store.queue import new_name, process_of
from rankviz.store.rows import told
from rankviz.store.runs import RunStore
from rankviz.store.tables import workers

START_SECONDS = 60.0
"""An announced worker counts as dead after this many seconds without a sign."""
untold: dict[str, ProcessId | None] = {}
"""Workers whose process could not be stored, by name; None if there is no process.

This happens on a full disk, for example. They are removed once known to be dead.
"""


def announced(connection: Connection, place: str) -> str:
    """Announce a worker that will be started, and return its name."""
    name, until = new_name(), time.time() + START_SECONDS
    noted = {"host": host(), "process": starting(), "until": until, "place": place}
    connection.execute(insert(workers).values(id=name, **noted))
    return name


def starting() -> str:
    """Format the placeholder of a worker to be started; it is dead if this process has ended."""
    return json.dumps({"starter": asdict(ProcessId.of(os.getpid()))})


def note_process(connection: Connection, name: str, process: ProcessId) -> None:
    """Record a worker's process, so that others can notice its death."""
    row = update(workers).where(workers.c.id == name, workers.c.process == starting())
    connection.execute(row.values(process=process_of(process)))


def handed_out_here(connection: Connection, place: str) -> bool:
    """Return True if this machine has a worker for the place."""
    here = select(workers.c.id).where(workers.c.host == host(), workers.c.place == place)
    return connection.execute(here).first() is not None


def dead(connection: Connection) -> list[str]:
    """Return the names of this machine's dead workers."""
    here = select(workers.c.id, workers.c.process).where(workers.c.host == host())
    return [row.id for row in connection.execute(here) if _is_gone(row.id, row.process)]


def _is_gone(name: str, text: str) -> bool:
    """Return True if a worker is known to be dead, or its starter before it began."""
    process = process_from(text)
    if process is None and name in untold:
        process = untold[name]
        return process is None or not process.alive()
    process = process or process_from(json.dumps(told(text).get("starter")))
    return process is not None and not process.alive()


def forget_the_dead(connection: Connection) -> None:
    """Remove this machine's dead workers."""
    gone = dead(connection)
    connection.execute(delete(workers).where(workers.c.id.in_(gone)))
    for name in gone:
        untold.pop(name, None)


def at_work(store: RunStore) -> list[ProcessId]:
    """Return the worker processes and dispatchers of this machine."""
    with contextlib.suppress(StoreError), store.database.reading() as connection:
        rows = connection.execute(select(workers.c.process).where(workers.c.host == host())).all()
        return [process for row in rows if (process := process_from(row.process)) is not None]
    return []


def cluster_seen(store: RunStore, place: str) -> dict[str, object]:
    """Return the cluster as this machine's dispatcher of the place sees it; {} without one."""
    asked = select(workers.c.told).where(workers.c.host == host(), workers.c.place == place)
    with store.database.reading() as connection:
        return told(str(connection.execute(asked.limit(1)).scalar() or ""))
