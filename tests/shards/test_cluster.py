"""Shards on the workers of a local Dask cluster: the same model, whatever is killed; files that are seen."""

import gc
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dask
import numpy as np
import pytest
from conftest_shards import awkward_data
from distributed import Client

import rankviz
from rankviz import DataError, Progress, RankingData, RankSVM
from rankviz.common.errors import SettingError
from rankviz.datasets import make_data
from rankviz.learning.losses import LOSSES
from rankviz.learning.pairs import PLAIN
from rankviz.shards import Here, Part, objective
from rankviz.shards.cluster import ByPath, ClusterLost, OnCluster, digest, local_cluster, same
from rankviz.shards.part import cut

DATA = awkward_data()
WHOLE: dict[str, Any] = {"feature_map": "nystroem", "n_components": 40, "gamma": 0.3, "C": 0.02}


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with local_cluster(2, 1e9) as address:
        yield address


@pytest.fixture
def cluster(address: str) -> Iterator[OnCluster]:
    with OnCluster(address, shards=5) as where:
        yield where


@pytest.mark.parametrize(
    "settings", [{"feature_map": "fourier", "n_components": 300}, {"loss": "hinge", "tol": 1e-3}], ids=str
)
def test_the_model_is_the_same(settings: dict[str, Any], cluster: OnCluster) -> None:
    one = RankSVM(**(WHOLE | settings)).fit_data(DATA)
    model = RankSVM(**(WHOLE | settings)).fit_in_shards(DATA, cluster)
    apart = sum(np.sqrt(2 * found.gap_ * found.objective_) for found in (one, model))
    assert np.linalg.norm(model.coef_ - one.coef_) <= apart + 1e-12
    assert (model.status_, model.n_pairs_) == (one.status_, one.n_pairs_)


@pytest.mark.parametrize("shards", [1, 16, pytest.param(60, marks=pytest.mark.story)])
def test_any_number_of_shards_is_the_same(shards: int, address: str) -> None:
    one = RankSVM(**WHOLE).fit_data(DATA)
    with OnCluster(address, shards) as where:
        model = RankSVM(**WHOLE).fit_in_shards(DATA, where)
    assert model.objective_ == pytest.approx(one.objective_, rel=1e-9)
    np.testing.assert_allclose(model.coef_, one.coef_, atol=1e-7 * np.abs(one.coef_).max())


def test_scores_stay_with_the_workers_until_they_are_asked_for(cluster: OnCluster) -> None:
    told: list[Progress] = []
    training = RankSVM(**WHOLE).training_in_shards(DATA, cluster)
    fit = RankSVM(**WHOLE).fit_in(training, lambda progress: told.append(progress))
    assert all(progress.scores is None for progress in told)
    one = RankSVM(**WHOLE).fit_data(DATA)
    np.testing.assert_allclose(fit.result.point.scores, one.predict(DATA.X), atol=1e-6)


def mapped(folder: Path) -> RankingData:
    file = folder / "X.bin"
    file.write_bytes(b"\0" * 64 + DATA.X.tobytes())
    X = np.memmap(file, np.float64, "r", 64, DATA.X.shape)
    return RankingData(X, DATA.y, DATA.ptr, DATA.query_ids)


def test_workers_open_a_file_that_they_see(tmp_path: Path, cluster: OnCluster) -> None:
    data = mapped(tmp_path)
    held = cluster.scatter(cut(data, 5, LOSSES["squared_hinge"], PLAIN))
    said = cluster.gather(_how, held)
    assert said == ["memmap"] * 5
    one = RankSVM(**WHOLE).fit_data(DATA)
    model = RankSVM(**WHOLE).fit_in_shards(data, cluster)
    assert model.objective_ == pytest.approx(one.objective_, rel=1e-9)


def test_documents_without_a_file_are_sent(cluster: OnCluster) -> None:
    held = cluster.scatter(cut(DATA, 5, LOSSES["squared_hinge"], PLAIN))
    assert cluster.gather(_how, held) == ["ndarray"] * 5


def test_documents_are_sent_once_for_all_fits_on_them(
    cluster: OnCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone: list[int] = []
    submit = cluster._submit

    def noting(work: Any, *arguments: Any) -> Any:
        gone.extend(len(one) for one in arguments if work is same and np.shape(one)[1:] == DATA.X.shape[1:])
        return submit(work, *arguments)

    monkeypatch.setattr(cluster, "_submit", noting)
    for settings in ({}, {"loss": "hinge", "tol": 1e-3}, {"C": 0.5}):
        RankSVM(**(WHOLE | settings)).fit_in_shards(DATA, cluster)
    assert sum(gone) == len(DATA.X)
    other = RankingData(DATA.X + 1, DATA.y, DATA.ptr, DATA.query_ids)
    held = cluster.scatter(cut(other, 5, LOSSES["squared_hinge"], PLAIN))
    assert sum(gone) == 2 * len(DATA.X), "others are sent, and the first ones go"
    assert held_at_last(cluster, 5) == 5
    np.testing.assert_array_equal(np.concatenate(cluster.gather(_features, held)), other.X)


def test_documents_are_known_by_their_shape_and_by_every_number() -> None:
    X = np.arange(6.0).reshape(3, 2)
    others = [X.reshape(2, 3), *(X + np.eye(6)[i].reshape(3, 2) for i in range(6))]
    assert len({digest(X), *map(digest, others)}) == 8


def held_at_last(cluster: OnCluster, expected: int) -> int:
    """Return the number of held objects, after waiting until the scheduler has released the others."""
    deadline = time.monotonic() + 60
    while cluster.held() > expected and time.monotonic() < deadline:
        time.sleep(0.05)
    return cluster.held()


def _how(part: Part) -> str:
    return type(part.X).__name__


def test_where_a_piece_of_a_file_lies_is_all_that_is_sent(tmp_path: Path) -> None:
    for part in cut(mapped(tmp_path), 5, LOSSES["squared_hinge"], PLAIN):
        recipe = ByPath.of(part)
        assert recipe is not None
        np.testing.assert_array_equal(recipe.open().X, part.X)
        assert recipe.rest.X.size == 0
    assert ByPath.of(cut(DATA, 1, LOSSES["squared_hinge"], PLAIN)[0]) is None


def test_a_file_that_was_changed_is_not_taken_for_what_it_was(tmp_path: Path) -> None:
    recipe = ByPath.of(cut(mapped(tmp_path), 1, LOSSES["squared_hinge"], PLAIN)[0])
    assert recipe is not None
    os.utime(recipe.path, ns=(1, 1))
    with pytest.raises(DataError, match="have changed"):
        recipe.open()


def test_documents_whose_file_has_gone_are_sent(tmp_path: Path, cluster: OnCluster) -> None:
    data = mapped(tmp_path)
    (tmp_path / "X.bin").unlink()
    parts = cut(data, 5, LOSSES["squared_hinge"], PLAIN)
    assert ByPath.of(parts[0]) is None
    assert set(cluster.gather(_how, cluster.scatter(parts))) <= {"ndarray", "memmap"}
    np.testing.assert_array_equal(np.concatenate(cluster.gather(_features, cluster.scatter(parts))), DATA.X)


def _features(part: Part) -> np.ndarray:
    return np.asarray(part.X)


def test_what_goes_wrong_on_a_worker_is_raised_here(cluster: OnCluster) -> None:
    with pytest.raises(DataError, match="seven"):
        cluster.gather(_fail, cluster.scatter(range(10)))


def _fail(item: int) -> int:
    if item == 7:
        raise DataError("seven", expected="another", remedy="Choose another.")
    return item


def test_stop_stops(cluster: OnCluster) -> None:
    model = RankSVM("linear", C=50.0, tol=1e-12)
    model.fit_in_shards(DATA, cluster, callback=lambda progress: progress.record is not None)
    assert "on request" in model.status_.value


@pytest.mark.parametrize("step", [pytest.param(0, marks=pytest.mark.story), 1], ids="after step {}".format)
def test_a_worker_that_is_killed_changes_nothing(step: int, cluster: OnCluster) -> None:
    """Its shards are made again by the other, from the documents on."""
    killed: list[int] = []

    def kill_one(progress: Progress) -> None:
        if progress.record is not None and progress.record["iteration"] == step and not killed:
            killed.append(next(iter(cluster.gather(_process, cluster.scatter([0])))))
            os.kill(killed[0], signal.SIGKILL)

    one = RankSVM(**WHOLE).fit_data(DATA)
    model = RankSVM(**WHOLE).fit_in_shards(DATA, cluster, callback=kill_one)
    assert killed
    assert model.objective_ == pytest.approx(one.objective_, rel=1e-9)
    np.testing.assert_allclose(model.coef_, one.coef_, atol=1e-7 * np.abs(one.coef_).max())


def _process(item: int) -> int:
    return os.getpid()


@pytest.mark.parametrize("most", [2, 3])
def test_few_steps_are_made_again_where_a_worker_is_lost(
    most: int, address: str, cluster: OnCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A point depends on fewer steps before it than `FRESH_AFTER`, however many there were."""
    monkeypatch.setattr("rankviz.shards.objective.FRESH_AFTER", most)
    lengths: dict[float, int] = {}
    with Client(address, set_as_default=False) as client:

        def look(progress: Progress) -> None:
            if progress.record is not None and progress.record["iteration"] not in lengths:
                lengths[progress.record["iteration"]] = client.run_on_scheduler(_longest_chain)

        RankSVM("linear", C=50.0, tol=1e-15).fit_in_shards(DATA, cluster, callback=look)
    assert len(lengths) > most + 1
    assert max(lengths.values()) == most - 1


def _longest_chain(dask_scheduler: Any) -> int:
    """Steps that some task depends on."""

    def steps(task: Any) -> int:
        own = "stepped" in str(task.key)
        return own + max(map(steps, task.dependencies), default=0)

    return max(map(steps, dask_scheduler.tasks.values()), default=0)


@pytest.mark.story
def test_a_killed_worker_is_replaced_however_long_that_takes() -> None:
    """Dask's own patience, here none at all, would have it given up."""
    with (
        dask.config.set({"distributed.deploy.lost-worker-timeout": "10 ms"}),
        local_cluster(1, 1e9) as address,
        OnCluster(address) as where,
    ):
        before, deadline = set(where.workers), time.monotonic() + 120
        os.kill(where.on_workers(os.getpid)[0], signal.SIGKILL)
        while not set(where.workers) - before:
            assert time.monotonic() < deadline
            time.sleep(0.1)


def test_local_workers_write_no_shards_to_the_disk(cluster: OnCluster) -> None:
    assert cluster.on_workers(_keeps) == ["dict", "dict"]


def _keeps(dask_worker: Any) -> str:
    return type(dask_worker.data).__name__


def test_nothing_is_held_when_a_fit_is_done(cluster: OnCluster, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not even until garbage is collected: shards of two fits may not have room."""
    monkeypatch.setattr("rankviz.shards.cluster.POLL_SECONDS", 0.001)  # it is waited for more than once
    gc.disable()
    try:
        RankSVM(**WHOLE).fit_in_shards(DATA, cluster)
        assert held_at_last(cluster, 0) == 0
    finally:
        gc.enable()


def test_workers_are_counted_whatever_the_client_asks_meanwhile(cluster: OnCluster) -> None:
    """Its own thread asks for the scheduler without workers now and then, and keeps that answer."""
    asked = cluster._client._periodic_callbacks["scheduler-info"]

    def often() -> None:
        asked.stop()
        asked.callback_time = 1  # milliseconds
        asked.start()

    cluster._client.loop.add_callback(often)
    assert {len(cluster.workers) for _ in range(500)} == {2}


def test_a_cluster_without_workers_is_said(
    address: str, cluster: OnCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(OnCluster, "workers", {})
    for ask in (cluster.budget, lambda: OnCluster(address)):
        with pytest.raises(SettingError, match="no worker"):
            ask()


def test_nobody_at_an_address_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rankviz.shards.cluster.PATIENCE", 1.0)
    loops = []
    for _ in range(2):
        with pytest.raises(ClusterLost, match="no Dask scheduler answers at tcp://127"):
            OnCluster("tcp://127.0.0.1:9")
        loops.append([thread for thread in threading.enumerate() if thread.name == "IO loop"])
    assert loops[0] == loops[1], "whoever tries again leaves no threads"


@pytest.mark.parametrize("address", ["nonsense", "carrier-pigeon://here", "", "tcp://127.0.0.1:99999999"])
def test_an_address_that_is_none_is_said(address: str) -> None:
    with pytest.raises(SettingError, match="address"):
        OnCluster(address)


def test_another_version_on_workers_is_said(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rankviz, "__version__", "99.0")
    with pytest.raises(SettingError, match=r"without this version of rankviz, 99\.0"):
        OnCluster(address)


@pytest.mark.story
def test_a_killed_scheduler_is_a_clear_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rankviz.shards.cluster.PATIENCE", 3.0)
    file = tmp_path / "scheduler.json"
    here = {
        "env": os.environ | {"PYTHONPATH": str(Path(rankviz.__file__).parent.parent)},
        "stderr": subprocess.DEVNULL,
    }
    dask = [sys.executable, "-m", "dask"]
    started = ["--scheduler-file", str(file), "--host", "127.0.0.1"]
    with (
        subprocess.Popen(
            [*dask, "scheduler", "--port", "0", "--no-dashboard", *started], **here
        ) as scheduler,
        subprocess.Popen([*dask, "worker", "--no-dashboard", "--no-nanny", *started], **here) as worker,
    ):
        try:
            with Client(scheduler_file=str(file), timeout=60, set_as_default=False) as client:
                client.wait_for_workers(1, timeout=60)
                address = client.scheduler.address

            def kill(progress: Progress) -> None:
                if progress.record is not None:
                    scheduler.kill()

            with OnCluster(address, 2) as where:
                began = time.monotonic()
                with pytest.raises(ClusterLost, match="no longer answers"):
                    RankSVM(**WHOLE | {"tol": 1e-12}).fit_in_shards(DATA, where, callback=kill)
                assert time.monotonic() - began < 60
        finally:
            scheduler.kill()
            worker.kill()


@pytest.mark.parametrize(
    "settings",
    [{"feature_map": "fourier", "n_components": 300}, {"loss": "hinge", "tol": 1e-2}],
    ids=str,
)
def test_a_start_from_a_sample_is_the_same_as_in_this_process(
    settings: dict[str, Any], cluster: OnCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(objective, "SAMPLED", 1)  # let a small fit count as large
    data = make_data(n_queries=320, documents_per_query=(3, 6), n_features=6, seed=0)
    here, there = (
        RankSVM(**({"gamma": 0.3, "C": 0.02} | settings)).fit_in_shards(data, where)
        for where in (Here(5, threads=2), cluster)
    )
    assert here.start_ == there.start_ == "the weights for 6 % of the training queries"
    np.testing.assert_array_equal(there.coef_, here.coef_)
