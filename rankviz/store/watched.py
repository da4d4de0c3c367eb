"""Studies that a page watches, for users jobs: limited in number and in time, and logged when they end.

The log, `jobs.log` beside the runs, has a line per job with visitor, methods, time and outcome. It names
nobody: the visitor is the start of a digest, and titles, data sets and reasons are left out.

See docs/decisions/0016-jobs-are-studies.md.
"""

from __future__ import annotations

import os
import re
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from os import PathLike
from pathlib import Path
from typing import Any

from sqlalchemy import ColumnElement, Connection, exists, select

from rankviz.common.bounds import Bounds, bounds
from rankviz.common.numbers import counted
from rankviz.common.parallel import cores
from rankviz.common.processes import can_start
from rankviz.datasets.folds import data_roots
from rankviz.runs.spec import RunSpec
from rankviz.store.database import Database
from rankviz.store.environment import default_folder
from rankviz.store.execution import LocalWorkers
from rankviz.store.queue import free_awaited
from rankviz.store.records import discard_unreadable
from rankviz.store.room import forget_studies, make_room
from rankviz.store.studies import check_specs, insert_study
from rankviz.store.study import (
    DONE,
    FAILED,
    HERE,
    JOB,
    LEASED,
    LOST,
    OPEN,
    PLACES,
    RUNNING,
    NoSuchStudy,
    StoreError,
    Study,
    WatchedStatus,
)
from rankviz.store.tables import (
    families,
    is_spec_of,
    members,
    one_at_a_time,
    parse_object,
    rows_among,
    runs,
    studies,
)

_ID = re.compile(r"[0-9a-f]{32}")


class WatchedStudies:
    """The watched studies of a run store, and the workers of this machine that make them.

    Methods that write raise `StoreOutOfReach` if the store cannot be written.
    """

    def __init__(self, execution: LocalWorkers) -> None:
        self._execution, self._database = execution, execution.store.database
        self._trouble = ""

    def submit(
        self,
        specs: Sequence[RunSpec],
        *,
        owner: str,
        title: str,
        roots: Sequence[str | PathLike[str]] | None = None,
        place: str = HERE,
        address: str = "",
    ) -> str:
        """Submit runs, in this order, and return the job's id; finished runs are not repeated.

        `place` names the workers; `address` is as in `Study`.

        Raises `StoreError` if too many jobs wait, there is no space or the system
        starts no processes; `SettingError` as `Studies.submit`.
        """
        return self._submit(specs, owner, title, roots, place, address)[0]

    def join(
        self,
        specs: Sequence[RunSpec],
        *,
        owner: str,
        title: str,
        roots: Sequence[str | PathLike[str]] | None = None,
        address: str = "",
    ) -> tuple[str, bool]:
        """Return the id of a live job that makes all of these soon, or of a new one; and True if new.

        Simultaneous identical requests get one job. Raises as `submit`.
        """
        return self._submit(specs, owner, title, roots, HERE, address, share=True)

    def _submit(
        self,
        specs: Sequence[RunSpec],
        owner: str,
        title: str,
        roots: Sequence[str | PathLike[str]] | None,
        place: str,
        address: str,
        share: bool = False,
    ) -> tuple[str, bool]:
        if not can_start():
            raise StoreError("Background training is not possible: this system cannot start processes.")
        wanted, most = check_specs(specs), bounds()
        below = tuple(str(Path(root).resolve()) for root in (data_roots() if roots is None else roots))
        threads = max(1, cores() // max(1, self._execution.workers))
        job = Study(
            owner,
            title,
            JOB,
            roots=below,
            tries=1,
            threads=threads,
            background=False,
            place=place,
            address=address,
        )
        with self._database.writing() as connection:
            one_at_a_time(connection)  # else two visitors could both pass the checks below
            if share and (found := _study_making(connection, wanted, address)) is not None:
                return found, False
            job = replace(job, seconds=_seconds_of(connection, owner, address, most))
            make_room(connection, owner, address=address)
            _forget_oldest(connection, owner, most)
            discard_unreadable(connection, wanted)
            job_id = insert_study(connection, job, wanted)
            free_awaited(connection, job_id)
        self._execution.maintain()
        return job_id, True

    def status(self, job_id: str) -> WatchedStatus:
        """Return the current status of a job. Raises `NoSuchStudy` for an unknown id."""
        self._check_workers()
        found = self._statuses(studies.c.id == job_id) if _ID.fullmatch(job_id) else []
        if not found:
            raise NoSuchStudy("There is no job with this id; it may have been deleted.")
        return found[0]

    def of(self, owner: str) -> list[WatchedStatus]:
        """Return the jobs of a visitor, the latest first."""
        self._check_workers()
        return self._statuses(studies.c.owner == owner)[::-1]

    def live(self, specs: Sequence[RunSpec] | None = None) -> list[WatchedStatus]:
        """Return the queued or running jobs of all visitors, the oldest first.

        With specs, which differ, only jobs that have any of these runs.
        """
        self._check_workers()
        which = is_unfinished()
        if specs is not None:
            with self._database.reading() as connection:
                which &= studies.c.id.in_(list(_sharing(connection, specs)))
        return [status for status in self._statuses(which) if status.live]

    def stop(self, job_id: str, owner: str) -> None:
        """End a job and keep its finished records. Raises `NotYours` for anybody else."""
        if self.status(job_id).live:
            self._execution.stop(job_id, owner)
            log_if_ended(self._database, job_id)
        else:
            self._execution.store.studies.check_owner(job_id, owner)

    def delete(self, job_id: str, owner: str) -> None:
        """End a job and forget it; its records stay. Raises `NotYours` for anybody else."""
        self.status(job_id)
        self._execution.store.studies.delete(job_id, owner)

    def _check_workers(self) -> None:
        """Restart dead workers; keep a failure as text, because jobs can be read without writing."""
        try:
            self._execution.maintain_if_due()
            self._trouble = self._execution.trouble()
        except StoreError as error:
            self._trouble = str(error)

    def _statuses(self, which: ColumnElement[bool]) -> list[WatchedStatus]:
        return statuses(self._database, which, self._execution.workers, self._trouble)


def _study_making(connection: Connection, wanted: Sequence[RunSpec], address: str) -> str | None:
    """Return a job that makes all of these runs soon for somebody at this address, None if there is none."""
    shared = _sharing(connection, wanted)
    asked = select(studies.c.id).where(
        is_unfinished(), studies.c.asked == RUNNING, studies.c.kind == JOB, studies.c.deleted.is_(None)
    )
    asked = asked.where(studies.c.place == HERE)
    all_of_them = [study for study, number in shared.items() if number == len(wanted)]
    live = [row.id for row in rows_among(connection, asked, studies.c.id, all_of_them)]
    found = _statuses_in(connection, studies.c.id.in_(live))
    return next((status.id for status in found if status.makes_soon(wanted, address)), None)


def _sharing(connection: Connection, wanted: Sequence[RunSpec]) -> Counter[str]:
    """Return the studies that have any of these runs, which differ, and how many of them."""
    asked = select(members.c.study).join(runs, runs.c.id == members.c.run)
    found = rows_among(connection, asked, runs.c.digest, [spec.hash for spec in wanted])
    return Counter(row.study for row in found)


LAST_PLACES, LAST_SECONDS = 0.1, 60.0
"""Share of the places for those who have no live job, and the most seconds that a job there may work."""


def _seconds_of(connection: Connection, owner: str, address: str, most: Bounds) -> float:
    """Return the seconds that a job may work.

    Raises `StoreError` if the owner, the address or all visitors have the most live jobs allowed. No owner
    and no address takes all places, and the last ones are free again soon.
    """
    asked = select(studies.c.owner, studies.c.address).where(
        is_unfinished(), studies.c.kind == JOB, studies.c.asked == RUNNING, studies.c.deleted.is_(None)
    )
    live = connection.execute(asked).all()
    own = sum(row.owner == owner for row in live)
    near = sum(row.address == address for row in live) if address else 0
    if own >= most.live_jobs_each:
        raise StoreError(
            f"Of one visitor at most {counted(most.live_jobs_each, 'job')} may wait or run on this "
            "machine. Stop one of yours first."
        )
    if near >= most.live_jobs_address:
        raise StoreError(
            f"From one network address at most {counted(most.live_jobs_address, 'job')} may wait or run on "
            "this machine. Try again when some have ended."
        )
    last = len(live) >= most.live_jobs - int(LAST_PLACES * most.live_jobs)
    if len(live) >= most.live_jobs or (last and (own or near)):
        raise StoreError(
            f"At most {counted(most.live_jobs, 'job')} of all visitors may wait or run on this machine. "
            "Try again when some have ended."
        )
    return min(LAST_SECONDS, most.job_seconds) if last else most.job_seconds


def _forget_oldest(connection: Connection, owner: str, most: Bounds) -> None:
    """Forget ended jobs beyond the bounds, first those that never began, then the oldest; their runs stay.

    The others tell when their visitor was last served.
    """
    held = exists().where(families.c.study == studies.c.id, families.c.worker.is_not(None))
    ended = select(studies.c.id, studies.c.owner).where(studies.c.kind == JOB, ~is_unfinished(), ~held)
    rows = connection.execute(ended.order_by(studies.c.worked > 0, studies.c.created)).all()
    own = [row.id for row in rows if row.owner == owner]
    gone = own[: max(0, len(own) + 1 - most.kept_jobs_each)]
    left = [row.id for row in rows if row.id not in gone]
    forget_studies(connection, gone + left[: max(0, len(left) + 1 - most.kept_jobs)])


def statuses(
    database: Database, which: ColumnElement[bool], workers: int, trouble: str = ""
) -> list[WatchedStatus]:
    """Return statuses of jobs, the oldest first.

    `workers` is the number of workers. `trouble` is the reason why the store cannot be written: then live
    jobs are reported as failed.
    """
    with database.reading() as connection:
        return _statuses_in(connection, which, workers, trouble)


def _statuses_in(
    connection: Connection, which: ColumnElement[bool], workers: int = 1, trouble: str = ""
) -> list[WatchedStatus]:
    asked = select(studies).where(which, studies.c.kind == JOB, studies.c.deleted.is_(None))
    rows = connection.execute(asked.order_by(studies.c.created)).all()
    if not rows:
        return []
    found = _members(connection, [row.id for row in rows])
    making = _families(connection, found)
    asked = select(studies.c.place).join(families, families.c.study == studies.c.id)
    busy = Counter(connection.execute(asked.where(families.c.worker.is_not(None))).scalars())
    full = {place: busy[place] >= (workers if place == HERE else 1) for place in PLACES}
    crowded = {row.id: full[row.place] for row in rows}  # fails for a damaged place: it is mended
    read = {row.id: _specs(tuple(member.spec for member in found[row.id])) for row in rows}
    for row in rows:
        if not read[row.id] and connection.dialect.name == "sqlite":
            _require_sound(found[row.id])
    return [
        _status(row, read[row.id], found[row.id], making, crowded[row.id], trouble)
        for row in rows
        if read[row.id]
    ]


def _require_sound(own: Iterable[Any]) -> None:
    """Raise ValueError for a damaged spec, whose row is then mended; others are of another version."""
    for member in own:
        if not is_spec_of(member.spec, member.digest):
            raise ValueError(f"the spec of run {member.digest} is damaged")


def is_unfinished() -> ColumnElement[bool]:
    """Return the condition that a study has a run that is made now, or is to be made."""
    return exists().where(members.c.study == studies.c.id, members.c.run == runs.c.id, runs.c.state.in_(OPEN))


def _status(
    row: Any,
    specs: tuple[RunSpec, ...],
    own: Sequence[Any],
    known: Mapping[int, Any],
    crowded: bool,
    trouble: str,
) -> WatchedStatus:
    held = {one.id: one for one in known.values() if one.worker is not None}
    making = sorted({member.making for member in own if member.state == LEASED} & held.keys())
    at_work = any(one.study == row.id for one in held.values())
    state, stopping = _state(row, own, at_work, bool(making) or not crowded)
    reason = _reason(state, row, own)
    live = state in ("queued", "running")
    if live and trouble:
        state, reason, live = "failed", f"{trouble} {_so_far(own)}, and are kept.", False
    return WatchedStatus(
        id=row.id,
        owner=row.owner,
        address=row.address,
        title=row.title,
        state=state,
        reason=reason,
        finished=tuple(index for index, member in enumerate(own) if member.state == DONE),
        specs=specs,
        news=tuple(_news(own, [held[number] for number in making])) if live else (),
        created=row.created,
        place=row.place,
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
    asked = select(families.c.id, families.c.study, families.c.worker, families.c.progress)
    rows = connection.execute(asked.where(families.c.id.in_(numbers - {None})))
    return {row.id: row for row in rows}


def _news(own: Sequence[Any], making: Sequence[Any]) -> Iterable[Mapping[str, Any]]:
    """Yield the workers' progress on runs of a job."""
    index = {member.digest: number for number, member in enumerate(own) if member.state == LEASED}
    for family in making:
        news = parse_object(family.progress)
        current = index.get(str(news.get("digest")))
        if current is not None:
            yield {"stage": "", "fraction": None, "remaining": None} | news | {"index": current}


@lru_cache(maxsize=128)  # more than jobs that may live; a spec takes 3 kB
def _specs(texts: tuple[str, ...]) -> tuple[RunSpec, ...]:
    """Parse a job's specs, cached because pages poll often; () if any is of another version."""
    try:
        return tuple(map(RunSpec.from_json, texts))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return ()


LOG_NAME = "jobs.log"


MOST_LOG_BYTES = 1 << 20
"""Size at which a new log begins; the previous one is kept as jobs.log.1."""


WHO_DIGITS = 8


def log_if_ended(database: Database, job_id: str) -> None:
    """Log a job if it has ended."""
    for status in statuses(database, studies.c.id == job_id, 1):
        if not status.live:
            _log_end(status)


def _log_end(job: WatchedStatus) -> None:
    """Append the line of an ended job; a full disk loses only this line."""
    with suppress(OSError):
        log = default_folder() / LOG_NAME
        with suppress(FileNotFoundError):
            if log.stat().st_size > MOST_LOG_BYTES:
                os.replace(log, log.with_name(f"{LOG_NAME}.1"))
        with log.open("ab") as stream:  # one write: processes do not mix lines
            stream.write(_log_line(job).encode() + b"\n")


def _log_line(job: WatchedStatus) -> str:
    """Format time, visitor, methods, finished runs, seconds since submission and outcome."""
    now = time.time()
    return " ".join(
        (
            time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(now)),
            f"visitor={job.owner[:WHO_DIGITS]}",
            f"methods={','.join(sorted({spec.method for spec in job.specs}))}",
            f"runs={len(job.finished)}/{job.total}",
            f"seconds={now - job.created:.1f}",
            f"state={job.state}",
        )
    )
