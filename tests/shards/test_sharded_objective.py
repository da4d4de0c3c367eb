"""An objective over shards is the plain one: value, derivatives, rays, certificates, preconditioners."""

from typing import Any

import numpy as np
import pytest
from conftest_shards import awkward_data

from rankviz import RankSVM
from rankviz.common.arrays import FloatArray
from rankviz.common.progress import Report, silent
from rankviz.features import RBF
from rankviz.learning.feature_space import RankObjective
from rankviz.learning.losses import LOSSES
from rankviz.learning.objective import certificate
from rankviz.learning.pairs import frozen_costs, pair_costs
from rankviz.learning.risk import PairRisk, adapted_risk, smoothed_risk
from rankviz.learning.sorted_risk import risk_of
from rankviz.learning.training import FeatureSpace, MapFamily, Task
from rankviz.shards import Backend, Here, ShardedObjective, ShardedSpace
from rankviz.shards.part import borders, cut
from rankviz.shards.storage import DoubleStorage, FeatureStorage, NoStorage, Plan, Recomputed, SingleStorage

DATA = awkward_data()
TABLE = [[0.0, 1.0, 2.0, 3.0], [1.0, 0.0, 1.5, 2.5], [2.0, 1.5, 0.0, 1.0], [3.0, 2.5, 1.0, 0.0]]


def name_of(settings: dict[str, Any]) -> str:
    return " ".join(map(str, settings.values()))


MAPS: list[dict[str, Any]] = [
    {"feature_map": "linear"},
    {"feature_map": "nystroem", "n_components": 25, "gamma": 0.3},
    {"feature_map": "nystroem", "n_components": 300, "gamma": 0.3},
    {"feature_map": "nystroem", "n_components": 40, "rank": 10, "gamma": 0.3},
    {"feature_map": "fourier", "n_components": 30, "gamma": 0.3},
    {"feature_map": "exact", "gamma": 0.3},
]
LOSSES_AND_COSTS: list[dict[str, Any]] = [
    *({"loss": name} for name in LOSSES),
    *({"costs": costs} for costs in ("query", "grade", "grade_query", "slack", "margin", TABLE)),
    {"costs": ("query", TABLE), "loss": "logistic"},
]


def plain(model: RankSVM) -> RankObjective:
    space = FeatureSpace(MapFamily(model.unfitted_map(1.0, 0), DATA.X), DATA.X)
    costs = pair_costs(frozen_costs(model.costs), DATA.y, DATA.ptr)
    risk = risk_of(DATA.y, DATA.ptr, LOSSES[model.loss].surrogate(), costs)
    return space.objective(task_of(model), adapted_risk(risk, model.C), 0)


def sharded(model: RankSVM, where: Backend, storage: FeatureStorage | None = None) -> ShardedObjective:
    costs = pair_costs(frozen_costs(model.costs), DATA.y, DATA.ptr)
    plan = Plan(where.count(DATA.n_documents), storage or DoubleStorage(), 0, 0.0)
    family = MapFamily(model.unfitted_map(1.0, 0), DATA.X)
    space = ShardedSpace(family, DATA, LOSSES[model.loss].surrogate(), costs, where, plan)
    return space.objective(task_of(model), adapted_risk(space.risk(), model.C), 0)


def task_of(model: RankSVM) -> Task:
    return Task(int(model.n_components), model.gamma_for(DATA.X), float(model.C))


def agree(one: RankObjective, other: ShardedObjective, rtol: float = 1e-9) -> None:
    """Everything that solvers ask for is the same at a random point, along a random ray."""
    rng = np.random.default_rng(3)
    w, s = rng.normal(size=(2, len(one.start())))
    assert other.start().shape == one.start().shape
    a, b = one.at(w), other.at(w)
    assert b.value == pytest.approx(a.value, rel=rtol)
    np.testing.assert_allclose(b.scores, a.scores, atol=rtol * np.abs(a.scores).max())
    np.testing.assert_allclose(b.gradient, a.gradient, atol=rtol * np.abs(a.gradient).max())
    for name in ("value", "total_slope", "total_curvature"):
        assert getattr(b.risk, name) == pytest.approx(getattr(a.risk, name), rel=rtol)
    assert (b.risk.n_active, other.n_pairs) == (a.risk.n_active, one.n_pairs)
    expected = one.hessian_product(a, s)
    np.testing.assert_allclose(other.hessian_product(b, s), expected, atol=rtol * np.abs(expected).max())
    proof, proved = certificate(one, a), certificate(other, b)
    assert (proved.value, proved.gap) == pytest.approx((proof.value, proof.gap), rel=rtol)
    ray, along = one.ray(a, s), other.ray(b, s)
    for tau in (0.0, 0.7, 3.0):
        (slope, curvature, _), (expected, bend, _) = along.at(tau), ray.at(tau)
        assert (slope, curvature()) == pytest.approx((expected, bend()), rel=rtol)
    ends = ray.end(0.7, ray.at(0.7)[2]), along.end(0.7, along.at(0.7)[2])
    assert ends[1].value == pytest.approx(ends[0].value, rel=rtol)
    np.testing.assert_allclose(ends[1].gradient, ends[0].gradient, atol=rtol * np.abs(ends[0].gradient).max())


@pytest.mark.parametrize("settings", MAPS, ids=name_of)
def test_every_map(settings: dict[str, Any], here: Backend) -> None:
    model = RankSVM(C=0.02, **settings)
    agree(plain(model), sharded(model, here))


@pytest.mark.parametrize("settings", LOSSES_AND_COSTS, ids=name_of)
def test_every_loss_and_costs(settings: dict[str, Any], here: Backend) -> None:
    model = RankSVM("fourier", n_components=20, gamma=0.3, C=0.02, **settings)
    agree(plain(model), sharded(model, here))


def test_the_hinge_smoothed_less_is_that_in_shards_too(here: Backend) -> None:
    model = RankSVM("linear", C=0.02, loss="hinge")
    one, other = plain(model), sharded(model, here)
    agree(one.with_risk(smoothed_risk(one.risk, 0.1)), other.with_risk(smoothed_risk(other.risk, 0.1)))


@pytest.mark.parametrize("settings", MAPS, ids=name_of)
def test_features_computed_again_or_in_single_precision_are_the_same(settings: dict[str, Any]) -> None:
    model = RankSVM(C=0.02, **settings)
    whole = plain(model)
    agree(whole, sharded(model, Here(5), NoStorage()))
    agree(whole, sharded(model, Here(5), SingleStorage()), rtol=2e-6)


def test_features_that_are_not_kept_are_computed_once_a_product(monkeypatch: pytest.MonkeyPatch) -> None:
    real, computed = Recomputed.of, []

    def noting(self: Recomputed, X: FloatArray, k: int) -> FloatArray:
        computed.append(len(X))
        return real(self, X, k)

    monkeypatch.setattr(Recomputed, "of", noting)
    model = RankSVM("nystroem", n_components=40, gamma=0.3, C=0.02)
    objective = sharded(model, Here(5, threads=1), NoStorage())
    point = objective.at(objective.start())
    assert sum(computed) == DATA.n_documents
    objective.hessian_product(point, np.ones(40))
    assert sum(computed) == 2 * DATA.n_documents


@pytest.mark.parametrize("settings", MAPS, ids=name_of)
def test_of_features_that_are_not_kept_fewer_are_the_first(settings: dict[str, Any]) -> None:
    model = RankSVM(C=0.02, **settings)
    fitted = MapFamily(model.unfitted_map(0.3, 0), DATA.X).widest(0.3)
    whole = fitted.operator(DATA.X).base
    for k in (1, 3, whole.shape[1]):
        found = Recomputed(DATA.X, fitted).of(DATA.X[:7], k)
        np.testing.assert_allclose(found, whole[:7, :k], rtol=1e-12, atol=1e-15)


def test_no_more_columns_are_computed_than_are_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    fitted = MapFamily(RankSVM("nystroem", n_components=25).unfitted_map(0.3, 0), DATA.X).widest(0.3)
    real, columns = RBF.matrix, []

    def noting(kernel: RBF, X: FloatArray, Z: FloatArray, report: Report = silent) -> FloatArray:
        columns.append(len(Z))
        return real(kernel, X, Z, report)

    monkeypatch.setattr(RBF, "matrix", noting)
    Recomputed(DATA.X, fitted).of(DATA.X[:7], 10)
    assert columns == [10]


def test_columns_far_from_zero_are_moved_as_in_one_piece(
    here: Backend, monkeypatch: pytest.MonkeyPatch
) -> None:
    offset = np.repeat(np.arange(DATA.n_queries), np.diff(DATA.ptr)) * 1e8
    X = DATA.X.copy()
    X[:, 2] = np.rint(X[:, 2] * 8) / 8 + offset
    far = type(DATA).from_arrays(X, DATA.y, DATA.qid)
    monkeypatch.setitem(globals(), "DATA", far)
    model = RankSVM("linear", C=0.02)
    agree(plain(model), sharded(model, here))
    w = np.zeros(6)
    w[2] = 1.0
    assert np.abs(sharded(model, here).at(w).scores).max() < 100  # not 10⁸: they are moved


def test_an_exact_preconditioner_is_the_inverse_of_the_hessian(here: Backend) -> None:
    objective = sharded(RankSVM("fourier", n_components=20, gamma=0.3, C=0.02), here)
    point = objective.at(np.linspace(-1, 1, 20))
    H = np.stack([objective.hessian_product(point, unit) for unit in np.eye(20)])
    inverse = objective.exact_preconditioner(point)
    np.testing.assert_allclose(np.stack([inverse(row) for row in H]), np.eye(20), atol=1e-9)


def test_the_closed_form_is_that_of_one_piece(here: Backend) -> None:
    model = RankSVM("fourier", n_components=20, gamma=0.3, C=0.02, costs="grade_query")
    one, other, w, r = plain(model), sharded(model, here), np.linspace(-1, 1, 20), np.arange(20.0)
    expected = one.preconditioner(one.at(w))(r)
    np.testing.assert_allclose(other.preconditioner(other.at(w))(r), expected, rtol=1e-9)


def test_all_active_pairs_make_a_sampled_preconditioner_the_exact_one(
    here: Backend, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If there are too few active pairs for a sample, each is used once."""
    grades = np.clip(np.rint(DATA.X[:, 0]), 0, 3).astype(int)
    monkeypatch.setitem(globals(), "DATA", type(DATA).from_arrays(DATA.X, grades, DATA.qid))
    model = RankSVM("nystroem", n_components=300, gamma=0.3, C=0.02)
    objective = sharded(model, here)
    w = 100 * np.linalg.lstsq(plain(model).features.dense(), DATA.X[:, 0], rcond=None)[0]
    point = objective.at(w)
    assert 0 < point.risk.n_active <= 270, "the test means few active pairs"
    r = np.linspace(1, 2, len(w))
    exact, found = objective.exact_preconditioner(point), objective.preconditioner(point)
    assert (exact.kind, found.kind) == ("exact", "sampled pairs")
    np.testing.assert_allclose(found(r), exact(r), rtol=1e-5)


def test_shards_are_sampled_in_proportion_to_their_active_pairs() -> None:
    model = RankSVM("nystroem", n_components=300, gamma=0.3, C=0.02)
    objective = sharded(model, Here(5))
    point, drawn = objective.at(objective.start()), []
    assert point.risk.n_active == objective.n_pairs > 3000
    real = objective.gather

    def noting(do: Any, *arguments: Any) -> list[Any]:
        found = real(do, *arguments)
        if do.__name__ == "sampled":
            drawn.append([len(rows) for rows in found])
        return found

    objective.gather = noting  # type: ignore[method-assign]
    for _ in range(30):
        objective.preconditioner(point)
    m = objective.basis.shape[1]
    assert {sum(row) for row in drawn} == {m}
    share = np.mean(drawn, axis=0) / m
    expected = np.array(point.risk.active) / point.risk.n_active
    np.testing.assert_allclose(share, expected, atol=4 * 0.5 / np.sqrt(30 * m))
    assert np.ptp(expected) > 0.1  # shards that are uneven in pairs: equal shares would not pass


@pytest.mark.parametrize("count", [1, 2, 5, 16, 60, 1000])
def test_cuts_are_between_queries_and_even(count: int) -> None:
    found = borders(DATA.ptr, count)
    parts = min(count, DATA.n_queries)
    assert (found[0], found[-1], len(found)) == (0, DATA.n_queries, parts + 1)
    assert (np.diff(found) > 0).all()  # every part has a query
    sizes = np.diff(DATA.ptr[found])
    assert sizes.sum() == DATA.n_documents
    longest = np.diff(DATA.ptr).max()
    assert sizes.max() <= DATA.n_documents / count + longest


def test_parts_are_views_and_know_only_their_grades() -> None:
    parts = cut(DATA, 5, LOSSES["squared_hinge"], pair_costs("grade", DATA.y, DATA.ptr))
    assert all(np.shares_memory(part.X, DATA.X) for part in parts)
    np.testing.assert_array_equal(np.concatenate([part.y for part in parts]), DATA.y)
    last = parts[-1]
    assert set(np.unique(last.y)) == {0, 1}
    assert last.costs.weight.shape[1:] == (2, 2)
    pairs = PairRisk(last.y, last.ptr, last.loss, last.costs)
    assert pairs.total_cost == pytest.approx(pairs.n_pairs)  # he2009's λ(1, 0) = 1
