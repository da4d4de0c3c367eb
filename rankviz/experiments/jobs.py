"""Jobs: runs in worker processes that outlive the page, kept in folders that every process can read.

A job store is a folder of run folders (see `run_folder`). Nothing about a job is kept anywhere else, so that
a server may restart at any time, and several may share a store: whoever looks at a job also starts what is
queued and notes who has died, under one file lock. A worker that ends does so too.
"""

from __future__ import annotations

import contextlib
import math
import os
import secrets
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from threading import Lock
from typing import Any

import platformdirs

from rankviz.common.bounds import bounds
from rankviz.common.locks import locked
from rankviz.common.threads import cores
from rankviz.datasets.folds import data_roots
from rankviz.datasets.types import DataError
from rankviz.experiments.desks import WORKERS_ENVIRONMENT, Desk
from rankviz.experiments.dispatch import Dispatcher
from rankviz.experiments.job_errors import JobError, NoSuchJob, NotTheOwner, StoreUnusable
from rankviz.experiments.job_files import UnreadableFile, belongs_to_a_store, is_id
from rankviz.experiments.job_status import (
    JobStatus,
    job_of,
    status_of,
    stopped_in_words,
    unreadable_status,
)
from rankviz.experiments.leftovers import clear_away
from rankviz.experiments.places import Places
from rankviz.experiments.processes import can_start
from rankviz.experiments.record import RunRecord
from rankviz.experiments.room import FOR_ALL, lives, make_room, remove
from rankviz.experiments.run_folder import Job, RunFolder
from rankviz.experiments.spec import RunSpec

FOLDER_ENVIRONMENT = "RANKVIZ_RUNS"
LOCK = ".lock"
LOOK_SECONDS = 0.25
"""At most this often who looks at jobs also sees to them."""


class JobStore:
    """All jobs below one folder.

    Parameters
    ----------
    folder : path, optional
        Default: RANKVIZ_RUNS from the environment, or "runs" in the user's data folder.
    workers : int, optional
        Processes at once. Default: RANKVIZ_WORKERS from the environment, or half the cores, at least 2.
    """

    def __init__(self, folder: str | os.PathLike[str] | None = None, *, workers: int | None = None) -> None:
        self.folder = default_folder() if folder is None else Path(folder)
        self.workers = default_workers() if workers is None else max(1, workers)
        self._threads = Lock()
        self._places, self._dispatcher, self._advanced = Places(), Dispatcher(self.workers), -math.inf
        with contextlib.suppress(OSError):  # what is to be written says so then; what is there can be read
            self._make_folder()
            clear_away(self.folder)

    def submit(
        self,
        specs: Sequence[RunSpec],
        *,
        owner: str,
        title: str,
        roots: Sequence[str | os.PathLike[str]] | None = None,
    ) -> str:
        """Queue specs to be trained in this order and return the job's id; it starts as soon as it may.

        Raises `JobError` where too many jobs wait or are kept (`room`), the system starts no processes, or
        nothing can be written (`StoreUnusable`); ValueError where there is nothing to do.
        """
        job = self._job(specs, owner, title, roots)
        with self._locked(make=True):
            return self._begin(job)

    def join(
        self,
        specs: Sequence[RunSpec],
        *,
        owner: str,
        title: str,
        roots: Sequence[str | os.PathLike[str]] | None = None,
    ) -> tuple[str, bool]:
        """The id of a live job that makes all of these already, or of a new one; and whether it is new.

        Several who want the same at the same moment get one job. Raises as `submit`.
        """
        job, wanted = self._job(specs, owner, title, roots), set(specs)
        with self._locked(make=True):
            for run in self._runs():
                if lives(run) and wanted.issubset(job_of(run.path).specs):
                    return run.path.name, False
            return self._begin(job), True

    def _job(
        self,
        specs: Sequence[RunSpec],
        owner: str,
        title: str,
        roots: Sequence[str | os.PathLike[str]] | None,
    ) -> Job:
        """What is to be done, as `submit` has it."""
        if not can_start():
            raise JobError("Nothing can be trained in the background here: this system starts no processes.")
        if not specs:
            raise ValueError("a job needs at least one run")
        below = tuple(str(Path(root).resolve()) for root in (data_roots() if roots is None else roots))
        threads = max(1, cores() // self.workers)
        return Job(tuple(specs), owner, title, below, threads, time.time())

    def _begin(self, job: Job) -> str:
        """Queue a job; under the lock."""
        make_room(self._runs(), job.owner, bounds())
        job_id = secrets.token_hex(16)
        run = RunFolder.create(self.folder / job_id, job)
        try:
            self._see_to_it()
        except OSError:
            shutil.rmtree(run.path, ignore_errors=True)
            raise
        return job_id

    def keep(self, records: Sequence[RunRecord], title: str) -> None:
        """Keep records for all visitors, in place of those that were kept so before."""
        specs = tuple(record.spec for record in records)
        job = Job(specs, FOR_ALL, title, (), 1, time.time())
        with self._locked():
            before = self._kept_for_all()
            RunFolder.create(self.folder / secrets.token_hex(16), job, records)
            for run in before:
                remove(run)

    def kept(self, title: str) -> bool:
        """Whether records are kept for all visitors under this title."""
        return any(job_of(run.path).title == title for run in self._kept_for_all())

    def _kept_for_all(self) -> list[RunFolder]:
        return [run for run in self._runs() if job_of(run.path).owner == FOR_ALL]

    def status(self, job_id: str) -> JobStatus:
        """Status of a job now; `NoSuchJob` where there is none of this id."""
        run = self._find(job_id)
        self._advance_if_possible()
        return self._status(run)

    def jobs(self, owner: str) -> list[JobStatus]:
        """The jobs of an owner, latest first."""
        self._advance_if_possible()
        found = [self._status(run) for run in self._runs() if job_of(run.path).owner == owner]
        return sorted(found, key=lambda status: status.created, reverse=True)

    def live(self) -> list[JobStatus]:
        """The jobs of all owners that are queued or running, the oldest first."""
        self._advance_if_possible()
        found = [self._status(run) for run in self._runs() if not run.ended()]
        return sorted((status for status in found if status.live), key=lambda status: status.created)

    def advance(self) -> None:
        """Note who died, hasten who was asked to stop, and start who is next; `StoreUnusable` as `submit`."""
        with self._locked():
            self._see_to_it()

    def _advance_if_possible(self) -> None:
        """`advance`, before jobs are read: that they cannot be written to is no reason not to.

        Not more often than is worth it, for every visitor who watches a job looks several times a second.
        """
        now = time.monotonic()
        if now - self._advanced >= LOOK_SECONDS:
            self._advanced = now
            with contextlib.suppress(StoreUnusable):
                self.advance()

    def progress(self, job_id: str) -> list[dict[str, Any]]:
        """All progress messages of a job: time, index of the spec, stage, fraction, trace record."""
        return list(self._find(job_id).rows())

    def record(self, job_id: str, index: int) -> RunRecord | None:
        """The record of the spec at `index`, None while it is not finished."""
        return self._find(job_id).record(index)

    def find_records(self, specs: Sequence[RunSpec]) -> dict[RunSpec, RunRecord]:
        """The records that any job here has already made of these specs (equal in all fields)."""
        wanted, found = dict.fromkeys(specs), dict[RunSpec, RunRecord]()
        if wanted:
            self._places.update([run.path for run in self._runs()])
        for spec in wanted:
            for path, index in self._places.of(spec):
                with contextlib.suppress(DataError):  # a record of another version is as good as none
                    if (record := RunFolder(path).record(index)) is not None:
                        found[spec] = record
                        break
        return found

    def finished(self) -> Iterator[tuple[str, tuple[RunSpec, ...], Callable[[int], RunRecord | None]]]:
        """Of every job its owner, its specs, and what gives the record of the spec at an index."""
        for run in self._runs():
            job = job_of(run.path)
            yield job.owner, job.specs, run.record

    def stop(self, job_id: str, owner: str) -> None:
        """End a job and keep the records that are finished; `NotTheOwner` for anybody else."""
        run = self._owned(job_id, owner)
        with self._locked():
            run.mend()
            if not run.ended():
                run.ask_to_stop()
                if not run.claimed():
                    run.end("stopped", stopped_in_words(run))
            self._see_to_it()

    def delete(self, job_id: str, owner: str) -> None:
        """End a job at once and remove all it left; `NotTheOwner` for anybody else."""
        run = self._owned(job_id, owner)
        with self._locked():
            remove(run)
            self._see_to_it()

    def _status(self, run: RunFolder) -> JobStatus:
        """Status of a job, which has failed where its files cannot be read."""
        try:
            return status_of(run)
        except UnreadableFile as error:
            with contextlib.suppress(StoreUnusable), self._locked():
                run.mend()
                return status_of(run)
            return unreadable_status(run, error)

    def _find(self, job_id: str) -> RunFolder:
        """The folder of an id; it becomes part of a path only where it is one that a store gives."""
        path = self.folder / job_id if is_id(job_id) else None
        if path is None or path.is_symlink() or not path.is_dir() or not _known(path):
            raise NoSuchJob("There is no run of this id; it may have been deleted.")
        return RunFolder(path)

    def _owned(self, job_id: str, owner: str) -> RunFolder:
        run = self._find(job_id)
        if not secrets.compare_digest(job_of(run.path).owner.encode(), owner.encode()):
            raise NotTheOwner("Only the visitor who started this run can stop or delete it.")
        return run

    def _runs(self) -> list[RunFolder]:
        if not self.folder.is_dir():
            return []
        with os.scandir(self.folder) as entries:
            paths = [Path(entry.path) for entry in entries if entry.is_dir(follow_symlinks=False)]
        return [RunFolder(path) for path in paths if belongs_to_a_store(path) and _known(path)]

    @contextlib.contextmanager
    def _locked(self, *, make: bool = False) -> Iterator[None]:
        """One thread of one process at a time; `StoreUnusable` where nothing can be written.

        With `make` the folder may have been missing until now.
        """
        try:
            if make:
                self._make_folder()
            # threads queue up here, for who waits for a file asks for it now and then, and may be overtaken
            with self._threads, locked(self.folder / LOCK):
                yield
        except OSError as error:
            raise StoreUnusable.because(error) from error

    def _make_folder(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)

    def next_for(self, desk: Desk) -> RunFolder | None:
        """The next run for a worker that has ended a job, which waits for one; None where it shall end."""
        with self._locked():
            desk.set_up()
            self._see_to_it()
        run = desk.wait(bounds().idle_seconds)
        if run is None:
            with self._locked():  # nobody gives it one from now on
                desk.clear()
                run = desk.given()
        return run

    def others_wait(self, owner: str) -> bool:
        """Whether jobs of other visitors than `owner` are queued."""
        queued = (run for run in self._runs() if not run.ended() and not run.claimed())
        return any(job_of(run.path).owner != owner for run in queued)

    def _see_to_it(self) -> None:
        """`advance`, under the lock."""
        self._dispatcher.advance(self._runs())

    def release(self, run: RunFolder) -> None:
        """Queue a job again whose worker lets others go first."""
        with self._locked():
            run.release()


def _known(path: Path) -> bool:
    """Whether a folder holds a job that this version reads; one of another version is left alone."""
    try:
        return bool(job_of(path).specs)
    except (OSError, ValueError):
        return False


def default_folder() -> Path:
    """RANKVIZ_RUNS from the environment, or "runs" in the user's data folder."""
    chosen = os.environ.get(FOLDER_ENVIRONMENT)
    return Path(chosen) if chosen else Path(platformdirs.user_data_dir("rankviz")) / "runs"


def default_workers() -> int:
    """RANKVIZ_WORKERS from the environment, or half the cores, at least 2."""
    asked = os.environ.get(WORKERS_ENVIRONMENT, "")
    return max(1, int(asked)) if asked.isdecimal() else max(2, cores() // 2)
