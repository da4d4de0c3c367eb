"""Refits after changes of training data, against fits from zero on the changed data with the same map."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from naive_ranking import problem, qid_of
from sklearn.base import clone

from rankviz import DataError, FactorizedRankSVM, RankingData, RankSVM, load, save
from rankviz.common.errors import SettingError
from rankviz.datasets.parts import documents_digest
from rankviz.features import exact
from rankviz.learning.feature_space import RankObjective
from rankviz.learning.losses import LOSSES
from rankviz.learning.pairs import pair_costs
from rankviz.learning.risk import adapted_risk
from rankviz.learning.solvers import SOLVERS, USUAL, SolverSettings
from rankviz.learning.sorted_risk import risk_of
from rankviz.whatif.changes import (
    Change,
    DocumentAdded,
    DocumentOut,
    FeatureOff,
    FeatureSet,
    GradeSet,
    OnlyQueries,
    OtherDraw,
    QueryOut,
    QueryWeighed,
    SomeQueries,
    WrongGrades,
    changed,
    weights_asked,
)
from rankviz.whatif.refits import Refit, refits_of, with_feature_off, with_grades, with_only, without_query

X, Y, PTR = problem(n_queries=12)
DATA = RankingData.from_arrays(X, Y, qid_of(PTR))
QUERY = DATA.query_labels[3]
FIRST = int(DATA.ptr[3])
ANY = 0.1 * np.arange(X.shape[1])
CHANGES: dict[str, list[Change]] = {
    "query out": [QueryOut(QUERY)],
    "query weight": [QueryWeighed(QUERY, 10.0), QueryWeighed(DATA.query_labels[5], 0.5)],
    "some queries": [OnlyQueries(tuple(DATA.query_labels[:7]))],
    "half of the queries": [SomeQueries(0.5, 1)],
    "wrong grades": [WrongGrades(0.1, 2)],
    "other draw": [OtherDraw(1)],
    "other draw of other data": [OtherDraw(1), FeatureOff(2), GradeSet(QUERY, FIRST, 2), SomeQueries(0.5)],
    "document out": [DocumentOut(QUERY, FIRST + 1)],
    "grade": [GradeSet(QUERY, FIRST, 2 - int(Y[FIRST]) // 2 * 2), GradeSet(QUERY, FIRST + 1, 1)],
    "feature value": [FeatureSet(QUERY, FIRST, 1, 0.7)],
    "feature off": [FeatureOff(2)],
    "document added": [DocumentAdded(QUERY, 10_000, tuple(ANY), 2)],
    "all of it": [
        FeatureOff(0),
        DocumentAdded(QUERY, 10_000, tuple(ANY), 2),
        GradeSet(QUERY, 10_000, 1),
        QueryOut(DATA.query_labels[0]),
        DocumentOut(QUERY, FIRST),
    ],
}
OTHER_MAPS = ("feature off", "all of it", "other draw", "other draw of other data")
MAPS: dict[str, dict[str, object]] = {
    "linear": {},
    "nystroem": {"n_components": 30, "gamma": 0.2},
    "fourier": {"n_components": 30, "gamma": "scale"},
    "exact": {"gamma": 0.2},
    "truncated": {"feature_map": "nystroem", "n_components": 30, "rank": 10, "gamma": 0.2},
    "polynomial": {"feature_map": "exact", "kernel": "polynomial", "gamma": 0.2},
}
TOL = 1e-9

each_map = pytest.mark.parametrize("name", MAPS)
FEW = ("half of the queries", "other draw of other data", "document added", "all of it")
each_change = pytest.mark.parametrize("change", CHANGES)


def fitted(name: str, data: RankingData = DATA, **settings: object) -> RankSVM:
    return RankSVM(**{"feature_map": name, "C": 0.1} | MAPS[name] | settings).fit_data(data)


def from_zero(model: RankSVM, data: RankingData, C: float = 0.1) -> tuple[float, np.ndarray]:
    """Objective and scores of the usual solver from zero, with Φ of all documents computed anew."""
    features = model.feature_map_.operator(data.X)
    costs = pair_costs(model.costs, data.y, data.ptr)
    if model.query_weights_ is not None:
        costs = costs.weighed(model.query_weights_)
    risk = adapted_risk(risk_of(data.y, data.ptr, LOSSES[model.loss].surrogate(), costs), C)
    settings = SolverSettings(LOSSES[model.loss], TOL, None, True, 0)
    point = SOLVERS[USUAL].make(settings).solve(RankObjective(features, risk, C)).point
    return point.value, point.scores


def same_model(refit: Refit, value: float, scores: np.ndarray) -> None:
    rel = 2 * max(TOL, refit.model.tol)
    assert refit.model.outcome().objective == pytest.approx(value, rel=rel)
    np.testing.assert_allclose(refit.scores, scores, atol=1e-3 * np.ptp(scores))
    np.testing.assert_allclose(refit.scores, refit.model.predict(refit.data.X), atol=1e-9)


@each_map
@each_change
def test_ends_where_a_fit_from_zero_does(name: str, change: str) -> None:
    refits = refits_of(fitted(name), DATA)
    after = refits.refit(CHANGES[change])
    assert after.data.digest == changed(DATA, CHANGES[change]).digest
    same_model(after, *from_zero(after.model, after.data))


@pytest.mark.parametrize("costs", [None, "grade_query", "margin"])
@pytest.mark.parametrize("loss", LOSSES)
def test_with_every_loss_and_costs(loss: str, costs: str | None) -> None:
    after = refits_of(fitted("nystroem", loss=loss, costs=costs), DATA).refit(CHANGES["all of it"])
    same_model(after, *from_zero(after.model, after.data))


@pytest.mark.parametrize("change", FEW)
def test_in_the_space_of_an_exact_kernel(change: str, monkeypatch: pytest.MonkeyPatch) -> None:
    factored = refits_of(fitted("exact"), DATA).refit(CHANGES[change])
    monkeypatch.setattr(exact, "SMALL", 10)
    model = fitted("exact")
    assert model.feature_map_.in_kernel_space
    after = refits_of(model, DATA).refit(CHANGES[change])
    same_model(after, factored.model.outcome().objective, factored.scores)


def test_weights_are_of_documents_in_their_queries() -> None:
    ptr = DATA.ptr.copy()
    ptr[1] += 1
    changed = replace(DATA, X=DATA.X + 1.0), replace(DATA, y=DATA.y[::-1].copy()), replace(DATA, ptr=ptr)
    assert len({documents_digest(data) for data in (DATA, *changed)}) == 4
    assert documents_digest(replace(DATA, query_ids=DATA.query_ids + 1)) == documents_digest(DATA)


@pytest.mark.parametrize("change", [*FEW, "query weight"])
def test_with_weights_of_queries(change: str) -> None:
    weight = np.repeat(np.linspace(0.5, 2.0, DATA.n_queries), np.diff(DATA.ptr))
    model = RankSVM(C=0.1).fit(X, Y, qid=DATA.qid, sample_weight=weight)
    after = refits_of(model, DATA).refit(CHANGES[change])
    kept = np.isin(DATA.query_labels, after.data.query_labels)
    asked = weights_asked(CHANGES[change])
    times = np.array([asked.get(query, 1.0) for query in DATA.query_labels.tolist()])
    expected = (np.linspace(0.5, 2.0, DATA.n_queries) * times)[kept]
    np.testing.assert_array_equal(after.model.query_weights_, expected)
    same_model(after, *from_zero(after.model, after.data))


@pytest.mark.parametrize("name", ["linear", "fourier", "exact"])
@pytest.mark.parametrize("change", FEW)
def test_plain_fit_gives_the_same_where_no_landmarks_are_drawn(name: str, change: str) -> None:
    after = refits_of(fitted(name), DATA).refit(CHANGES[change])
    weights, plain = after.model.query_weights_, clone(after.model)
    plain = plain.fit_data(after.data) if weights is None else plain.fit_weighted(after.data, weights)
    same_model(after, plain.objective_, plain.predict(after.data.X))


@pytest.mark.parametrize("change", [name for name in CHANGES if name not in OTHER_MAPS])
def test_keeps_landmarks_and_factor(change: str) -> None:
    model = fitted("nystroem")
    after = refits_of(model, DATA).refit(CHANGES[change]).model
    assert after.feature_map_ is model.feature_map_


@pytest.mark.parametrize("name", ["nystroem", "fourier", "truncated"])
def test_another_draw_is_the_model_of_that_seed(name: str) -> None:
    refits = refits_of(fitted(name), DATA)
    after = refits.refit([OtherDraw(1), GradeSet(QUERY, FIRST, 2)])
    plain = fitted(name, after.data, random_state=1, tol=1e-10)
    np.testing.assert_allclose(after.scores, plain.predict(DATA.X), atol=1e-4 * np.ptp(after.scores))
    assert np.abs(after.scores - refits.before.scores).max() > 0.01 * np.ptp(after.scores)
    assert after.model.feature_map_ is not refits.before.model.feature_map_
    same = refits.refit([OtherDraw(1), OtherDraw(0), GradeSet(QUERY, FIRST, 2)]).model
    assert same.feature_map_ is refits.before.model.feature_map_, "the last seed counts"


@pytest.mark.parametrize("name", ["linear", "exact"])
def test_another_draw_is_the_same_model_where_nothing_is_drawn(name: str) -> None:
    refits = refits_of(fitted(name), DATA)
    after = refits.refit([OtherDraw(5)])
    np.testing.assert_allclose(after.scores, refits.before.scores, atol=1e-6)


def test_landmarks_lose_a_feature_that_is_switched_off() -> None:
    model = fitted("nystroem")
    landmarks = refits_of(model, DATA).refit([FeatureOff(2)]).model.feature_map_.landmarks
    np.testing.assert_array_equal(landmarks[:, [0, 1, 3]], model.feature_map_.landmarks[:, [0, 1, 3]])
    assert not landmarks[:, 2].any()


def test_gamma_stays_the_number_it_was() -> None:
    model = fitted("fourier")
    assert refits_of(model, DATA).refit([FeatureOff(0)]).model.gamma_ == model.gamma_


def test_one_grade_tells_although_the_model_was_trained_loosely() -> None:
    """At the tolerance of a usual fit one grade would be below what a solver looks at."""
    refits = refits_of(fitted("linear", tol=1e-3), DATA)
    after = refits.refit(CHANGES["grade"])
    exactly = from_zero(after.model, after.data)[1]
    moved = np.abs(exactly - refits.before.scores).max()
    assert np.abs(after.scores - exactly).max() < 1e-2 * moved


def test_the_base_is_not_computed_again(monkeypatch: pytest.MonkeyPatch) -> None:
    refits = refits_of(fitted("nystroem"), DATA)
    _ = refits.before
    counted: list[int] = []
    kind = type(refits.before.model.feature_map_)
    computed = kind.operator

    def counting(self: object, rows: np.ndarray, *rest: object) -> object:
        counted.append(len(rows))
        return computed(self, rows, *rest)

    monkeypatch.setattr(kind, "operator", counting)
    for change in ("query out", "some queries", "document out", "grade"):
        refits.refit(CHANGES[change])
    assert counted == []
    refits.refit([*CHANGES["feature value"], *CHANGES["document added"]])
    assert counted == [2]


def test_starts_where_it_is() -> None:
    refits = refits_of(fitted("nystroem"), DATA)
    cold = clone(refits.before.model).fit_data(DATA)
    model = refits.refit(CHANGES["grade"]).model
    assert isinstance(model, RankSVM)
    assert model.start_ == "the weights for the same settings"
    assert model.trace_["products"].sum() < cold.trace_["products"].sum()


def test_scores_of_other_parts_are_those_of_predict() -> None:
    refits = refits_of(fitted("nystroem"), DATA)
    other = RankingData.from_arrays(X[:40] + 0.1, Y[:40], qid_of(PTR)[:40])
    for change in ("grade", "feature off"):
        model = refits.refit(CHANGES[change]).model
        for _ in range(2):
            np.testing.assert_allclose(refits.scores(model, other), model.predict(other.X), atol=1e-9)


def test_functions_say_the_same() -> None:
    model = fitted("linear")
    refits = refits_of(model, DATA)
    found: list[tuple[Callable[[], object], list[Change]]] = [
        (lambda: without_query(model, DATA, QUERY), CHANGES["query out"]),
        (lambda: with_only(model, DATA, DATA.query_labels[:7]), CHANGES["some queries"]),
        (lambda: with_grades(model, DATA, {(QUERY, FIRST): 2}), [GradeSet(QUERY, FIRST, 2)]),
        (lambda: with_feature_off(model, DATA, 2), CHANGES["feature off"]),
    ]
    for function, changes in found:
        np.testing.assert_array_equal(function().coef_, refits.refit(changes).model.coef_)


def test_other_solvers_are_refitted_by_the_usual_one() -> None:
    model = fitted("linear", solver="lbfgs")
    after = refits_of(model, DATA).refit(CHANGES["grade"])
    same_model(after, *from_zero(after.model, after.data))


def test_low_rank_models_are_trained_from_scratch() -> None:
    model = FactorizedRankSVM(C=0.1, rank=2).fit_data(DATA)
    after = refits_of(model, DATA).refit(CHANGES["query out"])
    plain = clone(model).fit_data(after.data)
    np.testing.assert_array_equal(after.scores, plain.predict(after.data.X))
    drawn = refits_of(model, DATA).refit([OtherDraw(3)])
    plain = clone(model).set_params(random_state=3).fit_data(DATA)
    np.testing.assert_array_equal(drawn.scores, plain.predict(DATA.X))


def test_refuses_other_data() -> None:
    model = fitted("linear")
    with pytest.raises(DataError, match="an object of type ndarray"):
        refits_of(model, X)
    with pytest.raises(DataError, match="documents with 2 features, and a model of"):
        refits_of(model, RankingData.from_arrays(X[:, :2], Y, qid_of(PTR)))
    weight = np.repeat(np.linspace(0.5, 2.0, DATA.n_queries), np.diff(DATA.ptr))
    weighed = RankSVM(C=0.1).fit(X, Y, qid=DATA.qid, sample_weight=weight)
    with pytest.raises(DataError, match="do not match the weights of queries"):
        refits_of(weighed, changed(DATA, [GradeSet(QUERY, FIRST, 5)]))


def test_a_refitted_model_is_saved_like_any_other(tmp_path: Path) -> None:
    after = refits_of(fitted("nystroem"), DATA).refit(CHANGES["feature off"])
    again = load(save(after.model, tmp_path / "model.npz"))
    np.testing.assert_array_equal(again.predict(after.data.X), after.model.predict(after.data.X))
    assert isinstance(again, RankSVM)
    assert again.objective_ == after.model.outcome().objective


def test_a_stop_keeps_the_weights_so_far() -> None:
    refits = refits_of(fitted("nystroem"), DATA)
    _ = refits.before
    after = refits.refit(CHANGES["query out"], callback=lambda progress: progress.stage == "newton")
    assert after.model.outcome().stopped


def test_a_query_that_counts_ten_times_is_there_ten_times() -> None:
    rows = np.flatnonzero(DATA.qid == QUERY)
    qid = np.concatenate([DATA.qid, *(np.full(len(rows), 1000 + i) for i in range(9))])
    again = np.concatenate([np.arange(len(Y)), np.tile(rows, 9)])
    ten = RankingData.from_arrays(X[again], Y[again], qid)
    model = RankSVM(C=0.1).fit_data(DATA)
    after = refits_of(model, DATA).refit([QueryWeighed(QUERY, 10.0)])
    same_model(after, *(from_zero(after.model, DATA)))
    np.testing.assert_allclose(
        after.model.coef_, fitted("linear", ten, tol=1e-10).coef_, rtol=1e-3, atol=1e-4
    )


def test_a_weight_is_refused_by_rankers_without_weights_and_where_it_is_none() -> None:
    model = FactorizedRankSVM(n_components=10).fit_data(DATA)
    with pytest.raises(SettingError, match="takes no sample_weight"):
        refits_of(model, DATA).refit([QueryWeighed(QUERY, 10.0)])
    with pytest.raises(DataError, match="above 0"):
        refits_of(fitted("linear"), DATA).refit([QueryWeighed(QUERY, 0.0)])
