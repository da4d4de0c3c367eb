"""Helpers of the tests of jobs: what is asked for, to wait, and to end who works."""

import time
from collections.abc import Callable
from typing import Any

from rankviz import RunSpec
from rankviz.datasets import make_fold
from rankviz.store import RunStore
from rankviz.store.execution import worker_processes
from rankviz.store.study import WatchedStatus
from rankviz.store.watched import WatchedStudies

FOLD = make_fold(n_queries=20, documents_per_query=(5, 15), seed=1)
SPEC = RunSpec("small", digest=FOLD.digest, feature_map="linear", C=0.5)
MANY = tuple(SPEC.but(C=0.001 * (k + 1)) for k in range(1000))
"""Enough runs for half a minute, each of them short; one family."""
SECONDS = 180.0
"""A worker goes last on the machine: with other stages of the checks beside, it takes a minute to start."""


def wait_for(condition: Callable[[], Any], seconds: float = SECONDS) -> Any:
    """The value of `condition` once it is true; the test fails where it never is."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if found := condition():
            return found
        time.sleep(0.02)
    raise AssertionError("waited in vain")


def ended(jobs: WatchedStudies, job_id: str) -> WatchedStatus:
    def status() -> WatchedStatus | None:
        now = jobs.status(job_id)
        return None if now.live else now

    return wait_for(status)


def end_workers(store: RunStore) -> None:
    for process in worker_processes(store):
        process.terminate()
        wait_for(lambda process=process: not process.alive())


def states(jobs: WatchedStudies, ids: list[str]) -> list[str]:
    return [jobs.status(job_id).state for job_id in ids]
