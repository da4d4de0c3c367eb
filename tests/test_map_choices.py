"""Test landmarks and frequencies: nested, repeatable, distinct, unbiased, orthogonal."""

import re
from itertools import permutations

import numpy as np
import pytest
from scipy import stats
from scipy.spatial.distance import cdist

from rankviz import RankSVM
from rankviz.features import FREQUENCIES, LANDMARKS, RBF, Nystroem, RandomFourier
from rankviz.features.fourier import OrthogonalFrequencies
from rankviz.features.kernels import GAUSSIAN_SPECTRUM
from rankviz.features.nystroem import KMeansPlusPlusLandmarks, distinct_rows

RNG = np.random.default_rng(0)
DOCUMENTS = RNG.normal(size=(60, 5))
ZEROS = np.zeros((6, 5)) * np.where(np.arange(6) % 2, 1.0, -1.0)[:, None]
REPEATED = np.random.default_rng(1).permutation(np.vstack((DOCUMENTS, DOCUMENTS, ZEROS)))
"""Every document twice, and zero rows of both signs: 61 distinct rows."""


def test_distinct_rows_are_the_first_of_their_kind() -> None:
    X = np.array([[1.0, 0.0], [0.0, 0.0], [1.0, -0.0], [-0.0, 0.0], [2.0, 0.0]])
    assert distinct_rows(X).tolist() == [0, 1, 4]
    assert distinct_rows(X[:0]).tolist() == []


def test_rows_with_equal_hashes_are_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    X = np.random.default_rng(0).integers(0, 3, (9000, 3)) / 2.0
    expected = np.sort(np.unique(X, axis=0, return_index=True)[1]).tolist()
    assert distinct_rows(X).tolist() == expected
    monkeypatch.setattr("rankviz.features.nystroem._hashes", lambda X: np.floor(X[:, 0]).astype(np.uint64))
    assert distinct_rows(X).tolist() == expected


@pytest.mark.parametrize("name", LANDMARKS)
@pytest.mark.parametrize("m", [1, 2, 8, 61, 64])
def test_landmarks_are_distinct_documents_in_a_nested_order(name: str, m: int) -> None:
    choice = LANDMARKS[name]
    index = choice.choose(REPEATED, m, seed=3)
    assert index.dtype == np.int64
    assert len(index) == min(m, 61)
    assert len(np.unique(REPEATED[index] + 0.0, axis=0)) == len(index)
    assert index.tolist() == choice.choose(REPEATED, 61, seed=3)[:m].tolist()
    assert m == 1 or index.tolist() != choice.choose(REPEATED, m, seed=4).tolist()


@pytest.mark.parametrize("name", LANDMARKS)
def test_the_first_landmark_is_any_distinct_document(name: str) -> None:
    X = np.repeat(np.arange(4.0)[:, None], [50, 1, 1, 1], axis=0)
    drawn = [float(X[LANDMARKS[name].choose(X, 1, seed)[0], 0]) for seed in range(400)]
    counts = np.bincount(np.array(drawn, int), minlength=4)
    assert (np.abs(counts - 100) < 45).all()


@pytest.mark.parametrize("name", LANDMARKS)
def test_no_documents_have_no_landmarks(name: str) -> None:
    assert LANDMARKS[name].choose(np.zeros((0, 3)), 5, 0).tolist() == []
    assert LANDMARKS[name].choose(np.zeros((4, 3)), 5, 0).tolist() == [0]


def d2_probability(X: np.ndarray, order: tuple[int, ...]) -> float:
    """Probability that k-means++ draws the rows of X in this order, by its definition."""
    D = cdist(X, X, "sqeuclidean")
    p = 1 / len(X)
    for k in range(1, len(order)):
        nearest = D[:, order[:k]].min(axis=1)
        p *= nearest[order[k]] / nearest.sum()
    return float(p)


@pytest.mark.parametrize("batch", [1, 64])
def test_kmeans_draws_by_squared_distance(batch: int) -> None:
    """Orders of five points on a line against their probabilities, whether distances are current or old."""
    X, draws = np.array([[0.0], [1.0], [1.5], [4.0], [9.0]]), 2000
    choice = KMeansPlusPlusLandmarks(largest_batch=batch)
    orders = list(permutations(range(5)))
    position = {order: i for i, order in enumerate(orders)}
    drawn = [position[tuple(choice.choose(X, 5, seed).tolist())] for seed in range(draws)]
    counts = np.bincount(drawn, minlength=len(orders))
    expected = np.array([d2_probability(X, order) for order in orders]) * draws
    assert expected.sum() == pytest.approx(draws)
    common = expected >= 5
    observed = np.append(counts[common], counts[~common].sum())
    assert stats.chisquare(observed, np.append(expected[common], expected[~common].sum())).pvalue > 0.001


def test_old_distances_draw_as_current_ones_do() -> None:
    """Four batches deep in a cloud: the mean distance left after 40 landmarks, over 60 seeds each."""
    X = np.random.default_rng(5).normal(size=(400, 3)) ** 3
    left = {
        batch: [
            cdist(X, X[KMeansPlusPlusLandmarks(largest_batch=batch).choose(X, 40, seed)]).min(axis=1).mean()
            for seed in range(offset, offset + 60)
        ]
        for batch, offset in ((1, 0), (64, 1000))
    }
    assert stats.ttest_ind(left[1], left[64]).pvalue > 0.001


@pytest.mark.parametrize("scale", [1e-160, 1e140])
def test_kmeans_copes_with_tiny_and_huge_features(scale: float) -> None:
    index = KMeansPlusPlusLandmarks().choose(DOCUMENTS * scale, 60, 1)
    assert index.tolist() == KMeansPlusPlusLandmarks().choose(DOCUMENTS, 60, 1).tolist()


def test_documents_that_coincide_to_rounding_come_last() -> None:
    X = np.concatenate((np.arange(5.0), 3.0 + 1e-15 * np.arange(1, 20)))[:, None]
    index = KMeansPlusPlusLandmarks().choose(X, 100, 0)
    assert sorted(index.tolist()) == distinct_rows(X).tolist()
    assert len(set(np.round(X[index[:5], 0]).tolist())) == 5


@pytest.mark.parametrize("name", FREQUENCIES)
@pytest.mark.parametrize("d", [1, 4, 9])
def test_frequencies_are_nested_and_repeatable(name: str, d: int) -> None:
    def drawn(m: int, seed: int) -> np.ndarray:
        return FREQUENCIES[name].draw(GAUSSIAN_SPECTRUM, d, m, np.random.default_rng(seed))

    for m in (1, 3, 4, 5, 8, 21):
        assert drawn(m, 1).shape == (d, m)
        np.testing.assert_allclose(drawn(m, 1), drawn(21, 1)[:, :m], rtol=0, atol=1e-13)
        np.testing.assert_array_equal(drawn(m, 1), drawn(m, 1))
    assert not np.allclose(drawn(21, 1), drawn(21, 2))


def test_blocks_of_frequencies_are_orthogonal() -> None:
    omega = OrthogonalFrequencies().draw(GAUSSIAN_SPECTRUM, 6, 15, np.random.default_rng(0))
    directions = omega / np.linalg.norm(omega, axis=0)
    inner = directions.T @ directions
    for start in (0, 6, 12):
        block = inner[start : start + 6, start : start + 6]
        np.testing.assert_allclose(block, np.eye(len(block)), atol=1e-12)
    assert np.abs(inner[:6, 6:12]).max() > 0.1
    assert len(set(np.linalg.norm(omega, axis=0).tolist())) == 15


@pytest.mark.parametrize("name", FREQUENCIES)
@pytest.mark.parametrize("column", [0, 2])
def test_every_frequency_is_standard_normal(name: str, column: int) -> None:
    draws = (FREQUENCIES[name].draw(GAUSSIAN_SPECTRUM, 3, 3, np.random.default_rng(s)) for s in range(1500))
    drawn = np.array([draw[:, column] for draw in draws])
    for entries in drawn.T:
        assert stats.kstest(entries, "norm").pvalue > 0.001
    np.testing.assert_allclose(np.cov(drawn.T), np.eye(3), atol=0.15)
    assert stats.kstest(np.linalg.norm(drawn, axis=1), stats.chi(3).cdf).pvalue > 0.001


def test_the_estimator_uses_the_choices_it_names() -> None:
    y, qid = np.arange(60) % 3, np.repeat(np.arange(6), 10)

    def fitted(**settings: object) -> RankSVM:
        return RankSVM(n_components=9, gamma=0.2, random_state=4, **settings).fit(DOCUMENTS, y, qid=qid)

    spread = fitted(feature_map="nystroem", landmarks="kmeans++").feature_map_
    expected = Nystroem(9, RBF(0.2), None, 4, KMeansPlusPlusLandmarks()).fit(DOCUMENTS)
    np.testing.assert_array_equal(spread.landmarks, expected.landmarks)
    orthogonal = fitted(feature_map="fourier", frequencies="orthogonal").feature_map_
    np.testing.assert_array_equal(
        orthogonal.frequencies,
        RandomFourier(9, RBF(0.2), 4, OrthogonalFrequencies()).fit(DOCUMENTS).frequencies,
    )
    for name, choices in (("landmarks", LANDMARKS), ("frequencies", FREQUENCIES)):
        known = ", ".join(map(repr, choices))
        with pytest.raises(
            ValueError, match=re.escape(f"{name}='nearest' is not known; choose one of {known}")
        ):
            fitted(feature_map="nystroem", **{name: "nearest"})
