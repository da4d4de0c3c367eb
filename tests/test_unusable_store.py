"""A store of jobs that cannot be written to: it is read, the reason is said, nothing is left over."""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest_jobs import SPEC, end_workers, ended

from rankviz.experiments import desks, dispatch, job_files, leftovers, run_folder
from rankviz.experiments import jobs as jobs_module
from rankviz.experiments.jobs import JobStore, StoreUnusable
from rankviz.experiments.processes import ProcessId, start
from rankviz.experiments.run_folder import RunFolder

pytestmark = pytest.mark.usefixtures("own_cache")


def full(*_: object, **__: object) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def read_only(*_: object, **__: object) -> None:
    raise OSError(errno.EROFS, os.strerror(errno.EROFS))


@pytest.fixture
def nowhere(tmp_path: Path) -> JobStore:
    """A store whose folder cannot be made: there is a file in its place."""
    (tmp_path / "file").write_text("")
    return JobStore(tmp_path / "file" / "runs")


def test_a_folder_that_cannot_be_made(nowhere: JobStore) -> None:
    assert nowhere.jobs("me") == []
    assert nowhere.find_records([SPEC]) == {}
    with pytest.raises(StoreUnusable, match=r"cannot be written to \(Not a directory\).*RANKVIZ_RUNS"):
        nowhere.submit([SPEC], owner="me", title="a job")


def test_a_full_disk_keeps_no_half_of_a_job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = JobStore(tmp_path / "runs")
    monkeypatch.setattr(run_folder, "write_synced", full)
    for _ in range(5):
        with pytest.raises(StoreUnusable, match="No space left on device"):
            store.submit([SPEC], owner="me", title="a job")
    assert store.jobs("me") == []
    assert [path.name for path in (tmp_path / "runs").iterdir() if path.name != ".lock"] == []


def test_workers_that_cannot_be_written_down_are_ended_and_few(
    folder: Path, submit: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    store, ended, started = JobStore(folder), [], []
    monkeypatch.setattr(desks, "start", lambda *_: started.append(1) or ProcessId(2**22 + 1, None))
    monkeypatch.setattr(ProcessId, "terminate", lambda process: ended.append(process.pid))
    with monkeypatch.context() as later:
        later.setattr(dispatch, "assign", lambda *_: None)
        job = submit(store)
    monkeypatch.setattr(job_files, "write_synced", full)
    monkeypatch.setattr(jobs_module, "LOOK_SECONDS", 0.0)
    for _ in range(20):
        assert store.status(job).state == "queued"
    assert len(started) == len(ended) == 1
    assert {path.name for path in (folder / job).iterdir()} == {"spec.json", ".room"}


def test_a_job_that_could_not_be_started_is_once_there_is_space(
    folder: Path, submit: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    store = JobStore(folder)
    with monkeypatch.context() as earlier:
        earlier.setattr(dispatch, "assign", lambda *_: None)
        job = submit(store)
    with monkeypatch.context() as filled:
        filled.setattr(dispatch, "assign", full)
        filled.setattr(dispatch, "START_AGAIN_SECONDS", 0.0)
        for _ in range(20):
            with pytest.raises(StoreUnusable):
                store.advance()
    assert ended(store, job).state == "finished"


def test_a_job_whose_worker_died_has_failed_where_that_cannot_be_written(
    folder: Path, submit: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    store = JobStore(folder, workers=1)
    monkeypatch.setattr(
        desks,
        "start",
        lambda _, environment, log: start(["sh", "-c", "echo no >&2; exit 3"], environment, log),
    )
    job = submit(store)
    process = RunFolder(folder / job).worker().process
    with monkeypatch.context() as filled:
        filled.setattr(job_files, "write_synced", full)
        assert process.wait(60)
        status = store.status(job)
        assert (status.state, status.live) == ("failed", False)
        assert status.reason == "The worker process ended without a result; exit status 3. It said: no"
        assert not RunFolder(folder / job).ended()
    store.advance()
    assert RunFolder(folder / job).outcome().reason == status.reason


def test_a_folder_that_can_be_made_later(tmp_path: Path) -> None:
    store = JobStore(tmp_path / "later" / "runs")
    (tmp_path / "later" / "runs").rmdir()
    job = store.submit([SPEC], owner="me", title="a job", roots=[])
    assert store.status(job).owner == "me"
    end_workers(store.folder)


def test_a_system_that_starts_no_process_is_not_taken_for_a_full_disk(
    folder: Path, submit: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object) -> None:
        raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))

    monkeypatch.setattr(desks, "start", refused)
    with pytest.raises(
        StoreUnusable, match=r"starts no further process \(Resource temporarily unavailable\)"
    ):
        submit(JobStore(folder))
    assert list(folder.glob("*")) == [folder / ".lock"]


def test_a_store_that_turned_read_only_is_read(
    folder: Path, submit: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    store = JobStore(folder)
    job = submit(store)
    ended(store, job)
    monkeypatch.setattr(jobs_module, "locked", read_only)
    assert store.status(job).state == "finished"
    assert store.record(job, 0) is not None
    assert store.find_records([SPEC])
    for change in (
        lambda: store.stop(job, "me"),
        lambda: store.delete(job, "me"),
        lambda: store.submit([SPEC], owner="me", title="another"),
    ):
        with pytest.raises(StoreUnusable, match="Read-only file system"):
            change()


def test_what_was_left_half_made_goes_when_a_store_is_opened(tmp_path: Path) -> None:
    folder = tmp_path / "runs"
    names = [f".{kind}-0123456789abcdef" for kind in ("new", "gone", "mine")] + [".new-fedcba9876543210"]
    for name in names:
        (folder / name).mkdir(parents=True)
        (folder / name / "spec.json").write_text("{}")
    past = time.time() - 2 * leftovers.LEFT_SECONDS
    for name in names[:3]:
        os.utime(folder / name, (past, past))
    JobStore(folder)
    assert {path.name for path in folder.iterdir()} == set(names[2:]), "what is new, or not ours, stays"
