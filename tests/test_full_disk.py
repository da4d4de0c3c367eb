"""Jobs on a disk that is really full or read-only, where this machine lets us mount one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from conftest_jobs import SPEC, end_workers, ended, wait_for
from conftest_kills import hidden_files

from rankviz.experiments import dispatch
from rankviz.experiments.jobs import JobStore, StoreUnusable
from tools.disks import Disk, NotAllowed, small_disk

FULL = "Nothing more can be written where jobs are kept (No space left on device); "
MANY = tuple(SPEC.but(C=0.001 * (k + 1)) for k in range(3000))

pytestmark = pytest.mark.usefixtures("own_cache", "soon")


@pytest.fixture
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """What could not be started is tried again at once."""
    monkeypatch.setattr(dispatch, "START_AGAIN_SECONDS", 0.0)


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Disk]:
    try:
        with small_disk(tmp_path / "disk") as mounted:
            yield mounted
            mounted.mount_again("rw")
            mounted.make_room()
            end_workers(mounted.path / "runs")
    except NotAllowed as why:
        pytest.skip(str(why))


def test_a_disk_that_fills_up_while_a_job_runs(disk: Disk, submit: Callable[..., str]) -> None:
    store = JobStore(disk.path / "runs", workers=1)
    job, waits = submit(store, MANY), submit(store, owner="you")
    wait_for(lambda: store.status(job).finished)
    disk.fill()
    status = ended(store, job)
    assert status.state == "failed"
    assert status.reason.startswith(FULL)
    assert status.finished
    assert all(store.record(job, index) is not None for index in status.finished)
    for _ in range(3):
        with pytest.raises(StoreUnusable, match="No space left on device"):
            submit(store, owner="another")
    assert store.jobs("another") == []
    assert store.status(waits).state in ("queued", "failed")
    disk.make_room()
    assert ended(store, submit(store, owner="another")).state == "finished"
    assert ended(store, waits).state in ("finished", "failed")
    store.delete(job, "me")
    assert not [name for name in hidden_files(disk.path / "runs") if not name.startswith(".desks")]


def test_jobs_alone_fill_a_disk(disk: Disk, submit: Callable[..., str]) -> None:
    store = JobStore(disk.path / "runs", workers=1)
    status = ended(store, submit(store, MANY))
    assert status.state == "failed"
    assert status.reason.startswith(FULL)
    assert 0 < len(status.finished) < len(MANY)
    store.delete(status.id, "me")
    assert ended(store, submit(store)).state == "finished"


def test_a_disk_that_is_mounted_read_only(disk: Disk, submit: Callable[..., str]) -> None:
    store = JobStore(disk.path / "runs", workers=1)
    job = submit(store)
    assert ended(store, job).state == "finished"
    end_workers(disk.path / "runs")
    disk.mount_again("ro")
    for one in (store, JobStore(disk.path / "runs")):
        assert one.status(job).state == "finished"
        assert one.find_records([SPEC])
        for change in (lambda one=one: submit(one), lambda one=one: one.delete(job, "me")):
            with pytest.raises(StoreUnusable, match="Read-only file system"):
                change()
    disk.mount_again("rw")
    store.delete(job, "me")
    assert ended(store, submit(store)).state == "finished"
