"""Jobs: studies that somebody waits for on a page, bounded in number and in time.

See docs/decisions/0016-jobs-are-studies.md.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from os import PathLike
from pathlib import Path

from sqlalchemy import ColumnElement, Connection, exists, select

from rankviz.common.bounds import Bounds, bounds
from rankviz.common.numbers import counted
from rankviz.common.threads import cores
from rankviz.datasets.folds import data_roots
from rankviz.runs.processes import can_start
from rankviz.runs.spec import RunSpec
from rankviz.store.errors import NoSuchStudy, StoreError
from rankviz.store.execution import LocalWorkers
from rankviz.store.job_reading import may_live, note_if_ended, statuses
from rankviz.store.job_status import JobStatus
from rankviz.store.records import set_aside_unreadable
from rankviz.store.room import forget_studies, make_room
from rankviz.store.studies import add, checked
from rankviz.store.study import HERE, JOB, RUNNING, Study
from rankviz.store.tables import families, members, one_at_a_time, runs, studies

_ID = re.compile(r"[0-9a-f]{32}")


class Jobs:
    """The jobs of a run store, and the workers of this machine that make them.

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
    ) -> str:
        """Submit runs, in this order, and return the job's id; finished runs are not repeated.

        `place` names the workers. Raises `StoreError` if too many jobs wait, there is no space or the system
        starts no processes; `SettingError` as `Studies.submit`.
        """
        return self._asked(specs, owner, title, roots, place)[0]

    def join(
        self,
        specs: Sequence[RunSpec],
        *,
        owner: str,
        title: str,
        roots: Sequence[str | PathLike[str]] | None = None,
    ) -> tuple[str, bool]:
        """Return the id of a live job that already makes all of these, or of a new one; and True if new.

        Simultaneous identical requests get one job. Raises as `submit`.
        """
        return self._asked(specs, owner, title, roots, HERE, share=True)

    def _asked(
        self,
        specs: Sequence[RunSpec],
        owner: str,
        title: str,
        roots: Sequence[str | PathLike[str]] | None,
        place: str,
        share: bool = False,
    ) -> tuple[str, bool]:
        if not can_start():
            raise StoreError(
                "Nothing can be trained in the background here: this system starts no processes."
            )
        wanted, most = checked(specs), bounds()
        below = tuple(str(Path(root).resolve()) for root in (data_roots() if roots is None else roots))
        threads = max(1, cores() // self._execution.workers)
        job = Study(
            owner,
            title,
            JOB,
            roots=below,
            tries=1,
            threads=threads,
            background=False,
            seconds=most.job_seconds,
            place=place,
        )
        with self._database.writing() as connection:
            one_at_a_time(connection)  # else two visitors could both pass the checks below
            if share and (found := _making(connection, wanted)) is not None:
                return found, False
            _refuse_too_many(connection, owner, most)
            make_room(connection, owner)
            _forget_the_oldest(connection, owner, most)
            set_aside_unreadable(connection, wanted)
            job_id = add(connection, job, wanted)
        self._execution.see_to_it()
        return job_id, True

    def status(self, job_id: str) -> JobStatus:
        """Return the current status of a job. Raises `NoSuchStudy` for an unknown id."""
        self._look()
        found = self._statuses(studies.c.id == job_id) if _ID.fullmatch(job_id) else []
        if not found:
            raise NoSuchStudy("There is no job of this id; it may have been deleted.")
        return found[0]

    def of(self, owner: str) -> list[JobStatus]:
        """Return the jobs of a visitor, the latest first."""
        self._look()
        return self._statuses(studies.c.owner == owner)[::-1]

    def live(self) -> list[JobStatus]:
        """Return the queued or running jobs of all visitors, the oldest first."""
        self._look()
        return [status for status in self._statuses(may_live()) if status.live]

    def stop(self, job_id: str, owner: str) -> None:
        """End a job and keep its finished records. Raises `NotYours` for anybody else."""
        if self.status(job_id).live:
            self._execution.stop(job_id, owner)
            note_if_ended(self._database, job_id)
        else:
            self._execution.store.studies.check_owner(job_id, owner)

    def delete(self, job_id: str, owner: str) -> None:
        """End a job and forget it; its records stay. Raises `NotYours` for anybody else."""
        self.status(job_id)
        self._execution.store.studies.delete(job_id, owner)

    def _look(self) -> None:
        """Restart dead workers; keep a failure as text, because jobs can be read without writing."""
        try:
            self._execution.look()
            self._trouble = self._execution.trouble()
        except StoreError as error:
            self._trouble = str(error)

    def _statuses(self, which: ColumnElement[bool]) -> list[JobStatus]:
        return statuses(self._database, which, self._execution.workers, self._trouble)


def _making(connection: Connection, wanted: Sequence[RunSpec]) -> str | None:
    """Return a running job that makes all of these runs, None if there is none."""
    digests = {spec.hash for spec in wanted}
    asked = select(studies.c.id).where(
        may_live(), studies.c.asked == RUNNING, studies.c.kind == JOB, studies.c.deleted.is_(None)
    )
    asked = asked.where(studies.c.place == HERE)
    for job_id in connection.execute(asked.order_by(studies.c.created)).scalars().all():
        own = select(runs.c.digest).join(members, members.c.run == runs.c.id)
        found = connection.execute(own.where(members.c.study == job_id)).scalars()
        if digests <= set(found):
            return str(job_id)
    return None


def _refuse_too_many(connection: Connection, owner: str, most: Bounds) -> None:
    """Raise `StoreError` if the owner or all visitors together have the most live jobs allowed."""
    asked = select(studies.c.owner).where(
        may_live(), studies.c.kind == JOB, studies.c.asked == RUNNING, studies.c.deleted.is_(None)
    )
    owners = connection.execute(asked).scalars().all()
    if owners.count(owner) >= most.live_jobs_each:
        raise StoreError(
            f"Of one visitor at most {counted(most.live_jobs_each, 'job')} may wait or run on this "
            "machine. Stop one of yours first."
        )
    if len(owners) >= most.live_jobs:
        raise StoreError(
            f"At most {counted(most.live_jobs, 'job')} of all visitors may wait or run on this machine. "
            "Try again when some have ended."
        )


def _forget_the_oldest(connection: Connection, owner: str, most: Bounds) -> None:
    """Forget ended jobs beyond the bounds, oldest first; their runs stay."""
    held = exists().where(families.c.study == studies.c.id, families.c.worker.is_not(None))
    ended = select(studies.c.id, studies.c.owner).where(studies.c.kind == JOB, ~may_live(), ~held)
    rows = connection.execute(ended.order_by(studies.c.created)).all()
    own = [row.id for row in rows if row.owner == owner]
    gone = own[: max(0, len(own) + 1 - most.kept_jobs_each)]
    left = [row.id for row in rows if row.id not in gone]
    forget_studies(connection, gone + left[: max(0, len(left) + 1 - most.kept_jobs)])
