"""Test crossings against dense scans, and shares of landmarks against sums of kernel values."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from strangers import FeatureMean

from rankviz import RankingData, RankSVM, crossings, explain_margin, load_fold, smallest_swap
from rankviz.common.errors import DataError, SettingError
from rankviz.common.progress import silent
from rankviz.datasets import make_data
from rankviz.features import exact
from rankviz.models.ranker import Ranker
from rankviz.whatif.crossings import crossings_seen, margin_along, swaps
from rankviz.whatif.explanations import alike_together, landmark_shares
from rankviz.whatif.scan_grid import POINTS

DATA = make_data(n_queries=8, documents_per_query=(6, 9), n_features=5, seed=3)
DATA_OF_THREE = make_data(n_queries=2, documents_per_query=(6, 9), n_features=3, seed=4)
WITHIN = (-3.0, 4.0)
MODELS: dict[str, Ranker] = {
    "linear": RankSVM(C=0.5),
    "wavy": RankSVM("fourier", n_components=40, gamma=3.0, C=0.5),
    "rbf": RankSVM("nystroem", n_components=40, gamma=2.0, C=0.5),
    "laplacian": RankSVM("exact", kernel="laplacian", gamma=1.0, C=0.5),
    "polynomial": RankSVM("exact", kernel="polynomial", gamma=1.0, C=0.5),
    "a stranger": FeatureMean(),
}
each_model = pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)


class Sine(Ranker):
    """Scores sin(k x₀) + x₁: its zeros are known."""

    def __init__(self, k: float = 1.0) -> None:
        self.k = k

    def fit_data(self, data: RankingData, *, callback: Any = None) -> Sine:
        self.n_features_in_ = 2
        return self

    def scores(self, X: np.ndarray, report: Any) -> np.ndarray:
        return np.sin(self.k * X[:, 0]) + X[:, 1]


@each_model
def test_all_crossings_of_a_dense_scan_are_found(model: Ranker) -> None:
    """Ten times as many values: each change of sign there is one of ours, where the scores meet."""
    model.fit_data(DATA)
    dense, found_any = np.linspace(*WITHIN, 10 * (POINTS - 1) + 1), 0
    for i, j in ((0, 1), (2, 9), (20, 4)):
        a, b = DATA.X[i], DATA.X[j]
        for feature in range(DATA.n_features):
            margin = margin_along(model, a, b, feature, dense)
            places = np.flatnonzero(np.sign(margin[:-1]) * np.sign(margin[1:]) < 0)
            found = crossings(model, a, b, feature, WITHIN)
            assert len(found) == len(places)
            assert all(dense[k] <= x <= dense[k + 1] for k, x in zip(places, found, strict=True))
            at = margin_along(model, a, b, feature, found)
            np.testing.assert_allclose(at, 0.0, atol=1e-10 * np.abs(margin).max())
            found_any += len(found)
    assert found_any > 3


@each_model
def test_the_margin_along_a_feature_is_that_of_scores(model: Ranker) -> None:
    model.fit_data(DATA)
    values, scale = np.linspace(*WITHIN, 23), np.abs(model.scores(DATA.X, silent)).max()
    for i, j in ((0, 1), (20, 4)):
        a, b = DATA.X[i], DATA.X[j]
        for feature in range(DATA.n_features):
            rows = np.repeat(a[None], len(values), axis=0)
            rows[:, feature] = values
            expected = model.scores(rows, silent) - model.scores(b[None], silent)
            found = margin_along(model, a, b, feature, values)
            np.testing.assert_allclose(found, expected, rtol=0, atol=1e-10 * scale)


def test_a_line_is_crossed_where_the_weights_say() -> None:
    model = RankSVM(C=0.5).fit_data(DATA)
    a, b = DATA.X[0], DATA.X[1]
    expected = a - model.coef_ @ (a - b) / model.coef_
    for feature, x in enumerate(expected):
        found = crossings(model, a, b, feature, (x - 1.0, x + 1.0))
        np.testing.assert_allclose(found, [x], rtol=1e-12)
        assert len(crossings(model, a, b, feature, (x + 0.1, x + 1.0))) == 0


def test_all_waves_are_found_and_to_the_last_digit() -> None:
    model = Sine(1.0).fit_data(DATA)
    found = crossings(model, [0.5, 0.0], [0.0, 0.0], 0, (-10.0, 10.0))
    np.testing.assert_allclose(found, np.pi * np.arange(-3, 4), atol=1e-14)


def test_values_of_any_size_are_found_precisely() -> None:
    """A tolerance in absolute numbers would end far from the value where features are tiny."""
    model = Sine(1e12).fit_data(DATA)
    found = crossings(model, [0.5, 0.0], [0.0, 0.0], 0, (1e-12, 5e-12))
    np.testing.assert_allclose(found, [np.pi * 1e-12], rtol=1e-12)


def test_a_sign_that_rounding_turns_ends_nothing() -> None:
    """Matrix products of one row may round otherwise than those of many: a sign seen in the scan counts."""

    class Rounded(Sine):
        def scores(self, X: np.ndarray, report: Any) -> np.ndarray:
            return X[:, 0] + 1e-11 * (len(X) == 1)

    at = float(np.linspace(0.0, 1.0, POINTS)[50])
    found = crossings(Rounded().fit_data(DATA), [0.9, 0.0], [at - 9e-12, 0.0], 0, (0.0, 1.0))
    np.testing.assert_allclose(found, [at], atol=1e-10)


def test_equal_scores_over_a_stretch_are_one_crossing_in_its_middle() -> None:
    class Flat(Sine):
        def scores(self, X: np.ndarray, report: Any) -> np.ndarray:
            return np.sign(X[:, 0]) * np.maximum(np.abs(X[:, 0]) - 1.0, 0.0)

    found = crossings(Flat().fit_data(DATA), [3.0, 0.0], [0.0, 0.0], 0, (-3.0, 3.0))
    np.testing.assert_allclose(found, [0.0], atol=1e-12)


KERNEL_MAPS = [
    ("nystroem", "rbf"),
    ("nystroem", "laplacian"),
    ("fourier", "rbf"),
    ("fourier", "laplacian"),
    ("exact", "rbf"),
    ("exact", "laplacian"),
]


def narrow_problem(feature_map: str, kernel: str, gamma: float) -> tuple[RankSVM, np.ndarray]:
    """A model of few documents in a square, whose kernel is as narrow as γ makes it; and its documents."""
    rng = np.random.default_rng([round(gamma), len(feature_map), len(kernel)])
    X = np.column_stack((rng.uniform(size=30), rng.integers(0, 3, size=30) / 2))  # on three lines
    size = {} if feature_map == "exact" else {"n_components": 15, "random_state": 1}
    model = RankSVM(feature_map, kernel=kernel, gamma=gamma, C=4.0, **size)
    return model.fit(X, rng.integers(0, 3, size=30), qid=np.repeat([1, 2, 3], 10)), X


def scores_along(
    model: RankSVM, a: np.ndarray, b: np.ndarray, feature: int, values: np.ndarray
) -> np.ndarray:
    rows = np.repeat(a[None], len(values), axis=0)
    rows[:, feature] = values
    return model.predict(rows) - model.predict(b[None])


@pytest.mark.parametrize("gamma", [1e-2, 1e4])
@pytest.mark.parametrize(("feature_map", "kernel"), KERNEL_MAPS)
def test_a_grid_of_many_values_finds_no_other_crossing(feature_map: str, kernel: str, gamma: float) -> None:
    """Between two values of the grid, crossings are odd in number exactly if the sign changes."""
    if (feature_map, kernel, gamma) == ("fourier", "laplacian", 1e4):
        return  # too many waves for one look: tried below
    model, X = narrow_problem(feature_map, kernel, gamma)
    dense, rounding = np.linspace(0.0, 1.0, 20_001), 1e-9 * np.abs(model.predict(X)).max()
    for i, j in ((0, 1), (5, 12), (7, 7), (29, 3)):
        for feature in (0, 1):
            margin = scores_along(model, X[i], X[j], feature, dense)
            turned = np.sign(margin[:-1]) != np.sign(margin[1:])
            clear = np.minimum(np.abs(margin[:-1]), np.abs(margin[1:])) > rounding
            seen = crossings_seen(model, X[i], X[j], feature, (0.0, 1.0))
            assert seen.step == 0.0
            assert (np.diff(seen.values) > 0).all()
            counts = np.histogram(seen.values, dense)[0]
            np.testing.assert_array_equal(counts[clear] % 2, turned[clear])
            assert (turned & clear).sum() <= len(seen.values)


@pytest.mark.parametrize("gamma", [1e-2, 1e4])
@pytest.mark.parametrize(("feature_map", "kernel"), KERNEL_MAPS)
def test_no_value_of_a_grid_swaps_with_a_smaller_change(feature_map: str, kernel: str, gamma: float) -> None:
    model, X = narrow_problem(feature_map, kernel, gamma)
    nearest = []
    for i, j in ((0, 1), (5, 12), (29, 3), (14, 22)):
        best = smallest_swap(model, X[i], X[j], X)
        smallest = np.inf
        for feature in (0, 1):
            dense = np.linspace(X[:, feature].min(), X[:, feature].max(), 20_001)
            margin = scores_along(model, X[i], X[j], feature, dense)
            rounding = 1e-9 * np.abs(model.predict(X)).max()
            side = np.sign(scores_along(model, X[i], X[j], feature, X[i, [feature]]))
            other = dense[(np.sign(margin) != side) & (np.abs(margin) > rounding)]
            if len(other):
                smallest = min(smallest, np.abs(other - X[i, feature]).min() / X[:, feature].std())
        nearest.append(smallest)
        if best is None:
            assert smallest == np.inf
        else:
            assert best.spreads <= smallest
            assert best.step == 0.0
            at = scores_along(model, X[i], X[j], best.feature, np.array([best.value]))
            assert abs(at[0]) < 1e-8 * np.abs(model.predict(X)).max()
    assert np.isfinite(nearest).any()


def test_a_bump_between_two_values_of_a_scan_is_found() -> None:
    """At γ = 10⁴ a landmark's bump is 0.01 wide: the scan of old stepped over it in a range of 10."""
    X = np.array([[0.0, 0.0], [5.0477, 0.0], [10.0, 0.3], [9.0, 0.3], [8.0, 0.3]])
    model = RankSVM("exact", gamma=1e4, C=10.0).fit(X, [1, 2, 0, 0, 0], qid=[1] * 5)
    found = crossings(model, [5.04, 0.0], X[0], 0, (1.0, 10.0))
    assert len(found) == 2
    np.testing.assert_allclose(found, 5.0477, atol=0.02)
    best = smallest_swap(model, [4.5, 0.0], X[0], X)
    assert best is not None
    assert best.step == 0.0
    assert best.value == pytest.approx(found[0], rel=1e-9)


def test_both_crossings_of_a_valley_between_two_landmarks_are_found() -> None:
    """Sums of tents turn between their centres, too."""
    model = RankSVM("exact", kernel="laplacian", gamma=5.0, C=10.0)
    model.fit([[0.0], [1.0], [10.0], [-9.0]], [2, 1, 0, 0], qid=[1] * 4)
    dense = np.linspace(0.1, 0.9, 8001)
    bottom = dense[model.predict(dense[:, None]).argmin()]
    assert 0.5 < bottom < 0.85  # nearer to the smaller of the two
    found = crossings(model, [0.0], [bottom + 0.01], 0, (0.0, 1.0))
    np.testing.assert_allclose(found, [bottom - 0.01, bottom + 0.01], atol=1e-3)


def test_what_is_scanned_says_how_finely() -> None:
    a, b = DATA.X[:2]
    stranger = FeatureMean().fit_data(DATA)
    assert crossings_seen(stranger, a, b, 0, (0.0, 1.0)).step == pytest.approx(1 / (POINTS - 1))
    spread = DATA.X.std(axis=0)
    widest = (np.ptp(DATA.X, axis=0) / spread).max() / (POINTS - 1)
    found = swaps(stranger, a, b, DATA.X)
    assert found.step == pytest.approx(widest)
    assert [swap.step for swap in found.found] == [found.step] * len(found.found)
    for model in (RankSVM(), RankSVM("exact", kernel="linear"), RankSVM("nystroem", n_components=9)):
        assert swaps(model.fit_data(DATA), a, b, DATA.X).step == 0.0


def test_the_nearest_of_very_many_waves_is_found() -> None:
    """Frequencies of a narrow Laplacian kernel make too many waves for one look; near A they are seen."""
    model, X = narrow_problem("fourier", "laplacian", 1e4)
    assert 0 < crossings_seen(model, X[0], X[1], 0, (0.0, 1.0)).step < 1e-3
    best = smallest_swap(model, X[0], X[1], X)
    assert best is not None
    assert best.step == 0.0
    near = X[0, best.feature] + np.linspace(-1, 1, 20_001) * abs(best.change) * 0.999
    assert len(set(np.sign(scores_along(model, X[0], X[1], best.feature, near)))) == 1


def test_a_feature_that_says_nothing_crosses_nowhere() -> None:
    model = Sine().fit_data(DATA)
    model.k = 0.0
    assert len(crossings(model, [0.5, 1.0], [0.1, 1.0], 0, WITHIN)) == 0
    assert len(crossings(model, [0.5, 2.0], [0.1, 1.0], 0, WITHIN)) == 0
    assert len(crossings(model, [0.5, 2.0], [0.5, 2.0], 0, WITHIN)) == 0


def test_a_document_meets_itself_at_its_own_value() -> None:
    model = RankSVM("nystroem", n_components=40, gamma=0.5, C=0.5).fit_data(DATA)
    a = DATA.X[0]
    for feature in range(DATA.n_features):
        assert np.abs(crossings(model, a, a, feature, WITHIN) - a[feature]).min() < 1e-9


def test_the_smallest_change_is_in_spreads_and_of_all_features() -> None:
    model = RankSVM(C=0.5).fit_data(DATA)
    X = DATA.X * [1.0, 10.0, 1.0, 1.0, 1.0]  # the same ranges elsewhere
    model.coef_ = model.coef_ / [1.0, 10.0, 1.0, 1.0, 1.0]
    a, b = X[0], X[1]
    change = -model.coef_ @ (a - b) / model.coef_
    inside = (a + change >= X.min(axis=0)) & (a + change <= X.max(axis=0))
    spreads = np.where(inside, np.abs(change) / X.std(axis=0), np.inf)
    found = swaps(model, a, b, X).found
    assert [swap.feature for swap in found] == list(np.argsort(spreads)[: inside.sum()])
    best = smallest_swap(model, a, b, X)
    assert best == found[0]
    assert best.change == pytest.approx(change[best.feature], rel=1e-9)
    assert best.spreads == pytest.approx(spreads.min(), rel=1e-9)


def test_where_nothing_swaps_there_is_no_smallest_change() -> None:
    model = Sine(0.1).fit_data(DATA)
    assert smallest_swap(model, [0.0, 100.0], [0.0, 0.0], [[0.0, 100.0], [1.0, 101.0]]) is None
    assert smallest_swap(model, [0.0, 100.0], [0.0, 0.0], [[0.0, 100.0]] * 3) is None


def test_what_cannot_be_crossed_is_refused() -> None:
    model = RankSVM().fit_data(DATA)
    a, b = DATA.X[:2]
    for feature in (-1, 5):
        with pytest.raises(SettingError, match="at least 0 and at most 4"):
            crossings(model, a, b, feature, WITHIN)
    for within in ((1.0, 0.0), (0.0, np.nan), (0.0, np.inf)):
        with pytest.raises(SettingError, match="the smaller one first"):
            crossings(model, a, b, 0, within)
    with pytest.raises(DataError, match="one pair at a time"):
        crossings(model, DATA.X[:2], DATA.X[:2], 0, WITHIN)
    with pytest.raises(DataError, match="no documents"):
        smallest_swap(model, a, b, DATA.X[:0])


# --- Landmarks ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("settings", [{}, {"rank": 5}, {"kernel": "polynomial"}], ids=str)
@pytest.mark.parametrize("feature_map", ["nystroem", "exact"])
def test_landmarks_make_the_margin_between_them(feature_map: str, settings: dict[str, Any]) -> None:
    if feature_map == "exact" and "rank" in settings:
        return
    model = RankSVM(feature_map, n_components=20, gamma=0.3, C=0.5, **settings).fit_data(DATA)
    a, b = DATA.X[0], DATA.X[9]
    table = landmark_shares(model, a, b, DATA)
    margin = float(np.diff(model.predict([b, a]))[0])
    assert table["share"].sum() == pytest.approx(margin, abs=1e-10)
    assert (np.diff(table["share"].abs()) <= 0).all()
    for row in table.itertuples():
        assert row.query == DATA.query_of(row.document)
        assert row.grade == DATA.y[row.document]
        assert row.alike == 1
    z = DATA.X[table["document"]]
    np.testing.assert_allclose(model.feature_map_.kernel.matrix(a[None], z)[0], table["near_A"], rtol=1e-12)
    np.testing.assert_allclose(
        table["coefficient"] * (table["near_A"] - table["near_B"]), table["share"], rtol=1e-12, atol=1e-15
    )


def test_landmarks_that_stand_in_the_data_twice_or_not_at_all() -> None:
    X = np.vstack((DATA.X[:6], DATA.X[:6]))
    X[:, 0] = 0.0
    X[6:, 0] = -0.0
    model = RankSVM("exact", gamma=0.3).fit(X, [0, 1, 2, 0, 1, 2] * 2, qid=np.repeat([1, 2], 6))
    train = RankingData.from_arrays(X, [0, 1, 2, 0, 1, 2] * 2, np.repeat([1, 2], 6))
    table = landmark_shares(model, X[0], X[1], train).sort_values("landmark")
    assert table["document"].tolist() == [0, 1, 2, 3, 4, 5]
    assert table["alike"].tolist() == [2] * 6
    elsewhere = RankingData.from_arrays(X + 1.0, train.y, train.qid)
    other = landmark_shares(model, X[0], X[1], elsewhere)
    assert other["document"].tolist() == [-1] * 6
    assert other["query"].tolist() == [None] * 6
    assert other["grade"].tolist() == [-1] * 6


def test_models_without_landmarks_are_refused() -> None:
    a, b = DATA.X[:2]
    for model in (RankSVM(), RankSVM("fourier"), FeatureMean()):
        with pytest.raises(SettingError, match="not declared as sums of kernel values"):
            landmark_shares(model.fit_data(DATA), a, b, DATA)
    with pytest.raises(DataError, match="RankingData"):
        landmark_shares(RankSVM("exact").fit_data(DATA), a, b, DATA.X)  # type: ignore[arg-type]


@pytest.mark.letor
@pytest.mark.parametrize("dataset", ["OHSUMED", "MQ2008"])
def test_real_lists_swap_where_a_dense_scan_says(letor_root: Path, dataset: str) -> None:
    fold = load_fold(letor_root / dataset / "Fold1")
    model = RankSVM("nystroem", n_components=200, gamma=2.0**-3, C=2.0**-7).fit_data(fold.train)
    X = fold.vali.X[fold.vali.query_slice(0)]
    a, b = X[np.argsort(-model.predict(X))[:2]]
    low, high = fold.train.X.min(axis=0), fold.train.X.max(axis=0)
    for swap in swaps(model, a, b, fold.train.X).found[:5]:
        dense = np.linspace(low[swap.feature], high[swap.feature], 2000)
        margin = margin_along(model, a, b, swap.feature, dense)
        places = dense[:-1][np.sign(margin[:-1]) != np.sign(margin[1:])]
        found = crossings(model, a, b, swap.feature, (dense[0], dense[-1]))
        assert len(found) == len(places)
        np.testing.assert_allclose(found, places, atol=dense[1] - dense[0])
        assert found[np.abs(found - a[swap.feature]).argmin()] == swap.value
    table = landmark_shares(model, a, b, fold.train)
    assert (table["document"] >= 0).all()
    found_margin = explain_margin(model, a, b).margin
    assert table["share"].sum() == pytest.approx(float(found_margin), abs=1e-9)


def test_landmarks_of_the_same_features_are_taken_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exact, "SMALL", 2)  # beyond, every document is a landmark, alike or not
    rng = np.random.default_rng(2)
    X = rng.uniform(size=(8, 3))
    X[5], X[6] = X[1], X[1]
    train = RankingData.from_arrays(X, [0, 1, 2, 0, 1, 2, 0, 1], [1] * 4 + [2] * 4)
    table = landmark_shares(RankSVM("exact", gamma=1.0).fit_data(train), X[0], X[3], train)
    found = alike_together(table)
    assert len(found) == 6
    assert found["document"].is_unique
    assert found["share"].sum() == pytest.approx(table["share"].sum(), rel=1e-12)
    three = table[table["document"] == 1]
    (one,) = found[found["document"] == 1].itertuples()
    assert len(three) == one.alike == 3
    assert one.share == pytest.approx(three["share"].sum())
    assert one.coefficient == pytest.approx(three["coefficient"].sum())
    assert found["share"].abs().is_monotonic_decreasing
    elsewhere = landmark_shares(RankSVM("exact", gamma=1.0).fit_data(train), X[0], X[3], DATA_OF_THREE)
    assert len(alike_together(elsewhere)) == 8, "what is no training document is told from no other"
