"""Studies that the app has a cluster make: each family by one of its workers, or each run by all of them."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from conftest_jobs import ended, wait_for

from rankviz import RunSpec, execute
from rankviz.common.errors import SettingError
from rankviz.datasets import Fold
from rankviz.shards.cluster import OnCluster, local_cluster
from rankviz.store import RunStore, Study
from rankviz.store.cluster import ClusterWorkers
from rankviz.store.environment import CLUSTER_ENVIRONMENT, cluster_address
from rankviz.store.execution import LocalWorkers, cluster_seen, worker_processes
from rankviz.store.study import DONE, HERE, SHARDS, TASKS
from rankviz.store.watched import WatchedStudies


@pytest.fixture(scope="module")
def scheduler() -> Iterator[str]:
    with local_cluster(2, 1e9) as address:
        yield address


@pytest.fixture
def execution(store: RunStore, monkeypatch: pytest.MonkeyPatch, scheduler: str) -> LocalWorkers:
    """The app's, with the cluster configured."""
    monkeypatch.setenv(CLUSTER_ENVIRONMENT, scheduler)
    assert cluster_address() == scheduler
    return LocalWorkers(store, 1)


def study(root: Path, place: str, title: str = "a grid") -> Study:
    return Study("me", title, roots=(str(root),), place=place)


def seeds(base: RunSpec, runs: int) -> list[RunSpec]:
    return [base.but(seed=k) for k in range(runs)]


def test_each_place_takes_its_own_studies(store: RunStore, base: RunSpec, root: Path) -> None:
    for k, place in enumerate((HERE, TASKS, SHARDS)):
        store.studies.submit(study(root, place, place), [base.but(seed=k)])
    assert LocalWorkers(store).trouble() == ""
    for place in (SHARDS, HERE, TASKS):
        lease = store.queue.take("w", place=place)
        assert lease is not None
        assert lease.place == place
        assert store.studies.status(lease.study).study.title == place
        assert store.queue.take("w", place=place) is None
        assert not store.queue.must_yield(lease)


def test_a_study_moves_to_another_place(store: RunStore, base: RunSpec, root: Path) -> None:
    study_id = store.studies.submit(study(root, TASKS), [base])
    assert store.queue.take("w") is None
    store.studies.move(study_id, "me", HERE)
    assert store.queue.take("w") is not None
    with pytest.raises(SettingError, match="place='moon' is not known"):
        store.studies.move(study_id, "me", "moon")
    with pytest.raises(SettingError, match="place='moon' is not known"):
        study(root, "moon")


def test_without_a_cluster_nobody_is_started_and_why_is_said(
    store: RunStore, base: RunSpec, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(CLUSTER_ENVIRONMENT, raising=False)
    execution = LocalWorkers(store, 1)
    execution.submit(study(root, TASKS), [base])
    assert worker_processes(store) == []
    assert "RANKVIZ_CLUSTER" in execution.trouble(TASKS)
    monkeypatch.setenv(CLUSTER_ENVIRONMENT, "tcp://127.0.0.1:1")
    monkeypatch.setattr("rankviz.store.execution.find_spec", lambda name: None)
    execution.maintain()
    assert worker_processes(store) == []
    assert "rankviz[dask]" in execution.trouble(TASKS)
    assert execution.trouble() == ""


@pytest.mark.story
def test_a_sweep_is_made_by_the_workers_of_the_cluster(
    store: RunStore, execution: LocalWorkers, base: RunSpec, root: Path, fold: Fold
) -> None:
    specs = seeds(base, 30)
    study_id = execution.submit(study(root, TASKS), specs)
    wait_for(lambda: len(cluster_seen(store, TASKS).get("workers", ())) == 2)
    wait_for(lambda: not execution.watch(study_id).left)
    assert store.studies.status(study_id).counts == {DONE: 30}
    found = store.records.find(specs)
    assert found[specs[7]].objective == pytest.approx(execute(specs[7], fold=fold).objective, rel=1e-5)


@pytest.mark.story
def test_a_job_is_made_in_shards_and_tells_how_until_it_is_stopped(
    store: RunStore, execution: LocalWorkers, base: RunSpec, root: Path, fold: Fold
) -> None:
    jobs = WatchedStudies(execution)
    specs = [base.but(C=1.0 + k / 1e4, tol=1e-9) for k in range(1000)]
    job = jobs.submit(specs, owner="me", title="A job", roots=[root], place=SHARDS)
    wait_for(lambda: any("2 shards" in news.get("plan", "") for news in jobs.status(job).news))
    wait_for(lambda: jobs.status(job).finished)
    jobs.stop(job, "me")
    status = ended(jobs, job)
    assert (status.state, status.place) == ("stopped", SHARDS)
    assert len(status.finished) < len(specs)
    spec = specs[status.finished[0]]
    record, alone = store.records.find([spec])[spec], execute(spec, fold=fold)
    np.testing.assert_allclose(record.weights, alone.weights, rtol=1e-4, atol=1e-7)


def test_shards_train_what_they_can_and_give_the_reason_for_the_rest(
    execution: LocalWorkers, base: RunSpec, root: Path
) -> None:
    jobs = WatchedStudies(execution)
    job = jobs.submit(
        [base.but(solver="sgd_pair"), base], owner="me", title="A job", roots=[root], place=SHARDS
    )
    status = ended(jobs, job)
    assert (status.state, status.failed, status.finished) == ("failed", (0,), (1,))
    assert "needs all pairs in one place" in status.reason


@pytest.mark.story
def test_a_killed_worker_of_the_cluster_is_counted_and_changes_nothing(
    store: RunStore, execution: LocalWorkers, base: RunSpec, root: Path, scheduler: str
) -> None:
    specs = seeds(base, 80)
    study_id = execution.submit(study(root, TASKS), specs)
    wait_for(lambda: execution.watch(study_id).counts.get(DONE, 0) > 10)
    with OnCluster(scheduler) as place:
        os.kill(place.on_workers(os.getpid)[0], signal.SIGKILL)
    wait_for(lambda: cluster_seen(store, TASKS).get("left") == 1)
    wait_for(lambda: not execution.watch(study_id).left)
    assert store.studies.status(study_id).counts == {DONE: 80}


@pytest.mark.story
def test_a_cluster_that_does_not_answer_is_said_and_waited_for(
    store: RunStore, base: RunSpec, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with local_cluster(1, 1e9) as address:
        pass
    monkeypatch.setenv(CLUSTER_ENVIRONMENT, address)
    execution = LocalWorkers(store, 1)
    study_id = execution.submit(study(root, TASKS), [base])
    wait_for(lambda: execution.watch(study_id) and "no Dask scheduler answers" in execution.trouble(TASKS))
    assert execution.trouble() == ""
    assert store.studies.status(study_id).left == 1
    store.studies.move(study_id, "me", HERE)
    wait_for(lambda: not execution.watch(study_id).left)
    assert store.studies.status(study_id).counts == {DONE: 1}


@pytest.fixture(scope="module")
def place(scheduler: str) -> Iterator[OnCluster]:
    with OnCluster(scheduler) as place:
        yield place


@pytest.fixture
def tasks(store: RunStore, place: OnCluster) -> ClusterWorkers:
    return ClusterWorkers(store, place)


def many(base: RunSpec, runs: int) -> list[RunSpec]:
    return [base.but(seed=k // 10, C=2.0 ** -(k % 10)) for k in range(runs)]


def test_every_run_is_made_once_and_is_that_of_one_piece(
    store: RunStore, tasks: ClusterWorkers, base: RunSpec, root: Path, fold: Fold
) -> None:
    specs = many(base, 20)
    study = tasks.submit(Study("me", "a grid", roots=(str(root),)), specs)
    wait_for(lambda: not tasks.watch(study).left)
    assert store.studies.status(study).counts == {DONE: 20}
    found = store.records.find(specs)
    assert len(found) == 20
    assert store.studies.status(study).study.place == TASKS
    alone = execute(specs[13], fold=fold)
    assert found[specs[13]].objective == pytest.approx(alone.objective, rel=1e-5)


@pytest.mark.story
def test_a_killed_workers_family_is_made_by_another(
    store: RunStore, tasks: ClusterWorkers, place: OnCluster, base: RunSpec, root: Path
) -> None:
    specs = many(base, 150)
    study = tasks.submit(Study("me", "a grid", roots=(str(root),)), specs)
    wait_for(lambda: tasks.watch(study).counts.get(DONE, 0) > 20)
    os.kill(place.on_workers(os.getpid)[0], signal.SIGKILL)
    wait_for(lambda: not tasks.watch(study).left)
    assert store.studies.status(study).counts == {DONE: 150}


def test_stop_stops(store: RunStore, tasks: ClusterWorkers, base: RunSpec, root: Path) -> None:
    study = tasks.submit(Study("me", "a grid", roots=(str(root),)), many(base, 600))
    wait_for(lambda: tasks.watch(study).counts.get(DONE, 0) > 5)
    tasks.stop(study, "me")
    wait_for(lambda: not tasks.watch(study).left)
    assert store.studies.status(study).counts[DONE] < 600


def test_a_file_of_this_machine_is_none_of_others(
    store: RunStore, place: OnCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rankviz.store.cluster.host", lambda: "elsewhere")
    monkeypatch.setattr(place, "on_workers", lambda ask: ["far away"], raising=False)
    with pytest.raises(SettingError, match="far away"):
        ClusterWorkers(store, place)
