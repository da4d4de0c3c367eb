"""What is to be made next, and who makes it: leases on families of runs, and how they end.

A worker takes one family at a time, the one of the visitor for whom the fewest are being made. Its lease ends
unless it is renewed; a family whose lease has ended, or whose worker is known to be dead, goes to the next
worker. Every step is one transaction that tells by the rows it changed whether it came in time.
"""

from __future__ import annotations

import json
import secrets
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from sqlalchemy import Connection, delete, exists, insert, select, update

from rankviz.experiments.processes import ProcessId
from rankviz.experiments.spec import RunSpec
from rankviz.store.database import Database
from rankviz.store.leases import LEASE_SECONDS, RENEW_SECONDS, held, host, is_over, let_go, reclaim
from rankviz.store.study import LEASED, QUEUED, RUNNING
from rankviz.store.tables import families, members, runs, studies, workers


@dataclass(frozen=True)
class Lease:
    """A family that a worker holds.

    Attributes
    ----------
    family : int
    study : str
    owner : str
    specs : tuple of RunSpec
        The runs that it is to make, nobody else makes them meanwhile.
    roots : tuple of str
    threads : int
    worker : str
    """

    family: int
    study: str
    owner: str
    specs: tuple[RunSpec, ...]
    roots: tuple[str, ...]
    threads: int
    worker: str


def new_name() -> str:
    """A name for a worker."""
    return secrets.token_hex(8)


class Queue:
    """The families of a store that wait, and those that are held."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def take(self, worker: str) -> Lease | None:
        """The family that is next, for this worker, with those of its runs that nobody else makes.

        None where there is nothing to be made that is not being made.
        """
        with self._database.writing() as connection:
            reclaim(connection)
            while (found := _next(connection)) is not None:
                study, family = found
                now = time.time()
                taken = connection.execute(
                    update(families)
                    .where(families.c.id == family.id, families.c.worker.is_(None))
                    .values(worker=worker, since=now, until=now + LEASE_SECONDS, progress="")
                )
                if taken.rowcount:
                    return _lease(connection, study, family.id, worker)
        return None

    def waits(self) -> bool:
        """Whether there is something to be made that nobody makes."""
        with self._database.reading() as connection:
            return _waits(connection)

    def register(self, worker: str, process: ProcessId) -> None:
        """Note that a worker is there, and which process it is."""
        values = {"host": host(), "process": process_of(process), "until": time.time() + LEASE_SECONDS}
        with self._database.writing() as connection:
            connection.execute(delete(workers).where(workers.c.id == worker))
            connection.execute(insert(workers).values(id=worker, **values))

    def leave(self, worker: str) -> None:
        """Note that a worker ends."""
        with self._database.writing() as connection:
            connection.execute(delete(workers).where(workers.c.id == worker))

    def idle(self, worker: str) -> bool:
        """Whether there is something for a worker that has nothing to do, who is noted as there."""
        with self._database.reading() as connection:
            wanted = _waits(connection)
            until = connection.execute(select(workers.c.until).where(workers.c.id == worker)).scalar()
        if until is not None and until - time.time() < LEASE_SECONDS - RENEW_SECONDS:
            with self._database.writing() as connection:
                present(connection, worker)
        return wanted

    def renew(self, lease: Lease, news: Mapping[str, Any]) -> bool:
        """Hold a family longer, and tell how far it is; False where it is to be let go of.

        That is where it was given to another worker, and where its study is no longer to be made.
        """
        with self._database.writing() as connection:
            held = connection.execute(
                update(families)
                .where(families.c.id == lease.family, families.c.worker == lease.worker)
                .values(until=time.time() + LEASE_SECONDS, progress=json.dumps(dict(news)))
            )
            present(connection, lease.worker)
            if not held.rowcount:
                return False
            asked = connection.execute(select(studies.c.asked).where(studies.c.id == lease.study)).scalar()
            return asked == RUNNING or _wanted_elsewhere(connection, lease)

    def release(self, lease: Lease) -> None:
        """Let go of a family: runs of it that were not made wait again, or are cancelled.

        Nothing changes where another worker holds it by now.
        """
        with self._database.writing() as connection:
            held = connection.execute(
                update(families)
                .where(families.c.id == lease.family, families.c.worker == lease.worker)
                .values(worker=None, until=None, waits=time.time(), progress="")
            )
            if held.rowcount:
                let_go(connection, [lease.family])


def present(connection: Connection, worker: str) -> None:
    """Note that a worker is there."""
    connection.execute(
        update(workers).where(workers.c.id == worker).values(until=time.time() + LEASE_SECONDS)
    )


def process_of(process: ProcessId) -> str:
    """A process as the table of workers has it."""
    return json.dumps(asdict(process))


def _waits(connection: Connection) -> bool:
    return _next(connection) is not None or any(map(is_over, connection.execute(held())))


def _next(connection: Connection) -> Any | None:
    """The family that is next: of the visitor for whom the fewest are made, the one that waits longest."""
    at_work = Counter(
        connection.execute(
            select(studies.c.owner)
            .join(families, families.c.study == studies.c.id)
            .where(families.c.worker.is_not(None))
        ).scalars()
    )
    running = connection.execute(
        select(studies.c.id, studies.c.owner, studies.c.roots, studies.c.threads).where(
            studies.c.asked == RUNNING, studies.c.deleted.is_(None)
        )
    )
    found = [(study, family) for study in running if (family := _longest_waiting(connection, study.id))]
    if not found:
        return None
    return min(found, key=lambda pair: (at_work[pair[0].owner], pair[1].waits, pair[1].id))


def _longest_waiting(connection: Connection, study: str) -> Any | None:
    """The family of a study that nobody holds and has waited longest, of those with a run that waits."""
    waiting = exists().where(
        members.c.family == families.c.id, members.c.run == runs.c.id, runs.c.state == QUEUED
    )
    return connection.execute(
        select(families.c.id, families.c.waits)
        .where(families.c.study == study, ~families.c.done, families.c.worker.is_(None), waiting)
        .order_by(families.c.waits, families.c.id)
        .limit(1)
    ).first()


def _lease(connection: Connection, study: Any, family: int, worker: str) -> Lease:
    """Hold the runs of a family that wait."""
    own = select(members.c.run).where(members.c.family == family)
    connection.execute(
        update(runs).where(runs.c.id.in_(own), runs.c.state == QUEUED).values(state=LEASED, family=family)
    )
    specs = connection.execute(
        select(runs.c.spec)
        .join(members, members.c.run == runs.c.id)
        .where(runs.c.family == family, runs.c.state == LEASED, members.c.family == family)
        .order_by(members.c.position)
    ).scalars()
    wanted = tuple(RunSpec.from_json(text) for text in specs)
    roots = tuple(json.loads(study.roots))
    return Lease(family, study.id, study.owner, wanted, roots, study.threads, worker)


def _wanted_elsewhere(connection: Connection, lease: Lease) -> bool:
    """Whether another study that runs wants a run which this family is to make."""
    wanted = exists().where(
        runs.c.family == lease.family,
        runs.c.state == LEASED,
        members.c.run == runs.c.id,
        members.c.study == studies.c.id,
        studies.c.asked == RUNNING,
    )
    return bool(connection.execute(select(wanted)).scalar())
