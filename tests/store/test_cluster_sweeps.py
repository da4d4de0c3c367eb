"""Studies on the workers of a local Dask cluster: every run once, whatever is killed."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest_jobs import wait_for

from rankviz import RunSpec, execute
from rankviz.common.errors import SettingError
from rankviz.datasets import Fold
from rankviz.shards.cluster import OnCluster, local_cluster
from rankviz.store import RunStore, Study
from rankviz.store.cluster import ClusterWorkers
from rankviz.store.study import DONE, TASKS

pytestmark = pytest.mark.parametrize("address", ["sqlite"], indirect=True)


@pytest.fixture(scope="module")
def place() -> Iterator[OnCluster]:
    with local_cluster(2, 1e9) as address, OnCluster(address) as place:
        yield place


@pytest.fixture
def execution(store: RunStore, place: OnCluster) -> ClusterWorkers:
    return ClusterWorkers(store, place)


def many(base: RunSpec, runs: int) -> list[RunSpec]:
    """Families of ten runs."""
    return [base.but(seed=k // 10, C=2.0 ** -(k % 10)) for k in range(runs)]


def test_every_run_is_made_once_and_is_that_of_one_piece(
    store: RunStore, execution: ClusterWorkers, base: RunSpec, root: Path, fold: Fold
) -> None:
    specs = many(base, 40)
    study = execution.submit(Study("me", "a grid", roots=(str(root),)), specs)
    wait_for(lambda: not execution.watch(study).left)
    assert store.studies.status(study).counts == {DONE: 40}
    found = store.records.find(specs)
    assert len(found) == 40
    assert store.studies.status(study).study.place == TASKS
    alone = execute(specs[13], fold=fold)
    assert found[specs[13]].objective == pytest.approx(alone.objective, rel=1e-5)


def test_a_killed_workers_family_is_made_by_another(
    store: RunStore, execution: ClusterWorkers, place: OnCluster, base: RunSpec, root: Path
) -> None:
    specs = many(base, 150)
    study = execution.submit(Study("me", "a grid", roots=(str(root),)), specs)
    wait_for(lambda: execution.watch(study).counts.get(DONE, 0) > 20)
    os.kill(place.on_workers(os.getpid)[0], signal.SIGKILL)
    wait_for(lambda: not execution.watch(study).left)
    assert store.studies.status(study).counts == {DONE: 150}


def test_stop_stops(store: RunStore, execution: ClusterWorkers, base: RunSpec, root: Path) -> None:
    study = execution.submit(Study("me", "a grid", roots=(str(root),)), many(base, 600))
    wait_for(lambda: execution.watch(study).counts.get(DONE, 0) > 5)
    execution.stop(study, "me")
    wait_for(lambda: not execution.watch(study).left)
    assert store.studies.status(study).counts[DONE] < 600


def test_a_file_of_this_machine_is_none_of_others(
    store: RunStore, place: OnCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rankviz.store.cluster.host", lambda: "elsewhere")
    monkeypatch.setattr(place, "on_workers", lambda ask: ["far away"], raising=False)
    with pytest.raises(SettingError, match="far away"):
        ClusterWorkers(store, place)
