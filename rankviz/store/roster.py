"""The workers of this machine as their table has them: who was started, who is there, who is gone."""

from __future__ import annotations

import contextlib
import json
import os
import time
from dataclasses import asdict

from sqlalchemy import Connection, delete, insert, select, update

from rankviz.experiments.processes import ProcessId
from rankviz.store.errors import StoreError
from rankviz.store.leases import host, process_from
from rankviz.store.queue import new_name, process_of
from rankviz.store.rows import told
from rankviz.store.runs import RunStore
from rankviz.store.tables import workers

START_SECONDS = 60.0
"""A worker that has not said within this that it is there is taken for gone."""
untold: dict[str, ProcessId | None] = {}
"""Workers of whose processes this one could not tell the store, by name; None where there is no process.

Where the disk is full, say. They are known to be gone once they are, and hold nobody's place until then.
"""


def announced(connection: Connection, place: str) -> str:
    """The name of a worker that we are about to start."""
    name, until = new_name(), time.time() + START_SECONDS
    noted = {"host": host(), "process": starting(), "until": until, "place": place}
    connection.execute(insert(workers).values(id=name, **noted))
    return name


def starting() -> str:
    """What stands for a worker that we are about to start: it will not come where we have ended."""
    return json.dumps({"starter": asdict(ProcessId.of(os.getpid()))})


def note_process(connection: Connection, name: str, process: ProcessId) -> None:
    """Note which process a worker is, so that whoever looks can tell when it has died."""
    row = update(workers).where(workers.c.id == name, workers.c.process == starting())
    connection.execute(row.values(process=process_of(process)))


def handed_out_here(connection: Connection, place: str) -> bool:
    """Whether a process of this machine hands out the work of a place."""
    here = select(workers.c.id).where(workers.c.host == host(), workers.c.place == place)
    return connection.execute(here).first() is not None


def dead(connection: Connection) -> list[str]:
    """The workers of this machine that are known to be gone."""
    here = select(workers.c.id, workers.c.process).where(workers.c.host == host())
    return [row.id for row in connection.execute(here) if _is_gone(row.id, row.process)]


def _is_gone(name: str, text: str) -> bool:
    """Whether a worker is known to be gone, by itself or with who was about to start it."""
    process = process_from(text)
    if process is None and name in untold:
        process = untold[name]
        return process is None or not process.alive()
    process = process or process_from(json.dumps(told(text).get("starter")))
    return process is not None and not process.alive()


def forget_the_dead(connection: Connection) -> None:
    """Strike out the workers of this machine that are known to be gone."""
    gone = dead(connection)
    connection.execute(delete(workers).where(workers.c.id.in_(gone)))
    for name in gone:
        untold.pop(name, None)


def at_work(store: RunStore) -> list[ProcessId]:
    """The worker processes of this machine, and those that hand work to a cluster."""
    with contextlib.suppress(StoreError), store.database.reading() as connection:
        rows = connection.execute(select(workers.c.process).where(workers.c.host == host())).all()
        return [process for row in rows if (process := process_from(row.process)) is not None]
    return []


def cluster_seen(store: RunStore, place: str) -> dict[str, object]:
    """What the process that hands out the work of a place here sees of its cluster; empty where none does."""
    asked = select(workers.c.told).where(workers.c.host == host(), workers.c.place == place)
    with store.database.reading() as connection:
        return told(str(connection.execute(asked.limit(1)).scalar() or ""))
