"""MART and random forest against scikit-learn called by hand; trees as arrays."""

import copy
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import lightgbm
import numpy as np
import pytest
from pandas.testing import assert_frame_equal
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor

from rankviz import (
    MART,
    AdaRankMAP,
    AdaRankNDCG,
    CoordinateAscent,
    DataError,
    Fold,
    FRank,
    LambdaMART,
    RandomForest,
    RankBoost,
    RankingData,
    RunRecord,
    RunSpec,
    XGBoostRanker,
    evaluate,
    execute,
    load,
    save,
)
from rankviz.common.errors import DataWarning, SettingError
from rankviz.common.npz import Arrays, read_npz, write_npz
from rankviz.datasets import make_fold
from rankviz.metrics.top import TopNDCG
from rankviz.models.methods import METHODS
from rankviz.models.rounds import RoundRanker, library_version
from rankviz.plots.rounds import importance_data, lowered_data, objective_of, rounds_data, rounds_figure
from rankviz.runs.run import model_from
from rankviz.whatif.changes import DocumentOut
from rankviz.whatif.refits import refits_of

MODELS: dict[str, RoundRanker] = {
    "lambdamart": LambdaMART(n_rounds=12, leaves=5, leaf_documents=5),
    "mart": MART(n_rounds=23, leaves=6, leaf_documents=5, patience=0),
    "forest": RandomForest(n_rounds=12, leaf_documents=3),
    "xgboost": XGBoostRanker(n_rounds=12, leaves=5),
    "rankboost": RankBoost(n_rounds=12),
    "frank": FRank(n_rounds=12),
    "adarank_ndcg": AdaRankNDCG(n_rounds=12),
    "adarank_map": AdaRankMAP(n_rounds=12),
    "coordinate_ascent": CoordinateAscent(n_rounds=6, starts=6),
}
each = pytest.mark.parametrize("name", MODELS)


@pytest.fixture(scope="module")
def fold() -> Fold:
    return make_fold(n_queries=30, documents_per_query=(12, 30), n_features=8, seed=5)


def by_hand(name: str, n: int) -> Any:
    if name == "mart":
        return HistGradientBoostingRegressor(
            max_iter=n, max_leaf_nodes=6, min_samples_leaf=5, early_stopping=False, random_state=0
        )
    return RandomForestRegressor(n, max_features=0.3, min_samples_leaf=3, random_state=0)


@pytest.mark.parametrize("name", ["mart", "forest"])
def test_scores_are_those_of_scikit_learn_called_by_hand(name: str, fold: Fold) -> None:
    ours = MODELS[name].fit_data(fold.train)
    theirs = by_hand(name, ours.n_rounds).fit(fold.train.X, fold.train.y)
    for part in fold.parts.values():
        np.testing.assert_array_equal(ours.predict(part.X), theirs.predict(part.X))
    if name == "forest":
        np.testing.assert_allclose(ours.feature_importances_, theirs.feature_importances_)
    else:
        splits = np.concatenate([tree.nodes[tree.nodes["is_leaf"] == 0] for (tree,) in theirs._predictors])
        gains = np.bincount(splits["feature_idx"], splits["gain"], fold.train.n_features)
        np.testing.assert_allclose(ours.feature_importances_, gains / gains.sum())
    assert ours.feature_importances_.sum() == pytest.approx(1.0)


def test_mart_keeps_the_best_round_of_the_validation_part(fold: Fold) -> None:
    model = MART(n_rounds=200, leaves=6, leaf_documents=5, patience=8).fit_watching(fold.train, fold.vali)
    best = int(model.trace_["validation"][1:].idxmax())
    assert model.n_rounds_ == best == len(model.trace_) - 1 - 8
    theirs = by_hand("mart", best).fit(fold.train.X, fold.train.y)
    np.testing.assert_array_equal(model.predict(fold.test.X), theirs.predict(fold.test.X))


def test_a_forest_keeps_all_trees(fold: Fold) -> None:
    model = RandomForest(n_rounds=9, leaf_documents=3).fit_watching(fold.train, fold.vali)
    assert model.n_rounds_ == len(model.trees_.roots) == 9
    assert "validation" in model.trace_


@each
def test_the_score_after_each_round_is_measured(name: str, fold: Fold) -> None:
    """The last row of the trace is the score of the whole model."""
    model = MODELS[name].fit_data(fold.train)
    found = evaluate(model.predict(fold.train.X), fold.train, ties="mean", at=[10]).mean["NDCG@10"]
    assert found == pytest.approx(model.trace_["training"].iloc[-1], abs=1e-12)


GROWN = ["lambdamart", "mart", "forest", "xgboost"]


@pytest.mark.parametrize("more", [{}, {"leaf_documents": 10**6}], ids=["", "without splits"])
@pytest.mark.parametrize("name", GROWN)
def test_a_trace_that_nobody_read_during_training_is_measured_when_it_is_read(
    name: str, more: dict[str, int], fold: Fold, monkeypatch: pytest.MonkeyPatch
) -> None:
    if name == "xgboost":
        more = {"leaf_weight": 1e9} if more else {}
    seen = clone(MODELS[name]).set_params(**more).fit_data(fold.train, callback=lambda progress: None)
    model = clone(MODELS[name]).set_params(**more)
    with monkeypatch.context() as patched:
        patched.setattr(TopNDCG, "by_query", None)  # nothing is measured
        model.fit_data(fold.train)
    np.testing.assert_array_equal(model.predict(fold.test.X), seen.predict(fold.test.X))
    np.testing.assert_array_equal(model.feature_importances_, seen.feature_importances_)
    assert model.trace_.columns.tolist() == seen.trace_.columns.tolist()
    assert_frame_equal(model.trace_.drop(columns="seconds"), seen.trace_.drop(columns="seconds"))
    assert (model.status_, model.trace_ is model.trace_) == (seen.status_, True)


def test_stages_are_the_scores_of_the_first_trees(fold: Fold) -> None:
    X = fold.test.X
    for name in GROWN:
        model = clone(MODELS[name]).fit_data(fold.train)
        stages = [scores.copy() for scores in model.trees_.stages(X)]
        np.testing.assert_array_equal(stages[-1], model.predict(X))
        few = clone(MODELS[name]).set_params(n_rounds=4).fit_data(fold.train)
        np.testing.assert_array_equal(stages[4], few.predict(X))


@pytest.mark.parametrize("name", GROWN)
def test_changed_documents_do_not_change_a_trace_and_copies_do_not_keep_them(name: str, fold: Fold) -> None:
    expected = clone(MODELS[name]).fit_data(fold.train).trace_.drop(columns="seconds")
    X, grown = fold.train.X.copy(), (fold.train.y, fold.train.qid)
    model = clone(MODELS[name]).fit(X, grown[0], qid=grown[1])
    assert "trace_" not in vars(model)
    X[:] = 0.0
    again = copy.deepcopy(model)
    assert not any(isinstance(value, RankingData) for value in vars(again).values())
    assert_frame_equal(again.trace_.drop(columns="seconds"), expected)
    assert again.trace_.equals(model.trace_)
    trace = model.fit(X, grown[0], qid=grown[1]).trace_["training"]
    assert (trace == trace[0]).all()


@each
def test_stop_between_rounds_keeps_those_so_far(name: str, fold: Fold) -> None:
    model = MODELS[name]
    model.fit_data(fold.train, callback=lambda p: p.record is not None and p.record["iteration"] == 5)
    assert model.outcome().stopped
    assert model.n_rounds_ == len(model.trees_.roots) == 5
    assert "stopped on request after 5 rounds" in model.status_


@each
def test_a_file_gives_the_same_model(name: str, fold: Fold, tmp_path: Path) -> None:
    model = MODELS[name].fit(fold.train.X, fold.train.y, qid=fold.train.qid)
    path = save(model, tmp_path / "model.npz")
    again = load(path)
    np.testing.assert_array_equal(again.predict(fold.test.X), model.predict(fold.test.X))
    np.testing.assert_array_equal(again.feature_importances_, model.feature_importances_)
    assert again.get_params() == model.get_params()
    for fitted in ("status_", "n_rounds_", "memory_need_"):
        assert getattr(again, fitted) == getattr(model, fitted)
    assert again.trace_.equals(model.trace_)
    arrays = read_npz(path, "model")[1]
    assert ("lightgbm" in arrays) == (name == "lambdamart")
    if name == "lambdamart":
        theirs = lightgbm.Booster(model_str=arrays["lightgbm"].tobytes().decode())
        np.testing.assert_array_equal(theirs.predict(fold.test.X), model.predict(fold.test.X))


def cut(arrays: Arrays) -> Arrays:
    return {name: array[: len(array) // 2] for name, array in arrays.items()}


def cycle(arrays: Arrays) -> Arrays:
    """Make the first split its own child."""
    inner = int(np.flatnonzero(arrays["trees_feature"] >= 0)[0])
    left = arrays["trees_left"].copy()
    left[inner] = inner
    return arrays | {"trees_left": left}


def far(arrays: Arrays) -> Arrays:
    return arrays | {"trees_feature": arrays["trees_feature"] + 100.0}


def infinite(arrays: Arrays) -> Arrays:
    return arrays | {"trees_value": arrays["trees_value"] * np.inf}


@pytest.mark.parametrize("damage", [cut, cycle, far, infinite, lambda arrays: {}])
@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
def test_a_damaged_file_gives_an_error(damage: Any, fold: Fold, tmp_path: Path) -> None:
    path = save(MODELS["mart"].fit_data(fold.train), tmp_path / "model.npz")
    meta, arrays = read_npz(path, "model")
    write_npz(path, meta, damage(arrays))
    with pytest.raises(DataError, match="not a readable model"):
        load(path)


def test_a_text_of_lightgbm_that_is_damaged_or_too_long_gives_an_error(
    fold: Fold, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = save(MODELS["lambdamart"].fit_data(fold.train), tmp_path / "model.npz")
    meta, arrays = read_npz(path, "model")
    for text in (
        arrays["lightgbm"][:2000],
        arrays["lightgbm"].astype(np.float64),
        np.frombuffer(b"x", np.uint8),
    ):
        write_npz(path, meta, arrays | {"lightgbm": text})
        with pytest.raises(DataError, match="not a readable model"):
            load(path)
    write_npz(path, meta, arrays)
    monkeypatch.setattr("rankviz.models.lambdamart.MOST_TEXT", 2000)
    with pytest.raises(DataError, match="text is no text of at most 2,000 bytes"):
        load(path)


@each
def test_a_record_has_the_whole_model_and_refits_keep_its_rounds(name: str, fold: Fold) -> None:
    settings = {"n_rounds": 20} | ({} if name == "forest" else {"patience": 4})
    record = execute(RunSpec("demo", method=name, **settings), fold=fold)
    record = RunRecord.from_bytes(record.to_bytes())
    model = model_from(record, fold.train)
    np.testing.assert_array_equal(model.predict(fold.test.X), record.scores["test"])
    again = refits_of(model, fold.train).refit([]).model
    np.testing.assert_array_equal(again.predict(fold.test.X), record.scores["test"])
    out = DocumentOut(fold.train.query_labels[0], fold.train.rows[0])
    assert refits_of(model, fold.train).refit([out]).model.n_rounds_ == model.n_rounds_


@pytest.mark.parametrize("name", ["lambdamart", "mart", "forest", "xgboost"])
def test_the_version_of_the_library_is_kept_and_compared(
    name: str, fold: Fold, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = METHODS[name].make.library
    if name == "xgboost":
        pytest.importorskip("xgboost")
    record = execute(RunSpec("demo", method=name, n_rounds=3), fold=fold)
    assert record.versions[library] == library_version(library) != ""
    run = record.save(tmp_path / "run.npz")
    model = save(model_from(record, fold.train), tmp_path / "model.npz")
    assert RunRecord.load(run).versions == record.versions  # the same version: a warning would be an error
    assert load(model).library_ == record.versions[library]
    for version, said in (("0.0.1", f"{library} 0.0.1 is installed"), ("", f"{library} is not installed")):
        monkeypatch.setattr("rankviz.models.rounds.library_version", lambda package, v=version: v)
        with pytest.warns(DataWarning, match=said):
            RunRecord.load(run)
        with pytest.warns(DataWarning, match=said):
            assert load(model).library_ == record.versions[library]


@each
def test_tables_of_figures(name: str, fold: Fold) -> None:
    settings = {"n_rounds": 20} | ({} if name == "forest" else {"patience": 4})
    record = execute(RunSpec("demo", method=name, **settings), fold=fold)
    table = rounds_data([record])
    for part in ("training", "validation"):
        rows = table[table["part"] == part]
        assert rows["NDCG@10"].tolist() == record.trace[part].tolist()
        assert rows.loc[rows["kept"], "round"].tolist() == [len(record.solution["trees_roots"])]
    assert len(rounds_figure(table).data) == 4
    column, what = objective_of(record)
    assert column == type(MODELS[name]).traced[0]
    if name == "mart":
        lowered = lowered_data([record])[what]
        error = np.square(fold.train.y - record.scores["train"]).mean()
        assert lowered[len(record.solution["trees_roots"])] == pytest.approx(error)
        assert lowered[0] == pytest.approx(fold.train.y.var())
        assert (lowered.diff()[1:] < 0).all()
    shares = importance_data(record, [f"f{k}" for k in range(8)])
    assert shares["share"].is_monotonic_decreasing
    assert shares["share"].sum() == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("name", "words"),
    [("lambdamart", "LambdaMART needs LightGBM, which"), ("xgboost", "LambdaMART needs XGBoost, which")],
)
def test_a_missing_library_is_named(name, words, fold, monkeypatch):
    monkeypatch.setitem(sys.modules, MODELS[name].library, None)
    with pytest.raises(SettingError, match=f"{words} does not load here"):
        clone(MODELS[name]).fit_data(fold.train)


def test_more_memory_than_is_free_is_refused_before_training(
    fold: Fold, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rankviz.models.rounds.default_budget", lambda: 1000.0)
    with pytest.raises(DataError, match="needs about"):
        LambdaMART().fit_data(fold.train)


@pytest.mark.parametrize("damage", [cut, far, lambda arrays: {}])
def test_a_record_with_damaged_trees_is_refused(damage: Any, fold: Fold) -> None:
    record = execute(RunSpec("demo", method="mart", n_rounds=3), fold=fold)
    damaged = replace(record, solution=damage(record.solution))
    with pytest.raises(DataError, match="not a readable run record"):
        RunRecord.from_bytes(damaged.to_bytes())
