"""Workers that stay: one process for several jobs, bounded in jobs, memory and time; visitors take turns."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import pytest
from conftest_jobs import SPEC, ended, idle, pid_of, states, wait_for

from rankviz.experiments import desks, dispatch
from rankviz.experiments.desks import Desk, kind_of
from rankviz.experiments.job_status import job_of
from rankviz.experiments.jobs import JobStore
from rankviz.experiments.processes import ProcessId, start
from rankviz.experiments.run_folder import RunFolder

MANY = tuple(SPEC.but(C=0.001 * (k + 1)) for k in range(3000))
SHORT = {"idle_seconds": 30.0}

pytestmark = pytest.mark.usefixtures("own_cache")


def test_a_worker_stays_and_takes_the_next_job(folder: Path, submit: Callable[..., str]) -> None:
    store = JobStore(folder, workers=1)
    first = submit(store)
    assert ended(store, first).state == "finished"
    pid = pid_of(store, first)
    assert wait_for(lambda: idle(folder))
    second = submit(store, (SPEC.but(C=0.125),))
    assert ended(store, second).state == "finished"
    assert pid_of(store, second) == pid
    assert store.record(second, 0) is not None
    assert store.progress(second)[0]["stage"] == "data", "nothing was imported again"


def test_each_job_has_its_own_log(folder: Path, submit: Callable[..., str]) -> None:
    store = JobStore(folder, workers=1)
    first = submit(store)
    ended(store, first)
    wait_for(lambda: idle(folder))
    missing = store.submit([SPEC.but(dataset="absent")], owner="me", title="A job")
    assert ended(store, missing).state == "failed"
    lines = (folder / "jobs.log").read_text().splitlines()
    words = [[word for word in line.split()[1:] if not word.startswith("seconds=")] for line in lines]
    assert words == [
        ["visitor=me", "methods=ranksvm", "runs=1/1", "state=finished"],
        ["visitor=me", "methods=ranksvm", "runs=0/1", "state=failed"],
    ]
    assert "absent" not in lines[1], "names that visitors gave are left out"


def test_a_worker_is_replaced_after_so_many_jobs(
    folder: Path, submit: Callable[..., str], bounded: Callable[..., None]
) -> None:
    bounded(worker_jobs=2)
    store = JobStore(folder, workers=1)
    pids = []
    for number in range(3):
        job = submit(store, (SPEC.but(C=0.5 + number),))
        assert ended(store, job).state == "finished"
        pids.append(pid_of(store, job))
        if number == 0:
            wait_for(lambda: idle(folder))
    assert pids[0] == pids[1] != pids[2]


def test_a_worker_is_replaced_where_it_has_taken_much_memory(
    folder: Path, submit: Callable[..., str], bounded: Callable[..., None]
) -> None:
    bounded(worker_bytes=1)
    store = JobStore(folder, workers=1)
    ids = [submit(store, (SPEC.but(C=0.5 + number),)) for number in range(2)]
    wait_for(lambda: states(store, ids) == ["finished", "finished"])
    assert pid_of(store, ids[0]) != pid_of(store, ids[1])


def test_a_worker_that_nobody_needs_ends(
    folder: Path, submit: Callable[..., str], bounded: Callable[..., None]
) -> None:
    bounded(idle_seconds=0.2)
    store = JobStore(folder, workers=1)
    job = submit(store)
    ended(store, job)
    worker = RunFolder(folder / job).worker()
    assert worker is not None
    assert wait_for(lambda: not worker.process.alive())
    assert not list((folder / ".desks").iterdir())


def test_a_worker_whose_server_ended_while_it_worked_does_not_wait(
    folder: Path, submit: Callable[..., str], bounded: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It finds out whichever process started it: a worker may start another for the same server."""
    bounded(idle_seconds=3600.0)
    server = start(["sleep", "60"], dict(os.environ), folder.with_suffix(".log"))
    monkeypatch.setenv(desks.SERVER_ENVIRONMENT, json.dumps(asdict(server)))
    store = JobStore(folder, workers=1)
    job = submit(store)
    server.terminate()
    assert ended(store, job).state == "finished"
    process = RunFolder(folder / job).worker().process
    assert wait_for(lambda: not process.alive())
    assert not list((folder / ".desks").iterdir())


def test_a_worker_knows_the_server_of_who_started_it(
    folder: Path, submit: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    environments: list[dict[str, str]] = []

    def noting(command: list[str], environment: dict[str, str], log: Path) -> ProcessId:
        environments.append(environment)
        return start(["sleep", "60"], environment, log)

    monkeypatch.setattr(desks, "start", noting)
    submit(JobStore(folder))
    named = json.loads(environments[0][desks.SERVER_ENVIRONMENT])
    assert ProcessId(**named) == ProcessId.of(os.getpid())
    other = json.dumps({"pid": 1, "began": 0})
    monkeypatch.setenv(desks.SERVER_ENVIRONMENT, other)
    submit(JobStore(folder), owner="you")
    assert environments[1][desks.SERVER_ENVIRONMENT] == other


def test_a_worker_of_another_kind_is_sent_away(
    folder: Path, submit: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    store = JobStore(folder, workers=1)
    first = submit(store)
    ended(store, first)
    process = wait_for(lambda: idle(folder))[0].process
    monkeypatch.setenv("RANKVIZ_SOMETHING", "else")
    second = submit(store, (SPEC.but(C=0.125),))
    assert ended(store, second).state == "finished"
    assert pid_of(store, second) != process.pid
    assert wait_for(lambda: not process.alive())


def test_the_kind_follows_the_code(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "module.py").write_text("1")
    monkeypatch.setattr(desks, "PACKAGE", tmp_path)
    before = kind_of(1)
    assert kind_of(1) == before != kind_of(2)
    os.utime(tmp_path / "module.py", (1, 1))
    assert kind_of(1) != before


def test_a_worker_that_is_killed_while_it_waits_costs_nothing(
    folder: Path, submit: Callable[..., str]
) -> None:
    store = JobStore(folder, workers=1)
    ended(store, submit(store))
    process = wait_for(lambda: idle(folder))[0].process
    os.kill(process.pid, signal.SIGKILL)
    assert wait_for(lambda: not process.alive())
    second = submit(store, (SPEC.but(C=0.125),))
    assert ended(store, second).state == "finished"


def test_who_is_ended_between_two_steps_of_giving_leaves_a_worker_that_begins(
    folder: Path, submit: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    store = JobStore(folder, workers=1)
    ended(store, submit(store))
    wait_for(lambda: idle(folder))
    with monkeypatch.context() as ended_here:
        ended_here.setattr(RunFolder, "claim", lambda *_: pytest.fail.Exception)
        ended_here.setattr(Desk, "clear", lambda _: None)
        job = submit(store, (SPEC.but(C=0.125),))
    assert ended(store, job).state == "finished"


# --- turns --------------------------------------------------------------------------------------------------


def test_a_long_job_lets_other_visitors_go_first(
    folder: Path, submit: Callable[..., str], bounded: Callable[..., None]
) -> None:
    """Each run of the long job is a family of its own, for each draws frequencies of its own."""
    bounded(turn_seconds=0.2)
    store = JobStore(folder, workers=1)
    drawn = tuple(SPEC.but(feature_map="fourier", n_components=5, seed=seed) for seed in range(1000))
    long = submit(store, drawn)
    wait_for(lambda: store.status(long).finished)
    theirs = submit(store, (SPEC.but(C=0.03125),), owner="you")
    assert ended(store, theirs).state == "finished"
    between = store.status(long)
    assert between.live
    assert 0 < len(between.finished) < between.total
    assert between.seconds > 0
    wait_for(lambda: len(store.status(long).finished) > len(between.finished))
    store.stop(long, "me")
    status = ended(store, long)
    assert status.state == "stopped"
    assert f"{len(status.finished)} of 1000 runs had finished" in status.reason
    stages = [row["stage"] for row in store.progress(long)]
    assert stages.count("finished") == len(status.finished), "nothing was made twice"


@pytest.fixture
def sleepers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(desks, "start", lambda command, env, log: start(["sleep", "60"], env, log))


@pytest.mark.usefixtures("sleepers")
def test_visitors_take_turns_not_jobs(folder: Path, submit: Callable[..., str]) -> None:
    store = JobStore(folder, workers=2)
    mine = [submit(store) for _ in range(4)]
    theirs = [submit(store, owner="you") for _ in range(2)]
    assert states(store, mine + theirs) == ["running", "running", "queued", "queued", "queued", "queued"]
    os.kill(pid_of(store, mine[0]), signal.SIGKILL)
    wait_for(lambda: store.status(theirs[0]).state == "running")
    assert store.status(mine[2]).state == "queued"


@pytest.mark.usefixtures("sleepers")
def test_who_was_let_go_is_behind_those_who_waited(folder: Path, submit: Callable[..., str]) -> None:
    store = JobStore(folder, workers=1)
    ids = [submit(store, owner=owner) for owner in ("a", "b", "c")]
    run = RunFolder(folder / ids[0])
    process = run.worker().process
    store.release(run)
    assert [store.status(job).state for job in ids] == ["queued", "running", "queued"]
    assert store.status(ids[0]).seconds > 0
    process.terminate()


@pytest.mark.usefixtures("sleepers")
def test_seconds_count_once_where_the_worker_is_ended_while_it_lets_go(
    folder: Path, submit: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    store = JobStore(folder, workers=1)
    run = RunFolder(folder / submit(store))
    process = run.worker().process
    worker = json.loads((run.path / "worker.json").read_text())
    (run.path / "worker.json").write_text(json.dumps(worker | {"since": worker["since"] - 100}))
    with monkeypatch.context() as ended_here:
        ended_here.setattr(Path, "unlink", lambda *_, **__: pytest.fail("ended here"))
        with pytest.raises(pytest.fail.Exception):
            run.release()
    assert 100 <= run.worked() < 150
    assert 100 <= store.status(run.path.name).seconds < 150
    process.terminate()


@pytest.mark.usefixtures("sleepers")
def test_a_job_that_was_let_go_and_is_stopped_says_what_it_had_done(
    folder: Path, submit: Callable[..., str]
) -> None:
    store = JobStore(folder, workers=1)
    ids = [submit(store, owner=owner) for owner in ("a", "b")]
    run = RunFolder(folder / ids[0])
    process = run.worker().process
    store.release(run)
    store.stop(ids[0], "a")
    assert store.status(ids[0]).reason == "Stopped on request; 0 of 1 runs had finished."
    process.terminate()


# --- seconds of a job ---------------------------------------------------------------------------------------


def test_a_job_ends_after_the_seconds_it_may_work(
    folder: Path, submit: Callable[..., str], bounded: Callable[..., None]
) -> None:
    bounded(job_seconds=2.5)
    store = JobStore(folder)
    job = submit(store, MANY)
    status = ended(store, job)
    assert status.state == "stopped"
    assert status.reason.startswith("Stopped after 2.5 s, the most that one job may work on this machine; ")
    assert f"{len(status.finished)} of 3000 runs had finished, and are kept" in status.reason


@pytest.mark.usefixtures("sleepers")
def test_a_worker_that_does_not_end_then_is_ended(
    folder: Path, submit: Callable[..., str], bounded: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    store = JobStore(folder)
    job = submit(store)
    process: ProcessId = RunFolder(folder / job).worker().process
    monkeypatch.setattr(dispatch, "TIME_PATIENCE", 0.0)
    bounded(job_seconds=1e-6)
    assert ended(store, job).reason.startswith("Stopped after ")
    assert wait_for(lambda: not process.alive())
    assert job_of(folder / job).owner == "me"
