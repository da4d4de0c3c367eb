"""Helpers of the tests of jobs: to submit, to wait, and to read off a store."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rankviz import RunSpec
from rankviz.common.locks import locked
from rankviz.experiments.desks import Desk, waiting
from rankviz.experiments.job_files import belongs_to_a_store
from rankviz.experiments.jobs import LOCK, JobStatus, JobStore
from rankviz.experiments.run_folder import RunFolder

SPEC = RunSpec("small", feature_map="linear", C=0.5)
SECONDS = 60.0


def wait_for(condition: Callable[[], Any], seconds: float = SECONDS) -> Any:
    """The value of `condition` once it is true; the test fails where it never is."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if found := condition():
            return found
        time.sleep(0.02)
    raise AssertionError("waited in vain")


def ended(store: JobStore, job_id: str) -> JobStatus:
    """The status of a job once it is no longer live."""

    def status() -> JobStatus | None:
        now = store.status(job_id)
        return None if now.live else now

    return wait_for(status)


def idle(folder: Path) -> list[Desk]:
    """Where workers of a store wait."""
    with locked(folder / LOCK):
        return list(waiting(folder))


def end_workers(folder: Path) -> None:
    """End the processes that work or wait in a store."""
    runs = [RunFolder(path) for path in folder.iterdir() if belongs_to_a_store(path)]
    working = [worker.process for run in runs if (worker := run.worker()) is not None]
    for process in [*working, *(desk.process for desk in idle(folder))]:
        process.terminate()
        assert wait_for(lambda process=process: not process.alive())


def pid_of(store: JobStore, job_id: str) -> int:
    worker = RunFolder(store.folder / job_id).worker()
    assert worker is not None
    return worker.process.pid


def states(store: JobStore, ids: list[str]) -> list[str]:
    return [store.status(job_id).state for job_id in ids]
