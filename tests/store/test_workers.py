"""Worker processes: they make what is asked for, and what one leaves is made by another."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from conftest_jobs import wait_for

from rankviz import RunSpec
from rankviz.store import RunStore, Study, StudyStatus
from rankviz.store.execution import LocalWorkers, at_work, log_folder


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


def test_everything_is_made_and_the_workers_stay_for_more(
    execution: LocalWorkers, specs: list[RunSpec], root: Path
) -> None:
    study = execution.submit(asked(root), specs)
    status = ended(execution, study)
    assert status.counts == {"done": 6}
    assert status.ended is not None
    processes = at_work(execution.store)
    assert 0 < len(processes) <= 2
    again = execution.submit(asked(root), [spec.but(C=8.0) for spec in specs])
    assert ended(execution, again).counts == {"done": 2}
    assert {process.pid for process in at_work(execution.store)} >= {process.pid for process in processes}


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


def test_what_a_killed_worker_was_making_is_made_by_another(
    execution: LocalWorkers, base: RunSpec, root: Path
) -> None:
    specs = [base.but(C=2.0**C, gamma=2.0**g) for C in range(-6, 6) for g in range(-6, 2)]
    study = execution.submit(asked(root), specs)
    wait_for(lambda: execution.watch(study).done)
    for process in at_work(execution.store):
        os.kill(process.pid, signal.SIGKILL)
    status = ended(execution, study)
    assert status.counts == {"done": len(specs)}


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


def test_the_address_of_the_database_is_not_on_the_command_line(
    execution: LocalWorkers, specs: list[RunSpec], root: Path
) -> None:
    execution.submit(asked(root), specs)
    process = wait_for(lambda: at_work(execution.store))[0]
    command = Path(f"/proc/{process.pid}/cmdline")
    if command.exists():
        assert b"runs.sqlite" not in command.read_bytes()
        assert b"postgresql" not in command.read_bytes()


def test_workers_leave_no_logs_where_nothing_went_wrong(
    execution: LocalWorkers, specs: list[RunSpec], root: Path, bounded: object
) -> None:
    bounded(idle_seconds=0.2)  # type: ignore[operator]
    ended(execution, execution.submit(asked(root), specs))
    wait_for(lambda: not at_work(execution.store))
    assert not list(log_folder(execution.store).glob("*.log"))


def test_without_work_nothing_is_started(execution: LocalWorkers) -> None:
    execution.see_to_it()
    assert at_work(execution.store) == []
