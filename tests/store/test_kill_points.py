"""A process that changes a store is killed before one of its statements: nothing is stuck, nothing doubled.

RANKVIZ_EVERY_STEP=yes tries every statement, else every eighth is.
"""

import os
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest_jobs import FOLD, SPEC, end_workers, states
from conftest_warm import apart
from sqlalchemy import event, select
from sqlalchemy.engine import Engine

from rankviz import execute
from rankviz.common.processes import ProcessId, start
from rankviz.store import RunStore, Study, execution, queue, worker
from rankviz.store.environment import FOLDER_ENVIRONMENT
from rankviz.store.execution import LocalWorkers, worker_processes
from rankviz.store.family_runner import FamilyRunner
from rankviz.store.tables import families, records, runs, workers
from rankviz.store.watched import WatchedStudies

pytestmark = [
    pytest.mark.story,
    pytest.mark.usefixtures("own_cache"),
    pytest.mark.skipif(sys.platform != "linux", reason="a process ends itself by SIGKILL"),
]
STRIDE = 1 if os.environ.get("RANKVIZ_EVERY_STEP") else 8
OTHER = SPEC.but(C=0.25)
FOURIER = SPEC.but(feature_map="fourier", n_components=2)


def kill_before(step: int, act: Callable[..., Any], *arguments: Any) -> None:
    """Act, and be killed before the statement number `step`, or before it is committed, counted from 1."""
    seen = 0

    def count(*_: object) -> None:
        nonlocal seen
        seen += 1
        if seen == step:
            os.kill(os.getpid(), signal.SIGKILL)

    for name in ("before_cursor_execute", "commit"):
        event.listen(Engine, name, count)
    act(*arguments)


def killed(step: int, act: Callable[..., Any], *arguments: Any) -> bool:
    """Return True if the process was killed at this step; False if it has fewer steps."""
    process = apart(kill_before, step, act, *arguments)
    process.join()
    assert process.exitcode in (0, -signal.SIGKILL), process.exitcode
    return process.exitcode != 0


def sleeps(command: list[str], environment: dict[str, str], log: Path) -> ProcessId:
    """A process in the place of a worker."""
    return start(["sleep", "60"], environment, log)


@pytest.fixture
def jobs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[WatchedStudies]:
    """One store after the other is put here; SQLite alone, for what is tested is the order of our steps."""
    monkeypatch.setenv(FOLDER_ENVIRONMENT, str(tmp_path))
    monkeypatch.setenv("RANKVIZ_STORE", "")
    yield fresh(tmp_path)
    end_workers(RunStore())


def fresh(folder: Path) -> WatchedStudies:
    for path in folder.glob("runs.sqlite*"):
        path.unlink()
    return WatchedStudies(LocalWorkers(RunStore(), 1))


# --- what is done, in a process of its own ------------------------------------------------------------------


def submits(_: str) -> None:
    execution.start = sleeps
    WatchedStudies(LocalWorkers(RunStore(), 1)).submit([FOURIER, SPEC], owner="c", title="A job", roots=[])


def joins(_: str) -> None:
    execution.start = sleeps
    WatchedStudies(LocalWorkers(RunStore(), 1)).join([FOURIER, SPEC], owner="c", title="A job", roots=[])


def looks(_: str) -> None:
    execution.start = sleeps
    LocalWorkers(RunStore(), 1).maintain()


def stops(job: str) -> None:
    execution.start = sleeps
    WatchedStudies(LocalWorkers(RunStore(), 1)).stop(job, "a")


def deletes(job: str) -> None:
    execution.start = sleeps
    WatchedStudies(LocalWorkers(RunStore(), 1)).delete(job, "a")


def takes(_: str) -> None:
    RunStore().queue.take("w")


def works(_: str) -> None:
    worker.prefer_oom_kill = lambda: None
    worker.main(["w"])


# --- what was before ----------------------------------------------------------------------------------------


def waiting(jobs: WatchedStudies, root: Path) -> str:
    return jobs.submit([SPEC, OTHER, FOURIER], owner="a", title="A job", roots=[root])


def half_made(jobs: WatchedStudies, root: Path) -> str:
    """A job of which a worker of another machine holds the first family, and has made one run."""
    job = waiting(jobs, root)
    assert jobs._execution.store.queue.take("elsewhere") is not None
    jobs._execution.store.records.save(execute(SPEC, fold=FOLD))
    return job


def left_behind(jobs: WatchedStudies, root: Path) -> str:
    """The same, where that worker is gone."""
    job = half_made(jobs, root)
    with jobs._execution.store.database.writing() as connection:
        connection.execute(families.update().where(families.c.worker == "elsewhere").values(until=0.0))
    return job


CASES = [
    (submits, waiting),
    (submits, half_made),
    (joins, waiting),
    (looks, waiting),
    (looks, left_behind),
    (takes, waiting),
    (takes, left_behind),
    (stops, waiting),
    (stops, half_made),
    (deletes, half_made),
]


@pytest.mark.parametrize(
    ("act", "before"), CASES, ids=[f"{act.__name__}-{was.__name__}" for act, was in CASES]
)
def test_who_changes_the_store_is_killed_at_each_step(
    act: Callable[..., Any],
    before: Callable[..., str],
    jobs: WatchedStudies,
    root: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(queue, "STOP_PATIENCE", 0.0)
    step, going_on = 1, True
    while going_on:
        with monkeypatch.context() as nobody:
            nobody.setattr(LocalWorkers, "_missing", lambda *_: 0)
            jobs = fresh(tmp_path)
            job = before(jobs, root)
        going_on = killed(step, act, job)
        assert_all_ends(jobs, monkeypatch)
        step += STRIDE
    assert step > 5


def assert_all_ends(jobs: WatchedStudies, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever looks next brings every job to its end; each run is made once, none is left in between."""
    store = jobs._execution.store
    for process in worker_processes(store):
        process.terminate()
    with monkeypatch.context() as here:
        here.setattr(LocalWorkers, "_missing", lambda *_: 0)
        here.setattr("rankviz.store.family_runner.limit_threads", lambda _: None)
        with store.database.writing() as connection:
            assert set(connection.execute(select(families.c.worker)).scalars()) <= {None, "elsewhere", "w"}
            connection.execute(families.update().where(families.c.worker.is_not(None)).values(until=0.0))
        fresh_look = WatchedStudies(LocalWorkers(RunStore(), 1))
        fresh_look._execution.maintain()
        while (lease := store.queue.take("next")) is not None:
            FamilyRunner(store).make(lease)
        for status in [one for owner in "ac" for one in fresh_look.of(owner)]:
            assert not status.live
            assert status.reason.endswith(".")
    with store.database.reading() as connection:
        made = connection.execute(select(runs.c.id).where(runs.c.state == "done")).scalars().all()
        assert (
            connection.execute(select(runs.c.state).where(runs.c.state.in_(("queued", "leased")))).all() == []
        )
        assert connection.execute(select(records.c.run)).scalars().all() == made
        noted = connection.execute(select(workers.c.process)).scalars().all()
    assert all('"starter"' in text or '"pid"' in text for text in noted)


def test_a_worker_is_killed_at_each_step(
    jobs: WatchedStudies,
    root: Path,
    tmp_path: Path,
    bounded: Callable[..., None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It makes a job of two families and one of another visitor's."""
    bounded(idle_seconds=0.02)
    step, going_on = 1, True
    while going_on:
        with monkeypatch.context() as nobody:
            nobody.setattr(LocalWorkers, "_missing", lambda *_: 0)
            jobs = fresh(tmp_path)
            ids = [waiting(jobs, root), jobs.submit([OTHER], owner="c", title="A job", roots=[root])]
        going_on = killed(step, works, ids[0])
        assert_all_ends(jobs, monkeypatch)
        step += STRIDE
    assert states(jobs, ids) == ["finished", "finished"]
    assert step > 40


def test_a_sweep_is_made_whole_wherever_its_worker_is_killed(
    jobs: WatchedStudies,
    root: Path,
    tmp_path: Path,
    bounded: Callable[..., None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    bounded(idle_seconds=0.02)
    monkeypatch.setattr(LocalWorkers, "_missing", lambda *_: 0)
    for step in range(5, 60, 12):
        store = fresh(tmp_path)._execution.store
        study = store.studies.submit(Study("a", "a grid", roots=(str(root),)), [SPEC, OTHER, FOURIER])
        killed(step, works, study)
        with monkeypatch.context() as here:
            assert_all_ends(WatchedStudies(LocalWorkers(store, 1)), here)
        assert store.studies.status(study).counts == {"done": 3}
