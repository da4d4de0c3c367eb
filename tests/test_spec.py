"""RunSpec: a value that survives JSON, and whose hash is that of its text."""

import copy
import dataclasses
import hashlib
import json
import pickle

import numpy as np
import pytest
from conftest_runs import EVERY, SPEC, others

from rankviz import RankSVM, RunSpec
from rankviz.common.errors import SettingError
from rankviz.runs.run import model_of

SPECS = [
    RunSpec("demo"),
    SPEC,
    RunSpec(
        "OHSUMED",
        "Fold3",
        "00ff",
        "query_minmax",
        feature_map="fourier",
        n_components=1,
        C=1e-300,
        gamma=1e300,
        seed=2**70,
        tol=0.5,
    ),
    RunSpec('name with "quotes", √ and \\', rank=4),
    SPEC.linear(2.0),
    SPEC.but(gamma="scale"),
    SPEC.factorized(3, 0.5),
    SPEC.linear(2.0).regularized(0.5, 3.0, 0.25, solver="alternating"),
    SPEC.but(share=0.25, flipped=0.1, draw=3),
]


@pytest.mark.parametrize("spec", SPECS)
def test_json_round_trip(spec: RunSpec) -> None:
    again = RunSpec.from_json(spec.to_json())
    assert again == spec
    assert again.to_json() == spec.to_json()
    assert again.hash == spec.hash
    assert RunSpec.from_dict(spec.to_dict()) == spec
    written = json.loads(spec.to_json())
    assert list(written) == ["data", "method", "settings"]
    assert list(written["data"]) == sorted(
        ["dataset", "digest", "fold", "normalisation", *spec.sample.values]
    )
    assert list(written["settings"]) == sorted(spec.values) == [name for name, _ in spec.settings]


def test_hash_is_that_of_the_sorted_text() -> None:
    text = json.dumps(SPEC.to_dict(), sort_keys=True)
    assert SPEC.hash == hashlib.blake2b(text.encode(), digest_size=8).hexdigest()
    assert RunSpec.from_json(SPEC.to_json()).hash == SPEC.hash


def test_equal_specs_have_equal_text_and_others_other_hashes() -> None:
    whole = RunSpec("a", C=1, gamma=2, tol=1, n_components=np.int64(5), seed=np.int32(2), rank=np.int64(3))
    plain = RunSpec("a", C=1.0, gamma=np.float64(2), tol=np.float32(1), n_components=5, seed=2, rank=3)
    assert whole == plain
    assert whole.to_json() == plain.to_json()
    assert all(other.to_json() != plain.to_json() for other in others(plain).values())
    assert len({plain.hash, *(other.hash for other in others(plain).values())}) == 1 + len(others(plain))
    for spec in (plain.factorized(3, 0.5), plain.regularized(1.0, 2.0, 0.5), plain.exact(), *EVERY):
        assert len({spec.hash, *(other.hash for other in others(spec).values())}) == 1 + len(others(spec))


WHOLE = {"data": {"dataset": "a"}, "method": "ranksvm", "settings": {}}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        *(({name: None}, "JSON objects") for name in ("data", "settings")),
        *(({"method": v}, "method=") for v in (None, 3, "x", ["ranksvm"])),
        ({"more": 1}, "more"),
        ({"data": {}}, "dataset"),
        ({"data": {"dataset": "a", "part": "b"}}, "dataset, fold, digest, normalisation"),
        *(({"data": {"dataset": "a", "fold": v}}, "fold=") for v in (None, 3, ["b"])),
        *(({"settings": {name: "x"}}, name) for name in ("dataset", "method", "data", "self", "nonsense")),
        ({"settings": {"feature_map": "linear", "gamma": 0.5}}, "gamma"),
        ({"settings": {"factors": 3}}, "factors"),
        *(({"settings": {"C": v}}, "C=") for v in ("1", None, True, 0, -1.0, [1.0], 10**400, -(10**400))),
        *(({"settings": {"n_components": v}}, "n_components") for v in (2.0, "5", None, False)),
        *(({"settings": {"rank": v}}, "rank") for v in (2.0, "5", True)),
        *(({"settings": {"costs": v}}, "costs") for v in (1, {}, [[1.0], ["a"]], [1, 2])),
        *(({"settings": {"feature_map": v}}, "feature_map") for v in (None, 1, {})),
        *(({"data": {"dataset": v}}, "dataset=") for v in (None, 3, ["a"], True)),
    ],
)
def test_other_objects_are_refused_by_what_is_amiss(change: dict[str, object], words: str) -> None:
    assert RunSpec.from_dict(WHOLE) == RunSpec("a")
    with pytest.raises(ValueError, match=words):
        RunSpec.from_dict(WHOLE | change)
    with pytest.raises(ValueError, match=words):
        RunSpec.from_json(json.dumps(WHOLE | change))


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "3", "null", '"a"', '{"dataset": "a", "C": NaN}', '{"dataset": "a", "gamma": 1e400}'],
)
def test_other_texts_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        RunSpec.from_json(text)


def test_settings_may_be_left_out_and_null() -> None:
    text = '{"data": {"dataset": "a"}, "method": "ranksvm", "settings": {"C": 2, "rank": null}}'
    assert RunSpec.from_json(text) == RunSpec("a", C=2.0)


@pytest.mark.parametrize("values", [{}, {"dataset": "a"}, {"dataset": "a", "C": 2.0, "gamma": 1.0}])
def test_a_flat_spec_is_refused(values: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="needs data, method and settings; this one has"):
        RunSpec.from_dict(values)


def test_costs_are_the_same_value_however_they_are_written() -> None:
    table = [[0, 0], [1, 0]]
    specs = (
        RunSpec("a", costs=table),
        RunSpec("a", costs=np.array(table)),
        RunSpec("a", costs=((0, 0), (1, 0))),
    )
    assert len(set(specs)) == len({spec.hash for spec in specs}) == 1
    both = RunSpec("a", costs=["query", table])
    for spec in (*specs, both, RunSpec("a", costs="slack"), RunSpec("a")):
        assert RunSpec.from_json(spec.to_json()) == spec
    assert both.costs == ("query", specs[0].costs)


def test_frozen_and_hashable() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        SPEC.C = 1.0
    with pytest.raises(dataclasses.FrozenInstanceError):
        SPEC.method = "factorized"
    for again in (SPEC.but(), copy.copy(SPEC), copy.deepcopy(SPEC), eval(repr(SPEC))):
        assert len({SPEC, again, SPEC.linear(1.0)}) == 2
        assert again.values == SPEC.values


def test_the_linear_baseline_depends_on_data_and_c_only() -> None:
    nystroem = SPEC.but(n_components=7, gamma=9.0, rank=3, seed=8, landmarks="kmeans++")
    fourier = SPEC.but(feature_map="fourier", n_components=7, gamma=9.0, seed=8, frequencies="orthogonal")
    for other in (nystroem, fourier, SPEC.exact(), SPEC.factorized(3, 2.0), SPEC.regularized(1.0, 2.0, 2.0)):
        assert other.linear(0.5) == SPEC.linear(0.5)
    assert SPEC.linear(0.5).C == 0.5
    assert model_of(SPEC.linear(0.5)).get_params()["feature_map"] == "linear"


def test_every_setting_is_a_parameter_of_the_model_or_changes_the_way_only() -> None:
    specs = [SPEC.but(feature_map=name) for name in ("nystroem", "fourier", "linear", "exact")]
    specs += [spec.but(method=method) for spec in specs for method in ("factorized", "regularized")]
    for spec in specs:
        params, declared = model_of(spec).get_params(), spec.declared()
        given = {s.parameter: spec.values[name] for name, s in declared.items() if s.parameter is not None}
        assert given == {name: params[name] for name in given}
        left = {name for name, s in declared.items() if s.parameter is None}
        assert left == ({"start"} if spec.method == "ranksvm" else set())
        plain = type(model_of(spec))().get_params()
        assert all(params[name] == plain[name] for name in set(params) - set(given))
    assert model_of(SPEC).get_params()["random_state"] == 3
    assert model_of(SPEC).get_params()["max_iter"] is RankSVM().max_iter


def test_a_run_has_only_what_it_reads() -> None:
    linear = SPEC.linear(1.0)
    for name in ("gamma", "n_components", "seed", "rank", "landmarks", "frequencies", "factors"):
        assert name not in linear
        assert linear.get(name, "nothing") == "nothing"
        assert linear.option(name) is None
        with pytest.raises(AttributeError, match=f"no setting '{name}'; it has C"):
            getattr(linear, name)
        with pytest.raises(SettingError, match=f"'{name}' is not a setting of RankSVM"):
            RunSpec("demo", feature_map="linear", **{name: 1})
        with pytest.raises(SettingError, match=f"'{name}' is not a setting of RankSVM"):
            linear.but(**{name: 1})


def test_a_changed_run_keeps_what_it_still_reads_and_drops_the_rest() -> None:
    spec = SPEC.but(rank=5, landmarks="kmeans++", loss="huber", solver="lbfgs", tol=0.5)
    fourier = spec.but(feature_map="fourier")
    assert (fourier.n_components, fourier.gamma, fourier.seed, fourier.loss) == (25, 0.5, 3, "huber")
    assert (fourier.solver, fourier.tol, fourier.frequencies) == ("lbfgs", 0.5, "gaussian")
    assert not {"rank", "landmarks"} & set(fourier.values)
    assert "preconditioner" not in spec
    assert spec.but(solver="newton").preconditioner == "auto"
    low = spec.but(method="factorized", factors=2)
    assert (low.n_components, low.gamma, low.seed, low.landmarks, low.C) == (25, 0.5, 3, "kmeans++", 0.25)
    assert (low.solver, low.tol) == ("lbfgs", 1e-3)  # its own solver and tolerance, at their defaults
    assert not {"rank", "loss", "costs", "start"} & set(low.values)
    back = low.but(method="ranksvm")
    assert (back.solver, back.tol, back.loss, back.rank) == ("newton", 1e-6, "squared_hinge", None)


def test_a_problem_is_what_is_minimised_however_that_is_done() -> None:
    ways = {"solver": "lbfgs", "tol": 0.5, "start": "zero"}
    for name, value in ways.items():
        assert SPEC.but(**{name: value}).problem == SPEC.problem
        assert SPEC.but(**{name: value}) != SPEC
    assert SPEC.but(preconditioner="none").problem == SPEC.problem
    assert SPEC.but(**ways).reference(1e-9) == SPEC.but(tol=1e-9)
    for spec in EVERY:
        for name in others(spec).keys() - {"solver", "tol", "start", "preconditioner"}:
            assert others(spec)[name].problem != spec.problem, name
    slow = SPEC.regularized(1.0, 2.0, 0.5, solver="alternating")
    assert slow.problem == slow.reference(1e-4).problem
    assert slow.reference(1e-4) == SPEC.regularized(1.0, 2.0, 0.5).but(tol=1e-4)


@pytest.mark.parametrize("name", ["half of a pair: \ud800", "x" * 1001, 3])
def test_names_of_data_can_be_stored_and_shown(name: object) -> None:
    with pytest.raises(SettingError, match="must be a short text"):
        RunSpec(name)  # type: ignore[arg-type]


def test_a_normalisation_that_does_not_exist_is_refused_before_a_page_looks_it_up() -> None:
    with pytest.raises(SettingError, match="there is no normalisation 'nonf'; there are none, "):
        RunSpec("demo", normalisation="nonf")


def test_a_spec_travels_to_another_process_after_its_settings_were_asked_for() -> None:
    spec = RunSpec("OHSUMED", feature_map="nystroem")
    before = pickle.dumps(spec)
    assert spec.declared() is spec.declared()
    assert pickle.dumps(spec) == before


def test_a_change_is_checked_like_a_setting_of_a_new_run() -> None:
    before = RunSpec("toy", feature_map="nystroem", n_components=50)
    with pytest.raises(SettingError, match="C"):
        before.but(C=-1.0)
    with pytest.raises(SettingError, match="n_components"):
        before.but(n_components="many", C=2.0)
    after = before.but(C=2, n_components=np.int64(100))
    assert after == RunSpec("toy", feature_map="nystroem", n_components=100, C=2.0)
    assert [type(after.get(name)) for name in ("C", "n_components")] == [float, int]
    assert after.values == RunSpec("toy", feature_map="nystroem", n_components=100, C=2.0).values
    assert after.declared() == before.declared()
