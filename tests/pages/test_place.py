"""Test the choice between this machine and a cluster, and the cluster's description."""

import os
from collections.abc import Iterator

import pytest
from conftest_pages import Opener, words
from streamlit.testing.v1 import AppTest

from rankviz.common.processes import ProcessId
from rankviz.store.environment import CLUSTER_ENVIRONMENT
from rankviz.store.execution import LocalWorkers
from rankviz.store.family_runner import FamilyRunner
from rankviz.store.study import HERE, SHARDS, TASKS
from ui.work.place import CLUSTER, cluster_words
from ui.work.run_store import forget, run_store

WORKER = {"address": "tcp://one", "threads": 2, "memory": 1e9, "limit": 4e9, "tasks": 1}


@pytest.fixture(autouse=True)
def cluster(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Configure a cluster without starting workers: tests report its state themselves."""
    monkeypatch.setenv(CLUSTER_ENVIRONMENT, "tcp://nowhere:8786")
    monkeypatch.setattr(LocalWorkers, "maintain", lambda self: None)
    monkeypatch.setattr(LocalWorkers, "start_dispatcher", lambda self, place: None)
    yield
    forget()


def see(place: str, **report: object) -> None:
    run_store().queue.register("dispatcher", ProcessId.of(os.getpid()), place)
    run_store().queue.report_cluster("dispatcher", report)


def button(app: AppTest, key: str) -> AppTest:
    (found,) = [one for one in app.button if one.key.startswith(key)]
    found.click()
    app.run()
    assert not app.exception
    return app


def cluster_line(app: AppTest) -> str:
    return " ".join(str(one.proto.text) for one in app.get("progress"))


def on_the_cluster(app: AppTest, place: str) -> AppTest:
    app.selectbox(key=f"where-{place}").set_value(CLUSTER).run()
    assert not app.exception
    return app


def test_without_a_cluster_there_is_no_choice(open_by_menu: Opener, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(CLUSTER_ENVIRONMENT)
    for page in ("train", "sweep"):
        assert not [box for box in open_by_menu(page).selectbox if box.label == "Where to train"]


def test_runs_on_the_cluster_are_made_when_that_is_asked_for(open_by_menu: Opener) -> None:
    see(SHARDS, workers=[WORKER, WORKER | {"address": "tcp://two"}], came=1, left=2)
    app = on_the_cluster(open_by_menu("train", m=5), SHARDS)
    app.session_state["c"] = 3.0
    app.run()
    assert not run_store().studies._where(True)  # type: ignore[arg-type]
    said = words(app)
    assert "with 4 threads of the cluster" in said
    assert "2 workers with 4 threads, 2 at work, 2.0 GB of 8.0 GB of memory" in said
    assert "2 left and 1 joined" in said
    app = button(app, "train-there")
    lease = run_store().queue.take("them", place=SHARDS)
    assert lease is not None
    assert lease.specs[0].get("C") == 8.0
    FamilyRunner(run_store()).make(lease)
    app.run()
    assert not [one for one in app.button if one.key.startswith("train-there")]
    assert app.get("plotly_chart")


def test_a_cluster_that_has_not_answered_yet_is_offered_too(open_by_menu: Opener) -> None:
    app = on_the_cluster(open_by_menu("train", m=5), SHARDS)
    app.session_state["c"] = 3.0
    app.run()
    assert not app.exception
    assert "Asking …" in words(app)
    assert "at best" not in words(app)
    assert [one for one in app.button if one.key.startswith("train-there")]


def test_a_job_on_the_cluster_says_how_far_its_shards_are(open_by_menu: Opener) -> None:
    see(SHARDS, workers=[WORKER])
    app = on_the_cluster(open_by_menu("train", m=5), SHARDS)
    app.session_state["c"] = 3.0
    app.run()
    app = button(app, "train-there")
    assert "starting" in cluster_line(app) or "waiting for the cluster" in cluster_line(app)
    lease = run_store().queue.take("them", place=SHARDS)
    assert lease is not None
    news = {"digest": lease.specs[0].hash, "stage": "newton", "fraction": None, "shards": [3, 16]}
    run_store().queue.renew(lease, news | {"plan": "16 shards, features in double precision: about 9 MB."})
    said = words(app.run())
    assert "3 of 16 shards" in cluster_line(app)
    assert "16 shards, features in double precision" in said
    assert "The cluster: 1 worker with 2 threads" in said


def test_what_shards_cannot_train_is_trained_here(open_by_menu: Opener) -> None:
    see(SHARDS, workers=[WORKER])
    app = on_the_cluster(open_by_menu("train", m=5), SHARDS)
    app.session_state["method"] = "factorized"
    app.run()
    assert not [one for one in app.button if one.key.startswith("train-there")]
    assert app.get("plotly_chart")


def test_a_sweep_is_asked_of_the_cluster(open_by_menu: Opener) -> None:
    see(TASKS, workers=[WORKER])
    app = on_the_cluster(open_by_menu("sweep", m=5), TASKS)
    assert app.header[0].value.rstrip(".").endswith("with 2 cluster threads")
    app = button(app, "start-sweep")
    status = run_store().studies.status(str(app.session_state["study"]))
    assert status.study.place == TASKS
    assert run_store().queue.take("here") is None
    assert "The cluster: 1 worker" in words(app)


def test_a_sweep_whose_cluster_does_not_answer_goes_on_here_when_asked(open_by_menu: Opener) -> None:
    see(TASKS)
    app = button(on_the_cluster(open_by_menu("sweep", m=5), TASKS), "start-sweep")
    run_store().queue.report_trouble(
        "dispatcher", "no Dask scheduler answers at *nowhere*; check the address"
    )
    app.run()
    assert any("No Dask scheduler answers at &#42;nowhere&#42;;" in one.value for one in app.warning)
    app = button(app, "sweep-here")
    status = run_store().studies.status(str(app.session_state["study"]))
    assert status.study.place == HERE
    assert run_store().queue.take("here") is not None
    assert not app.warning


def test_a_cluster_without_workers_and_one_not_seen_yet() -> None:
    assert cluster_words({}) == "Asking …"
    assert cluster_words({"workers": []}) == "The cluster has no worker now."
    assert cluster_words({"workers": [WORKER | {"limit": 0.0}]}).endswith("1 at work, 1.0 GB of memory.")
    assert cluster_words({"workers": "no list"}) == "The cluster has no worker now."
