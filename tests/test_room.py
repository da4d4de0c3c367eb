"""Room in a store: bounds on live jobs and on kept ones, and whose go."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest_jobs import SPEC

from rankviz.common.bounds import bounds
from rankviz.experiments import dispatch, room
from rankviz.experiments.jobs import JobError, JobStore
from rankviz.experiments.processes import start
from rankviz.experiments.run_folder import RunFolder

DAY = 86400.0


@pytest.fixture(autouse=True)
def nobody_works(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dispatch, "assign", lambda *_: None)


def kept(store: JobStore, owner: str, *, days: float = 0.0, size: int = 0) -> str:
    """A job of `owner` that ended so many days ago."""
    job_id = store.submit([SPEC], owner=owner, title="A job", roots=[])
    store.stop(job_id, owner)
    file = store.folder / job_id / "outcome.json"
    values = json.loads(file.read_text())
    file.write_text(json.dumps(values | {"ended": values["ended"] - days * DAY}))
    (store.folder / job_id / "record-0000.npz").write_bytes(b"0" * size)
    return job_id


def there(store: JobStore, *owners: str) -> list[str]:
    return [status.id for owner in owners for status in store.jobs(owner)]


def test_live_jobs_of_all_visitors_are_bounded(folder: Path, bounded: Callable[..., None]) -> None:
    bounded(live_jobs=3)
    store = JobStore(folder)
    for number in range(3):
        store.submit([SPEC], owner=f"visitor {number}", title="A job")
    with pytest.raises(JobError, match="At most 3 jobs of all visitors"):
        store.submit([SPEC], owner="another", title="A job")


def test_a_job_that_was_asked_to_stop_does_not_count(folder: Path, bounded: Callable[..., None]) -> None:
    bounded(live_jobs=1, live_jobs_each=1)
    store = JobStore(folder)
    job = store.submit([SPEC], owner="me", title="A job")
    RunFolder(folder / job).ask_to_stop()
    assert store.submit([SPEC], owner="me", title="A job")
    with pytest.raises(JobError, match="Of one visitor at most 1 job may wait"):
        store.submit([SPEC], owner="me", title="A job")


def test_made_up_visitors_do_not_delete_the_work_of_others(
    folder: Path, bounded: Callable[..., None]
) -> None:
    bounded(kept_jobs=4)
    store = JobStore(folder)
    honest = kept(store, "honest", days=0.9)
    for number in range(3):
        kept(store, f"made up {number}")
    with pytest.raises(JobError, match=r"At most 4 jobs .* younger than a day"):
        store.submit([SPEC], owner="made up 4", title="A job")
    assert there(store, "honest") == [honest]


def test_what_ended_more_than_a_day_ago_goes_first(folder: Path, bounded: Callable[..., None]) -> None:
    bounded(kept_jobs=3)
    store = JobStore(folder)
    young, old, own = kept(store, "a"), kept(store, "b", days=1.1), kept(store, "me")
    new = store.submit([SPEC], owner="me", title="A job")
    assert set(there(store, "a", "b", "me")) == {young, own, new}
    assert old not in there(store, "b")


def test_then_the_oldest_of_who_asks(folder: Path, bounded: Callable[..., None]) -> None:
    bounded(kept_jobs=3)
    store = JobStore(folder)
    young, own, later = kept(store, "a"), kept(store, "me"), kept(store, "me")
    new = store.submit([SPEC], owner="me", title="A job")
    assert set(there(store, "a", "me")) == {young, later, new}
    assert own not in there(store, "me")


def test_jobs_that_made_nothing_go_first(folder: Path, bounded: Callable[..., None]) -> None:
    """Each job that was begun unasked and stopped is one that ended."""
    bounded(kept_jobs_each=2)
    store = JobStore(folder)
    made = kept(store, "me", size=10)
    for _ in range(3):
        job = store.submit([SPEC], owner="me", title="A job", roots=[])
        store.stop(job, "me")
    assert made in there(store, "me")
    assert len(there(store, "me")) == 2


def test_bytes_of_all_runs_are_bounded(folder: Path, bounded: Callable[..., None]) -> None:
    bounded(run_bytes=20_000)
    store = JobStore(folder)
    kept(store, "a", size=15_000)
    own = kept(store, "me", size=10_000)
    store.submit([SPEC], owner="me", title="A job")
    assert own not in there(store, "me")
    kept(store, "b", size=10_000)
    with pytest.raises(JobError, match="of runs are kept"):
        store.submit([SPEC], owner="c", title="A job")


def test_what_is_kept_for_all_makes_room_for_nothing(folder: Path, bounded: Callable[..., None]) -> None:
    store = JobStore(folder)
    common = kept(store, room.FOR_ALL, days=100)
    bounded(kept_jobs=1)
    store.submit([SPEC], owner="me", title="A job")
    assert there(store, room.FOR_ALL) == [common]
    assert bounds().kept_jobs == 1


def test_a_job_that_ended_is_removed_without_its_worker(folder: Path, tmp_path: Path) -> None:
    """The process that made it may be at work on the job of somebody else."""
    store = JobStore(folder)
    job = store.submit([SPEC], owner="me", title="A job")
    worker = start(["sleep", "60"], dict(os.environ), tmp_path / "log")
    RunFolder(folder / job).claim(worker)
    RunFolder(folder / job).end("finished", "1 of 1 runs finished.")
    store.delete(job, "me")
    assert not (folder / job).exists()
    assert worker.alive()
    worker.terminate()
