"""Job files that cannot be read, as after a full disk: that job fails, others do not notice."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest_jobs import SPEC, ended, states

from rankviz.common import files
from rankviz.experiments import desks
from rankviz.experiments.jobs import JobStore, NoSuchJob
from rankviz.experiments.processes import ProcessId, start
from rankviz.experiments.run_folder import RunFolder

pytestmark = pytest.mark.usefixtures("own_cache")

DAMAGE = {
    "empty": b"",
    "an empty object": b"{}",
    "another type": b"[1, 2]",
    "a number": b"7",
    "wrong values": b'{"pid": "x", "began": [], "since": null, "state": 3, "reason": {}, "ended": "y"}',
    "truncated": b'{"pid": 12, "beg',
    "zeros": bytes(64),
    "not text": b"\xff\xfe\x80",
    "nested deeply": b"[" * 5000,
}
each_damage = pytest.mark.parametrize("content", DAMAGE.values(), ids=DAMAGE)


@pytest.fixture
def sleepers(monkeypatch: pytest.MonkeyPatch) -> None:
    def started(command: list[str], environment: dict[str, str], log: Path) -> ProcessId:
        return start(["sleep", "60"], environment, log)

    monkeypatch.setattr(desks, "start", started)


@each_damage
def test_a_worker_file(folder: Path, submit: Callable[..., str], sleepers: None, content: bytes) -> None:
    store = JobStore(folder, workers=1)
    damaged, other = submit(store), submit(store)
    process = RunFolder(folder / damaged).worker().process
    (folder / damaged / "worker.json").write_bytes(content)
    try:
        assert store.find_records([SPEC]) == {}
        assert states(store, [damaged, other]) == ["failed", "running"]
        status = store.status(damaged)
        assert status.reason.startswith("worker.json of this run cannot be read (")
        assert status.reason.endswith("It was set aside as unreadable-worker.json.")
        assert (folder / damaged / "unreadable-worker.json").read_bytes() == content
        assert RunFolder(folder / damaged).stop_asked() is not None
        assert {job.id for job in store.jobs("me")} == {damaged, other}
        store.delete(damaged, "me")
        assert states(store, [other]) == ["running"]
    finally:
        process.terminate()


@each_damage
def test_an_outcome_file(folder: Path, submit: Callable[..., str], sleepers: None, content: bytes) -> None:
    store = JobStore(folder, workers=1)
    damaged, other = submit(store), submit(store)
    store.stop(other, "me")
    (folder / other / "outcome.json").write_bytes(content)
    assert [job.state for job in store.jobs("me")] == ["failed", "running"]
    assert "outcome.json of this run cannot be read" in store.status(other).reason
    (folder / other / "outcome.json").write_bytes(content)
    store.stop(other, "me")
    assert store.status(other).state == "failed"
    (folder / other / "outcome.json").write_bytes(content)
    store.delete(other, "me")
    assert [job.id for job in store.jobs("me")] == [damaged]


@each_damage
def test_a_description(folder: Path, submit: Callable[..., str], sleepers: None, content: bytes) -> None:
    """Nobody is known to own it: it is left alone."""
    store = JobStore(folder)
    ours = submit(store)
    (folder / ("0" * 32)).mkdir()
    (folder / ("0" * 32) / "spec.json").write_bytes(content)
    assert [job.id for job in store.jobs("me")] == [ours]
    with pytest.raises(NoSuchJob):
        store.status("0" * 32)


@each_damage
def test_progress_log_and_records(
    folder: Path, submit: Callable[..., str], sleepers: None, content: bytes
) -> None:
    store = JobStore(folder)
    job_id = submit(store)
    run = RunFolder(folder / job_id)
    run.tell(0, "features", 0.5)
    with (run.path / "progress.jsonl").open("ab") as stream:
        stream.write(content + b"\n")
    run.log_file().write_bytes(content)
    run.record_file(0).write_bytes(content)
    (run.path / "record-old.npz").write_bytes(content)
    status = store.status(job_id)
    assert (status.state, status.latest["stage"], status.finished) == ("running", "features", (0,))
    assert [row["stage"] for row in store.progress(job_id)] == ["features"]
    assert store.find_records([SPEC]) == {}
    run.worker().process.terminate()
    assert ended(store, job_id).state == "failed"


def test_what_a_worker_says_later_does_not_hide_it(
    folder: Path, submit: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a real worker: it is asked to stop, ends, and the reason stays."""
    store = JobStore(folder)
    job_id = submit(store, tuple(SPEC.but(C=0.001 * (k + 1)) for k in range(3000)))
    process = RunFolder(folder / job_id).worker().process
    (folder / job_id / "worker.json").write_bytes(b"")
    assert store.status(job_id).state == "failed"
    assert process.wait(60)
    assert "cannot be read" in store.status(job_id).reason


def test_files_are_on_the_disk_before_they_are_renamed(
    folder: Path, submit: Callable[..., str], sleepers: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[int] = []
    real = os.fsync

    def fsync(handle: int) -> None:
        assert os.fstat(handle).st_size > 0
        synced.append(os.fstat(handle).st_ino)
        real(handle)

    monkeypatch.setattr(os, "fsync", fsync)
    store = JobStore(folder)
    job_id = submit(store)
    RunFolder(folder / job_id).end("failed", "for the test")
    names = ("spec.json", "worker.json", "outcome.json")
    assert {(folder / job_id / name).stat().st_ino for name in names} <= set(synced)
    assert json.loads((folder / job_id / "outcome.json").read_text())["state"] == "failed"
    RunFolder(folder / job_id).worker().process.terminate()


def test_a_file_that_is_being_read_on_windows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[Any] = []
    real = os.replace

    def refuse_once(source: Path, target: Path) -> None:
        tried.append(target)
        if len(tried) == 1:
            raise PermissionError
        real(source, target)

    (tmp_path / "aside").write_text("new")
    monkeypatch.setattr(os, "replace", refuse_once)
    with pytest.raises(PermissionError):
        files.replace(tmp_path / "aside", tmp_path / "file")
    tried.clear()
    monkeypatch.setattr(files, "WINDOWS", True)
    files.replace(tmp_path / "aside", tmp_path / "file")
    assert (len(tried), (tmp_path / "file").read_text()) == (2, "new")
