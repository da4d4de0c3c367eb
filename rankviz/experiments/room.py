"""Room in a store: how many jobs may wait or run, how many that have ended are kept, and which of them go.

Nobody's work of the last day makes room for another's: then a new job is refused instead.
"""

from __future__ import annotations

import secrets
import shutil
import time
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from rankviz.common.bounds import Bounds
from rankviz.common.numbers import counted, megabytes
from rankviz.experiments.job_errors import JobError
from rankviz.experiments.job_files import UnreadableFile
from rankviz.experiments.job_status import job_of
from rankviz.experiments.run_folder import RunFolder

END_PATIENCE = 1.0
"""Seconds that deleting a job waits for its worker to be gone."""
SAFE_SECONDS = 86400.0
"""What ended later than so long ago does not go for another visitor's job."""
FOR_ALL = "rankviz"
"""The owner of what is kept for all visitors, which makes room for nothing."""


def make_room(runs: Sequence[RunFolder], owner: str, bounds: Bounds) -> None:
    """Remove the ended jobs that go for a new one of `owner`; `JobError` where there is no room.

    The owner's go where they have as many as one may keep, first those without a record, then the oldest.
    Where all together are too many or too large, the oldest of anybody that ended more than a day ago go,
    then the owner's own.
    """
    runs = sorted((run for run in runs if job_of(run.path).owner != FOR_ALL), key=_created)
    own = [run for run in runs if job_of(run.path).owner == owner]
    _refuse_too_many_live(runs, own, bounds)
    ended = sorted((run for run in own if run.ended()), key=lambda run: (bool(run.finished()), _created(run)))
    for run in ended[: max(0, len(ended) + 1 - bounds.kept_jobs_each)]:
        remove(run)
    _make_room_for_all([run for run in runs if run.path.exists() and run.ended()], owner, bounds)


def _refuse_too_many_live(runs: Sequence[RunFolder], own: Sequence[RunFolder], bounds: Bounds) -> None:
    """`JobError` where the owner, or all together, have as many jobs waiting or running as may be."""
    if sum(map(lives, own)) >= bounds.live_jobs_each:
        raise JobError(
            f"Of one visitor at most {counted(bounds.live_jobs_each, 'job')} may wait or run on this "
            "machine. Stop one of yours first."
        )
    if sum(map(lives, runs)) >= bounds.live_jobs:
        raise JobError(
            f"At most {counted(bounds.live_jobs, 'job')} of all visitors may wait or run on this machine. "
            "Try again when some have ended."
        )


def lives(run: RunFolder) -> bool:
    """Whether a job waits or runs, and is not about to end because it was asked to."""
    return not run.ended() and run.stop_asked() is None


def _make_room_for_all(ended: list[RunFolder], owner: str, bounds: Bounds) -> None:
    """Remove what may go until the ended jobs of all are few and small enough; `JobError` where they stay."""
    number, size = len(ended), sum(_bytes(run.path) for run in ended)
    safe = time.time() - SAFE_SECONDS
    old = [run for run in ended if _ended(run) < safe]
    own = [run for run in ended if job_of(run.path).owner == owner and run not in old]
    for run in old + own:
        if number < bounds.kept_jobs and size < bounds.run_bytes:
            return
        number, size = number - 1, size - _bytes(run.path)
        remove(run)
    if number >= bounds.kept_jobs or size >= bounds.run_bytes:
        raise JobError(
            f"At most {counted(bounds.kept_jobs, 'job')} and {megabytes(bounds.run_bytes)} of runs are kept "
            "here, and those there are of other visitors and younger than a day. Try again tomorrow, "
            "or ask who runs it."
        )


def remove(run: RunFolder) -> None:
    """End the worker of a job, take its folder out of sight and remove the files.

    In this order, for Windows renames no folder in which a file is open. The worker of a job that has ended
    may be at work on another one by now.
    """
    run.mend()
    worker = run.worker()
    if worker is not None and not run.ended():
        worker.process.terminate()
        worker.process.wait(END_PATIENCE)
    gone = run.path.with_name(f".gone-{secrets.token_hex(8)}")
    try:
        run.path.rename(gone)
    except PermissionError:
        raise JobError("Files of this job are still in use. Try again in a moment.") from None
    shutil.rmtree(gone, ignore_errors=True)


def _created(run: RunFolder) -> float:
    return job_of(run.path).created


def _ended(run: RunFolder) -> float:
    """When a job ended; what cannot be read is as old as can be."""
    try:
        outcome = run.outcome()
    except UnreadableFile:
        return 0.0
    return 0.0 if outcome is None else outcome.ended


@lru_cache(maxsize=4096)
def _bytes(path: Path) -> int:
    """Size of the files of an ended job, which stay as they are."""
    return sum(file.stat().st_size for file in path.iterdir())
