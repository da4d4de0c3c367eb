"""Provide storage for an app under test: its run store, seen from outside, and a small disk that fills up."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import text

from rankviz.common.processes import ProcessId
from rankviz.store import RunStore
from rankviz.store.execution import worker_processes
from rankviz.store.study import JOB, WatchedStatus
from rankviz.store.tables import studies
from rankviz.store.watched import statuses

FILE = "runs.sqlite"
BYTES = 16 << 20
"""Size of a small disk."""
PATIENCE = 10.0
"""Seconds within which a worker that is asked to has ended, and a disk is used by nobody."""


class Stored:
    """Reads the run store of a folder."""

    def __init__(self, store: RunStore) -> None:
        self._store = store

    def jobs(self) -> list[WatchedStatus]:
        """All jobs, the oldest first."""
        return statuses(self._store.database, studies.c.kind == JOB, 1)

    def job(self, job_id: str) -> WatchedStatus | None:
        """One of them; None where it is there no more."""
        return next((job for job in self.jobs() if job.id == job_id), None)

    def made(self, job_id: str) -> int:
        """Count the runs of a job."""
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


class NotAllowed(RuntimeError):  # noqa: N818 - a fact about a machine
    """This system lets us mount nothing, as it does for users who are not root; says why."""


@dataclass(frozen=True)
class Disk:
    """A disk of a few megabytes."""

    path: Path

    def fill(self) -> None:
        """Leave no byte free."""
        with suppress(OSError), (self.path / "ballast").open("ab", buffering=0) as stream:
            while stream.write(bytes(4096)):
                pass

    def make_room(self) -> None:
        """Give back what `fill` took."""
        (self.path / "ballast").unlink(missing_ok=True)

    def mount_again(self, how: str) -> None:
        """Mount it read-only ("ro") or as before ("rw"), as soon as nobody writes there any more."""
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                return _mount("-o", f"remount,{how}", str(self.path))
            except NotAllowed:
                if time.monotonic() > deadline:
                    raise
            time.sleep(0.1)


@contextmanager
def small_disk(path: Path, size: int = BYTES) -> Iterator[Disk]:
    """A disk mounted at a new folder, gone afterwards; `NotAllowed` where nothing may be mounted."""
    path.mkdir(parents=True)
    _mount("-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(path))
    try:
        yield Disk(path)
    finally:
        subprocess.run(["umount", "-l", str(path)], check=True)


def _mount(*arguments: str) -> None:
    try:
        done = subprocess.run(["mount", *arguments], capture_output=True, text=True, check=False)
    except OSError as error:
        raise NotAllowed(f"there is no mount here ({error})") from error
    if done.returncode:
        raise NotAllowed(f"nothing can be mounted here: {done.stderr.strip()}")
