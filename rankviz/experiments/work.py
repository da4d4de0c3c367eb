"""The work of a job once the libraries are there: to train what the folder's spec.json lists.

It takes over records that other jobs have made, calls `execute_all` for one family of the other specs after
the other, appends progress, saves each record when it is
done, looks for the stop file meanwhile, at last writes how it ended, and lets the job store start the next.
What it does not expect ends it with a traceback in log.txt; the job store then says so.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from rankviz.common.errors import SettingError
from rankviz.common.progress import Callback, Progress
from rankviz.common.threads import limit_threads
from rankviz.datasets.types import DataError, Fold
from rankviz.experiments.estimate import check_budget, estimate
from rankviz.experiments.jobs import JobStore, belongs_to_a_store
from rankviz.experiments.record import RunRecord
from rankviz.experiments.run import execute_all, open_named
from rankviz.experiments.run_folder import Job, RunFolder
from rankviz.experiments.shape import Shape
from rankviz.experiments.spec import RunSpec
from rankviz.experiments.sweep import families

LOOK_SECONDS = 0.1
"""At most this often the stop file is looked for."""
TELL_SECONDS = 0.2
"""At most this often progress within a stage is written."""


class Stopped(Exception):  # noqa: N818 - a request, not an error
    """The stop file is there."""


class Listener:
    """The callback of all that trains: writes progress, and raises `Stopped` once the stop file is there."""

    def __init__(self, folder: RunFolder) -> None:
        self._folder = folder
        self._index, self._told = 0, ("", -1)
        self._next_look = self._next_tell = 0.0

    def begin(self, index: int) -> None:
        """The spec at `index` is next."""
        self._index, self._told = index, ("", -1)
        self(Progress("data", 0.0))

    def __call__(self, progress: Progress) -> None:
        """Look for the stop file; write a new stage or Newton iteration at once, other news now and then."""
        now, record = time.monotonic(), progress.record
        if now >= self._next_look:
            self._next_look = now + LOOK_SECONDS
            if self._folder.stop_asked() is not None:
                raise Stopped
        iteration = self._told[1] if record is None else int(record["iteration"])
        place = progress.stage, iteration
        if place != self._told or now >= self._next_tell:
            news: dict[str, Any] | None = record if place != self._told else None
            self._folder.tell(self._index, progress.stage, progress.fraction, news)
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


def work(path: Path) -> None:
    """Do what the folder of a job asks for and write how it ended; then let the next job start."""
    folder = RunFolder(path)
    job = folder.job()
    limit_threads(job.threads)
    state, reason = _trained(folder, job)
    if not folder.ended():  # as where a file could not be read, which should not be forgotten
        folder.end(state, reason)
    if belongs_to_a_store(path):
        JobStore(path.parent).advance()


def _records(
    family: Sequence[RunSpec], job: Job, listener: Listener, folds: Folds, folder: RunFolder
) -> Iterator[tuple[RunSpec, RunRecord]]:
    """The records of a family: those that another job has made are taken over, the rest is trained.

    Only a spec that says which data it means, by their digest, can be told from another.
    """
    sure = [spec for spec in family if spec.digest]
    made = JobStore(folder.path.parent).find_records(sure) if belongs_to_a_store(folder.path) else {}
    for spec, record in made.items():
        listener.begin(job.specs.index(spec))
        yield spec, record
    left = [spec for spec in family if spec not in made]
    if not left:
        return
    listener.begin(job.specs.index(left[0]))
    fold = folds.of(left[0], listener)
    for spec in left:
        check_budget(estimate(spec, Shape.of(fold)))
    records = execute_all(left, listener, fold=fold)
    for spec in left:
        listener.begin(job.specs.index(spec))
        yield next(records)


def _trained(folder: RunFolder, job: Job) -> tuple[str, str]:
    """Train everything; state and reason."""
    done, total = 0, len(job.specs)
    listener, folds = Listener(folder), Folds(job.roots)
    try:
        for family in families(job.specs):
            for spec, record in _records(family, job, listener, folds, folder):
                record.save(folder.record_file(job.specs.index(spec)))
                listener.finish()
                done += 1
        return "finished", f"{total} of {total} runs finished."
    except Stopped:
        return "stopped", f"Stopped on request; {done} of {total} runs had finished."
    except (DataError, SettingError) as error:
        return "failed", str(error)
    except MemoryError:
        return "failed", "Memory ran out. Choose fewer features m, or close other programs."
