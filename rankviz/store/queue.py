"""The queue: leases on families of runs, and the choice of the next family.

A worker takes one family at a time, of the visitor with the fewest families at work. Its lease ends unless it
is renewed. A family with an ended lease or a dead worker goes to the next worker. Every step is one
transaction; its count of changed rows says if it came in time.

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

from rankviz.runs.processes import ProcessId
from rankviz.runs.spec import RunSpec
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
"""An awaited family waits this long for an idle worker before a background one gives way."""


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
        The runs to make; nobody else makes them meanwhile.
    roots : tuple of str
    threads : int
    worker : str
    background : bool
        It gives way to awaited runs.
    most, seconds : float
        Seconds that workers may spend on its study: in all, and remaining.
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
    """Return a new name for a worker."""
    return secrets.token_hex(8)


class Queue:
    """The waiting and leased families of a store."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def take(self, worker: str, at_once: float = math.inf, place: str = HERE) -> Lease | None:
        """Lease a place's next family to this worker, with its runs that nobody else makes.

        Return None if nothing waits. Take a background family only while this machine holds fewer than
        `at_once` of them.
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
                if taken.rowcount:  # else another worker took it first: choose again
                    return _lease(connection, study, family.id, worker)
        return None

    def gives_way(self, lease: Lease) -> bool:
        """Return True if this is a background family and an awaited one has waited `WAIT_SECONDS`."""
        if not lease.background:
            return False
        with self._database.reading() as connection:
            found = _next(connection, lease.place)
        return found is not None and not found[0].background and time.time() - found[1].waits > WAIT_SECONDS

    def waits(self, place: str = HERE) -> bool:
        """Return True if a family of the place waits, or any lease has ended."""
        with self._database.reading() as connection:
            return _waits(connection, place)

    def register(self, worker: str, process: ProcessId, place: str = HERE) -> None:
        """Register a worker with its process and its place."""
        values = {"host": host(), "process": process_of(process), "until": time.time() + LEASE_SECONDS}
        values["place"] = place
        with self._database.writing() as connection:
            connection.execute(delete(workers).where(workers.c.id == worker))
            connection.execute(insert(workers).values(id=worker, **values))

    def complain(self, worker: str, why: str) -> None:
        """Record a worker's trouble, as a sentence; "" once it is over."""
        with self._database.writing() as connection:
            connection.execute(update(workers).where(workers.c.id == worker).values(trouble=why))

    def tell(self, worker: str, told: Mapping[str, Any]) -> None:
        """Renew a worker's presence and record its view of the cluster."""
        with self._database.writing() as connection:
            present(connection, worker)
            text = json.dumps(dict(told))
            connection.execute(update(workers).where(workers.c.id == worker).values(told=text))

    def leave(self, worker: str) -> None:
        """Remove a worker that ends."""
        with self._database.writing() as connection:
            connection.execute(delete(workers).where(workers.c.id == worker))

    def idle(self, worker: str) -> bool:
        """Return True if an idle worker's place has a waiting family; renew the worker's presence."""
        with self._database.reading() as connection:
            row = connection.execute(select(workers).where(workers.c.id == worker)).first()
            waits = _waits(connection, HERE if row is None else row.place)
        if row is not None and row.until - time.time() < LEASE_SECONDS - RENEW_SECONDS:
            with self._database.writing() as connection:
                present(connection, worker)
        return waits

    def renew(self, lease: Lease, news: Mapping[str, Any]) -> bool:
        """Renew a lease and record its progress; return False if the family must be released.

        That is so if another worker holds it, or no running study wants its runs.
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
        """Return the same answer as `renew`, without writing."""
        with self._database.reading() as connection:
            mine = families.c.id == lease.family, families.c.worker == lease.worker
            held = connection.execute(select(families.c.id).where(*mine)).first()
            return held is not None and wanted(connection, lease.family, lease.study)

    def state(self) -> object:
        """Return a token that stays equal only while nothing is written to the store."""
        return self._database.state()

    def release(self, lease: Lease, over: str = "") -> None:
        """Release a family: its unfinished runs are queued again, or cancelled.

        A reason in `over` also stops its study. Nothing changes if another worker now holds the family.
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
    """Renew a worker's presence."""
    connection.execute(
        update(workers).where(workers.c.id == worker).values(until=time.time() + LEASE_SECONDS)
    )


def process_of(process: ProcessId) -> str:
    """Format a process for the table of workers."""
    return json.dumps(asdict(process))


def _waits(connection: Connection, place: str) -> bool:
    return _next(connection, place) is not None or any(map(is_over, connection.execute(held())))


def _next(connection: Connection, place: str, patient: bool = True) -> Any | None:
    """Return the longest waiting family of the place's visitor with the fewest families at work.

    At equal counts awaited families go before background ones, which are left out unless `patient`.
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
    """Return a study's longest waiting free family that has a queued run."""
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
    """Parse a spec; None if this version cannot read it."""
    try:
        return RunSpec.from_json(text)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def _roots(text: str) -> tuple[str, ...]:
    """Parse a study's data roots; () if unreadable, and then no data set is found."""
    with suppress(ValueError, TypeError, RecursionError):
        return tuple(map(str, json.loads(text)))
    return ()


def _lease(connection: Connection, study: Any, family: int, worker: str) -> Lease:
    """Lease the queued runs of a family."""
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
