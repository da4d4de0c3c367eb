"""What jobs there are in a run store, and what they have trained: read from its tables, as anybody may."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from sqlalchemy import Connection, select

from rankviz.store import Database, StoreOutOfReach
from rankviz.store.job_reading import statuses
from rankviz.store.job_status import JobStatus
from rankviz.store.rows import told
from rankviz.store.study import DONE, JOB
from rankviz.store.tables import families, members, runs, studies

BEFORE_TRAINING = ("data", "")
"""Stages that are told of a run whose training has not begun."""


class Jobs:
    """The jobs that were ever seen in the store of a file: they may be forgotten while one looks.

    `live` is how many had not ended at the last look.
    """

    def __init__(self, file: Path) -> None:
        self._file, self._opened = file, list[Database]()
        self._seen: dict[str, JobStatus] = {}
        self._trainings, self._made = set[tuple[str, int, float]](), set[str]()
        self.live = 0

    def look(self) -> None:
        """Look at the jobs that are there and had not ended at the last look."""
        if not self._file.is_file():  # the app has not made it yet
            return
        with suppress(StoreOutOfReach):  # there is another look
            if not self._opened:
                self._opened.append(Database(self._file))
            which = studies.c.id.not_in([name for name, job in self._seen.items() if not job.live])
            found = statuses(self._opened[0], which, 1)
            with self._opened[0].reading() as connection:
                self._trainings |= set(_trainings(connection))
                self._made |= _made(connection, [job.id for job in found])
            self._seen |= {job.id: job for job in found}
            self.live = sum(job.live for job in found)

    def close(self) -> None:
        """Close the store."""
        while self._opened:
            self._opened.pop().close()

    def counts(self) -> dict[str, int]:
        """Jobs, records, specs of all records; runs trained, and how often the same one was at most.

        A training is seen where it takes longer than it takes to look again; of those that nobody saw, each
        run that was made since a job asked for it counts as one.
        """
        made = [job.specs[index].hash for job in self._seen.values() for index in job.finished]
        begun = Counter(digest for digest, _, _ in self._trainings)
        begun.update(self._made - begun.keys())
        return {
            "jobs": len(self._seen),
            "records": len(made),
            "specs": len(set(made)),
            "trained": sum(begun.values()),
            "the same at most": max(begun.values(), default=0),
            "failed jobs": sum(job.state == "failed" for job in self._seen.values()),
        }

    def last_end(self) -> float:
        """When the last job ended (seconds since 1970); nan where none did."""
        return max((job.ended for job in self._seen.values() if job.ended is not None), default=math.nan)


def _trainings(connection: Connection) -> Iterator[tuple[str, int, float]]:
    """What jobs train now: run, and family and beginning of the lease under which that is done."""
    asked = select(families.c.id, families.c.since, families.c.progress)
    asked = asked.join(studies, studies.c.id == families.c.study)
    for row in connection.execute(asked.where(studies.c.kind == JOB, families.c.worker.is_not(None))):
        news = told(row.progress)
        if news.get("stage", "") not in BEFORE_TRAINING:
            yield news["digest"], row.id, row.since


def _made(connection: Connection, jobs: list[str]) -> set[str]:
    """Runs of jobs that were made since they were asked for."""
    asked = select(runs.c.digest).join(members, members.c.run == runs.c.id)
    asked = asked.join(studies, studies.c.id == members.c.study)
    since = runs.c.state == DONE, runs.c.ended > studies.c.created
    return set(connection.execute(asked.where(studies.c.id.in_(jobs), *since)).scalars())
