"""A process that changes a store of jobs is killed before each of its changes in turn: nothing is stuck."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest_jobs import SPEC, wait_for
from conftest_kills import hidden_files, kill_at, processes_on

from rankviz.experiments import desks, dispatch, leftovers, worker
from rankviz.experiments.desks import Desk, kind_of, waiting
from rankviz.experiments.job_status import job_of
from rankviz.experiments.jobs import JobStore
from rankviz.experiments.processes import ProcessId, start
from rankviz.experiments.run_folder import RunFolder

pytestmark = [
    pytest.mark.usefixtures("own_cache"),
    pytest.mark.skipif(sys.platform != "linux", reason="who is left is read in /proc"),
]


def sleeper(command: list[str], environment: dict[str, str], log: Path) -> ProcessId:
    """A process in the place of a worker, which has the folder of its run in its command line."""
    return start(["tail", "-n", "0", "-f", f"{command[-1]}/spec.json"], environment, log)


@pytest.fixture
def store(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[JobStore]:
    monkeypatch.setattr(desks, "start", sleeper)
    yield JobStore(folder, workers=1)
    for pid in processes_on(folder):
        os.kill(pid, signal.SIGKILL)


def submitted(store: JobStore, owner: str) -> RunFolder:
    return RunFolder(store.folder / store.submit([SPEC], owner=owner, title="A job", roots=[]))


def idle(store: JobStore, run: RunFolder) -> Desk:
    """The desk of the process that worked on a run, which has ended."""
    run.end("finished", "1 of 1 runs finished.")
    desk = Desk(store.folder, run.worker().process, kind_of(job_of(run.path).threads))
    desk.set_up()
    return desk


# --- what is done, in a process of its own; the store has a running job and a queued one --------------------


def submit(folder: Path, *_: Path) -> None:
    desks.start = sleeper
    JobStore(folder, workers=2).submit([SPEC], owner="c", title="A job", roots=[])


def look(folder: Path, *_: Path) -> None:
    desks.start = sleeper
    JobStore(folder, workers=1).live()


def release(folder: Path, running: Path, _: Path) -> None:
    JobStore(folder, workers=1).release(RunFolder(running))


def stop_running(folder: Path, running: Path, _: Path) -> None:
    JobStore(folder, workers=1).stop(running.name, "a")


def stop_queued(folder: Path, _: Path, queued: Path) -> None:
    JobStore(folder, workers=1).stop(queued.name, "b")


def delete_running(folder: Path, running: Path, _: Path) -> None:
    desks.start = sleeper
    JobStore(folder, workers=1).delete(running.name, "a")


# --- what was before ----------------------------------------------------------------------------------------


def nothing(store: JobStore, running: RunFolder) -> None:
    pass


def a_dead_worker(store: JobStore, running: RunFolder) -> None:
    process = running.worker().process
    os.kill(process.pid, signal.SIGKILL)
    assert wait_for(lambda: not process.alive())


def a_worker_that_waits(store: JobStore, running: RunFolder) -> None:
    idle(store, running)


def a_damaged_file(store: JobStore, running: RunFolder) -> None:
    a_dead_worker(store, running)
    (running.path / "worker.json").write_bytes(b"")


CASES = [
    (submit, nothing),
    (submit, a_worker_that_waits),
    (look, a_dead_worker),
    (look, a_worker_that_waits),
    (look, a_damaged_file),
    (release, nothing),
    (stop_running, nothing),
    (stop_queued, nothing),
    (delete_running, nothing),
]


@pytest.mark.parametrize(
    ("act", "before"), CASES, ids=[f"{act.__name__}-{was.__name__}" for act, was in CASES]
)
def test_who_changes_the_store_is_killed_at_each_step(
    act: Callable[..., Any], before: Callable[..., Any], store: JobStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps = 0
    while True:
        running, queued = submitted(store, "a"), submitted(store, "b")
        before(store, running)
        steps += 1
        if not kill_at(steps, store.folder, act, store.folder, running.path, queued.path):
            break
        assert_in_order(store, monkeypatch)
        clear(store)
    assert steps > 3


def clear(store: JobStore) -> None:
    """Remove all jobs, so that the next ones are alone."""
    for status in [status for owner in "abc" for status in store.jobs(owner)]:
        store.delete(status.id, status.owner)
    for pid in processes_on(store.folder):
        os.kill(pid, signal.SIGKILL)


def assert_in_order(store: JobStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever looks next finds every job ended, worked on, or queued for a reason; and cleared files."""
    fresh = JobStore(store.folder, workers=1)
    fresh.live()
    all_jobs = [status for owner in "abc" for status in fresh.jobs(owner)]
    working = [status for status in all_jobs if status.state == "running"]
    for status in all_jobs:
        run = RunFolder(store.folder / status.id)
        if status.live:
            assert status.state == "running" or len(working) >= 1
        else:
            assert status.reason.endswith(".")
        if status in working:
            assert run.worker().process.alive()
        assert status.seconds <= time.time() - status.created + 0.05
    with monkeypatch.context() as later:
        later.setattr(leftovers, "LEFT_SECONDS", -1.0)
        JobStore(store.folder)
    with fresh._locked():
        list(waiting(store.folder))
    alive = {f"{pid}-{ProcessId.of(pid).began}" for pid in processes_on(store.folder)}
    assert {path.stem for path in (store.folder / ".desks").glob("*")} <= alive
    left = [name for name in hidden_files(store.folder) if not name.startswith(".desks")]
    assert not left


# --- a worker, from its start to its end --------------------------------------------------------------------


def works(run: Path) -> None:
    worker.main([str(run)])


def told(store: JobStore, job: str) -> list[int]:
    """The runs that a job was said to have finished, in this order."""
    return [row["index"] for row in store.progress(job) if row["stage"] == "finished"]


def test_a_worker_is_killed_at_each_step(
    store: JobStore, root: Path, bounded: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It makes a job of two families, lets another visitor go first between them, and makes that job too."""
    bounded(idle_seconds=0.02, turn_seconds=1e-9)
    monkeypatch.setenv("RANKVIZ_WORKERS", "1")
    specs = (SPEC, SPEC.but(feature_map="fourier", n_components=2))
    killed, steps = True, 0
    while killed:
        clear(store)
        with monkeypatch.context() as not_yet:
            not_yet.setattr(dispatch, "assign", lambda *_: None)
            mine = store.submit(specs, owner="a", title="A job", roots=[root])
            theirs = store.submit([SPEC.but(C=0.25)], owner="b", title="A job", roots=[root])
        steps += 1
        killed = kill_at(steps, store.folder, works, store.folder / mine)
        before = {job: told(store, job) for job in (mine, theirs)}
        assert_in_order(store, monkeypatch)
        for job, indices in before.items():
            assert len(set(indices)) == len(indices), "nothing is made twice"
            assert set(indices) <= set(store.status(job).finished)
            assert all(store.record(job, index) is not None for index in indices)
    assert [store.status(job).state for job in (mine, theirs)] == ["finished", "finished"]
    assert (told(store, mine), told(store, theirs)) == ([0, 1], [0])
    assert RunFolder(store.folder / mine).released() is not None
    assert not hidden_files(store.folder)
    assert steps > 40
