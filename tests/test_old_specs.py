"""Run specs, records and jobs as they were written first, flat and with settings that nobody read."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from rankviz import DataError, Fold, RunRecord, RunSpec, execute
from rankviz.common.npz import read_npz, write_npz
from rankviz.datasets import make_fold
from rankviz.experiments.jobs import JobStore
from rankviz.experiments.run_folder import Job, RunFolder

PLAIN = (
    '{"C": 0.5, "costs": null, "coupling": 10.0, "dataset": "small", "digest": "", "factors": 5, '
    '"feature_map": "linear", "fold": "Fold1", "frequencies": "gaussian", "gamma": 1.0, '
    '"landmarks": "uniform", "loss": '
    '"squared_hinge", "method": "ranksvm", "n_components": 1, "normalisation": "none", "nuclear": 1.0, '
    '"preconditioner": "auto", "rank": null, "seed": 0, "solver": "newton", "start": "near", "tol": 1e-06}'
)
LINEAR = RunSpec("small", feature_map="linear", C=0.5)

TEXTS = {
    PLAIN: LINEAR,
    '{"C": 0.25, "costs": null, "coupling": 10.0, "dataset": "OHSUMED", "digest": "00ff", "factors": 5, '
    '"feature_map": "nystroem", "fold": "Fold3", "frequencies": "orthogonal", "gamma": 0.5, "landmarks": '
    '"kmeans++", "loss": "huber", "method": "ranksvm", "n_components": 25, "normalisation": "query_minmax", '
    '"nuclear": 1.0, "preconditioner": "none", "rank": 5, "seed": 3, "solver": "newton", "start": "near", '
    '"tol": 1e-07}': RunSpec(
        "OHSUMED",
        "Fold3",
        "00ff",
        "query_minmax",
        feature_map="nystroem",
        n_components=25,
        C=0.25,
        gamma=0.5,
        loss="huber",
        seed=3,
        tol=1e-7,
        rank=5,
        preconditioner="none",
        landmarks="kmeans++",
    ),
    '{"C": 0.0078125, "costs": [[0.0, 0.0], [1.0, 0.0]], "coupling": 10.0, "dataset": "demo", "digest": "", '
    '"factors": 5, "feature_map": "fourier", "fold": "Fold1", "frequencies": "orthogonal", '
    '"gamma": 0.015625, '
    '"landmarks": "uniform", "loss": "squared_hinge", "method": "ranksvm", "n_components": 500, '
    '"normalisation": "none", "nuclear": 1.0, "preconditioner": "auto", "rank": null, "seed": 0, "solver": '
    '"sgd_pair", "start": "zero", "tol": 1e-06}': RunSpec(
        "demo",
        feature_map="fourier",
        n_components=500,
        frequencies="orthogonal",
        costs=((0.0, 0.0), (1.0, 0.0)),
        solver="sgd_pair",
        start="zero",
    ),
    '{"C": 0.25, "costs": null, "coupling": 10.0, "dataset": "small", "digest": "", "factors": 3, '
    '"feature_map": "linear", "fold": "Fold1", "frequencies": "gaussian", "gamma": 1.0, '
    '"landmarks": "uniform", "loss": '
    '"hinge", "method": "factorized", "n_components": 1, "normalisation": "none", "nuclear": 1.0, '
    '"preconditioner": "auto", "rank": null, "seed": 2, "solver": "query_steps", "start": "zero", "tol": '
    "0.001}": LINEAR.factorized(3, 0.25, solver="query_steps").but(seed=2),
    '{"C": 0.25, "costs": null, "coupling": 2.0, "dataset": "small", "digest": "", "factors": 5, '
    '"feature_map": "exact", "fold": "Fold1", "frequencies": "gaussian", "gamma": 0.5, '
    '"landmarks": "uniform", "loss": '
    '"hinge", "method": "regularized", "n_components": 1, "normalisation": "none", "nuclear": 0.5, '
    '"preconditioner": "auto", "rank": null, "seed": 0, "solver": "fista", "start": "zero", "tol": 0.01}': (
        LINEAR.exact().but(gamma=0.5).regularized(0.5, 2.0, 0.25).but(tol=0.01)
    ),
    '{"dataset": "a"}': RunSpec("a"),
    '{"dataset": "a", "C": 2, "rank": null}': RunSpec("a", C=2.0),
}


@pytest.mark.parametrize(("text", "spec"), TEXTS.items(), ids=range(len(TEXTS)))
def test_flat_texts_are_the_runs_they_were(text: str, spec: RunSpec) -> None:
    again = RunSpec.from_json(text)
    assert again == spec
    assert again.hash == spec.hash
    assert RunSpec.from_json(again.to_json()) == spec


def flat(**changes: object) -> dict[str, Any]:
    return json.loads(PLAIN) | changes


def test_runs_that_differed_in_what_nobody_read_are_one() -> None:
    others = [{"gamma": 9.0}, {"n_components": 7}, {"seed": 5}, {"factors": 1}, {"landmarks": "kmeans++"}]
    assert {RunSpec.from_dict(flat(**change)) for change in others} == {LINEAR}
    assert RunSpec.from_dict(flat(C=9.0)) != LINEAR


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"nonsense": 1}, "nonsense"),
        ({"C": "1"}, "C="),
        ({"C": -1.0}, "C="),
        ({"feature_map": "other"}, "feature_map="),
        *(({"method": v}, "method=") for v in ("other", None, ["ranksvm"], {})),
        ({"dataset": 3}, "dataset="),
        ({"method": "factorized", "solver": "newton"}, "solver="),
    ],
)
def test_flat_texts_that_are_wrong_are_refused(change: dict[str, object], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        RunSpec.from_dict(flat(**change))


def test_a_name_is_needed() -> None:
    for values in ({}, {"C": 1.0}):
        with pytest.raises(ValueError, match="dataset"):
            RunSpec.from_dict(values)


# --- records ------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def fold() -> Fold:
    return make_fold(n_queries=12, documents_per_query=(5, 15), n_features=6, seed=1)


@pytest.fixture(scope="module")
def record(fold: Fold) -> RunRecord:
    return execute(LINEAR, fold=fold)


def old_file(record: RunRecord, path: Path, *without: str, **changes: object) -> Path:
    """The record as format 1 had it: a flat spec, no word on stops, and an objective always."""
    meta, arrays = read_npz(record.save(path), "run record")
    for name in ("stopped", *without):
        del meta[name]
    meta |= {"format": 1, "spec": flat(digest=record.spec.digest)} | changes
    return write_npz(path, meta, arrays)


def test_records_of_format_1_are_what_they_were(record: RunRecord, tmp_path: Path) -> None:
    again = RunRecord.load(old_file(record, tmp_path / "old.npz"))
    assert again.spec == record.spec == LINEAR.but(digest=record.spec.digest)
    assert (again.status, again.objective, again.stopped) == (record.status, record.objective, False)
    assert again.start == record.start
    np.testing.assert_array_equal(again.weights, record.weights)
    pd.testing.assert_frame_equal(again.trace, record.trace)
    for part, frame in record.metrics.items():
        pd.testing.assert_frame_equal(again.metrics[part], frame)
        np.testing.assert_array_equal(again.scores[part], record.scores[part])
    new = RunRecord.load(again.save(tmp_path / "new.npz"))
    assert read_npz(tmp_path / "new.npz", "run record")[0]["format"] == 2
    assert new.spec == again.spec


def test_the_first_records_did_not_say_where_they_started(record: RunRecord, tmp_path: Path) -> None:
    assert RunRecord.load(old_file(record, tmp_path / "old.npz", "start")).start == "zero"


def test_a_stop_is_read_off_the_words_of_old_records(fold: Fold, tmp_path: Path) -> None:
    stopped = execute(LINEAR, lambda progress: progress.stage == "newton", fold=fold)
    assert stopped.stopped
    assert RunRecord.load(old_file(stopped, tmp_path / "old.npz")).stopped


def test_records_of_formats_to_come_are_refused(record: RunRecord, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="reads up to 2"):
        RunRecord.load(old_file(record, tmp_path / "old.npz", format=3))


# --- jobs ---------------------------------------------------------------------------------------------------


def old_job(**changes: object) -> str:
    """The spec.json of a job of then, in the order in which it was written."""
    low = flat(method="factorized", loss="hinge", tol=1e-3, start="zero", solver="lbfgs", factors=2)
    job = {
        "format": 1,
        "specs": [flat(), low],
        "owner": "me",
        "title": "Two runs",
        "roots": ["/data"],
        "threads": 1,
        "created": 1700000000.5,
    }
    return json.dumps(job | changes)


def test_jobs_of_then_open() -> None:
    job = Job.from_json(old_job())
    assert job.specs == (LINEAR, LINEAR.factorized(2, 0.5))
    assert (job.owner, job.title, job.roots, job.threads) == ("me", "Two runs", ("/data",), 1)
    assert job.created == 1700000000.5
    assert Job.from_json(job.to_json()) == job


def finished(store: JobStore, name: str, text: str, **records: RunRecord) -> RunFolder:
    """A folder of a job that has ended, in a store."""
    folder = RunFolder(store.folder / name)
    folder.path.mkdir(mode=0o700)
    (folder.path / "spec.json").write_text(text)
    for index, record in records.items():
        old_file(record, folder.record_file(int(index.removeprefix("at"))))
    folder.end("finished", "2 of 2 runs finished.")
    return folder


def test_a_store_lists_them_and_finds_their_records(record: RunRecord, tmp_path: Path) -> None:
    store = JobStore(tmp_path, workers=1)
    plain = dataclasses.replace(record, spec=LINEAR)
    folder = finished(store, "0" * 32, old_job(), at0=plain)
    (status,) = store.jobs("me")
    assert (status.title, status.state, status.specs) == ("Two runs", "finished", folder.job().specs)
    found = store.find_records([LINEAR, LINEAR.but(C=9.0), LINEAR.factorized(2, 0.5)])
    assert set(found) == {LINEAR}
    np.testing.assert_array_equal(found[LINEAR].weights, record.weights)
    again = store.record("0" * 32, 0)
    assert again is not None
    assert again.spec.settings == LINEAR.settings


def test_runs_that_have_become_one_are_found_where_the_first_is(record: RunRecord, tmp_path: Path) -> None:
    store = JobStore(tmp_path, workers=1)
    twice = old_job(specs=[flat(gamma=1.0), flat(gamma=2.0)])
    finished(store, "1" * 32, twice, at0=dataclasses.replace(record, spec=LINEAR))
    assert set(store.find_records([LINEAR])) == {LINEAR}


def test_jobs_that_no_version_can_read_are_left_alone(tmp_path: Path) -> None:
    store = JobStore(tmp_path, workers=1)
    finished(store, "2" * 32, old_job(specs=[flat(method="other")]))
    finished(store, "3" * 32, old_job(specs=[flat(C=-1.0)]))
    finished(store, "4" * 32, old_job())
    assert [status.id for status in store.jobs("me")] == ["4" * 32]
    assert len(list(tmp_path.glob("[0-9]*"))) == 3
