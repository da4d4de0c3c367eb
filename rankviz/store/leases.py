"""The end of leases: by time, by the death of the worker, or because no study wants the runs.

See docs/decisions/0015-the-run-store.md.
"""

from __future__ import annotations

import socket
import time
from collections.abc import Sequence
from functools import cache
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, Select, exists, select, update

from rankviz.common.numbers import counted
from rankviz.runs.estimate import in_words
from rankviz.runs.processes import ProcessId
from rankviz.store.rows import told
from rankviz.store.study import CANCELLED, FAILED, HERE, LEASED, LOST, OPEN, QUEUED, RUNNING, STOPPED
from rankviz.store.tables import families, members, runs, studies, workers

LEASE_SECONDS = 20.0
"""A lease ends after this, unless it is renewed."""
RENEW_SECONDS = 4.0  # well below LEASE_SECONDS: a lease outlives several late renewals
STOP_PATIENCE = 1.5
"""Seconds between a request to stop and the system's end of the worker."""
TIME_PATIENCE = 10.0
"""Seconds beyond a study's time before the system ends its worker."""
UNKNOWN = "why is not known, because another program had started it"
"""Text for processes other than the worker's parent, such as a restarted server."""


@cache
def host() -> str:
    """Return the name of this machine, which qualifies its process ids."""
    return socket.gethostname()


def held() -> Select[Any]:
    """Select the leased families, with their workers and studies."""
    return (
        select(families.c.id, families.c.worker, families.c.until, families.c.attempts, families.c.progress)
        .add_columns(families.c.since, families.c.study, workers.c.process, workers.c.host)
        .add_columns(studies.c.tries, studies.c.asked, studies.c.changed, studies.c.seconds, studies.c.worked)
        .join(studies, studies.c.id == families.c.study)
        .join(workers, workers.c.id == families.c.worker, isouter=True)
        .where(families.c.worker.is_not(None))
    )


def held_here(connection: Connection, place: str = HERE) -> tuple[int, int]:
    """Return the number of a place's families that this machine's workers hold, and of background ones."""
    here = select(families.c.worker).join(workers, workers.c.id == families.c.worker)
    here = here.where(workers.c.host == host(), studies.c.place == place)
    here = here.add_columns(studies.c.background)
    rows = connection.execute(here.join(studies, studies.c.id == families.c.study)).all()
    found = [row.background for row in rows]
    return len(found), sum(found)


def is_over(row: Row[Any]) -> bool:
    """Return True if a lease has expired, or its worker on this machine has died."""
    if row.until < time.time():
        return True
    process = process_here(row)
    return process is not None and not process.alive()


def process_here(row: Row[Any]) -> ProcessId | None:
    """Return a worker's process if it is on this machine."""
    return process_from(row.process) if row.host == host() else None


def process_from(text: str) -> ProcessId | None:
    """Parse a process from the table of workers; None if it is not known (yet)."""
    values = told(text)
    return ProcessId(**values) if values.keys() == {"pid", "began"} else None


def reclaim(connection: Connection) -> list[int]:
    """Reclaim families of dead workers: their runs wait again, or are lost. Return the families' ids."""
    over = [row for row in connection.execute(held()) if is_over(row)]
    for row in over:
        # a run is lost at its last try; a stopped study only releases its families
        given_up = row.attempts + 1 >= row.tries and row.asked == RUNNING
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
        note_work(connection, row.study, time.time() - row.since)
        if given_up:
            _lose(connection, row)
    _forget_the_silent(connection)
    found = [int(row.id) for row in over]
    if found:
        let_go(connection, found)
    return found


def _forget_the_silent(connection: Connection) -> None:
    """Remove workers whose time has run out, unless their processes are seen alive on this machine.

    A full disk or a sleeping machine prevents renewal; such workers must stay known.
    """
    late = connection.execute(select(workers).where(workers.c.until < time.time())).all()
    seen = [row.id for row in late if (process := process_here(row)) is not None and process.alive()]
    gone = [row.id for row in late if row.id not in seen]
    connection.execute(workers.delete().where(workers.c.id.in_(gone)))


def overdue(connection: Connection) -> list[Row[Any]]:
    """Return families that their workers should have released, because of a stop or their time."""
    return [row for row in connection.execute(held()) if _out_of_time(row) or _unwanted(connection, row)]


def end_overdue(connection: Connection) -> list[ProcessId]:
    """Stop studies whose time is up; return this machine's overdue processes."""
    rows = overdue(connection)
    for row in rows:
        if _out_of_time(row):
            stop(connection, row.study, time_is_up(row.seconds))
    return [process for row in rows if (process := process_here(row)) is not None]


def _out_of_time(row: Row[Any]) -> bool:
    return row.seconds is not None and row.worked + time.time() - row.since > row.seconds + TIME_PATIENCE


def _unwanted(connection: Connection, row: Row[Any]) -> bool:
    asked_to = row.asked != RUNNING and time.time() - (row.changed or row.since) > STOP_PATIENCE
    return asked_to and not wanted(connection, row.id, row.study)


def wanted(connection: Connection, family: int, study: str) -> bool:
    """Return True if a family's study runs, or another study wants its current runs."""
    asked = connection.execute(select(studies.c.asked).where(studies.c.id == study)).scalar()
    return asked == RUNNING or _wanted_elsewhere(connection, family)


def _wanted_elsewhere(connection: Connection, family: int) -> bool:
    found = exists().where(
        runs.c.family == family,
        runs.c.state == LEASED,
        members.c.run == runs.c.id,
        members.c.study == studies.c.id,
        studies.c.asked == RUNNING,
        studies.c.deleted.is_(None),
    )
    return bool(connection.execute(select(found)).scalar())


def note_work(connection: Connection, study: str, seconds: float) -> None:
    """Add to the seconds that workers have spent on a study."""
    connection.execute(
        update(studies).where(studies.c.id == study).values(worked=studies.c.worked + max(0.0, seconds))
    )


def stop(connection: Connection, study: str, reason: str = "") -> None:
    """Stop making a study's runs; `reason` is given if its owner did not request the stop."""
    connection.execute(
        update(studies).where(studies.c.id == study).values(asked=STOPPED, changed=time.time(), reason=reason)
    )
    cancel_unwanted(connection, runs.c.id.in_(select(members.c.run).where(members.c.study == study)))


def time_is_up(seconds: float) -> str:
    """Return the reason for stopping a study that has used all its time."""
    return f"Stopped after {in_words(seconds)}, the most that one job may work on this machine"


def let_go(connection: Connection, held: Sequence[int]) -> None:
    """Queue the unfinished runs of families again; cancel those that no study wants."""
    left = (
        connection.execute(select(runs.c.id).where(runs.c.family.in_(held), runs.c.state == LEASED))
        .scalars()
        .all()
    )
    if left:
        connection.execute(update(runs).where(runs.c.id.in_(left)).values(state=QUEUED, family=None))
        cancel_unwanted(connection, runs.c.id.in_(left))
    note_done(connection, families.c.id.in_(_sharing(members.c.family.in_(held))))


def note_done(connection: Connection, which: ColumnElement[bool]) -> None:
    """Mark families without open runs as done."""
    still = exists().where(
        members.c.family == families.c.id, members.c.run == runs.c.id, runs.c.state.in_(OPEN)
    )
    connection.execute(update(families).where(which, ~families.c.done, ~still).values(done=True))


def reopen(connection: Connection, again: Sequence[int]) -> None:
    """Queue runs again that ended without a record, in all studies that have them."""
    ended = runs.c.id.in_(again), runs.c.state.in_((FAILED, CANCELLED, LOST))
    found = connection.execute(
        update(runs).where(*ended).values(state=QUEUED, reason="", ended=None).returning(runs.c.id)
    )
    which = families.c.id.in_(_sharing(members.c.run.in_(found.scalars().all())))
    connection.execute(update(families).where(which).values(done=False))


def _sharing(which: ColumnElement[bool]) -> Select[Any]:
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


def _lose(connection: Connection, row: Row[Any]) -> None:
    """Mark a dead worker's current run as lost; other runs of its family get new tries."""
    news = told(row.progress)
    current = connection.execute(
        select(runs.c.id)
        .where(runs.c.family == row.id, runs.c.state == LEASED)
        .order_by(runs.c.digest != (news.get("digest") or ""), runs.c.id)  # the reported run, else the first
        .limit(1)
    ).scalar()
    connection.execute(
        update(runs)
        .where(runs.c.id == current)
        .values(state=LOST, family=None, ended=time.time(), reason=_how_it_died(row, news.get("stage", "")))
    )


def _how_it_died(row: Row[Any], stage: str) -> str:
    """Return the reason for a lost run, as a sentence."""
    process = process_here(row)
    how = "" if process is None else process.ending()
    times = f", {counted(row.tries, 'time')}" if row.tries > 1 else ""
    parts = [f"The worker process that made it ended without a result{times}", how or UNKNOWN]
    if stage:
        parts.append(f"last stage: {stage}")
    return "; ".join(parts) + "."
