"""Test systems without `resource`, `fcntl`, /proc or psutil, such as Windows and macOS.

None of these is at hand, so a Linux without what they lack stands in for them; `elsewhere` takes it away.
"""

import math
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from conftest_jobs import MANY, SPEC, end_workers, ended, wait_for
from filelock import SoftFileLock

from rankviz import RunSpec, execute
from rankviz.common import files, memory, parallel, processes
from rankviz.common.processes import ProcessId
from rankviz.datasets import Fold, make_fold
from rankviz.runs.record import RunRecord
from rankviz.store import NoSuchStudy, RunStore, StoreError
from rankviz.store.execution import LocalWorkers, worker_processes
from rankviz.store.watched import WatchedStudies

REPOSITORY = Path(__file__).resolve().parent.parent
STAND_IN = Path(__file__).parent / "elsewhere"
POSIX = "resource fcntl pwd grp termios os.killpg os.getpgid os.setsid os.sched_getaffinity"
SYSTEMS = {
    "Windows": f"{POSIX} proc os.fork os.register_at_fork os.sysconf",
    "macOS": "os.sched_getaffinity proc",
    "Pyodide": f"{POSIX} psutil proc os.fork os.register_at_fork os.sysconf",
}
"""System -> what it lacks of what Linux has."""

EVERY_MODULE = """
import importlib, pkgutil, sys
import rankviz
assert "numpy" not in sys.modules
for module in pkgutil.walk_packages(rankviz.__path__, "rankviz."):
    if not module.name.endswith((".cluster", ".dispatcher")):  # of the extra dask, which nothing else imports
        importlib.import_module(module.name)
assert "distributed" not in sys.modules
"""
A_MODEL = """
from rankviz import RankSVM, load, save, RunSpec, execute
from rankviz.datasets import make_fold
from rankviz.common.memory import free_memory
fold = make_fold(n_queries=20, documents_per_query=(8, 20), seed=0)
for feature_map in ("linear", "nystroem", "fourier", "exact"):
    model = RankSVM(feature_map=feature_map, n_components=20).fit_data(fold.train)
    again = load(save(model, sys.argv[1]))
    assert (again.predict(fold.test.X) == model.predict(fold.test.X)).all()
assert free_memory() > 1e6
assert execute(RunSpec("made", n_components=20), fold=fold).n_pairs > 0
"""
HOME = """
from streamlit.testing.v1 import AppTest
app = AppTest.from_file("router.py", default_timeout=180).run()
assert not app.exception, app.exception
assert not app.error, [error.value for error in app.error]
assert app.get("plotly_chart")
"""


def environment(lacking: str) -> dict[str, str]:
    paths = os.pathsep.join([str(STAND_IN), str(REPOSITORY)])
    return os.environ | {"PYTHONPATH": paths, "ELSEWHERE": lacking}


def run(code: str, lacking: str, *arguments: str, **more: str) -> None:
    command = [sys.executable, "-c", code, *arguments]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, cwd=REPOSITORY, env=environment(lacking) | more
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("system", "app"),
    [
        ("Windows", HOME),
        pytest.param("macOS", HOME, marks=pytest.mark.story),
        pytest.param("Pyodide", "", marks=pytest.mark.story),
    ],
)
def test_every_module_is_imported_models_are_trained_and_kept_and_the_app_starts(
    system: str, app: str, tmp_path: Path
) -> None:
    folders = {f"RANKVIZ_{name}": str(tmp_path / name) for name in ("RUNS", "CACHE", "UPLOADS")}
    run(EVERY_MODULE + A_MODEL + app, SYSTEMS[system], str(tmp_path / "model.npz"), **folders)


# --- memory -------------------------------------------------------------------------------------------------


@pytest.fixture
def no_proc(monkeypatch: pytest.MonkeyPatch) -> None:
    """The files in which Linux tells of memory are not there."""

    def refuse(*args: object) -> str:
        raise FileNotFoundError

    monkeypatch.setattr(Path, "read_text", refuse)


def test_peak_memory_as_each_system_tells_it(no_proc: None, monkeypatch: pytest.MonkeyPatch) -> None:
    by_resource = memory.peak_memory()
    assert by_resource > 10_000_000
    monkeypatch.setattr(sys, "platform", "darwin")
    assert memory.peak_memory() == pytest.approx(by_resource / 1024, rel=0.1)  # macOS tells bytes
    monkeypatch.setitem(sys.modules, "resource", None)
    assert math.isnan(memory.peak_memory())  # psutil knows no peak on Linux
    told = SimpleNamespace(memory_info=lambda: SimpleNamespace(rss=1, peak_wset=123_456_789))
    monkeypatch.setattr("psutil.Process", lambda: told)
    assert memory.peak_memory() == 123_456_789
    monkeypatch.setitem(sys.modules, "psutil", None)
    assert math.isnan(memory.peak_memory())


def test_free_memory_as_each_system_tells_it(no_proc: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("psutil.virtual_memory", lambda: SimpleNamespace(available=987_654_321))
    assert memory.free_memory() == 987_654_321
    monkeypatch.setitem(sys.modules, "psutil", None)
    sizes = {"SC_PAGE_SIZE": 4096, "SC_PHYS_PAGES": 1000}
    monkeypatch.setattr(os, "sysconf", sizes.__getitem__)
    assert memory.free_memory() == 4096 * 500
    monkeypatch.delattr(os, "sysconf")
    assert memory.free_memory() == memory.UNKNOWN_FREE_BYTES


def test_a_record_whose_peak_memory_is_not_known(tmp_path: Path) -> None:
    fold: Fold = make_fold(n_queries=20, documents_per_query=(8, 20), seed=0)
    record = execute(RunSpec("made", feature_map="linear"), fold=fold)
    again = RunRecord.load(record.save(tmp_path / "run.npz"))
    assert again.peak_memory == record.peak_memory > 10_000_000
    unknown = replace(record, peak_memory=math.nan)
    assert math.isnan(RunRecord.load(unknown.save(tmp_path / "run.npz")).peak_memory)


# --- threads ------------------------------------------------------------------------------------------------


def test_nothing_is_shared_out_where_there_are_no_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(parallel, "IN_BROWSER", True)
    monkeypatch.setattr(parallel, "_pool", refuse)
    assert parallel.cores() == 1
    assert parallel.each(abs, [-1, 2]) == [1, 2]
    block = parallel.np.full((600, 600), 4.0)
    parallel.in_place(parallel.np.sqrt, block)
    assert (parallel.rounded(block) == 2).all()


# --- jobs ---------------------------------------------------------------------------------------------------


@pytest.fixture(params=["Windows", pytest.param("macOS", marks=pytest.mark.story)])
def elsewhere(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, own_cache: None) -> None:
    """This process and its workers lack what the system lacks; there they have psutil and soft locks."""
    lacking = SYSTEMS[request.param]
    for name in lacking.split():
        if name.startswith("os."):
            monkeypatch.delattr(os, name.removeprefix("os."))
        elif name != "proc":
            monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setattr(processes, "_HAS_PROC", False)
    if "fcntl" in lacking:
        monkeypatch.setattr(files, "_lock_class", lambda: SoftFileLock)
    monkeypatch.setenv("ELSEWHERE", lacking)
    monkeypatch.setenv("PYTHONPATH", str(STAND_IN))


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[RunStore]:
    monkeypatch.setenv("RANKVIZ_RUNS", str(tmp_path))
    store = RunStore()
    yield store
    end_workers(store)
    store.close()


@pytest.fixture
def jobs(store: RunStore) -> WatchedStudies:
    return WatchedStudies(LocalWorkers(store, 1))


@pytest.fixture
def submit(jobs: WatchedStudies, root: Path) -> Callable[..., str]:
    def submitted(*specs: RunSpec) -> str:
        return jobs.submit(specs, owner="me", title="A job", roots=[root])

    return submitted


def test_jobs_are_started_watched_and_found_again(
    elsewhere: None, store: RunStore, jobs: WatchedStudies, submit: Callable[..., str], tmp_path: Path
) -> None:
    other = SPEC.but(C=0.25)
    ids = [submit(SPEC), submit(other)]
    status = ended(jobs, ids[0])
    assert (status.state, status.reason) == ("finished", "1 of 1 runs finished.")
    again = RunStore()
    assert ended(WatchedStudies(LocalWorkers(again)), ids[1]).reason == "1 of 1 runs finished."
    again.close()
    assert set(store.records.find([SPEC, other])) == {SPEC, other}
    found = worker_processes(store)
    assert found, "they wait for more"
    assert all(process.alive() for process in found)
    assert not [log for log in (tmp_path / "workers").glob("*.log") if log.read_text()]


@pytest.mark.story
def test_jobs_are_stopped_and_deleted(
    elsewhere: None, store: RunStore, jobs: WatchedStudies, submit: Callable[..., str]
) -> None:
    stopped = submit(*MANY)
    wait_for(lambda: jobs.status(stopped).finished)
    waits = submit(SPEC.but(C=9.0))
    assert jobs.status(waits).state == "queued"
    jobs.stop(stopped, "me")
    assert ended(jobs, stopped).state == "stopped"
    assert ended(jobs, waits).state == "finished"
    deleted = submit(*(spec.but(C=spec.C + 9.0) for spec in MANY))
    wait_for(lambda: jobs.status(deleted).finished)
    jobs.delete(deleted, "me")
    with pytest.raises(NoSuchStudy):
        jobs.status(deleted)
    wait_for(lambda: "leased" not in set(store.listing.every()["state"]))
    assert ended(jobs, submit(SPEC.but(C=99.0))).state == "finished"


@pytest.mark.story
def test_a_killed_worker_is_noted(
    elsewhere: None,
    store: RunStore,
    jobs: WatchedStudies,
    submit: Callable[..., str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    job = submit(*MANY)
    for number, forgotten in enumerate((False, True), 1):
        made = len(jobs.status(job).finished)
        wait_for(lambda made=made: len(jobs.status(job).finished) > made)
        (process,) = worker_processes(store)
        if forgotten:
            monkeypatch.setattr(processes, "_children", {})  # as after a restart of the server
        process.terminate()
        wait_for(lambda number=number: jobs.status(job).live and len(lost(store)) == number)
    assert sorted("signal 15 (SIGTERM)" in reason for reason in lost(store)) == [False, True]
    assert sorted("why is not known" in reason for reason in lost(store)) == [False, True]
    jobs.stop(job, "me")
    ended(jobs, job)


def lost(store: RunStore) -> list[str]:
    table = store.listing.every()
    return list(table["reason"][table["state"] == "lost"])


@pytest.mark.story
def test_a_worker_behind_a_launcher(
    elsewhere: None,
    store: RunStore,
    jobs: WatchedStudies,
    submit: Callable[..., str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    """On Windows the python of a virtual environment starts another one and waits for it."""
    launcher = tmp_path / "python"
    launcher.write_text(f'#!/bin/sh\n"{sys.executable}" "$@"\nexit $?\n')
    launcher.chmod(0o700)
    monkeypatch.setattr(sys, "executable", str(launcher))
    status = ended(jobs, submit(SPEC))
    assert (status.state, status.reason) == ("finished", "1 of 1 runs finished.")
    (process,) = worker_processes(store)
    assert process.pid not in processes._children, "it is the worker that is known, not the launcher"


def test_processes_are_started_apart_in_each_systems_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: dict[str, Any] = {}

    def popen(command: list[str], **given: Any) -> SimpleNamespace:
        asked.update(given)
        return SimpleNamespace(pid=os.getpid())

    monkeypatch.setattr(processes, "_children", {})
    monkeypatch.setattr(subprocess, "Popen", popen)
    processes.start(["x"], {}, tmp_path / "log")
    assert asked.pop("start_new_session")
    monkeypatch.setattr(processes, "WINDOWS", True)
    monkeypatch.setattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0x200, raising=False)
    monkeypatch.setattr(subprocess, "CREATE_NO_WINDOW", 0x8000000, raising=False)
    processes.start(["x"], {}, tmp_path / "log")
    assert asked["creationflags"] == 0x8000200
    assert "start_new_session" not in asked


def test_a_browser_says_that_it_has_no_jobs(
    store: RunStore, submit: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(processes, "IN_BROWSER", True)
    with pytest.raises(StoreError, match="this system cannot start processes"):
        submit(SPEC)
    assert store.studies.every() == []
    assert store.listing.every().empty
    monkeypatch.setattr(processes, "_HAS_PROC", False)
    monkeypatch.setitem(sys.modules, "psutil", None)
    assert not ProcessId.of(os.getpid()).alive()
    monkeypatch.setattr(processes, "IN_BROWSER", False)
    with pytest.raises(ImportError):  # elsewhere a worker is not taken for dead because psutil is missing
        ProcessId.of(os.getpid())
