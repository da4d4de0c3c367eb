"""Models in the plane: known answers, the way from zero, landmarks that are given."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from rankviz import RankingData, RankSVM
from rankviz.common.errors import SettingError
from rankviz.datasets import make_data
from rankviz.datasets.synthetic import PLANES, make_plane
from rankviz.learning.pairs import preference_pairs
from rankviz.whatif.plane import LandmarkRankSVM, best_direction, drawn_landmarks, fit_plane, newton_path

RBF = {"feature_map": "exact", "gamma": 4.0, "C": 1.0}
MAPS: dict[str, dict[str, Any]] = {
    "linear": {"feature_map": "linear", "C": 1.0},
    "nystroem": {"feature_map": "nystroem", "n_components": 12, "gamma": 4.0, "C": 1.0},
    "fourier": {"feature_map": "fourier", "n_components": 40, "gamma": 4.0, "C": 1.0},
    "exact": RBF,
}


@pytest.mark.parametrize("seed", range(3))
def test_a_linear_map_orders_the_linear_set_and_a_kernel_the_others(seed: int) -> None:
    assert fit_plane(make_plane("linear", seed=seed), MAPS["linear"]).ordered[-1] == 1
    for name, most in {"ring": 0.75, "moons": 0.95, "xor": 0.75}.items():
        data = make_plane(name, seed=seed)
        best, _ = best_direction(data)
        assert fit_plane(data, MAPS["linear"]).ordered[-1] <= best < most
        assert fit_plane(data, RBF | {"C": 100.0}).ordered[-1] == 1


@pytest.mark.parametrize("name", PLANES)
def test_the_best_direction_is_better_than_any_of_many(name: str) -> None:
    data = make_plane(name, seed=5)
    pairs = preference_pairs(data.y, data.ptr)
    share, w = best_direction(data)
    assert np.mean(pairs.margins(data.X @ w) > 0) == share
    angles = np.linspace(0, 2 * np.pi, 2001)
    margins = (data.X[pairs.winner] - data.X[pairs.loser]) @ [np.cos(angles), np.sin(angles)]
    assert share >= (margins > 0).mean(axis=0).max()


def test_the_best_direction_of_few_pairs() -> None:
    def data(X: list[list[float]], y: list[int]) -> RankingData:
        return RankingData.from_arrays(X, y, [1] * len(y))

    share, w = best_direction(data([[0, 0], [1, 1]], [0, 1]))
    assert share == 1
    assert w @ [1, 1] > 0
    assert best_direction(data([[0, 0], [-1, 0], [1, 0]], [0, 1, 1]))[0] == 0.5  # one each way
    assert best_direction(data([[1, 0], [1, 0]], [0, 1]))[0] == 0  # in the same place
    assert np.isnan(best_direction(data([[1, 0], [0, 0]], [1, 1]))[0])  # no pair


@pytest.mark.parametrize("loss", ["squared_hinge", "hinge", "logistic"])
@pytest.mark.parametrize("name", MAPS)
def test_the_way_begins_at_zero_and_ends_at_the_model(name: str, loss: str) -> None:
    data = make_plane("moons", seed=1)
    fit = fit_plane(data, MAPS[name] | {"loss": loss})
    model = RankSVM(**MAPS[name], loss=loss).fit(data.X, data.y, qid=data.qid)
    assert not fit.path[0].any()
    assert len(fit.path) == len(fit.trace) == len(fit.ordered)
    assert np.isnan(fit.ordered).sum() == 0
    scores = fit.scores(data.X)
    assert np.allclose(scores[-1], model.predict(data.X), rtol=0, atol=1e-9)
    norms = 0.5 * np.einsum("tm,tm->t", fit.path, fit.path)
    assert np.all(norms <= fit.trace["objective"] + 1e-9)
    if loss == "squared_hinge":  # the objective of the trace is that of these weights
        t = scores[:, (p := preference_pairs(data.y, data.ptr)).winner] - scores[:, p.loser]
        objective = norms + (np.maximum(0, 1 - t) ** 2).sum(axis=1)
        assert np.allclose(objective, fit.trace["objective"], rtol=1e-9)


def test_landmarks_that_are_given_at_the_documents_drawn_give_the_same_model() -> None:
    data, settings = make_plane("ring", seed=2), MAPS["nystroem"]
    points = drawn_landmarks(data, settings)
    drawn = RankSVM(**settings).fit(data.X, data.y, qid=data.qid)
    given = LandmarkRankSVM(points, gamma=4.0, C=1.0).fit(data.X, data.y, qid=data.qid)
    assert np.array_equal(given.feature_map_.landmarks, points)
    assert np.allclose(given.predict(data.X), drawn.predict(data.X), rtol=0, atol=1e-12)


def test_a_landmark_that_was_moved_lies_where_it_was_put() -> None:
    data, settings = make_plane("ring", seed=2), MAPS["nystroem"]
    fit = fit_plane(data, settings, {0: [0.123, 0.456], 99: [0.0, 0.0]})
    points = drawn_landmarks(data, settings)
    assert fit.model.feature_map_.landmarks[0].tolist() == [0.123, 0.456]
    assert np.array_equal(fit.landmarks, fit.model.feature_map_.landmarks)
    assert np.array_equal(fit.model.feature_map_.landmarks[1:], points[1:])
    assert not np.allclose(fit.scores(data.X)[-1], fit_plane(data, settings).scores(data.X)[-1], atol=1e-3)
    other = MAPS["fourier"]
    moved = fit_plane(data, other, {0: [0.1, 0.1]})
    assert np.array_equal(moved.path, fit_plane(data, other).path)  # waves have no landmarks


def test_two_landmarks_in_one_place_count_once() -> None:
    data = make_plane("ring", seed=0)
    twice = LandmarkRankSVM([[0, 0], [0, 0], [0.5, 0]], gamma=2.0).fit(data.X, data.y, qid=data.qid)
    once = LandmarkRankSVM([[0, 0], [0.5, 0]], gamma=2.0).fit(data.X, data.y, qid=data.qid)
    assert np.allclose(twice.predict(data.X), once.predict(data.X))


@pytest.mark.parametrize("points", [[[0.0]], [0.0, 1.0], [[np.nan, 0.0]], np.zeros((0, 2))])
def test_landmarks_of_another_space_are_refused(points: Any) -> None:
    data = make_plane("ring")
    with pytest.raises(SettingError, match="one row of 2 for each landmark"):
        LandmarkRankSVM(points, gamma=2.0).fit(data.X, data.y, qid=data.qid)


def test_landmarks_of_the_plane_keep_all_eigenvalues() -> None:
    with pytest.raises(SettingError, match="omit rank"):
        fit_plane(make_plane("ring"), MAPS["nystroem"] | {"rank": 3})


def test_kernels_meet_where_all_documents_are_landmarks() -> None:
    data = make_plane("xor")
    assert fit_plane(data, RBF).kernel_error < 1e-6
    errors = [fit_plane(data, MAPS["nystroem"] | {"n_components": m}).kernel_error for m in (2, 10, 48)]
    assert errors[0] > errors[1] > errors[2]
    K, _ = fit_plane(data, RBF).kernels
    assert K[0, 1] == pytest.approx(np.exp(-4 * np.sum((data.X[0] - data.X[1]) ** 2)))


def test_without_pairs_nothing_is_learned() -> None:
    data = RankingData.from_arrays([[0.0, 0.0], [0.5, 0.5]], [1, 1], [1, 1])
    fit = fit_plane(data, RBF)
    assert not fit.scores(data.X).any()
    assert np.isnan(fit.ordered).all()


DATA = make_data(n_queries=12, documents_per_query=(8, 20), n_features=5, seed=1)


@pytest.mark.parametrize("loss", ["squared_hinge", "hinge", "logistic", "huber"])
def test_a_walk_begins_where_one_stands_and_ends_at_the_optimum(loss: str) -> None:
    start = np.array([3.0, -2.0, 0.0, 1.0, 0.5])
    path = newton_path(RankSVM("linear", C=0.5, loss=loss), DATA, start)
    optimum = RankSVM("linear", C=0.5, loss=loss, tol=1e-9).fit(DATA.X, DATA.y, qid=DATA.qid)
    assert np.array_equal(path[0], start)
    assert len(path) > 2
    assert np.linalg.norm(path[-1] - optimum.coef_) <= 1e-2 * np.linalg.norm(optimum.coef_)


def test_who_stands_at_the_optimum_stays_there() -> None:
    model = RankSVM("linear", C=0.5)
    here = newton_path(model, DATA, np.zeros(5))[-1]
    assert np.allclose(
        newton_path(RankSVM("linear", C=0.5), DATA, here), here, atol=1e-2 * np.abs(here).max()
    )


def test_a_map_with_a_kernel_is_walked_too() -> None:
    model = RankSVM("nystroem", n_components=10, gamma=0.5, C=0.5)
    path = newton_path(model, DATA, np.full(10, 0.1))
    assert np.array_equal(path[0], np.full(10, 0.1))
    assert np.array_equal(path[-1], model.coef_)


@pytest.mark.parametrize("start", [[1.0], np.zeros(6), [0, 0, 0, 0, np.nan]])
def test_weights_of_other_features_are_refused(start: list[float]) -> None:
    with pytest.raises(SettingError, match="5 finite numbers, one for each feature"):
        newton_path(RankSVM("linear"), DATA, start)
