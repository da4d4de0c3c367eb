"""Jobs: runs in worker processes that outlive the page, kept in folders that every process can read.

A job store is a folder of run folders (see `run_folder`). Nothing about a job is kept anywhere else, so that
a server may restart at any time, and several may share a store: whoever looks at a job also starts what is
queued and notes who has died, under one file lock. A worker that ends does so too.
"""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import shutil
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import platformdirs

from rankviz.common.locks import locked
from rankviz.common.threads import ENVIRONMENT as THREADS_ENVIRONMENT
from rankviz.common.threads import cores
from rankviz.datasets.folds import data_roots
from rankviz.datasets.types import DataError
from rankviz.experiments.job_errors import JobError, NoSuchJob, NotTheOwner, StoreUnusable
from rankviz.experiments.job_files import UnreadableFile
from rankviz.experiments.job_status import JobStatus, how_it_died, job_of, status_of
from rankviz.experiments.processes import can_start, start
from rankviz.experiments.record import RunRecord
from rankviz.experiments.run_folder import Job, RunFolder
from rankviz.experiments.spec import RunSpec

FOLDER_ENVIRONMENT = "RANKVIZ_RUNS"
WORKERS_ENVIRONMENT = "RANKVIZ_WORKERS"
LOCK = ".lock"
STOP_PATIENCE = 1.5
"""Seconds after which a worker that was asked to stop is ended by the system."""
END_PATIENCE = 1.0
"""Seconds that deleting a job waits for its worker to be gone."""
KEEP_PER_OWNER, KEEP_IN_ALL = 30, 300
"""Ended jobs that are kept; the oldest go when a new one comes."""
MOST_STARTS = 3
"""A job whose worker cannot be written down this often is not started again by this process."""
LEFT_SECONDS = 3600.0
"""What is half made is taken for left over after this."""
LIVE_PER_OWNER = 8
"""Jobs of one owner that may be queued or running."""


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
        self.folder = _default_folder() if folder is None else Path(folder)
        self.workers = _default_workers() if workers is None else max(1, workers)
        self._not_started: Counter[Path] = Counter()
        with contextlib.suppress(OSError):  # what is to be written says so then; what is there can be read
            self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._clear_away()

    def submit(
        self,
        specs: Sequence[RunSpec],
        *,
        owner: str,
        title: str,
        roots: Sequence[str | os.PathLike[str]] | None = None,
    ) -> str:
        """Queue specs to be trained in this order and return the job's id; it starts as soon as it may.

        Raises `JobError` where the owner has too many jobs waiting, the system starts no processes, or
        nothing can be written (`StoreUnusable`); ValueError where there is nothing to do.
        """
        if not can_start():
            raise JobError("Nothing can be trained in the background here: this system starts no processes.")
        if not specs:
            raise ValueError("a job needs at least one run")
        chosen = data_roots() if roots is None else roots
        threads = max(1, cores() // self.workers)
        job = Job(
            tuple(specs), owner, title, tuple(str(Path(r).resolve()) for r in chosen), threads, time.time()
        )
        with self._locked():
            self._make_room(owner)
            job_id = secrets.token_hex(16)
            run = RunFolder.create(self.folder / job_id, job)
            try:
                self._advance()
            except OSError:
                shutil.rmtree(run.path, ignore_errors=True)
                raise
        return job_id

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
            self._advance()

    def _advance_if_possible(self) -> None:
        """`advance`, before jobs are read: that they cannot be written to is no reason not to."""
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
        wanted, found = set(specs), dict[RunSpec, RunRecord]()
        for run in self._runs():
            places = _places(run.path)
            for spec in wanted & places.keys() - found.keys():
                with contextlib.suppress(DataError):  # a record of another version is as good as none
                    if (record := run.record(places[spec])) is not None:
                        found[spec] = record
        return found

    def stop(self, job_id: str, owner: str) -> None:
        """End a job and keep the records that are finished; `NotTheOwner` for anybody else."""
        run = self._owned(job_id, owner)
        with self._locked():
            run.mend()
            if not run.ended():
                run.ask_to_stop()
                if run.worker() is None:
                    run.end("stopped", "Stopped before it began.")
            self._advance()

    def delete(self, job_id: str, owner: str) -> None:
        """End a job at once and remove all it left; `NotTheOwner` for anybody else."""
        run = self._owned(job_id, owner)
        with self._locked():
            _remove(run)
            self._advance()

    def _status(self, run: RunFolder) -> JobStatus:
        """Status of a job, which has failed where its files cannot be read."""
        try:
            return status_of(run)
        except UnreadableFile:
            with self._locked():
                run.mend()
            return status_of(run)

    def _find(self, job_id: str) -> RunFolder:
        """Look an id up among the folders there are; it never becomes part of a path before."""
        run = next((run for run in self._runs() if run.path.name == job_id), None)
        if run is None:
            raise NoSuchJob("There is no run of this id; it may have been deleted.")
        return run

    def _owned(self, job_id: str, owner: str) -> RunFolder:
        run = self._find(job_id)
        if not secrets.compare_digest(job_of(run.path).owner.encode(), owner.encode()):
            raise NotTheOwner("Only the visitor who started this run can stop or delete it.")
        return run

    def _runs(self) -> list[RunFolder]:
        if not self.folder.is_dir():
            return []
        with os.scandir(self.folder) as entries:
            return [
                RunFolder(Path(entry.path))
                for entry in entries
                if _ID.fullmatch(entry.name) and entry.is_dir(follow_symlinks=False) and _known(entry.path)
            ]

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        """One thread of one process at a time; `StoreUnusable` where nothing can be written."""
        try:
            with locked(self.folder / LOCK):
                yield
        except OSError as error:
            raise StoreUnusable.because(error) from error

    def _clear_away(self) -> None:
        """Remove what a process that was ended left half made or half removed."""
        for path in self.folder.glob(".*-*"):
            if _LEFT.fullmatch(path.name) and time.time() - path.stat().st_mtime > LEFT_SECONDS:
                shutil.rmtree(path, ignore_errors=True)

    def _advance(self) -> None:
        """`advance`, under the lock."""
        running, queued = 0, []
        for run in self._runs():
            if run.ended():
                continue
            try:
                worker = run.worker()
            except UnreadableFile:
                run.mend()
                continue
            if worker is None:
                queued.append(run)
            elif worker.process.alive():
                running += 1
                asked = run.stop_asked()
                if asked is not None and time.time() - asked > STOP_PATIENCE:
                    worker.process.terminate()
            elif not run.ended():  # it may have written its outcome between the two looks
                run.end(*how_it_died(run))
        startable = [run for run in queued if self._not_started[run.path] < MOST_STARTS]
        for run in sorted(startable, key=lambda run: job_of(run.path).created)[
            : max(0, self.workers - running)
        ]:
            self._not_started[run.path] += 1
            _launch(run, self.workers)
            del self._not_started[run.path]

    def _make_room(self, owner: str) -> None:
        """Drop the oldest ended jobs beyond the bounds; `JobError` where the owner has too many live ones."""
        runs = sorted(self._runs(), key=lambda run: job_of(run.path).created)
        own = [run for run in runs if job_of(run.path).owner == owner]
        if sum(not run.ended() for run in own) >= LIVE_PER_OWNER:
            raise JobError(f"You have {LIVE_PER_OWNER} runs waiting or running. Stop one of them first.")
        for group, bound in ((own, KEEP_PER_OWNER), (runs, KEEP_IN_ALL)):
            ended = [run for run in group if run.path.exists() and run.ended()]
            for run in ended[: max(0, len(ended) + 1 - bound)]:
                _remove(run)


_ID = re.compile(r"[0-9a-f]{32}")
_LEFT = re.compile(r"\.(new|gone)-[0-9a-f]{16}")


def belongs_to_a_store(path: Path) -> bool:
    """Whether a run folder has a name that a store gave."""
    return _ID.fullmatch(path.name) is not None


def _known(path: str) -> bool:
    """Whether a folder holds a job that this version reads; one of another version is left alone."""
    try:
        return bool(job_of(Path(path)).specs)
    except (OSError, ValueError):
        return False


@lru_cache(maxsize=1024)
def _places(path: Path) -> dict[RunSpec, int]:
    """Spec -> its index in a job, the first where it stands there twice: that one is trained."""
    return {spec: index for index, spec in reversed(list(enumerate(job_of(path).specs)))}


def _launch(run: RunFolder, workers: int) -> None:
    """Start the worker of a run and write down which process it is; it will start the next one."""
    threads = str(job_of(run.path).threads)
    names = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", THREADS_ENVIRONMENT)
    package = str(Path(__file__).resolve().parents[2])
    path = os.pathsep.join(filter(None, (package, os.environ.get("PYTHONPATH", ""))))
    environment = os.environ | dict.fromkeys(names, threads)
    environment |= {"PYTHONPATH": path, WORKERS_ENVIRONMENT: str(workers)}
    command = [sys.executable, "-m", "rankviz.experiments.worker", str(run.path)]
    process = start(command, environment, run.log_file())
    try:
        run.claim(process)
    except OSError:  # nobody would know of it, and another would be started at the next look
        process.terminate()
        raise


def _remove(run: RunFolder) -> None:
    """End the worker of a run folder, take the folder out of sight and remove the files.

    In this order, for Windows renames no folder in which a file is open.
    """
    run.mend()
    worker = run.worker()
    if worker is not None:
        worker.process.terminate()
        worker.process.wait(END_PATIENCE)
    gone = run.path.with_name(f".gone-{secrets.token_hex(8)}")
    try:
        run.path.rename(gone)
    except PermissionError:
        raise JobError("Files of this run are still in use. Try again in a moment.") from None
    shutil.rmtree(gone, ignore_errors=True)


def _default_folder() -> Path:
    chosen = os.environ.get(FOLDER_ENVIRONMENT)
    return Path(chosen) if chosen else Path(platformdirs.user_data_dir("rankviz")) / "runs"


def _default_workers() -> int:
    asked = os.environ.get(WORKERS_ENVIRONMENT, "")
    return max(1, int(asked)) if asked.isdecimal() else max(2, cores() // 2)
