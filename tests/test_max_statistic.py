"""The best of several candidates: against all signs gone through one by one, and in simulations."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from rankviz.metrics.paired_tests import holm, max_statistic


def slow(d: np.ndarray) -> np.ndarray:
    """Step by step over every row of signs, with Student's t in place of T."""

    def t(values: np.ndarray) -> np.ndarray:
        with np.errstate(divide="ignore"):
            return np.abs(values.mean(axis=0)) / values.std(axis=0, ddof=1)

    seen = t(d)
    left, found, last = sorted(range(d.shape[1]), key=lambda j: -seen[j]), np.ones(d.shape[1]), 0.0
    while left:
        largest = [
            t(np.array(signs)[:, None] * d)[left].max() for signs in itertools.product((1, -1), repeat=len(d))
        ]
        last = max(last, float(np.mean(np.array(largest) >= seen[left[0]] * (1 - 1e-9))))
        found[left.pop(0)] = last
    return found


def alike(rng: np.random.Generator, n: int, k: int, own: float) -> np.ndarray:
    """Differences of k candidates to a baseline: noise that they share, and some of their own."""
    return rng.laplace(size=(n, 1)) + own * rng.laplace(size=(n, k))


def test_of_few_queries_all_signs_are_gone_through() -> None:
    d = alike(np.random.default_rng(3), 9, 4, 2.0) + np.array([3.0, 0.6, -1.0, 0.3])
    found = max_statistic(d)
    assert found == pytest.approx(slow(d), abs=1e-12)
    weakest = np.argmax(found)
    assert found[weakest] == pytest.approx(max_statistic(d[:, [weakest]])[0]), "nobody below it is left"


def test_of_one_candidate_it_is_the_randomisation_test_of_its_differences() -> None:
    d = np.array([0.11, -0.02, 0.07, 0.05, 0.013, -0.03, 0.09])
    means = [np.mean(d * signs) for signs in itertools.product((1, -1), repeat=len(d))]
    expected = np.mean(np.abs(means) >= abs(d.mean()) - 1e-12)
    assert max_statistic(d[:, None]) == pytest.approx([expected], abs=1e-12)


def test_drawn_signs_come_near_to_all_signs() -> None:
    d = alike(np.random.default_rng(4), 11, 4, 0.5) + np.array([0.5, 0.2, 0.0, 0.3])
    exact, drawn = max_statistic(d), max_statistic(d, n_resamples=2000)
    assert np.abs(exact - drawn).max() < 4 * math.sqrt(0.25 / 2000)
    assert (max_statistic(d, n_resamples=2000) == drawn).all(), "drawn from the same seed"


def test_of_many_queries_signs_are_not_kept_and_say_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    d = alike(np.random.default_rng(5), 40, 3, 1.0) + 0.3
    kept = max_statistic(d, n_resamples=700)
    monkeypatch.setattr("rankviz.metrics.paired_tests._KEPT", 0)
    assert (max_statistic(d, n_resamples=700) == kept).all()


@pytest.mark.parametrize("own", [0.2, 2.0])
def test_of_candidates_that_are_as_good_one_family_in_twenty_looks_better(own: float) -> None:
    rng, families = np.random.default_rng(6), 400
    wrong = sum(max_statistic(alike(rng, 30, 6, own), n_resamples=399).min() <= 0.05 for _ in range(families))
    low, high = stats.binom.ppf([0.001, 0.999], families, 0.05)
    assert low <= wrong <= high


def test_the_best_by_itself_looks_better_too_often() -> None:
    rng, families = np.random.default_rng(6), 400
    wrong = 0
    for _ in range(families):
        d = alike(rng, 30, 6, 2.0)
        wrong += min(float(max_statistic(column[:, None], n_resamples=399)[0]) for column in d.T) <= 0.05
    assert wrong > stats.binom.ppf(0.999, families, 0.05), "or there would be nothing to correct"


def test_candidates_that_are_alike_are_told_from_the_baseline_where_holm_does_not() -> None:
    """Of neighbouring C, k tests are hardly more than one: never above Holm's p."""
    d = alike(np.random.default_rng(8), 12, 9, 0.1) + 0.75
    alone = np.array([max_statistic(column[:, None])[0] for column in d.T])
    together, by_holm = max_statistic(d), holm(alone)
    assert (together <= by_holm + 1e-12).all()
    assert together.min() < 0.05 < by_holm.min()


def test_a_larger_difference_has_no_larger_p() -> None:
    d = alike(np.random.default_rng(9), 40, 8, 1.0) + np.linspace(0, 1, 8)
    p = max_statistic(d, n_resamples=499)
    size = np.abs(d.mean(axis=0)) / d.std(axis=0)
    assert (np.diff(p[np.argsort(-size)]) >= 0).all()


def test_even_candidates_and_queries_without_a_value() -> None:
    d = np.array([[0.3, 0.0], [0.1, 0.0], [0.2, 0.0], [np.nan, np.nan], [0.0, 0.0]])
    assert max_statistic(d) == pytest.approx([0.25, 1.0]), "three uneven queries: 2 of 8 signs are as far"
    assert (max_statistic(np.zeros((4, 2))) == 1.0).all()
    assert np.isnan(max_statistic(d[:1])).all()
    with pytest.raises(ValueError, match="for some candidates only"):
        max_statistic([[0.1, np.nan], [0.2, 0.3]])
    for wrong in ([0.1, 0.2], [[np.inf], [0.1]], np.zeros((3, 0))):
        with pytest.raises(ValueError, match="finite numbers"):
            max_statistic(wrong)
