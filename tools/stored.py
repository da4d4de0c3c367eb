"""The run store of an app that is tried, looked at from outside: that starts and writes nothing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import text

from rankviz.common.processes import ProcessId
from rankviz.store import RunStore
from rankviz.store.execution import worker_processes
from rankviz.store.study import JOB, WatchedStatus
from rankviz.store.tables import studies
from rankviz.store.watched import statuses

FILE = "runs.sqlite"
PATIENCE = 10.0
"""Seconds within which a worker that is asked to has ended."""


class Stored:
    """What is in the store of a folder of runs."""

    def __init__(self, store: RunStore) -> None:
        self._store = store

    def jobs(self) -> list[WatchedStatus]:
        """All jobs, the oldest first."""
        return statuses(self._store.database, studies.c.kind == JOB, 1)

    def job(self, job_id: str) -> WatchedStatus | None:
        """One of them; None where it is there no more."""
        return next((job for job in self.jobs() if job.id == job_id), None)

    def made(self, job_id: str) -> int:
        """How many runs of a job there are."""
        job = self.job(job_id)
        return 0 if job is None else len(job.finished)

    def workers(self) -> list[ProcessId]:
        """The processes that work there, or wait."""
        return worker_processes(self._store)

    def damage(self, column: str, content: str | bytes) -> None:
        """Overwrite a column, named with its table, in all rows."""
        table, name = column.split(".")
        with self._store.database.writing() as connection:
            connection.execute(text(f"UPDATE {table} SET {name} = :content"), {"content": content})

    def end_workers(self) -> None:
        """End the processes that work there; RuntimeError where one does not."""
        for process in self.workers():
            process.terminate()
            if not process.wait(PATIENCE):
                raise RuntimeError(f"worker {process.pid} does not end")


@contextmanager
def stored(runs: Path) -> Iterator[Stored]:
    """The store of a folder of runs, made where it is not there yet; no worker is left there afterwards."""
    store = RunStore(runs / FILE)
    found = Stored(store)
    try:
        yield found
    finally:
        found.end_workers()
        store.close()
