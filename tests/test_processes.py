"""Processes by number and start, and how they end; threads of those that work."""

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from conftest_jobs import wait_for

from rankviz.common import processes
from rankviz.common.processes import ProcessId, start


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
    assert sleeps.wait(60)


@pytest.mark.skipif(sys.platform != "linux", reason="what the system lists is read in /proc")
def test_nothing_is_said_at_the_end_of_children_that_ended(tmp_path: Path) -> None:
    code = """
import os, sys, time
from pathlib import Path
from rankviz.common.processes import start
child = start(["true"], dict(os.environ), Path(sys.argv[1]))
while ") Z " not in Path(f"/proc/{child.pid}/stat").read_text():
    time.sleep(0.01)
"""
    command = [sys.executable, "-W", "error", "-c", code, str(tmp_path / "log")]
    said = subprocess.run(command, capture_output=True, text=True, check=True)
    assert said.stderr == ""


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
        "import numpy, threadpoolctl; from rankviz.common.parallel import cores, limit_threads; "
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
