"""The queue of families: the choice of the next one, and its lease to a worker.

A worker leases one family at a time: of the network address, and then of the visitor, with the fewest leased
families; among equals, of those who have not been served for longest. The lease ends unless it is renewed. If
it ends, or the worker dies, the family goes to the next worker. Every step is one transaction; its count of
changed rows says if it came in time.

See docs/decisions/0015-the-run-store.md.
"""

from __future__ import annotations

import json
import math
import secrets
import socket
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Row,
    Select,
    delete,
    exists,
    func,
    insert,
    select,
    true,
    update,
)

from rankviz.common.numbers import counted
from rankviz.common.processes import ProcessId
from rankviz.runs.estimate import in_words
from rankviz.runs.spec import RunSpec
from rankviz.store.database import Database
from rankviz.store.study import CANCELLED, FAILED, HERE, JOB, LEASED, LOST, OPEN, QUEUED, RUNNING, STOPPED
from rankviz.store.tables import (
    families,
    members,
    parse_object,
    parse_spec,
    parse_texts,
    runs,
    studies,
    workers,
)

LEASE_SECONDS = 20.0
"""A lease ends after this, unless it is renewed."""
RENEW_SECONDS = 4.0  # well below LEASE_SECONDS: a lease outlives several late renewals
STOP_PATIENCE = 1.5
"""Seconds between a request to stop and the system's end of the worker."""
TIME_PATIENCE = 10.0
"""Seconds beyond a study's time before the system ends its worker."""
NOT_OUR_CHILD = "why is not known, because another program had started it"
"""Text for processes other than the worker's parent, such as a restarted server."""
NO_SIGN = f"it gave no sign for {LEASE_SECONDS:.0f} seconds"
"""Text for a lease that expired, where the worker's end was not seen."""


WAIT_SECONDS = 0.3
"""An awaited family waits this long for an idle worker before a background one yields."""
UNREADABLE = "What is to be made cannot be read: another version of rankviz has asked for it."


@dataclass(frozen=True)
class LeasedFamily:
    """A family that a worker makes, and has leased.

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
        It yields to awaited families.
    most, seconds : float
        Seconds that workers may spend on its study: in all, and remaining.
    place : str
        The place of its study.
    began : float
        When it began, on this process's clock that never steps.
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
    began: float = field(default_factory=time.monotonic, compare=False)

    @property
    def worked(self) -> float:
        """Seconds since it began."""
        return time.monotonic() - self.began


def new_worker_name() -> str:
    """Return a new name for a worker."""
    return secrets.token_hex(8)


class Queue:
    """The waiting and leased families of a store."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def take(self, worker: str, at_once: float = math.inf, place: str = HERE) -> LeasedFamily | None:
        """Lease a place's next family to this worker, with its runs that nobody else makes.

        Return None if nothing waits. Take a background family only while this machine holds fewer than
        `at_once` of them.
        """
        with self._database.writing() as connection:
            reclaim(connection)
            patient = leased_here(connection, place)[1] < at_once
            while (found := next_family(connection, place, patient)) is not None:
                now = time.time()
                taken = connection.execute(
                    update(families)
                    .where(families.c.id == found.family, families.c.worker.is_(None))
                    .values(worker=worker, since=now, until=now + LEASE_SECONDS, progress="")
                )
                if taken.rowcount:  # else another worker took it first: choose again
                    return _lease_family(connection, found, worker)
        return None

    def must_yield(self, lease: LeasedFamily) -> bool:
        """Return True if this is a background family and an awaited one has waited `WAIT_SECONDS`."""
        if not lease.background:
            return False
        with self._database.reading() as connection:
            found = next_family(connection, lease.place)
        return found is not None and not found.background and time.time() - found.waits > WAIT_SECONDS

    def has_waiting(self, place: str = HERE) -> bool:
        """Return True if a family of the place waits, or any lease has ended."""
        with self._database.reading() as connection:
            return _has_waiting(connection, place)

    def register(self, worker: str, process: ProcessId, place: str = HERE) -> None:
        """Register a worker with its process and its place."""
        values = {"host": host(), "process": format_process(process), "until": time.time() + LEASE_SECONDS}
        values["place"] = place
        with self._database.writing() as connection:
            connection.execute(delete(workers).where(workers.c.id == worker))
            connection.execute(insert(workers).values(id=worker, **values))

    def report_trouble(self, worker: str, why: str) -> None:
        """Record a worker's trouble, as a sentence; "" once it is over."""
        with self._database.writing() as connection:
            connection.execute(update(workers).where(workers.c.id == worker).values(trouble=why))

    def report_cluster(self, worker: str, report: Mapping[str, Any]) -> None:
        """Renew a worker's presence and record its view of the cluster."""
        with self._database.writing() as connection:
            renew_presence(connection, worker)
            text = json.dumps(dict(report))
            connection.execute(update(workers).where(workers.c.id == worker).values(report=text))

    def leave(self, worker: str) -> None:
        """Remove a worker that ends."""
        with self._database.writing() as connection:
            connection.execute(delete(workers).where(workers.c.id == worker))

    def has_work_for(self, worker: str) -> bool:
        """Return True if an idle worker's place has a waiting family; renew the worker's presence."""
        with self._database.reading() as connection:
            row = connection.execute(select(workers).where(workers.c.id == worker)).first()
            waits = _has_waiting(connection, HERE if row is None else row.place)
            late = row is not None and row.until - time.time() < LEASE_SECONDS - RENEW_SECONDS
        if late:
            with self._database.writing() as connection:
                renew_presence(connection, worker)
        return waits

    def renew(self, lease: LeasedFamily, news: Mapping[str, Any]) -> bool:
        """Renew a lease and record its progress; return False if the family must be released.

        That is so if another worker holds it, or no running study wants its runs.
        """
        with self._database.writing() as connection:
            held = report(connection, lease, news)
            renew_presence(connection, lease.worker)
            return held and is_wanted(connection, lease.family, lease.study)

    def holds(self, lease: LeasedFamily) -> bool:
        """Return the same answer as `renew`, without writing."""
        with self._database.reading() as connection:
            mine = families.c.id == lease.family, families.c.worker == lease.worker
            held = connection.execute(select(families.c.id).where(*mine)).first()
            return held is not None and is_wanted(connection, lease.family, lease.study)

    def roots_of(self, spec: RunSpec) -> list[tuple[str, ...]]:
        """Return the data roots of the studies that want a run, without duplicates."""
        asked = (
            select(studies.c.roots)
            .distinct()
            .join(members, members.c.study == studies.c.id)
            .join(runs, runs.c.id == members.c.run)
            .where(runs.c.digest == spec.hash, studies.c.asked != STOPPED, studies.c.deleted.is_(None))
        )
        with self._database.reading() as connection:
            return [parse_texts(text) for text in connection.execute(asked).scalars()]

    def state(self) -> object:
        """Return a token that stays equal only while nothing is written to the store."""
        return self._database.state()

    def release(self, lease: LeasedFamily, over: str = "") -> None:
        """Release a family: its unfinished runs are queued again, or cancelled.

        A reason in `over` also stops its study. Nothing changes if another worker now holds the family.
        """
        with self._database.writing() as connection:
            held = connection.execute(
                update(families)
                .where(families.c.id == lease.family, families.c.worker == lease.worker)
                .values(worker=None, until=None, waits=time.time(), progress="")
            )
            if not held.rowcount:
                return
            add_seconds(connection, lease.study, lease.worked)
            if over:
                stop_study(connection, lease.study, over)
            requeue_unfinished(connection, [lease.family])


def free_awaited(connection: Connection, study: str) -> None:
    """Queue the runs of a new job that families of others hold, but do not make now.

    Otherwise it would wait for all runs of these families. A worker that comes to such a run makes it too.
    """
    held = (
        select(runs.c.id, runs.c.digest, families.c.progress)
        .join(members, members.c.run == runs.c.id)
        .join(families, families.c.id == runs.c.family)
        .where(members.c.study == study, runs.c.state == LEASED, families.c.study != study)
    )
    rows = connection.execute(held).all()
    free = [row.id for row in rows if parse_object(row.progress).get("digest") != row.digest]
    connection.execute(update(runs).where(runs.c.id.in_(free)).values(state=QUEUED, family=None))


def report(connection: Connection, lease: LeasedFamily, news: Mapping[str, Any]) -> bool:
    """Renew a lease and record its progress; return False if another worker holds the family."""
    held = connection.execute(
        update(families)
        .where(families.c.id == lease.family, families.c.worker == lease.worker)
        .values(until=time.time() + LEASE_SECONDS, progress=json.dumps({**news, "worked": lease.worked}))
    )
    return bool(held.rowcount)


def renew_presence(connection: Connection, worker: str) -> None:
    """Renew a worker's presence."""
    connection.execute(
        update(workers).where(workers.c.id == worker).values(until=time.time() + LEASE_SECONDS)
    )


def format_process(process: ProcessId) -> str:
    """Format a process for the table of workers."""
    return json.dumps(asdict(process))


def _has_waiting(connection: Connection, place: str) -> bool:
    return next_family(connection, place) is not None or any(
        map(has_ended, connection.execute(leased_families()))
    )


def next_family(connection: Connection, place: str, patient: bool = True) -> Row[Any] | None:
    """Return the longest waiting family of the place's address and visitor with the fewest leased families.

    At equal counts awaited families go before background ones, which are left out unless `patient`; then the
    address, and then the visitor, whose latest lease began longest ago. The row has also its study: three
    statements serve thousands of waiting jobs.
    """
    held = connection.execute(
        select(studies.c.owner, studies.c.address)
        .join(families, families.c.study == studies.c.id)
        .where(families.c.worker.is_not(None), studies.c.place == place)
    ).all()
    by_owner, by_address = Counter(row.owner for row in held), Counter(row.address for row in held)
    chosen = (
        select(studies.c.id, studies.c.owner, studies.c.address, studies.c.roots, studies.c.threads)
        .add_columns(studies.c.background, studies.c.seconds, studies.c.worked, studies.c.place)
        .add_columns(_longest_waiting().label("family"))
        .where(studies.c.asked == RUNNING, studies.c.deleted.is_(None), studies.c.place == place)
        .where(true() if patient else ~studies.c.background)
        .cte("chosen")
        .prefix_with("MATERIALIZED", dialect="postgresql")  # else it looks twice for each study's family
    )
    asked = select(chosen, families.c.waits).join(families, families.c.id == chosen.c.family)
    waiting = connection.execute(asked).all()
    several = len({(row.address, row.owner) for row in waiting}) > 1
    address_served, owner_served = _last_served(connection, place) if several else ({}, {})

    def turn(row: Row[Any]) -> tuple[Any, ...]:
        shares = by_address[row.address], by_owner[row.owner]
        served = address_served.get(row.address, 0.0), owner_served.get(row.owner, 0.0)
        return (*shares, row.background, *served, row.waits, row.family)

    return min(waiting, key=turn, default=None)


def _last_served(connection: Connection, place: str) -> tuple[dict[str, float], dict[str, float]]:
    """Return when the latest lease of each address, and of each owner, began at a place."""
    latest = func.max(families.c.since).label("latest")
    asked = (
        select(studies.c.address, studies.c.owner, latest)
        .join(families, families.c.study == studies.c.id)
        .where(studies.c.place == place, families.c.since.is_not(None))
        .group_by(studies.c.address, studies.c.owner)
        .order_by(latest)  # later ones replace earlier ones below
    )
    rows, now = connection.execute(asked).all(), time.time()  # the clock may have been ahead
    served = [(row.address, row.owner, min(row.latest, now)) for row in rows]
    return {place: at for place, _, at in served}, {owner: at for _, owner, at in served}


def _longest_waiting() -> ColumnElement[Any]:
    """Select a study's longest waiting free family that has a queued run."""
    free = families.alias()
    waiting = exists().where(
        members.c.family == free.c.id, members.c.run == runs.c.id, runs.c.state == QUEUED
    )
    return (
        select(free.c.id)
        .where(free.c.study == studies.c.id, ~free.c.done, free.c.worker.is_(None), waiting)
        .order_by(free.c.waits, free.c.id)
        .limit(1)
        .correlate(studies)
        .scalar_subquery()
    )


def _lease_family(connection: Connection, study: Row[Any], worker: str) -> LeasedFamily:
    """Lease the queued runs of a family, as `next_family` found it."""
    family = study.family
    own = select(members.c.run).where(members.c.family == family)
    connection.execute(
        update(runs).where(runs.c.id.in_(own), runs.c.state == QUEUED).values(state=LEASED, family=family)
    )
    rows = connection.execute(
        select(runs.c.id, runs.c.spec, runs.c.digest)
        .join(members, members.c.run == runs.c.id)
        .where(runs.c.family == family, runs.c.state == LEASED, members.c.family == family)
        .order_by(members.c.position)
    ).all()
    specs = {row.id: parse_spec(row.spec, row.digest) for row in rows}
    unread = [run for run, spec in specs.items() if spec is None]
    failed = {"state": FAILED, "family": None, "ended": time.time(), "reason": UNREADABLE}
    connection.execute(update(runs).where(runs.c.id.in_(unread)).values(**failed))
    found = tuple(spec for spec in specs.values() if spec is not None)
    most = math.inf if study.seconds is None else study.seconds
    about = study.owner, found, parse_texts(study.roots), study.threads, worker, study.background
    return LeasedFamily(family, study.id, *about, most, most - study.worked, study.place)


@cache
def host() -> str:
    """Return the name of this machine, which qualifies its process ids."""
    return socket.gethostname()


def leased_families() -> Select[Any]:
    """Select the leased families, with their workers and studies."""
    return (
        select(families.c.id, families.c.worker, families.c.until, families.c.attempts, families.c.progress)
        .add_columns(families.c.since, families.c.study)
        .add_columns(workers.c.process, workers.c.host, workers.c.until.label("present"))
        .add_columns(studies.c.tries, studies.c.asked, studies.c.changed, studies.c.seconds, studies.c.worked)
        .join(studies, studies.c.id == families.c.study)
        .join(workers, workers.c.id == families.c.worker, isouter=True)
        .where(families.c.worker.is_not(None))
    )


def leased_here(connection: Connection, place: str = HERE) -> tuple[int, int]:
    """Return the number of a place's families that this machine's workers hold, and of background ones."""
    here = select(studies.c.background).select_from(families)
    here = here.join(workers, workers.c.id == families.c.worker)
    here = here.where(workers.c.host == host(), studies.c.place == place)
    found = connection.execute(here.join(studies, studies.c.id == families.c.study)).scalars().all()
    return len(found), sum(found)


def has_ended(row: Row[Any]) -> bool:
    """Return True if a lease has expired, or its worker on this machine has died.

    After a sleep of the machine, live workers renew their leases. A worker that renews its presence, but not
    the lease, has given the family up.
    """
    process = process_here(row)
    if process is not None and not process.alive():
        return True
    now = time.time()
    slept = process is not None and row.present is not None and row.present < now
    return (row.until is None or row.until < now) and not slept


def process_here(row: Row[Any]) -> ProcessId | None:
    """Return a worker's process if it is on this machine."""
    return parse_process(row.process) if row.host == host() else None


def parse_process(text: str) -> ProcessId | None:
    """Parse a process from the table of workers; None if it is not known (yet)."""
    values = parse_object(text)
    known = values.keys() == {"pid", "began"} and isinstance(values["pid"], int)
    return ProcessId(**values) if known else None


def reclaim(connection: Connection) -> list[int]:
    """Reclaim families of dead workers: their runs wait again, or are lost. Return the families' ids."""
    over = [row for row in connection.execute(leased_families()) if has_ended(row)]
    for row in over:
        # a run is lost at its last try; a stopped study only releases its families
        given_up = row.attempts + 1 >= _tries(connection, row) and row.asked == RUNNING
        connection.execute(
            update(families)
            .where(families.c.id == row.id, families.c.worker == row.worker)
            .values(
                worker=None,
                until=None,
                waits=time.time(),
                progress="",
                attempts=0 if given_up else row.attempts + 1,
            )
        )
        add_seconds(connection, row.study, _worked(row))
        if given_up:
            _mark_lost(connection, row)
    _remove_silent_workers(connection)
    found = [int(row.id) for row in over]
    if found:
        requeue_unfinished(connection, found)
    return found


def _tries(connection: Connection, row: Row[Any]) -> int:
    """Return the most tries of the running studies that want the current runs of a family."""
    asked = (
        select(func.max(studies.c.tries))
        .join(members, members.c.study == studies.c.id)
        .join(runs, runs.c.id == members.c.run)
        .where(runs.c.family == row.id, runs.c.state == LEASED)
        .where(studies.c.asked == RUNNING, studies.c.deleted.is_(None))
    )
    return max(int(row.tries), connection.execute(asked).scalar() or 0)


def _remove_silent_workers(connection: Connection) -> None:
    """Remove workers whose time has run out, unless their processes are seen alive on this machine.

    A full disk or a sleeping machine prevents renewal; such workers must stay known.
    """
    late = connection.execute(select(workers).where(workers.c.until < time.time())).all()
    seen = [row.id for row in late if (process := process_here(row)) is not None and process.alive()]
    gone = [row.id for row in late if row.id not in seen]
    connection.execute(workers.delete().where(workers.c.id.in_(gone)))


def overdue_families(connection: Connection) -> list[Row[Any]]:
    """Return families that their workers should have released, because of a stop or their time."""
    return [
        row
        for row in connection.execute(leased_families())
        if _out_of_time(row) or _unwanted(connection, row)
    ]


def stop_overdue(connection: Connection) -> list[ProcessId]:
    """Stop studies whose time is up; return this machine's overdue processes."""
    rows = overdue_families(connection)
    for row in rows:
        if _out_of_time(row):
            stop_study(connection, row.study, time_is_up(row.seconds))
    return [process for row in rows if (process := process_here(row)) is not None]


def _out_of_time(row: Row[Any]) -> bool:
    return row.seconds is not None and row.worked + _worked(row) > row.seconds + TIME_PATIENCE


def _worked(row: Row[Any]) -> float:
    """Return the seconds of a lease as its worker has reported them, because clocks may be set meanwhile."""
    reported = parse_object(row.progress).get("worked")
    worked = float(reported) if isinstance(reported, float) and reported >= 0.0 else 0.0
    since_report = 0.0 if row.until is None else time.time() - (row.until - LEASE_SECONDS)
    return worked + min(max(since_report, 0.0), LEASE_SECONDS)


def _unwanted(connection: Connection, row: Row[Any]) -> bool:
    asked_to = row.asked != RUNNING and time.time() - (row.changed or row.since) > STOP_PATIENCE
    return asked_to and not is_wanted(connection, row.id, row.study)


def is_wanted(connection: Connection, family: int, study: str) -> bool:
    """Return True if a family's study runs, or another study wants its current runs."""
    asked = connection.execute(select(studies.c.asked).where(studies.c.id == study)).scalar()
    if asked == RUNNING:
        return True
    elsewhere = exists().where(
        runs.c.family == family,
        runs.c.state == LEASED,
        members.c.run == runs.c.id,
        members.c.study == studies.c.id,
        studies.c.asked == RUNNING,
        studies.c.deleted.is_(None),
    )
    return bool(connection.execute(select(elsewhere)).scalar())


def add_seconds(connection: Connection, study: str, seconds: float) -> None:
    """Add to the seconds that workers have spent on a study."""
    connection.execute(
        update(studies).where(studies.c.id == study).values(worked=studies.c.worked + max(0.0, seconds))
    )


def stop_study(connection: Connection, study: str, reason: str = "") -> None:
    """Stop making a study's runs; `reason` is given if its owner did not request the stop."""
    connection.execute(
        update(studies).where(studies.c.id == study).values(asked=STOPPED, changed=time.time(), reason=reason)
    )
    cancel_unwanted(connection, runs.c.id.in_(select(members.c.run).where(members.c.study == study)))


def time_is_up(seconds: float) -> str:
    """Return the reason for stopping a study that has used all its time."""
    return f"Stopped after {in_words(seconds)}, the most that this job may work on this machine"


def requeue_unfinished(connection: Connection, released: Sequence[int]) -> None:
    """Queue the unfinished runs of families again; cancel those that no study wants."""
    unfinished = select(runs.c.id).where(runs.c.family.in_(released), runs.c.state == LEASED)
    left = connection.execute(unfinished).scalars().all()
    if left:
        connection.execute(update(runs).where(runs.c.id.in_(left)).values(state=QUEUED, family=None))
        cancel_unwanted(connection, runs.c.id.in_(left))
    close_families(connection, families.c.id.in_(_families_sharing(members.c.family.in_(released))))


def close_families(connection: Connection, which: ColumnElement[bool]) -> None:
    """Mark families without open runs as done."""
    still = exists().where(
        members.c.family == families.c.id, members.c.run == runs.c.id, runs.c.state.in_(OPEN)
    )
    connection.execute(update(families).where(which, ~families.c.done, ~still).values(done=True))


def requeue_ended(connection: Connection, again: Sequence[int]) -> None:
    """Queue runs again that ended without a record, in all studies that have them but ended jobs."""
    ended = runs.c.id.in_(again), runs.c.state.in_((FAILED, CANCELLED, LOST))
    _leave_ended_jobs(connection, select(runs.c.id).where(*ended))
    found = connection.execute(
        update(runs).where(*ended).values(state=QUEUED, reason="", ended=None).returning(runs.c.id)
    )
    which = families.c.id.in_(_families_sharing(members.c.run.in_(found.scalars().all())))
    connection.execute(update(families).where(which).values(done=False))


def _leave_ended_jobs(connection: Connection, again: Select[Any]) -> None:
    """Let jobs that have ended stay so, with their reason, while others make their runs `again`.

    Otherwise a sweep would bring any number of jobs back, beyond the limits of those who ask for jobs.
    """
    own = members.c.study == studies.c.id, runs.c.id == members.c.run
    reason = select(runs.c.reason).where(*own, runs.c.state.in_((FAILED, LOST))).limit(1).scalar_subquery()
    connection.execute(
        update(studies)
        .where(studies.c.id.in_(select(members.c.study).where(members.c.run.in_(again))))
        .where(
            studies.c.kind == JOB, studies.c.asked == RUNNING, ~exists().where(*own, runs.c.state.in_(OPEN))
        )
        .values(asked=STOPPED, changed=time.time(), reason=func.coalesce(reason, ""))
    )


def _families_sharing(which: ColumnElement[bool]) -> Select[Any]:
    """Select the families that share a run with these members."""
    others = members.alias()
    return select(others.c.family).where(others.c.run.in_(select(members.c.run).where(which)))


def cancel_unwanted(connection: Connection, which: ColumnElement[bool]) -> None:
    """Cancel queued runs that no running or paused study has."""
    wanted = exists().where(
        members.c.run == runs.c.id,
        members.c.study == studies.c.id,
        studies.c.asked != STOPPED,
        studies.c.deleted.is_(None),
    )
    connection.execute(
        update(runs)
        .where(which, runs.c.state == QUEUED, ~wanted)
        .values(state=CANCELLED, ended=time.time(), reason="Stopped before it was made.")
    )


def _mark_lost(connection: Connection, row: Row[Any]) -> None:
    """Mark a dead worker's current run as lost; other runs of its family get new tries."""
    news = parse_object(row.progress)
    current = connection.execute(
        select(runs.c.id)
        .where(runs.c.family == row.id, runs.c.state == LEASED)
        .order_by(runs.c.digest != (news.get("digest") or ""), runs.c.id)  # the reported run, else the first
        .limit(1)
    ).scalar()
    connection.execute(
        update(runs)
        .where(runs.c.id == current)
        .values(
            state=LOST, family=None, ended=time.time(), reason=_reason_of_loss(row, news.get("stage", ""))
        )
    )


def _reason_of_loss(row: Row[Any], stage: str) -> str:
    """Return the reason for a lost run, as a sentence."""
    process = process_here(row)
    how = NO_SIGN if process is None or process.alive() else process.ending()
    times = f", {counted(row.tries, 'time')}" if row.tries > 1 else ""
    parts = [f"The worker process that made it ended without a result{times}", how or NOT_OUR_CHILD]
    if stage:
        parts.append(f"last stage: {stage}")
    return "; ".join(parts) + "."
