"""Run specs, records and jobs as they were written first, flat and with settings that nobody read."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from conftest_old_jobs import leave_job, spec_file

from rankviz import DataError, Fold, RunRecord, RunSpec, execute
from rankviz.common.npz import read_npz, write_npz
from rankviz.datasets import make_fold
from rankviz.store import RunStore
from rankviz.store.takeover import take_over

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
    """The spec.json of a job of then."""
    low = flat(method="factorized", loss="hinge", tol=1e-3, start="zero", solver="lbfgs", factors=2)
    return spec_file([flat(), low], **changes)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[RunStore]:
    store = RunStore(tmp_path / "runs.sqlite")
    yield store
    store.close()


def leave(folder: Path, name: str, text: str, *records: RunRecord) -> Path:
    """The folder of a job that has ended, with its first records, in format 1."""
    job = leave_job(folder, name, text, {})
    for index, record in enumerate(records):
        old_file(record, job / f"record-{index:04d}.npz")
    return job


def test_what_jobs_of_then_made_is_taken_over(store: RunStore, record: RunRecord, tmp_path: Path) -> None:
    job = leave(tmp_path / "old", "0" * 32, old_job(), record)
    before = {path.name: path.read_bytes() for path in job.iterdir()}
    assert take_over(store, tmp_path / "old") == 1
    spec = LINEAR.but(digest=record.spec.digest)
    found = store.records.find([spec, LINEAR, spec.but(C=9.0), LINEAR.factorized(2, 0.5)])
    assert set(found) == {spec}
    np.testing.assert_array_equal(found[spec].weights, record.weights)
    assert list(store.listing.seen_by("me").index) == [spec.hash]
    assert take_over(store, tmp_path / "old") == 0
    assert {path.name: path.read_bytes() for path in job.iterdir()} == before, "it is left as it is"


def test_runs_that_have_become_one_are_taken_over_once(
    store: RunStore, record: RunRecord, tmp_path: Path
) -> None:
    twice = old_job(specs=[flat(gamma=1.0), flat(gamma=2.0)])
    leave(tmp_path / "old", "1" * 32, twice, record, record)
    assert take_over(store, tmp_path / "old") == 1
    assert set(store.records.find([record.spec])) == {record.spec}


def test_jobs_that_no_version_can_read_are_left_alone(
    store: RunStore, record: RunRecord, tmp_path: Path
) -> None:
    damaged = ("", "{}", "[1]", "[" * 5000, old_job(format=2), old_job(specs=7))
    texts = old_job(specs=[flat(method="other")]), old_job(specs=[flat(C=-1.0)]), *damaged
    for number, text in enumerate(texts):
        leave(tmp_path / "old", f"{number:032x}", text, record)
    leave(tmp_path / "old", "f" * 32, old_job(owner="another"), record)
    leave(tmp_path / "old", "no job", old_job(), record)
    assert take_over(store, tmp_path / "old") == 1
    assert list(store.listing.seen_by("another").index) == [record.spec.hash]
    assert store.listing.seen_by("me").empty
    assert len(list((tmp_path / "old").iterdir())) == len(texts) + 2
