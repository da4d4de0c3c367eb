"""Jobs with real workers, from start to end, stopped or killed; processes, and how they end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from conftest_jobs import SPEC, ended, pid_of, states, wait_for

from rankviz.experiments import desks, processes
from rankviz.experiments.jobs import JobStore
from rankviz.experiments.processes import ProcessId, start
from rankviz.experiments.run_folder import RunFolder

MANY = tuple(SPEC.but(C=0.001 * (k + 1)) for k in range(3000))
"""Enough runs for a minute, each of them short."""

pytestmark = pytest.mark.usefixtures("own_cache")


# --- real workers -------------------------------------------------------------------------------------------


def test_a_job_from_start_to_end_and_after_a_restart(folder: Path, submit: Callable[..., str]) -> None:
    store = JobStore(folder)
    specs = (SPEC, SPEC.but(C=0.25))
    job_id = submit(store, specs)
    first = store.status(job_id)
    assert (first.state, first.title, first.owner, first.specs) == ("running", "A job", "me", specs)
    assert first.live
    assert store.record(job_id, 1) is None or not store.status(job_id).live
    status = ended(store, job_id)
    assert (status.state, status.reason) == ("finished", "2 of 2 runs finished.")
    assert (status.finished, status.total, status.fraction) == ((0, 1), 2, 1.0)
    assert status.started is not None
    assert status.ended is not None
    assert status.created <= status.started <= status.ended
    assert status.seconds == status.ended - status.started
    another = JobStore(folder)  # as after a restart: nothing is kept anywhere but in the files
    assert another.status(job_id) == status
    assert another.jobs("me") == [status]
    assert another.progress(job_id)[-1]["stage"] == "finished"
    found = another.find_records([*specs, SPEC.but(C=99.0)])
    assert set(found) == set(specs)
    record = another.record(job_id, 1)
    assert record is not None
    assert record.weights.tolist() == found[specs[1]].weights.tolist()
    assert another.find_records([]) == {}


def test_the_queue_goes_on_when_nobody_looks(folder: Path, submit: Callable[..., str]) -> None:
    store = JobStore(folder, workers=1)
    ids = [submit(store) for _ in range(2)]
    assert wait_for(lambda: RunFolder(folder / ids[1]).ended())
    assert states(store, ids) == ["finished", "finished"]


def test_stop_ends_a_running_job_and_keeps_what_is_finished(folder: Path, submit: Callable[..., str]) -> None:
    store = JobStore(folder)
    job_id = submit(store, MANY)
    wait_for(lambda: store.status(job_id).finished)
    store.stop(job_id, "me")
    status = ended(store, job_id)
    assert status.state == "stopped"
    assert status.reason == f"Stopped on request; {len(status.finished)} of {len(MANY)} runs had finished."
    assert 0 < len(status.finished) < len(MANY)
    assert 0 < status.fraction < 1
    assert store.record(job_id, 0) is not None
    store.stop(job_id, "me")  # once more does no harm
    assert store.status(job_id) == status


def test_a_killed_worker_is_that_jobs_failure(folder: Path, submit: Callable[..., str]) -> None:
    store = JobStore(folder)
    job_id = submit(store, MANY)
    wait_for(lambda: store.status(job_id).finished)
    worker = pid_of(store, job_id)
    said = Path(f"/proc/{worker}/oom_score_adj")  # where memory runs out it goes before the server (Linux)
    assert not said.exists() or int(said.read_text()) >= 500
    os.kill(worker, signal.SIGKILL)
    status = ended(store, job_id)
    assert status.state == "failed"
    assert (
        "ended without a result; signal 9 (SIGKILL; the system does that when memory runs out)"
        in status.reason
    )
    assert "last stage: " in status.reason
    assert f" of {len(MANY)}." in status.reason
    assert store.record(job_id, 0) is not None


def test_what_a_worker_does_not_expect_is_in_the_reason(
    folder: Path, submit: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    store = JobStore(folder)
    real = desks.start

    def started(command: list[str], environment: dict[str, str], log: Path) -> ProcessId:
        (log.parent / "spec.json").write_text("{}")
        return real(command, environment, log)

    monkeypatch.setattr(desks, "start", started)
    status = ended(store, submit(store))
    assert status.state == "failed"
    assert "exit status 1" in status.reason
    assert "It said: ValueError: not the description of a job" in status.reason


# --- processes ----------------------------------------------------------------------------------------------


def test_processes_and_how_they_ended(tmp_path: Path) -> None:
    process = start(["sh", "-c", "echo gone >&2; exit 3"], dict(os.environ), tmp_path / "log")
    assert wait_for(lambda: not process.alive())
    assert process.ending() == "exit status 3"
    assert (tmp_path / "log").read_text() == "gone\n"
    process.terminate()  # nobody is there
    ours = ProcessId.of(os.getpid())
    assert ours.alive()
    assert ours.ending() == ""


def test_a_number_that_once_was_a_child_s_is_another_process_now(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    child = start(["true"], dict(os.environ), tmp_path / "log")
    assert wait_for(lambda: not child.alive())
    ours = ProcessId.of(os.getpid())
    if ours.began is None:
        pytest.skip("the system does not tell when processes began")
    monkeypatch.setitem(processes._children, ours.pid, processes._children[child.pid])
    assert ours.alive()
    assert ours.ending() == ""
    sleeps = start(["sleep", "60"], dict(os.environ), tmp_path / "log")
    assert not replace(sleeps, began=sleeps.began - 1).alive(), "an earlier process had this number"
    sleeps.terminate()


@pytest.mark.skipif(sys.platform != "linux", reason="what the system lists is read in /proc")
def test_the_system_does_not_list_children_that_ended(tmp_path: Path) -> None:
    pids = [start(["true"], dict(os.environ), tmp_path / "log").pid for _ in range(3)]
    stats = [Path(f"/proc/{pid}/stat") for pid in pids]
    wait_for(lambda: all(") Z " in stat.read_text() for stat in stats))
    processes.reap()
    assert not any(stat.exists() for stat in stats)


def test_processes_where_the_system_does_not_list_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(processes, "_HAS_PROC", False)
    process = start(["sleep", "60"], dict(os.environ), tmp_path / "log")
    parent = ProcessId.of(os.getppid())
    assert process.alive()
    assert parent.alive()
    assert replace(parent, began=None).alive()  # as noted where the system did not say
    assert not replace(parent, began=process.began).alive()
    with monkeypatch.context() as forgotten:
        forgotten.setattr(processes, "_children", {})
        assert process.alive()
    process.terminate()
    assert wait_for(lambda: not process.alive())
    assert process.ending() == "signal 15 (SIGTERM)"
    with monkeypatch.context() as forgotten:
        forgotten.setattr(processes, "_children", {})
        assert not process.alive()


def test_threads_are_limited() -> None:
    code = (
        "import numpy, threadpoolctl; from rankviz.common.threads import cores, limit_threads; "
        "limit_threads(1); "
        "print(cores(), {pool['num_threads'] for pool in threadpoolctl.threadpool_info()})"
    )
    environment = os.environ | {"RANKVIZ_THREADS": "many", "OPENBLAS_NUM_THREADS": "2"}
    repository = Path(__file__).parent.parent
    command = [sys.executable, "-c", code]
    done = subprocess.run(
        command, capture_output=True, text=True, check=True, env=environment, cwd=repository
    )
    assert done.stdout == "1 {1}\n"
