"""The job store: queue, owners, stopping, dead workers, old jobs; with workers that only sleep."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from conftest_jobs import SPEC, ended, pid_of, states, wait_for

from rankviz.common.threads import cores
from rankviz.experiments import desks, dispatch, jobs
from rankviz.experiments.job_status import UNKNOWN
from rankviz.experiments.jobs import JobError, JobStatus, JobStore, NoSuchJob, NotTheOwner
from rankviz.experiments.processes import ProcessId, start
from rankviz.experiments.run_folder import RunFolder

pytestmark = pytest.mark.usefixtures("own_cache")


@pytest.fixture
def sleepers(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, str]]:
    """Workers that only sleep, and the environments they were given."""
    environments: list[dict[str, str]] = []

    def started(command: list[str], environment: dict[str, str], log: Path) -> ProcessId:
        environments.append(environment)
        return start(["sleep", "60"], environment, log)

    monkeypatch.setattr(desks, "start", started)
    return environments


def test_the_queue_is_worked_through_in_order(
    folder: Path, submit: Callable[..., str], sleepers: list[dict[str, str]]
) -> None:
    store = JobStore(folder, workers=2)
    ids = [submit(store) for _ in range(4)]
    assert states(store, ids) == ["running", "running", "queued", "queued"]
    os.kill(pid_of(store, ids[1]), signal.SIGKILL)
    wait_for(lambda: states(store, ids) == ["running", "failed", "running", "queued"])
    store.stop(ids[3], "me")
    assert store.status(ids[3]).reason == "Stopped before it began."
    assert store.status(ids[3]).seconds == 0.0
    assert [status.id for status in store.jobs("me")] == ids[::-1]
    assert store.jobs("you") == []


def test_cores_are_shared_out(
    folder: Path, submit: Callable[..., str], sleepers: list[dict[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "cores", lambda: 9)
    submit(JobStore(folder, workers=2))
    assert {sleepers[0][name] for name in ("OPENBLAS_NUM_THREADS", "RANKVIZ_THREADS")} == {"4"}
    assert submit(JobStore(folder, workers=20))
    assert sleepers[1]["OMP_NUM_THREADS"] == "1"


def test_two_stores_start_a_job_once(
    folder: Path, submit: Callable[..., str], sleepers: list[dict[str, str]]
) -> None:
    stores = [JobStore(folder, workers=1) for _ in range(4)]
    ids = [submit(stores[0]) for _ in range(3)]
    threads = [
        threading.Thread(target=lambda store=store: [store.jobs("me") for _ in range(20)]) for store in stores
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(sleepers) == 1
    assert states(stores[1], ids) == ["running", "queued", "queued"]


def test_a_worker_that_does_not_stop_is_ended(
    folder: Path, submit: Callable[..., str], sleepers: list[dict[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    store = JobStore(folder)
    job_id = submit(store)
    assert not store.status(job_id).stopping
    store.stop(job_id, "me")
    assert (store.status(job_id).state, store.status(job_id).stopping) == ("running", True)
    monkeypatch.setattr(dispatch, "STOP_PATIENCE", 0.0)
    status = ended(store, job_id)
    assert (status.state, status.reason) == ("stopped", "Stopped on request; 0 of 1 runs had finished.")
    assert not status.stopping


def test_only_the_owner_stops_and_deletes(
    folder: Path, submit: Callable[..., str], sleepers: list[dict[str, str]]
) -> None:
    store = JobStore(folder)
    job_id = submit(store)
    for forbidden in (store.stop, store.delete):
        with pytest.raises(NotTheOwner, match="Only the visitor who started"):
            forbidden(job_id, "you")
        with pytest.raises(NotTheOwner):
            forbidden(job_id, "")
    assert store.status(job_id).state == "running"
    process = RunFolder(folder / job_id).worker().process
    store.delete(job_id, "me")
    assert wait_for(lambda: not process.alive())
    with pytest.raises(NoSuchJob, match="may have been deleted"):
        store.status(job_id)
    assert not (folder / job_id).exists()
    assert [path.name for path in folder.iterdir()] == [".lock"]


def test_ids_are_looked_up_and_never_become_paths(
    folder: Path, submit: Callable[..., str], sleepers: list[dict[str, str]]
) -> None:
    store = JobStore(folder)
    job_id = submit(store)
    (folder / "not-an-id").mkdir()
    (folder / ("f" * 32)).symlink_to(folder / job_id)
    wrong = ["", ".", "..", "../runs", "not-an-id", "f" * 32, "\0", "é"]
    near = [f"./{job_id}", f"{job_id}/", f"{job_id}\n", f" {job_id}", f"A{job_id[1:]}", str(folder / job_id)]
    for text in wrong + near:
        with pytest.raises(NoSuchJob):
            store.status(text)
        for changing in (store.stop, store.delete):
            with pytest.raises(NoSuchJob):
                changing(text, "me")
    assert store.status(job_id).state == "running"


def test_a_number_given_to_another_process_is_not_mistaken(
    folder: Path, submit: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The worker's number is now that of this very process, which began at another time."""
    ours = ProcessId.of(os.getpid())
    if ours.began is None:
        pytest.skip("the system does not tell when processes began")
    monkeypatch.setattr(desks, "start", lambda *_: replace(ours, began=ours.began + 1))
    store = JobStore(folder)
    status = ended(store, submit(store))
    assert (status.state, status.reason) == (
        "failed",
        f"The worker process ended without a result; {UNKNOWN}.",
    )


def test_too_many_live_jobs_of_one_owner(
    folder: Path, submit: Callable[..., str], sleepers: list[dict[str, str]], bounded: Callable[..., None]
) -> None:
    bounded(live_jobs_each=2)
    store = JobStore(folder, workers=1)
    ids = [submit(store) for _ in range(2)]
    with pytest.raises(JobError, match="Of one visitor at most 2 jobs may wait"):
        submit(store)
    submit(store, owner="you")
    store.stop(ids[1], "me")
    submit(store)


def test_jobs_and_records_of_another_version_are_left_alone(
    folder: Path, submit: Callable[..., str], sleepers: list[dict[str, str]]
) -> None:
    store = JobStore(folder)
    ours = submit(store)
    for name, text in (("0", '{"format": 99}'), ("1", '{"format": 1, "specs": 3}'), ("2", "[")):
        (folder / (name * 32)).mkdir()
        (folder / (name * 32) / "spec.json").write_text(text)
    (folder / ("3" * 32)).mkdir()
    assert [status.id for status in store.jobs("me")] == [ours]
    with pytest.raises(NoSuchJob):
        store.status("0" * 32)
    RunFolder(folder / ours).record_file(0).write_bytes(b"no record")
    assert store.find_records([SPEC]) == {}


def test_old_jobs_go(
    folder: Path, submit: Callable[..., str], sleepers: list[dict[str, str]], bounded: Callable[..., None]
) -> None:
    bounded(kept_jobs_each=2)
    store = JobStore(folder, workers=1)
    running = submit(store)
    ids = []
    for _ in range(4):
        ids.append(submit(store))
        store.stop(ids[-1], "me")
    assert [status.id for status in store.jobs("me")] == [ids[3], ids[2], running]


def test_a_job_needs_a_run(folder: Path) -> None:
    with pytest.raises(ValueError, match="at least one run"):
        JobStore(folder).submit([], owner="me", title="Nothing")


def test_where_jobs_are_kept_and_how_many_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.delenv("RANKVIZ_RUNS", raising=False)
    monkeypatch.delenv("RANKVIZ_WORKERS", raising=False)
    assert JobStore().workers == max(2, cores() // 2)
    assert JobStore().folder.name == "runs"
    monkeypatch.setenv("RANKVIZ_RUNS", str(tmp_path / "elsewhere"))
    monkeypatch.setenv("RANKVIZ_WORKERS", "5")
    assert (JobStore().folder, JobStore().workers) == (tmp_path / "elsewhere", 5)
    assert JobStore(workers=0).workers == 1


@pytest.mark.parametrize(
    ("latest", "finished", "fraction"),
    [
        (None, (), 0.0),
        ({"stage": "data", "fraction": 0.0}, (), 0.0),
        ({"stage": "features", "fraction": 1.0}, (), 0.2),
        ({"stage": "newton", "fraction": None}, (), 0.225),
        ({"stage": "finished", "fraction": 1.0}, (0,), 0.5),
        ({"stage": "evaluate", "fraction": 0.5}, (0,), 0.975),
        ({"stage": "unheard of", "fraction": None}, (0,), 0.5),
        ({"stage": "finished", "fraction": 1.0}, (0, 1), 1.0),
    ],
)
def test_the_share_that_is_done(
    latest: dict[str, Any] | None, finished: tuple[int, ...], fraction: float
) -> None:
    status = JobStatus("id", "me", "A job", "running", "", finished, (SPEC, SPEC), latest, 0.0, 0.0, None)
    assert status.fraction == pytest.approx(fraction)


def test_who_wants_the_same_at_the_same_moment_gets_one_job(
    folder: Path, root: Path, sleepers: object
) -> None:
    stores = [JobStore(folder, workers=1) for _ in range(8)]
    specs, got = (SPEC, SPEC.but(C=2.0)), list[tuple[str, bool]]()

    def ask(number: int) -> None:
        wanted = specs if number else specs[:1]
        got.append(stores[number].join(wanted, owner=f"visitor {number}", title="A job", roots=[root]))

    ask(1)
    threads = [threading.Thread(target=ask, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({job for job, _ in got}) == 1
    assert sum(new for _, new in got) == 1
    stores[0].stop(got[0][0], "visitor 1")
    assert stores[0].join(specs, owner="me", title="A job", roots=[root])[1], "that one is about to end"
