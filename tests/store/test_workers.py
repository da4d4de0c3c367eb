"""Worker processes: they make what is asked for, and what one leaves is made by another."""

import json
import os
import signal
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path

import pytest
from conftest_jobs import MANY, SPEC, wait_for
from conftest_jobs import ended as ended_job
from conftest_store import BOTH, Sleeper
from conftest_warm import start_warm
from sqlalchemy import insert, select

from rankviz import RunSpec
from rankviz.common.processes import ProcessId, start
from rankviz.store import RunStore, Study, StudyStatus, environment
from rankviz.store.environment import SERVER_ENVIRONMENT, default_niceness, environment_of_worker
from rankviz.store.execution import LocalWorkers, log_folder, unrecorded, worker_processes
from rankviz.store.queue import host
from rankviz.store.study import StoreOutOfReach
from rankviz.store.tables import workers
from rankviz.store.watched import WatchedStudies


@pytest.fixture
def execution(store: RunStore) -> LocalWorkers:
    return LocalWorkers(store, 2)


def ended(execution: LocalWorkers, study: str) -> StudyStatus:
    def status() -> StudyStatus | None:
        now = execution.watch(study)
        return None if now.left and now.asked == "running" else now

    return wait_for(status)


def asked(root: Path, tries: int = 3) -> Study:
    return Study("me", "a grid", roots=(str(root),), tries=tries)


@BOTH
def test_everything_is_made_and_the_workers_stay_for_more(
    execution: LocalWorkers, specs: list[RunSpec], root: Path
) -> None:
    study = execution.submit(asked(root), specs)
    status = ended(execution, study)
    assert status.counts == {"done": 6}
    assert status.ended is not None
    processes = worker_processes(execution.store)
    assert 0 < len(processes) <= 2
    again = execution.submit(asked(root), [spec.but(C=8.0) for spec in specs])
    assert ended(execution, again).counts == {"done": 2}
    assert {process.pid for process in worker_processes(execution.store)} >= {
        process.pid for process in processes
    }


def test_a_run_that_cannot_be_made_fails_alone(
    execution: LocalWorkers, specs: list[RunSpec], root: Path
) -> None:
    gone = specs[0].but(fold="Fold9")
    other = specs[1].but(digest="0" * 32)
    study = execution.submit(asked(root), [gone, other, *specs[:3]])
    assert ended(execution, study).counts == {"done": 3, "failed": 2}
    table = execution.store.listing.of_study(study, "me")
    assert "Fold9" in table.loc[gone.hash, "reason"]
    assert "0" * 32 in table.loc[other.hash, "reason"]


@BOTH
def test_what_a_killed_worker_was_making_is_made_by_another(
    execution: LocalWorkers, base: RunSpec, root: Path
) -> None:
    specs = [base.but(C=2.0**C, gamma=2.0**g) for C in range(-6, 6) for g in range(-6, 2)]
    study = execution.submit(asked(root), specs)
    wait_for(lambda: execution.watch(study).done)
    for process in worker_processes(execution.store):
        os.kill(process.pid, signal.SIGKILL)
    status = ended(execution, study)
    assert status.counts == {"done": len(specs)}


@pytest.mark.usefixtures("cold_workers")
def test_a_run_of_which_every_worker_dies_is_lost_and_said_so(
    execution: LocalWorkers, specs: list[RunSpec], root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A worker that finds this in its environment dies where it would open the data."""
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).with_name("dying")))
    study = execution.submit(asked(root, tries=2), specs[:1])
    status = ended(execution, study)
    assert status.counts == {"lost": 1}
    assert "lost" in status.in_words


def test_a_stop_ends_what_is_being_made(execution: LocalWorkers, base: RunSpec, root: Path) -> None:
    specs = [
        base.but(C=2.0**C, gamma=2.0**g, seed=s) for C in range(-9, 9) for g in range(-6, 2) for s in (0, 1)
    ]
    study = execution.submit(asked(root), specs)
    wait_for(lambda: execution.watch(study).done)
    execution.stop(study, "me")
    status = wait_for(lambda: None if (now := execution.watch(study)).left else now)
    assert status.counts["cancelled"] > 0
    assert status.counts["done"] + status.counts["cancelled"] == len(specs)
    assert not status.live


@pytest.mark.usefixtures("cold_workers")
def test_the_address_of_the_database_is_not_on_the_command_line(
    execution: LocalWorkers, specs: list[RunSpec], root: Path
) -> None:
    execution.submit(asked(root), specs)
    process = wait_for(lambda: worker_processes(execution.store))[0]
    command = Path(f"/proc/{process.pid}/cmdline")
    if command.exists():
        assert b"runs.sqlite" not in command.read_bytes()
        assert b"postgresql" not in command.read_bytes()


@pytest.mark.usefixtures("cold_workers")
def test_workers_leave_no_logs_where_nothing_went_wrong(
    execution: LocalWorkers, specs: list[RunSpec], root: Path, bounded: object
) -> None:
    bounded(idle_seconds=0.2)  # type: ignore[operator]
    ended(execution, execution.submit(asked(root), specs))
    wait_for(lambda: not worker_processes(execution.store))
    assert not list(log_folder(execution.store).glob("*.log"))


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[ProcessId]:
    found = list[ProcessId]()

    def noting(command: list[str], environment: dict[str, str], log: Path) -> ProcessId:
        found.append(start_warm(command, environment, log))
        return found[-1]

    monkeypatch.setattr("rankviz.store.execution.start", noting)
    return found


def test_a_worker_stays_until_it_has_made_or_taken_much(
    jobs: WatchedStudies, submit: Callable[..., str], bounded: Callable[..., None], started: list[ProcessId]
) -> None:
    """Without a bound it stays: test_everything_is_made_and_the_workers_stay_for_more."""
    for number, most in enumerate(({"worker_bytes": 1}, {"worker_jobs": 1}, {}), start=1):
        bounded(**most)
        assert ended_job(jobs, submit((SPEC.but(C=0.5 + number),))).state == "finished"
        assert len(started) == number


def test_a_worker_that_nobody_needs_ends(
    store: RunStore, jobs: WatchedStudies, submit: Callable[..., str], bounded: Callable[..., None]
) -> None:
    bounded(idle_seconds=0.2)
    ended_job(jobs, submit())
    assert wait_for(lambda: not worker_processes(store))


def test_a_worker_whose_server_ended_while_it_worked_does_not_wait(
    store: RunStore,
    jobs: WatchedStudies,
    submit: Callable[..., str],
    bounded: Callable[..., None],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It finds out whichever process started it: a worker may start another for the same server."""
    bounded(idle_seconds=3600.0)
    server = start(["sleep", "60"], dict(os.environ), tmp_path / "server.log")
    monkeypatch.setenv(SERVER_ENVIRONMENT, json.dumps(asdict(server)))
    job = submit()
    server.terminate()
    assert ended_job(jobs, job).state == "finished"
    assert wait_for(lambda: not worker_processes(store))


def test_a_worker_knows_the_server_of_who_started_it(monkeypatch: pytest.MonkeyPatch) -> None:
    named = json.loads(environment_of_worker(1, 1)[SERVER_ENVIRONMENT])
    assert ProcessId(**named) == ProcessId.of(os.getpid())
    other = json.dumps({"pid": 1, "began": 0})
    monkeypatch.setenv(SERVER_ENVIRONMENT, other)
    assert environment_of_worker(1, 1)[SERVER_ENVIRONMENT] == other


def test_cores_are_shared_out(
    store: RunStore,
    monkeypatch: pytest.MonkeyPatch,
    specs: list[RunSpec],
    root: Path,
    sleepers: list[Sleeper],
) -> None:
    monkeypatch.setattr("rankviz.store.execution.cores", lambda: 9)
    for number, at_once in enumerate((2, 20)):
        LocalWorkers(store, at_once).submit(asked(root), [specs[number]])
    names = "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "RANKVIZ_THREADS"
    assert {sleepers[0].environment[name] for name in names} == {"4"}
    assert {sleepers[-1].environment[name] for name in names} == {"1"}


def test_the_code_is_another_after_any_change(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "module.py").write_text("1")
    monkeypatch.setattr(environment, "PACKAGE", tmp_path)
    before = environment.code_digest()
    assert environment.code_digest() == before
    os.utime(tmp_path / "module.py", (1, 1))
    assert environment.code_digest() != before


def test_a_worker_that_is_killed_while_it_waits_costs_nothing(
    store: RunStore, jobs: WatchedStudies, submit: Callable[..., str]
) -> None:
    ended_job(jobs, submit())
    (process,) = worker_processes(store)
    os.kill(process.pid, signal.SIGKILL)
    wait_for(lambda: not process.alive())
    assert ended_job(jobs, submit((SPEC.but(C=0.125),))).state == "finished"


def test_a_worker_that_is_started_by_somebody_who_ends_then_does_not_hold_a_place(
    store: RunStore,
    jobs: WatchedStudies,
    submit: Callable[..., str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    log = log_folder(store) / "never.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    gone = start(["true"], dict(os.environ), log)
    wait_for(lambda: not gone.alive())
    starter = json.dumps({"starter": asdict(gone)})
    with store.database.writing() as connection:
        noted = {"id": "never", "host": host(), "process": starter, "until": time.time() + 999}
        connection.execute(insert(workers).values(**noted))
    assert worker_processes(store) == []
    assert ended_job(jobs, submit()).state == "finished"
    assert not log.exists(), "it is empty"


def test_a_worker_that_the_store_could_not_be_told_of_holds_a_place_only_while_it_lives(
    store: RunStore, sleepers: list[Sleeper], monkeypatch: pytest.MonkeyPatch
) -> None:
    execution = LocalWorkers(store, 2)
    for number in range(2):
        store.studies.submit(Study("me", "a grid"), [SPEC.but(C=1.0 + number)])

    def full(*_: object) -> None:
        raise StoreOutOfReach("its disk is full")

    with monkeypatch.context() as patched:
        patched.setattr("rankviz.store.execution.record_process", full)
        with pytest.raises(StoreOutOfReach):
            execution.maintain()
    assert len(sleepers) == 1, "the other one of the two was not started"
    execution.maintain()
    execution.maintain()
    assert len(sleepers) == 2, "the first one lives, and has one place"
    end(sleepers[:1])
    execution.maintain()
    execution.maintain()
    assert len(sleepers) == 3
    end(sleepers)
    execution.maintain()
    assert not unrecorded.keys() & set(names_of(store))


def end(sleepers: list[Sleeper]) -> None:
    for one in sleepers:
        one.process.terminate()
    wait_for(lambda: not any(one.process.alive() for one in sleepers))


def names_of(store: RunStore) -> list[str]:
    with store.database.reading() as connection:
        return list(connection.execute(select(workers.c.id)).scalars())


@BOTH
def test_two_that_look_at_once_start_one_worker(
    store: RunStore, submit: Callable[..., str], sleepers: list[Sleeper]
) -> None:
    for number in range(3):
        submit((SPEC.but(C=1.0 + number),))
    stores = [RunStore(store.database.address) for _ in range(4)]
    many = [LocalWorkers(one, 1) for one in stores]
    with ThreadPoolExecutor(4) as servers:
        list(servers.map(lambda one: [one.maintain() for _ in range(20)], many))
    assert len(sleepers) == 1
    for one in stores:
        one.close()


def test_without_work_nothing_is_started(execution: LocalWorkers) -> None:
    execution.maintain()
    assert worker_processes(execution.store) == []


@pytest.mark.parametrize(
    ("asked", "niceness"), [("0", 0), ("7", 7), ("40", 19), ("", 10), ("-5", 10), ("many", 10), ("²", 10)]
)
def test_how_far_workers_stand_back_is_asked_for(
    asked: str, niceness: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RANKVIZ_NICE", asked)
    assert default_niceness() == niceness


@pytest.mark.usefixtures("cold_workers")
@pytest.mark.skipif(not hasattr(os, "getpriority"), reason="this system has no such order")
def test_workers_stand_back_as_far_as_asked(
    store: RunStore, submit: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RANKVIZ_NICE", "3")
    submit(MANY)
    (process,) = wait_for(lambda: worker_processes(store))
    own = os.getpriority(os.PRIO_PROCESS, 0)
    wait_for(lambda: os.getpriority(os.PRIO_PROCESS, process.pid) == min(19, own + 3))
    if (group := Path(f"/proc/{process.pid}/autogroup")).exists():  # sessions come before their processes
        wait_for(lambda: group.read_text().endswith(" nice 3\n"))
