"""Who works on what in a store of jobs: who has died, who should have stopped, and which job is next.

All is done under the store's lock, by whoever looks at jobs, and by a worker that has ended one.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from rankviz.common.bounds import bounds
from rankviz.experiments.desks import assign
from rankviz.experiments.job_files import UnreadableFile, Worker
from rankviz.experiments.job_status import how_it_died, job_of, time_is_up
from rankviz.experiments.processes import reap
from rankviz.experiments.run_folder import RunFolder

STOP_PATIENCE = 1.5
"""Seconds after which a worker that was asked to stop is ended by the system."""
TIME_PATIENCE = 10.0
"""Seconds beyond those a job may work after which the system ends its worker."""
START_AGAIN_SECONDS = 10.0
"""A job whose worker could not be written down, as on a full disk, is started again after this."""


class Dispatcher:
    """Has up to `workers` jobs worked on at once."""

    def __init__(self, workers: int) -> None:
        self._workers = workers
        self._not_before: dict[Path, float] = {}

    def advance(self, runs: Sequence[RunFolder]) -> None:
        """Note who died, hasten who was asked to stop, and start who is next."""
        reap()
        running, queued = Counter[str](), []
        for run in runs:
            if run.ended():
                continue
            try:
                worker = run.worker()
                if worker is None:
                    queued.append(run)
                elif _works_on(run, worker):
                    running[job_of(run.path).owner] += 1
            except UnreadableFile:
                run.mend()
        now = time.monotonic()
        self._start([run for run in queued if self._not_before.get(run.path, now) <= now], running)

    def _start(self, queued: list[RunFolder], running: Counter[str]) -> None:
        """Have as many queued runs worked on as may be, in turn for each visitor, the longest wait first."""
        while queued and running.total() < self._workers:
            run = min(queued, key=lambda run: (running[job_of(run.path).owner], _waits_since(run)))
            queued.remove(run)
            self._not_before[run.path] = time.monotonic() + START_AGAIN_SECONDS
            assign(run, job_of(run.path).threads, self._workers)
            del self._not_before[run.path]
            running[job_of(run.path).owner] += 1


def _works_on(run: RunFolder, worker: Worker) -> bool:
    """Whether the worker of a run is alive; it is ended where it should have ended by itself."""
    if not worker.process.alive():
        if not run.ended():  # it may have written its outcome between the two looks
            run.end(*how_it_died(run))
        for aside in run.asides():  # nobody else writes here
            aside.unlink(missing_ok=True)
        return False
    asked = run.stop_asked()
    if asked is not None and time.time() - asked > STOP_PATIENCE:
        worker.process.terminate()
    elif run.worked() > bounds().job_seconds + TIME_PATIENCE:
        worker.process.terminate()
        run.end("stopped", time_is_up(run, bounds().job_seconds))
    return True


def _waits_since(run: RunFolder) -> float:
    """When a queued job was submitted, or last let others go first (seconds since 1970)."""
    released = run.released()
    return job_of(run.path).created if released is None else released
