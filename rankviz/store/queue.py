"""What is to be made next, and who makes it: leases on families of runs, and how they end.

A worker takes one family at a time, the one of the visitor for whom the fewest are being made. Its lease ends
unless it is renewed; a family whose lease has ended, or whose worker is known to be dead, goes to the next
worker. Every step is one transaction that tells by the rows it changed whether it came in time.

See docs/decisions/0015-the-run-store.md.
"""

from __future__ import annotations

import json
import math
import secrets
import time
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import Any

from sqlalchemy import Connection, delete, exists, insert, select, true, update

from rankviz.experiments.processes import ProcessId
from rankviz.experiments.spec import RunSpec
from rankviz.store.database import Database
from rankviz.store.leases import (
    LEASE_SECONDS,
    RENEW_SECONDS,
    held,
    held_here,
    host,
    is_over,
    let_go,
    note_work,
    reclaim,
    stop,
    wanted,
)
from rankviz.store.study import FAILED, HERE, LEASED, QUEUED, RUNNING
from rankviz.store.tables import families, members, runs, studies, workers

WAIT_SECONDS = 0.3
"""What somebody waits for is left to workers that have nothing to do for so long."""


UNREADABLE = "What is to be made cannot be read: another version of rankviz has asked for it."


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
    background : bool
        It gives way to what somebody waits for.
    most, seconds : float
        So long workers may be at its study: all together, and yet.
    place : str
        Of its study.
    """

    family: int
    study: str
    owner: str
    specs: tuple[RunSpec, ...]
    roots: tuple[str, ...]
    threads: int
    worker: str
    background: bool = True
    most: float = math.inf
    seconds: float = math.inf
    place: str = HERE


def new_name() -> str:
    """A name for a worker."""
    return secrets.token_hex(8)


class Queue:
    """The families of a store that wait, and those that are held."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def take(self, worker: str, at_once: float = math.inf, place: str = HERE) -> Lease | None:
        """The family of a place that is next, for this worker, with those of its runs that nobody else makes.

        None where there is nothing to be made that is not being made. What can wait is taken only while fewer
        than `at_once` families of such are held on this machine.
        """
        with self._database.writing() as connection:
            reclaim(connection)
            patient = held_here(connection, place)[1] < at_once
            while (found := _next(connection, place, patient)) is not None:
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

    def gives_way(self, lease: Lease) -> bool:
        """Whether somebody waits for runs that nobody makes, and this family is one that can wait."""
        if not lease.background:
            return False
        with self._database.reading() as connection:
            found = _next(connection, lease.place)
        return found is not None and not found[0].background and time.time() - found[1].waits > WAIT_SECONDS

    def waits(self, place: str = HERE) -> bool:
        """Whether there is something to be made that nobody makes."""
        with self._database.reading() as connection:
            return _waits(connection, place)

    def register(self, worker: str, process: ProcessId, place: str = HERE) -> None:
        """Note that a worker is there, which process it is, and for whose studies."""
        values = {"host": host(), "process": process_of(process), "until": time.time() + LEASE_SECONDS}
        values["place"] = place
        with self._database.writing() as connection:
            connection.execute(delete(workers).where(workers.c.id == worker))
            connection.execute(insert(workers).values(id=worker, **values))

    def complain(self, worker: str, why: str) -> None:
        """Note what keeps a worker from its work, as a sentence; "" where nothing does any more."""
        with self._database.writing() as connection:
            connection.execute(update(workers).where(workers.c.id == worker).values(trouble=why))

    def tell(self, worker: str, told: Mapping[str, Any]) -> None:
        """Note that a worker is there, and what it knows of its cluster."""
        with self._database.writing() as connection:
            present(connection, worker)
            text = json.dumps(dict(told))
            connection.execute(update(workers).where(workers.c.id == worker).values(told=text))

    def leave(self, worker: str) -> None:
        """Note that a worker ends."""
        with self._database.writing() as connection:
            connection.execute(delete(workers).where(workers.c.id == worker))

    def idle(self, worker: str) -> bool:
        """Whether there is something for a worker that has nothing to do, who is noted as there."""
        with self._database.reading() as connection:
            row = connection.execute(select(workers).where(workers.c.id == worker)).first()
            waits = _waits(connection, HERE if row is None else row.place)
        if row is not None and row.until - time.time() < LEASE_SECONDS - RENEW_SECONDS:
            with self._database.writing() as connection:
                present(connection, worker)
        return waits

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
            return bool(held.rowcount) and wanted(connection, lease.family, lease.study)

    def holds(self, lease: Lease) -> bool:
        """Whether a family is to be held on to, as `renew` says, which changes nothing."""
        with self._database.reading() as connection:
            mine = families.c.id == lease.family, families.c.worker == lease.worker
            held = connection.execute(select(families.c.id).where(*mine)).first()
            return held is not None and wanted(connection, lease.family, lease.study)

    def state(self) -> object:
        """What is equal to what it was only where nothing was written to the store since."""
        return self._database.state()

    def release(self, lease: Lease, over: str = "") -> None:
        """Let go of a family: runs of it that were not made wait again, or are cancelled.

        Where its study is `over`, which is why in a sentence, no more runs of it are made.
        Nothing changes where another worker holds it by now.
        """
        with self._database.writing() as connection:
            held = connection.execute(
                update(families)
                .where(families.c.id == lease.family, families.c.worker == lease.worker)
                .values(worker=None, until=None, waits=time.time(), progress="")
                .returning(families.c.since)
            ).first()
            if held is None:
                return
            note_work(connection, lease.study, time.time() - held.since)
            if over:
                stop(connection, lease.study, over)
            let_go(connection, [lease.family])


def present(connection: Connection, worker: str) -> None:
    """Note that a worker is there."""
    connection.execute(
        update(workers).where(workers.c.id == worker).values(until=time.time() + LEASE_SECONDS)
    )


def process_of(process: ProcessId) -> str:
    """A process as the table of workers has it."""
    return json.dumps(asdict(process))


def _waits(connection: Connection, place: str) -> bool:
    return _next(connection, place) is not None or any(map(is_over, connection.execute(held())))


def _next(connection: Connection, place: str, patient: bool = True) -> Any | None:
    """The next family of a place: of the visitor for whom the fewest are made, the one that waits longest.

    What somebody waits for is before what can wait, which is left out unless `patient`.
    """
    at_work = Counter(
        connection.execute(
            select(studies.c.owner)
            .join(families, families.c.study == studies.c.id)
            .where(families.c.worker.is_not(None), studies.c.place == place)
        ).scalars()
    )
    running = connection.execute(
        select(studies.c.id, studies.c.owner, studies.c.roots, studies.c.threads)
        .add_columns(studies.c.background, studies.c.seconds, studies.c.worked, studies.c.place)
        .where(studies.c.asked == RUNNING, studies.c.deleted.is_(None), studies.c.place == place)
        .where(exists().where(families.c.study == studies.c.id, ~families.c.done))
        .where(true() if patient else ~studies.c.background)
    )
    found = [(study, family) for study in running if (family := _longest_waiting(connection, study.id))]
    if not found:
        return None
    return min(
        found, key=lambda pair: (at_work[pair[0].owner], pair[0].background, pair[1].waits, pair[1].id)
    )


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


def _read(text: str) -> RunSpec | None:
    """A spec; None where this version cannot read it."""
    try:
        return RunSpec.from_json(text)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def _roots(text: str) -> tuple[str, ...]:
    """Data roots of a study; none where they cannot be read: then no data set is found."""
    with suppress(ValueError, TypeError, RecursionError):
        return tuple(map(str, json.loads(text)))
    return ()


def _lease(connection: Connection, study: Any, family: int, worker: str) -> Lease:
    """Hold the runs of a family that wait."""
    own = select(members.c.run).where(members.c.family == family)
    connection.execute(
        update(runs).where(runs.c.id.in_(own), runs.c.state == QUEUED).values(state=LEASED, family=family)
    )
    rows = connection.execute(
        select(runs.c.id, runs.c.spec)
        .join(members, members.c.run == runs.c.id)
        .where(runs.c.family == family, runs.c.state == LEASED, members.c.family == family)
        .order_by(members.c.position)
    ).all()
    specs = {row.id: _read(row.spec) for row in rows}
    unread = [run for run, spec in specs.items() if spec is None]
    failed = {"state": FAILED, "family": None, "ended": time.time(), "reason": UNREADABLE}
    connection.execute(update(runs).where(runs.c.id.in_(unread)).values(**failed))
    found = tuple(spec for spec in specs.values() if spec is not None)
    most = math.inf if study.seconds is None else study.seconds
    about = study.owner, found, _roots(study.roots), study.threads, worker, study.background
    return Lease(family, study.id, *about, most, most - study.worked, study.place)
