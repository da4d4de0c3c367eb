"""Test that fitted models have what methods declare, and that settings reach the estimator."""

import dataclasses
import inspect
import itertools
import re
from pathlib import Path

import numpy as np
import pytest
import strangers

import rankviz
from rankviz import Fold, RunRecord, RunSpec, execute
from rankviz.common.errors import SettingError
from rankviz.common.progress import Progress
from rankviz.common.settings import every
from rankviz.features import FEATURE_MAPS
from rankviz.features.registry import FEATURE_MAP
from rankviz.learning.objective import TraceRow
from rankviz.models.methods import METHODS, USUAL, WORDS, Capabilities
from rankviz.runs.estimate import Shape, estimate
from rankviz.runs.families import families
from rankviz.runs.run import model_from, model_of
from rankviz.shards import Here
from rankviz.whatif.refits import PlainRefits, refits_of

OWN_DEFAULTS = {"feature_map": "linear", "gamma": "scale"}
"""Estimators are linear where nothing is said, and have scikit-learn's γ; runs start from the paper's map."""

STRANGERS = {"mean": strangers.RANKER, "scaled": strangers.SCALED_MEAN, "listnet": strangers.LISTNET}
"""Methods without C, without a feature map, or without either: what is true of all methods is of these."""

TRAINED = [name for name, method in METHODS.items() if method.trains]
ON_MAPS = [name for name, method in METHODS.items() if FEATURE_MAP in method.settings]
COMBINATIONS = list(itertools.product(ON_MAPS, FEATURE_MAPS))
each = pytest.mark.parametrize(("method", "feature_map"), COMBINATIONS)


@pytest.fixture(scope="module")
def records(fold: Fold) -> dict[tuple[str, str], RunRecord]:
    return {pair: execute(spec_of(*pair), fold=fold) for pair in COMBINATIONS}


@pytest.fixture(autouse=True)
def entered(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, method in STRANGERS.items():
        monkeypatch.setitem(METHODS, name, method)


def spec_of(method: str, feature_map: str = "", **settings: object) -> RunSpec:
    """A small run of a method, with those of these settings that it has."""
    spec = RunSpec("demo", method=method)
    if feature_map:
        spec = spec.but(feature_map=feature_map)
    usual = {"C": 0.05, "n_components": 12}
    return spec.but(**{name: value for name, value in usual.items() if name in spec}, **settings)


@each
def test_what_is_offered_is_there(
    method: str, feature_map: str, records: dict[tuple[str, str], RunRecord], fold: Fold
) -> None:
    record, offers = records[method, feature_map], spec_of(method, feature_map).offers
    model = model_from(record, fold.train)
    scores = record.scores["test"]
    assert offers.weights
    features = model.feature_map_.operator(fold.test.X)
    np.testing.assert_allclose(features.product(record.weights), scores, rtol=1e-9, atol=1e-10)
    assert len(record.weights) == record.n_components > 0
    linear = len(record.weights) == fold.train.n_features and np.allclose(
        fold.test.X @ record.weights, scores, rtol=1e-9, atol=1e-10
    )
    assert offers.input_weights == linear
    assert offers.trace == (len(record.trace) > 0)
    assert {"iteration", "seconds", *(["objective"] if offers.objective else [])} <= set(record.trace.columns)
    assert offers.objective == np.isfinite(record.objective)
    assert offers.pair_objective <= offers.objective


@each
def test_duals_make_the_scores(
    method: str, feature_map: str, records: dict[tuple[str, str], RunRecord], fold: Fold
) -> None:
    if not spec_of(method, feature_map).offers.duals:
        with pytest.raises(ValueError, match="are not known"):
            rankviz.duals(execute_model(method, feature_map, fold), fold.train)
        return
    duals = rankviz.duals(execute_model(method, feature_map, fold), fold.train)
    weights = duals.document_weights()
    assert weights.shape == (fold.train.n_documents,)
    features = model_from(records[method, feature_map], fold.train).feature_map_.operator(fold.train.X)
    made = features.product(features.adjoint(weights))
    scores = records[method, feature_map].scores["train"]
    np.testing.assert_allclose(made, scores, atol=2e-2 * float(np.abs(scores).max()))


def execute_model(method: str, feature_map: str, fold: Fold) -> object:
    return model_of(spec_of(method, feature_map)).fit_data(fold.train)


@each
def test_m_is_there_to_choose_where_it_is_offered(
    method: str, feature_map: str, records: dict[tuple[str, str], RunRecord], fold: Fold
) -> None:
    offers = spec_of(method, feature_map).offers
    assert offers.components == ("n_components" in spec_of(method, feature_map))
    if offers.components:
        fewer = execute(spec_of(method, feature_map).but(n_components=5), fold=fold)
        assert (records[method, feature_map].n_components, fewer.n_components) == (12, 5)


@each
def test_a_seed_decides_something_where_that_is_offered(
    method: str, feature_map: str, records: dict[tuple[str, str], RunRecord], fold: Fold
) -> None:
    spec = spec_of(method, feature_map)
    assert spec.offers.random == ("seed" in spec)
    if spec.offers.random:
        loose = spec.but(C=5.0, **({"gamma": 1.0} if "gamma" in spec else {}))  # not every α at its ceiling
        one, again, other = (execute(loose.but(seed=seed), fold=fold).scores["test"] for seed in (1, 1, 2))
        np.testing.assert_array_equal(one, again)
        assert not np.allclose(one, other, rtol=0.0, atol=1e-9)
    else:
        model = model_of(spec).set_params(random_state=7).fit_watching(fold.train, fold.vali)
        scores = records[method, feature_map].scores["test"]
        np.testing.assert_allclose(model.predict(fold.test.X), scores, atol=1e-4)


@each
def test_an_expansion_is_offered_for_kernels_with_documents_behind_them(
    method: str, feature_map: str, fold: Fold
) -> None:
    offers, kind = spec_of(method, feature_map).offers, FEATURE_MAPS[feature_map]
    assert offers.expansion == kind.expands
    fitted = execute_model(method, feature_map, fold).feature_map_
    assert offers.expansion == any(hasattr(fitted, name) for name in ("landmarks", "documents"))


@pytest.mark.parametrize("method", [*TRAINED, *STRANGERS])
def test_queries_have_weights_and_refits_go_on_where_that_is_offered(method: str, fold: Fold) -> None:
    spec = spec_of(method)
    weights = np.full(fold.train.n_queries, 2.0)
    if spec.offers.query_weights:
        model_of(spec).fit_weighted(fold.train, weights)
    else:
        with pytest.raises(SettingError, match=r"no sample_weight.*repeat queries"):
            model_of(spec).fit_weighted(fold.train, weights)
    refits = refits_of(model_of(spec).fit_data(fold.train), fold.train)
    assert spec.offers.refits is not isinstance(refits, PlainRefits)


def test_every_offer_has_words_and_none_is_the_default() -> None:
    assert set(WORDS) == {field.name for field in dataclasses.fields(Capabilities)}
    assert Capabilities().lacks(*WORDS) == list(WORDS)
    assert Capabilities(trace=True, duals=True).lacks("duals", "trace", "weights") == ["weights"]


@pytest.mark.parametrize("method", [*METHODS, *STRANGERS])
def test_defaults_of_settings_are_those_of_the_estimator(method: str) -> None:
    parameters = inspect.signature(METHODS[method].make).parameters
    settings = [s for s in every(METHODS[method].settings) if s not in METHODS[method].left_out]
    for setting in settings:
        if setting.parameter is not None:
            default = OWN_DEFAULTS.get(setting.parameter, setting.default)
            assert parameters[setting.parameter].default == default
    unsaid = set(parameters) - {setting.parameter for setting in settings}
    assert all(parameters[name].default is not inspect.Parameter.empty for name in unsaid)


@each
def test_the_model_gets_every_parameter(method: str, feature_map: str) -> None:
    spec = spec_of(method, feature_map)
    changed = {name: another(spec, name) for name in spec.values if name != "feature_map"}
    for name, value in changed.items():
        one = spec.but(**{name: value})
        parameter = one.declared()[name].parameter
        if parameter is None:
            assert model_of(one).get_params() == model_of(spec).get_params()
            continue
        assert model_of(one).get_params()[parameter] == one.values[name] != spec.values[name]


def another(spec: RunSpec, name: str) -> object:
    """A value of a setting that it has not and that goes with the others."""
    setting, value = spec.declared()[name], spec.values[name]
    if name == "costs":
        return "grade"
    if not setting.options:
        return (value if isinstance(value, int | float) else 1) + 1
    for option in setting.options:
        try:
            model_of(spec.but(**{name: option}))
        except SettingError:
            continue
        if option != value:
            return option
    pytest.fail(f"{name} has one value only")


def test_the_usual_method_is_the_first() -> None:
    assert next(iter(METHODS)) == USUAL == RunSpec("demo").method == "ranksvm"
    assert all(method.label for method in METHODS.values())


@pytest.mark.parametrize("method", [*METHODS, *STRANGERS])
def test_what_is_not_known_is_refused_by_name(method: str) -> None:
    spec = RunSpec("demo", method=method)
    with pytest.raises(SettingError, match=r"method='x' is not known; choose one of 'ranksvm', 'factorized'"):
        spec.but(method="x")
    with pytest.raises(SettingError, match=r"'depth' is not a setting of .*; it has "):
        spec.but(depth=3)
    for name, setting in spec.declared().items():
        if setting.options:
            with pytest.raises(SettingError, match=f"{name}='x' is not known; choose one of"):
                spec.but(**{name: "x"})


def test_settings_that_do_not_go_together_are_refused_before_training() -> None:
    for change, words in (
        ({"loss": "hinge", "solver": "lbfgs"}, "choose solver='newton'"),
        ({"feature_map": "fourier", "kernel": "polynomial"}, "choose kernel="),
    ):
        with pytest.raises(SettingError, match=words):
            model_of(RunSpec("demo", **change))
    with pytest.raises(SettingError, match="choose kernel="):
        model_of(RunSpec("demo", method="factorized", feature_map="fourier", kernel="polynomial"))


@each
def test_runs_that_share_say_in_what_they_may_differ(method: str, feature_map: str) -> None:
    spec = spec_of(method, feature_map)
    varying = spec.kind.varying(spec.values)
    assert varying <= set(spec.values)
    for name in spec.values:
        if name != "feature_map":
            together = len(families([spec, spec.but(**{name: another(spec, name)})])) == 1
            assert together == (name in varying)


def by_solver(method: str, feature_map: str) -> list[RunSpec]:
    spec = spec_of(method, feature_map)
    setting = spec.declared().get("solver")
    return [spec] if setting is None else [spec.but(solver=solver) for solver in setting.options]


@each
def test_costs_are_declared_and_not_guessed(method: str, feature_map: str, fold: Fold) -> None:
    for spec in by_solver(method, feature_map):
        shape = Shape.of(fold)
        work = spec.kind.work(spec.values, shape.sizes(shape.training(spec)))
        assert not work.guess
        assert work.products > 0
        assert estimate(spec, fold).stages["newton"] > 0


@each
def test_what_is_predicted_is_built(
    method: str, feature_map: str, fold: Fold, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The estimate counts a preconditioner exactly if one is built."""
    from rankviz.learning.feature_space import RankObjective

    built: list[object] = []
    build = RankObjective.preconditioner
    monkeypatch.setattr(RankObjective, "preconditioner", lambda *a: built.append(a) or build(*a))
    for spec in by_solver(method, feature_map):
        shape = Shape.of(fold)
        built.clear()
        execute(spec, fold=fold)
        work = spec.kind.work(spec.values, shape.sizes(shape.training(spec)))
        assert work.preconditioned >= bool(built)


def test_traces_of_the_usual_method_have_all_columns(records: dict[tuple[str, str], RunRecord]) -> None:
    for feature_map in FEATURE_MAPS:
        assert list(records[USUAL, feature_map].trace.columns) == list(TraceRow.__annotations__)


LOSSES_OF_METHODS = {
    "svmmap": {"loss": "svmmap", "solver": "cutting_planes", "tol": 1e-9},
    "ordinal": {"loss": "ordinal", "solver": "lbfgs", "tol": 1e-12},
}
"""Methods that are losses of RankSVM, with a solver of several steps."""


def linear_run(name: str) -> RunSpec:
    """A run of a method, or of RankSVM with the loss of that name, on the linear map where it has maps."""
    settings = LOSSES_OF_METHODS.get(name, {})
    spec = spec_of(USUAL if settings else name)
    spec = spec.but(feature_map="linear") if "feature_map" in spec else spec
    return spec.but(C=4.0, **settings) if settings else spec


@pytest.mark.parametrize("name", [*TRAINED, *LOSSES_OF_METHODS])
def test_a_stop_after_two_rows_keeps_a_whole_record(name: str, fold: Fold, tmp_path: Path) -> None:
    def stop(progress: Progress) -> bool:
        row = getattr(progress.record, "iteration", None)  # a row of a trace, or a mapping
        return (row if row is not None else dict(progress.record or {}).get("iteration", 0)) >= 2

    record = execute(linear_run(name), stop, fold=fold)
    again = RunRecord.load(record.save(tmp_path / "run.npz"))
    assert again.stopped is record.stopped
    if len(record.trace) > 4:
        assert record.stopped
    assert set(again.scores) == {"train", "vali", "test"}


@pytest.mark.parametrize("name", [*TRAINED, *LOSSES_OF_METHODS])
def test_shards_are_for_losses_by_query_or_refused_in_a_sentence(name: str, fold: Fold) -> None:
    spec = linear_run(name)
    if name in (USUAL, "svmmap"):
        whole, parts = execute(spec, fold=fold), execute(spec, fold=fold, where=Here(2))
        assert parts.objective == pytest.approx(whole.objective, rel=1e-5)
        return
    said = re.escape(f"{METHODS.get(name, METHODS[USUAL]).label} cannot be trained in shards here")
    with pytest.raises(SettingError, match="intercept common to all queries" if name == "ordinal" else said):
        execute(spec, fold=fold, where=Here(2))
