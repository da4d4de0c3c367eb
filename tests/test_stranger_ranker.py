"""A ranker with scores and nothing else, entered among the methods: runs, studies and costs take it."""

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from strangers import SCALED_MEAN, ScaledMean

import rankviz
from rankviz import Fold, RunRecord, RunSpec, StopRequested, execute, execute_all
from rankviz.analysis.model_duals import run_duals
from rankviz.common.errors import SettingError
from rankviz.datasets import find_datasets, open_fold
from rankviz.metrics.definitions import COMPARED
from rankviz.metrics.evaluation import COLUMNS
from rankviz.models.methods import METHODS, Capabilities
from rankviz.runs.description import describe, in_a_sentence, method_label
from rankviz.runs.estimate import LAPTOP, check_budget, estimate, total_in_words, total_seconds
from rankviz.runs.families import families
from rankviz.runs.record import training_seconds
from rankviz.runs.run import model_from, model_of
from rankviz.store import RunStore, Study
from rankviz.store.family_runner import FamilyRunner


@pytest.fixture(autouse=True)
def entered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(METHODS, "mean", SCALED_MEAN)


@pytest.fixture
def spec() -> RunSpec:
    return RunSpec("demo", method="mean", power=2.0)


def test_its_spec_has_its_settings_only(spec: RunSpec) -> None:
    assert spec.values == {"power": 2.0}
    assert RunSpec.from_json(spec.to_json()) == spec
    assert spec.offers == Capabilities()
    assert spec.option("feature_map") is spec.option("solver") is None
    assert spec.but(method="ranksvm") == RunSpec("demo")
    assert RunSpec("demo", C=9.0).but(method="mean").values == {"power": 1.0}
    for name in ("C", "gamma", "feature_map", "seed"):
        with pytest.raises(SettingError, match=f"'{name}' is not a setting of scaled mean"):
            spec.but(**{name: 1.0})
    with pytest.raises(SettingError, match=r"power=-1\.0 must be a positive finite number"):
        spec.but(power=-1.0)
    with pytest.raises(SettingError, match="method='median'"):
        spec.but(method="median")
    assert spec.reference(1e-9) == spec


def test_its_words(spec: RunSpec) -> None:
    described = describe(spec, "vali")
    assert str(described) == "demo fold 1 · scaled mean, p = 2 · validation"
    assert (described.model, described.settings) == ("", ())
    assert method_label(spec) == "scaled mean, p = 2"
    assert in_a_sentence(spec) == "scaled mean"


def test_a_run_is_training_and_evaluating_by_hand(spec: RunSpec, fold: Fold) -> None:
    record, model = execute(spec, fold=fold), ScaledMean(2.0).fit_data(fold.train)
    for part, data in fold.parts.items():
        np.testing.assert_array_equal(record.scores[part], model.predict(data.X))
        by_hand = rankviz.evaluate(model.predict(data.X), data, COMPARED, measures=COLUMNS).per_query
        pd.testing.assert_frame_equal(record.metrics[part], by_hand)
    assert math.isnan(record.objective)
    assert len(record.trace) == len(record.trace.columns) == len(record.weights) == 0
    assert (record.n_components, record.stopped, record.solution) == (0, False, {})
    assert record.n_pairs == execute(RunSpec("demo", feature_map="linear"), fold=fold).n_pairs
    assert set(record.seconds) == {"data", "newton", "evaluate"}
    assert record.seconds["newton"] == training_seconds(record) > 0
    assert record.spec == spec.but(digest=fold.digest)


def test_it_mixes_with_runs_of_other_methods(spec: RunSpec, fold: Fold) -> None:
    plain = RunSpec("demo", n_components=20)
    low = RunSpec("demo", feature_map="linear").factorized(2, 0.05)
    specs = [spec, plain, low, spec.but(power=1.0), plain.but(C=0.5), low.regularized(0.1, 1.0, 0.05)]
    assert sorted(map(len, families(specs))) == [1, 1, 1, 1, 2]
    records = dict(execute_all([*specs, spec], fold=fold))
    assert set(records) == set(specs)
    for one in specs[:3]:
        alone = execute(one, fold=fold)
        np.testing.assert_allclose(records[one].scores["test"], alone.scores["test"], atol=1e-4)


def test_its_record_survives_a_file(spec: RunSpec, fold: Fold, tmp_path: Path) -> None:
    record = execute(spec, fold=fold)
    again = RunRecord.load(record.save(tmp_path / "record.npz"))
    assert math.isnan(again.objective)
    pd.testing.assert_frame_equal(again.trace, record.trace)
    assert (again.spec, again.status, again.n_pairs) == (
        spec.but(digest=fold.digest),
        "Trained.",
        record.n_pairs,
    )
    assert (again.start, again.stopped, again.solution) == ("zero", False, {})
    assert len(again.weights) == 0
    for part in fold.parts:
        np.testing.assert_array_equal(again.scores[part], record.scores[part])
        pd.testing.assert_frame_equal(again.metrics[part], record.metrics[part])


def test_what_it_has_not_is_said(spec: RunSpec, fold: Fold) -> None:
    record = execute(spec, fold=fold)
    with pytest.raises(SettingError, match=r"scaled mean cannot be restored from a record.*train again"):
        model_from(record, fold.train)
    with pytest.raises(SettingError, match="scaled mean has no dual variables"):
        run_duals(record, fold.train)
    assert isinstance(model_of(spec), ScaledMean)


@pytest.mark.parametrize("stage", ["features", "evaluate"])
def test_it_stops_when_asked(spec: RunSpec, fold: Fold, stage: str) -> None:
    with pytest.raises(StopRequested):
        execute(spec, lambda progress: progress.stage == stage, fold=fold)


def test_its_cost_is_a_guess_from_documents_and_features(spec: RunSpec, fold: Fold) -> None:
    predicted = estimate(spec, fold, LAPTOP)
    assert 0 < predicted.seconds < 60
    assert predicted.bytes > sum(part.X.nbytes for part in fold.parts.values())
    assert "a guess" in str(predicted)
    check_budget(predicted)
    grown = [replace(predicted.shape, n=10**6), replace(predicted.shape, d=10**5)]
    assert all(estimate(spec, shape, LAPTOP).seconds > predicted.seconds for shape in grown)
    usual = estimate(RunSpec("demo"), fold, LAPTOP)
    assert total_seconds([predicted, usual]) == pytest.approx(predicted.seconds + usual.seconds)
    assert "a guess" in total_in_words([predicted, usual])
    assert "a guess" not in total_in_words([usual])


def test_a_study_of_it(
    spec: RunSpec, root: Path, tmp_path: Path, own_cache: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rankviz.store.family_runner.limit_threads", lambda n: None)
    small = open_fold(find_datasets([root])["small"])
    linear = RunSpec("small", digest=small.digest, feature_map="linear")
    specs = [spec.but(dataset="small", digest=small.digest), linear]
    store = RunStore(tmp_path / "runs.sqlite")
    study = store.studies.submit(Study("me", "Two", roots=(str(root),)), specs)
    while (lease := store.queue.take("worker")) is not None:
        FamilyRunner(store).make(lease)
    assert store.studies.status(study).in_words == "2 of 2 runs made."
    record = store.records.find(specs)[specs[0]]
    np.testing.assert_array_equal(record.scores["test"], execute(specs[0], fold=small).scores["test"])
    assert store.listing.every().loc[specs[0].hash, "power"] == 2.0
    store.close()
