"""Reads jobs from the tables, with few queries for any number of jobs."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from sqlalchemy import ColumnElement, Connection, exists, select

from rankviz.runs.spec import RunSpec
from rankviz.store.database import Database
from rankviz.store.job_log import note_end
from rankviz.store.job_status import JobStatus
from rankviz.store.rows import told
from rankviz.store.study import DONE, FAILED, HERE, JOB, LEASED, LOST, OPEN, PLACES, RUNNING
from rankviz.store.tables import families, members, runs, studies


def statuses(
    database: Database, which: ColumnElement[bool], workers: int, trouble: str = ""
) -> list[JobStatus]:
    """Return statuses of jobs, the oldest first.

    `workers` is the number of workers. `trouble` is the reason why the store cannot be written: then live
    jobs are reported as failed.
    """
    asked = select(studies).where(which, studies.c.kind == JOB, studies.c.deleted.is_(None))
    with database.reading() as connection:
        rows = connection.execute(asked.order_by(studies.c.created)).all()
        if not rows:
            return []
        found = _members(connection, [row.id for row in rows])
        making = _families(connection, found)
        asked = select(studies.c.place).join(families, families.c.study == studies.c.id)
        busy = Counter(connection.execute(asked.where(families.c.worker.is_not(None))).scalars())
        crowded = {place: busy[place] >= (workers if place == HERE else 1) for place in PLACES}
    return [
        _status(row, specs, found[row.id], making, crowded[row.place], trouble)
        for row in rows
        if (specs := _specs(tuple(member.spec for member in found[row.id])))
    ]


def note_if_ended(database: Database, job_id: str) -> None:
    """Log a job if it has ended."""
    for status in statuses(database, studies.c.id == job_id, 1):
        if not status.live:
            note_end(status)


def may_live() -> ColumnElement[bool]:
    """Return the condition that a study has a run that is made now, or is to be made."""
    return exists().where(members.c.study == studies.c.id, members.c.run == runs.c.id, runs.c.state.in_(OPEN))


def _status(
    row: Any,
    specs: tuple[RunSpec, ...],
    own: Sequence[Any],
    known: Mapping[int, Any],
    crowded: bool,
    trouble: str,
) -> JobStatus:
    held = {one.id: one for one in known.values() if one.worker is not None}
    making = sorted({member.making for member in own if member.state == LEASED} & held.keys())
    at_work = any(one.study == row.id for one in held.values())
    state, stopping = _state(row, own, at_work, bool(making) or not crowded)
    reason = _reason(state, row, own)
    live = state in ("queued", "running")
    if live and trouble:
        state, reason, live = "failed", f"{trouble} {_so_far(own)}, and are kept.", False
    begun = [known[member.family].since for member in own if member.family in known]
    return JobStatus(
        id=row.id,
        owner=row.owner,
        title=row.title,
        state=state,
        reason=reason,
        finished=tuple(index for index, member in enumerate(own) if member.state == DONE),
        specs=specs,
        news=tuple(_news(own, [held[number] for number in making])) if live else (),
        created=row.created,
        place=row.place,
        started=min((one for one in begun if one is not None), default=None),
        ended=None if live else max(_ends(row, own)),
        stopping=stopping,
        failed=tuple(index for index, member in enumerate(own) if member.state in (FAILED, LOST)),
    )


def _state(row: Any, own: Sequence[Any], held: bool, begun: bool) -> tuple[str, bool]:
    """Return a job's state, and True if it is about to stop."""
    left = any(member.state in OPEN for member in own)
    if row.asked != RUNNING:
        if held:
            return "running", True
        return ("failed" if row.reason else "stopped"), False
    if left:
        return ("running" if begun else "queued"), False
    return ("failed" if any(member.state in (FAILED, LOST) for member in own) else "finished"), False


def _reason(state: str, row: Any, own: Sequence[Any]) -> str:
    """Return a sentence on how a job ended; "" before."""
    if state == "finished":
        return f"{_done(own)} runs finished."
    if state == "stopped":
        begun = row.worked or any(member.state == DONE for member in own)
        return f"Stopped on request; {_so_far(own)}." if begun else "Stopped before it began."
    if state != "failed":
        return ""
    if row.reason:
        return f"{row.reason.rstrip('.')}; {_so_far(own)}, and are kept. Ask again for the others."
    return str(next(member.reason for member in own if member.state in (FAILED, LOST)))


def _done(own: Sequence[Any]) -> str:
    return f"{sum(member.state == DONE for member in own)} of {len(own)}"


def _so_far(own: Sequence[Any]) -> str:
    return f"{_done(own)} runs had finished"


def _ends(row: Any, own: Sequence[Any]) -> Iterable[float]:
    """Yield the times of which the latest is a job's end."""
    yield row.created
    if row.asked != RUNNING and row.changed is not None:
        yield row.changed
    yield from (member.ended for member in own if member.ended is not None and row.asked == RUNNING)


def _members(connection: Connection, ids: Sequence[str]) -> Mapping[str, list[Any]]:
    """Return the runs of jobs, in their order."""
    found = defaultdict[str, list[Any]](list)
    columns = members.c.study, members.c.family, runs.c.digest, runs.c.spec, runs.c.state, runs.c.reason
    asked = select(*columns, runs.c.ended, runs.c.family.label("making"))
    asked = asked.join(runs, runs.c.id == members.c.run).where(members.c.study.in_(ids))
    for row in connection.execute(asked.order_by(members.c.study, members.c.position)):
        found[row.study].append(row)
    return found


def _families(connection: Connection, found: Mapping[str, list[Any]]) -> dict[int, Any]:
    """Return the families of jobs, and of other studies that make their runs, by number."""
    numbers = {number for own in found.values() for one in own for number in (one.family, one.making)}
    asked = select(families.c.id, families.c.study, families.c.worker, families.c.since, families.c.progress)
    rows = connection.execute(asked.where(families.c.id.in_(numbers - {None})))
    return {row.id: row for row in rows}


def _news(own: Sequence[Any], making: Sequence[Any]) -> Iterable[Mapping[str, Any]]:
    """Yield the workers' progress on runs of a job."""
    index = {member.digest: number for number, member in enumerate(own) if member.state == LEASED}
    for family in making:
        news = told(family.progress)
        current = index.get(str(news.get("digest")))
        if current is not None:
            yield {"stage": "", "fraction": None, "remaining": None} | news | {"index": current}


@lru_cache(maxsize=1024)
def _specs(texts: tuple[str, ...]) -> tuple[RunSpec, ...]:
    """Parse a job's specs, cached because pages poll often; () if any is of another version."""
    try:
        return tuple(map(RunSpec.from_json, texts))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return ()
