"""The work of a job once the libraries are there: to train what the folder's spec.json lists.

It takes over records that other jobs have made, calls `execute_all` for one family of the other specs after
the other, appends progress, saves each record when it is done, looks for the stop file meanwhile, and at last
writes how it ended. Between families it lets the jobs of other visitors go first once it had its turn, and
goes on later where it left off. Then the process does the next job that the store gives it.
What it does not expect ends it with a traceback in log.txt; the job store then says so.
"""

from __future__ import annotations

import math
import os
import sys
import time
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any

from rankviz.common.bounds import bounds
from rankviz.common.errors import SettingError
from rankviz.common.files import NO_ROOM
from rankviz.common.memory import resident_memory
from rankviz.common.progress import Callback, Progress
from rankviz.common.threads import limit_threads
from rankviz.datasets.types import DataError, Fold
from rankviz.experiments.desks import Desk, kind_of
from rankviz.experiments.estimate import Estimate, check_budget, estimate
from rankviz.experiments.job_errors import StoreUnusable
from rankviz.experiments.job_files import belongs_to_a_store
from rankviz.experiments.job_status import no_room, stopped_in_words, time_is_up
from rankviz.experiments.jobs import JobStore
from rankviz.experiments.processes import ProcessId
from rankviz.experiments.record import RunRecord
from rankviz.experiments.remaining import Remaining
from rankviz.experiments.run import execute_all, open_named
from rankviz.experiments.run_folder import Job, RunFolder
from rankviz.experiments.shape import Shape
from rankviz.experiments.spec import RunSpec
from rankviz.experiments.sweep import families
from rankviz.solvers.settings import TOL

LOOK_SECONDS = 0.1
"""At most this often the stop file is looked for."""
TELL_SECONDS = 0.2
"""At most this often progress within a stage is written."""


class Stopped(Exception):  # noqa: N818 - a request, not an error
    """The stop file is there."""


class TimeIsUp(Exception):  # noqa: N818 - a bound, not an error
    """The job has worked as long as a job may."""


class Listener:
    """The callback of all that trains: writes progress, and raises `Stopped` once the stop file is there.

    It raises `TimeIsUp` after `seconds`.
    """

    def __init__(self, folder: RunFolder, seconds: float = math.inf) -> None:
        self._folder, self._deadline = folder, time.monotonic() + seconds
        self._index, self._told = 0, ("", -1)
        self._next_look = self._next_tell = 0.0
        self._remaining: Remaining | None = None

    def begin(self, index: int, predicted: Estimate | None = None) -> None:
        """The spec at `index` is next; of one that is trained, what it was predicted to cost."""
        self._index, self._told = index, ("", -1)
        self._remaining = None
        if predicted is not None:
            tol = predicted.spec.get(TOL.name)
            self._remaining = Remaining(predicted.seconds, tol, time.monotonic())
        self(Progress("data", 0.0))

    def __call__(self, progress: Progress) -> None:
        """Look for the stop file; write a new stage or Newton iteration at once, other news now and then."""
        now, record = time.monotonic(), progress.record
        if now > self._deadline:
            raise TimeIsUp
        if now >= self._next_look:
            self._next_look = now + LOOK_SECONDS
            if self._folder.stop_asked() is not None:
                raise Stopped
        iteration = self._told[1] if record is None else int(record["iteration"])
        place = progress.stage, iteration
        if self._remaining is not None and record is not None and iteration != self._told[1]:
            self._remaining.note(record, now)
        if place != self._told or now >= self._next_tell:
            news: dict[str, Any] | None = record if place != self._told else None
            left = None if self._remaining is None else self._remaining.seconds(now)
            self._folder.tell(self._index, progress.stage, progress.fraction, news, left)
            self._told, self._next_tell = place, now + TELL_SECONDS

    def finish(self) -> None:
        """The record of the current spec is saved."""
        self._folder.tell(self._index, "finished", 1.0)


class Folds:
    """Folds below data roots; the one used last is kept, for the specs of a sweep mostly share it."""

    def __init__(self, roots: tuple[str, ...]) -> None:
        self._roots, self._name = roots, ("", "")
        self._latest: Fold | None = None

    def of(self, spec: RunSpec, callback: Callback) -> Fold:
        """The fold that a spec names, as read."""
        if self._latest is None or self._name != (spec.dataset, spec.fold):
            self._latest, self._name = None, (spec.dataset, spec.fold)
            self._latest = open_named(spec, self._roots, callback)
        return self._latest


def serve(path: Path, process: ProcessId) -> None:
    """Work on a job, then on those the store gives to this process, until it has none or wants another."""
    if not belongs_to_a_store(path):
        work(path)
        return
    store, most, run = _store(path.parent), bounds(), RunFolder(path)
    desk = Desk(path.parent, process, kind_of(run.job().threads))
    for done in count(1):
        if run.claim(process):
            print_to(run.log_file())
            work(run.path)
            print_to(Path(os.devnull))
        if done >= most.worker_jobs or resident_memory() > most.worker_bytes:
            store.advance()  # another process does what is next
            return
        try:
            following = store.next_for(desk)
        except StoreUnusable:  # where it cannot be written down that it waits
            return
        if following is None:
            return
        run = following


def print_to(path: Path) -> None:
    """Have all that this process prints from now on, by whatever library, go to a file."""
    sys.stdout.flush()
    sys.stderr.flush()
    with path.open("ab") as stream:
        for descriptor in (1, 2):
            os.dup2(stream.fileno(), descriptor)


def work(path: Path) -> None:
    """Do what the folder of a job asks for and write how it ended, or queue it again after its turn."""
    folder = RunFolder(path)
    job = folder.job()
    limit_threads(job.threads)
    ending = _trained(folder, job)
    while ending is None and not _let_go(folder):
        ending = _trained(folder, job)
    if ending is not None and not folder.ended():  # as where a file could not be read: that is not forgotten
        _end(folder, *ending)


def _let_go(folder: RunFolder) -> bool:
    """Queue a job again after its turn, unless that cannot be written down: then it goes on."""
    try:
        _store(folder.path.parent).release(folder)
    except StoreUnusable:
        return False
    return True


def _end(folder: RunFolder, state: str, reason: str) -> None:
    """Write how a job ended; where there is no room for it, this process ends with the reason in its log."""
    try:
        folder.end(state, reason)
    except OSError as error:
        if error.errno in NO_ROOM:
            sys.exit(reason)
        raise


def _records(
    family: Sequence[RunSpec], job: Job, listener: Listener, folds: Folds, folder: RunFolder
) -> Iterator[tuple[RunSpec, RunRecord]]:
    """The records of a family: those that another job has made are taken over, the rest is trained.

    Only a spec that says which data it means, by their digest, can be told from another.
    """
    sure = [spec for spec in family if spec.digest]
    made = _store(folder.path.parent).find_records(sure) if belongs_to_a_store(folder.path) else {}
    for spec, record in made.items():
        listener.begin(job.specs.index(spec))
        yield spec, record
    left = [spec for spec in family if spec not in made]
    if not left:
        return
    listener.begin(job.specs.index(left[0]))
    fold = folds.of(left[0], listener)
    shape = Shape.of(fold)
    costs = {spec: estimate(spec, shape) for spec in left}
    for cost in costs.values():
        check_budget(cost)
    records = execute_all(left, listener, fold=fold)
    for spec in left:
        listener.begin(job.specs.index(spec), costs[spec])
        yield next(records)


def _trained(folder: RunFolder, job: Job) -> tuple[str, str] | None:
    """Train everything; state and reason, None where the jobs of other visitors go first."""
    total, most = len(job.specs), bounds()
    listener, folds = Listener(folder, most.job_seconds - folder.worked()), Folds(job.roots)
    turn_ends = time.monotonic() + most.turn_seconds
    try:
        for number, family in enumerate(_unfinished(folder, job)):
            if number and time.monotonic() > turn_ends and _others_wait(folder, job):
                return None
            for spec, record in _records(family, job, listener, folds, folder):
                record.save(folder.record_file(job.specs.index(spec)))
                listener.finish()
        return "finished", f"{total} of {total} runs finished."
    except Stopped:
        return "stopped", stopped_in_words(folder)
    except TimeIsUp:
        return "stopped", time_is_up(folder, most.job_seconds)
    except (DataError, SettingError) as error:
        return "failed", str(error)
    except MemoryError:
        return "failed", "Memory ran out. Choose fewer features m, or close other programs."
    except OSError as error:
        if error.errno in NO_ROOM:
            return "failed", no_room(folder, error)
        raise


def _unfinished(folder: RunFolder, job: Job) -> Iterator[list[RunSpec]]:
    """The families of a job, without the specs whose records an earlier turn has made."""
    done = {job.specs[index] for index in folder.finished()}
    for family in families(job.specs):
        if left := [spec for spec in family if spec not in done]:
            yield left


def _others_wait(folder: RunFolder, job: Job) -> bool:
    return belongs_to_a_store(folder.path) and _store(folder.path.parent).others_wait(job.owner)


@cache
def _store(folder: Path) -> JobStore:
    """The store that a job belongs to; what was left over there is looked for once."""
    return JobStore(folder)
