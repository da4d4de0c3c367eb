"""Job files that cannot be read, as after a full disk: that job fails, others do not notice."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from conftest_jobs import SPEC, ended, idle, states

from rankviz.common import files
from rankviz.experiments import desks
from rankviz.experiments import jobs as jobs_module
from rankviz.experiments.desks import Desk
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
        empty = "it is empty" if not content else "it is not what was written"
        assert status.reason.startswith(f"worker.json of this run cannot be read: {empty}, as after a full ")
        assert "It was set aside as unreadable-worker.json." in status.reason
        assert "Expecting" not in status.reason
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
def test_the_seconds_that_others_worked(
    folder: Path, submit: Callable[..., str], sleepers: None, content: bytes
) -> None:
    """Of a job that waits for its next turn, and of one that is worked on."""
    store = JobStore(folder, workers=1)
    waits, works, third = submit(store), submit(store, owner="you"), submit(store)
    process = RunFolder(folder / waits).worker().process
    store.release(RunFolder(folder / waits))
    assert states(store, [waits, works]) == ["queued", "running"]
    for job in (waits, works):
        (folder / job / "worked.json").write_bytes(content)
    store.advance()
    assert states(store, [waits, works, third]) == ["failed", "failed", "running"]
    for job in (waits, works):
        assert store.status(job).reason.startswith("worked.json of this run cannot be read: it is ")
    assert RunFolder(folder / works).stop_asked() is not None
    process.terminate()
    RunFolder(folder / works).worker().process.terminate()


@each_damage
def test_a_file_that_can_neither_be_read_nor_set_aside(
    folder: Path, submit: Callable[..., str], sleepers: None, content: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on a disk that filled up and was then mounted read-only."""
    store = JobStore(folder, workers=1)
    damaged, other = submit(store), submit(store)
    process = RunFolder(folder / damaged).worker().process
    for name in ("worker.json", "worked.json", "outcome.json"):
        (folder / damaged / name).write_bytes(content)

    def read_only(*_: object) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    with monkeypatch.context() as mounted:
        mounted.setattr(jobs_module, "locked", read_only)
        assert states(store, [damaged, other]) == ["failed", "queued"]
        assert "cannot be read: it is " in store.status(damaged).reason
        assert {job.id for job in store.jobs("me")} == {damaged, other}
        assert [job.id for job in store.live()] == [other]
    store.advance()
    assert states(store, [damaged, other]) == ["failed", "running"]
    process.terminate()


@each_damage
@pytest.mark.parametrize("ending", ["idle", "next", "idle.tmp"])
def test_a_desk(
    folder: Path, submit: Callable[..., str], sleepers: None, content: bytes, ending: str
) -> None:
    store = JobStore(folder)
    (folder / ".desks").mkdir()
    ours = ProcessId.of(os.getpid())
    (folder / ".desks" / f"{ours.pid}-{ours.began}.{ending}").write_bytes(content)
    assert states(store, [submit(store)]) == ["running"]
    assert not list((folder / ".desks").iterdir())


def test_a_desk_that_names_another_process_than_its_file(folder: Path) -> None:
    store, ours = JobStore(folder), ProcessId.of(os.getpid())
    (folder / ".desks").mkdir()
    text = json.dumps({"process": asdict(ours), "kind": "any"})
    (folder / ".desks" / "1-1.idle").write_text(text)
    assert idle(store.folder) == []
    assert not list((folder / ".desks").iterdir())


@each_damage
def test_what_a_waiting_worker_was_given(folder: Path, submit: Callable[..., str], content: bytes) -> None:
    """A worker that cannot read which job it was given does none, and is not taken to work on it for ever."""
    folder.mkdir()
    process = ProcessId.of(os.getpid())
    desk = Desk(folder, process, "any")
    desk.set_up()
    file = next((folder / ".desks").glob("*.idle"))
    file.with_suffix(".next").write_bytes(content)
    assert desk.wait(60.0) is None
    assert not list((folder / ".desks").iterdir())


@pytest.mark.parametrize("name", ["", ".", "..", "../../etc", "0" * 32, "not an id"])
def test_a_worker_is_given_runs_of_its_store_only(folder: Path, name: str) -> None:
    desk = Desk(folder, ProcessId.of(os.getpid()), "any")
    folder.mkdir()
    desk.set_up()
    desk._write(desk._next, run=name)
    assert desk.given() is None


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
