"""The workers of this machine as their table has them: who was started, who is there, who is gone."""

from __future__ import annotations

import contextlib
import json
import os
import time
from dataclasses import asdict

from sqlalchemy import Connection, delete, insert, select

from rankviz.experiments.processes import ProcessId
from rankviz.store.errors import StoreError
from rankviz.store.leases import host, process_from
from rankviz.store.queue import new_name
from rankviz.store.rows import told
from rankviz.store.runs import RunStore
from rankviz.store.tables import workers

START_SECONDS = 60.0
"""A worker that has not said within this that it is there is taken for gone."""


def announced(connection: Connection, place: str) -> str:
    """The name of a worker that we are about to start."""
    name, until = new_name(), time.time() + START_SECONDS
    noted = {"host": host(), "process": starting(), "until": until, "place": place}
    connection.execute(insert(workers).values(id=name, **noted))
    return name


def starting() -> str:
    """What stands for a worker that we are about to start: it will not come where we have ended."""
    return json.dumps({"starter": asdict(ProcessId.of(os.getpid()))})


def handed_out_here(connection: Connection, place: str) -> bool:
    """Whether a process of this machine hands out the work of a place."""
    here = select(workers.c.id).where(workers.c.host == host(), workers.c.place == place)
    return connection.execute(here).first() is not None


def dead(connection: Connection) -> list[str]:
    """The workers of this machine that are known to be gone."""
    here = select(workers.c.id, workers.c.process).where(workers.c.host == host())
    known = [(row.id, process_from(row.process) or _starter(row.process)) for row in connection.execute(here)]
    return [name for name, process in known if process is not None and not process.alive()]


def _starter(text: str) -> ProcessId | None:
    """The process that was about to start a worker."""
    return process_from(json.dumps(told(text).get("starter")))


def forget_the_dead(connection: Connection) -> None:
    """Strike out the workers of this machine that are known to be gone."""
    connection.execute(delete(workers).where(workers.c.id.in_(dead(connection))))


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
