"""Jobs on a disk that is really full or read-only, where this machine lets us mount one."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from conftest_jobs import SPEC, end_workers, ended, wait_for

from rankviz import RunSpec
from rankviz.store import RunStore, StoreOutOfReach
from rankviz.store.environment import FOLDER_ENVIRONMENT
from rankviz.store.execution import LocalWorkers
from rankviz.store.watched import WatchedStudies
from tools.stored import Disk, NotAllowed, small_disk

MANY = tuple(SPEC.but(C=0.001 * (k + 1)) for k in range(400))
FULL = "The database of runs cannot be used: its disk is full."
pytestmark = [pytest.mark.story, pytest.mark.usefixtures("own_cache")]


@pytest.fixture
def disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Disk]:
    monkeypatch.setenv("RANKVIZ_STORE", "")
    try:
        with small_disk(tmp_path / "disk") as mounted:
            monkeypatch.setenv(FOLDER_ENVIRONMENT, str(mounted.path))
            yield mounted
            mounted.mount_again("rw")
            mounted.make_room()
            end_workers(RunStore())
    except NotAllowed as why:
        pytest.skip(str(why))


def submit(jobs: WatchedStudies, root: Path, specs: Sequence[RunSpec] = (SPEC,), owner: str = "me") -> str:
    return jobs.submit(specs, owner=owner, title="A job", roots=[root])


def test_a_disk_that_fills_up_while_a_job_runs(disk: Disk, root: Path) -> None:
    """Check that the failure is explained, and that work resumes when there is room."""
    jobs = WatchedStudies(LocalWorkers(RunStore(), 1))
    job, waits = submit(jobs, root, MANY), submit(jobs, root, (SPEC.but(C=7.0),), owner="you")
    wait_for(lambda: jobs.status(job).finished)
    disk.fill()
    status = ended(jobs, job)
    assert status.state == "failed"
    assert status.reason.startswith(FULL)
    assert status.reason.endswith(f"{len(status.finished)} of 400 runs had finished, and are kept.")
    assert 0 < len(status.finished) < 400
    found = jobs._execution.store.records.find([status.specs[index] for index in status.finished])
    assert len(found) == len(status.finished)
    with pytest.raises(StoreOutOfReach, match="its disk is full"):
        submit(jobs, root, [SPEC.but(C=100.0 + number) for number in range(1000)], owner="another")
    assert jobs.of("another") == []
    disk.make_room()
    for one in (submit(jobs, root, owner="another"), waits):
        assert wait_for(lambda one=one: jobs.status(one).state == "finished")
    wait_for(lambda: not jobs._trouble)
    assert ended(jobs, job).state in ("finished", "failed")
    assert len(jobs.status(job).finished) >= len(status.finished)


@pytest.mark.usefixtures("cold_workers")  # a warm one keeps files of the disk open
def test_a_disk_that_is_mounted_read_only(disk: Disk, root: Path) -> None:
    jobs = WatchedStudies(LocalWorkers(RunStore(), 1))
    job = submit(jobs, root)
    assert ended(jobs, job).state == "finished"
    end_workers(jobs._execution.store)
    jobs._execution.store.close()
    disk.mount_again("ro")
    with pytest.raises(StoreOutOfReach, match="cannot be used: it cannot be opened"):
        RunStore()
    disk.mount_again("rw")
    after = WatchedStudies(LocalWorkers(RunStore(), 1))
    assert after._execution.store.records.find([SPEC])
    after.delete(job, "me")
    assert ended(after, submit(after, root, (SPEC.but(C=9.0),))).state == "finished"
