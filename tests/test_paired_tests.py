"""Paired tests against all signs gone through, known answers and simulations; corrections by hand."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from rankviz.metrics.paired_tests import (
    benjamini_hochberg,
    holm,
    max_statistic,
    mean_over_seeds,
    paired_tests,
)


def pair(differences: object) -> tuple[pd.Series, pd.Series]:
    """Two models with these differences."""
    values = np.asarray(differences, float)
    base = pd.Series(np.linspace(0.2, 0.7, len(values)), index=range(1, len(values) + 1))
    return base + values, base


def test_randomisation_goes_through_all_signs_of_few_queries() -> None:
    values = np.array([0.11, -0.02, 0.07, 0.05, 0.013, -0.03, 0.09, 0.0])
    moved = values[values != 0]
    means = [np.mean(moved * signs) for signs in itertools.product((1, -1), repeat=len(moved))]
    expected = np.mean(np.abs(means) >= abs(moved.mean()) - 1e-12)
    found = paired_tests(*pair(values))
    assert found.randomisation == pytest.approx(expected, abs=1e-12)
    assert found.wilcoxon == pytest.approx(stats.wilcoxon(moved).pvalue)
    assert found.t == pytest.approx(stats.ttest_rel(*pair(values)).pvalue, abs=1e-9)
    assert (found.better, found.worse, found.even) == (5, 2, 1)
    assert found.effect == pytest.approx(values.mean() / values.std(ddof=1))


def test_equal_differences_share_a_rank_although_they_are_rounded() -> None:
    """0.3 − 0.2, 0.2 − 0.1 and 0.1 − 0 are one difference; whole numbers say what its rank is."""
    a, b = np.array([3, 2, 1, 7, 2, 9, 6, 8, 4, 3, 1]), np.array([2, 1, 0, 9, 4, 4, 7, 2, 3, 6, 1])
    exact, found = (paired_tests(pd.Series(a / k), pd.Series(b / k)) for k in (1, 10))
    assert len(np.unique(np.abs(a / 10 - b / 10))) > len(np.unique(np.abs(a - b)))
    assert found.wilcoxon == exact.wilcoxon == stats.wilcoxon((a - b)[a != b]).pvalue


SCALE_FREE = ("randomisation", "wilcoxon", "t", "effect", "better", "worse", "even")


@pytest.mark.parametrize("scale", [10.0, 1 / 3, 1e-9, 1e9])
def test_the_scale_of_values_does_not_matter(scale: float) -> None:
    rng = np.random.default_rng(8)
    a, b = (pd.Series(rng.integers(0, 4, 25) / 10 + rng.integers(0, 3, 25) / 7) for _ in range(2))
    plain, scaled = paired_tests(a, b), paired_tests(scale * a, scale * b)
    for name in SCALE_FREE:
        assert getattr(scaled, name) == pytest.approx(getattr(plain, name), rel=1e-9), name
    ends = (scaled.interval.low / scale, scaled.interval.high / scale)
    assert ends == pytest.approx((plain.interval.low, plain.interval.high))
    assert paired_tests(scale * a, scale * a * (1 + 1e-15)).even == 25


def test_randomisation_is_that_of_scipy() -> None:
    values = np.random.default_rng(2).laplace(0.01, 0.05, size=60)
    expected = stats.permutation_test(
        (values,), np.mean, permutation_type="samples", n_resamples=9999, vectorized=True, batch=500, rng=3
    ).pvalue
    p = paired_tests(*pair(values)).randomisation
    assert abs(p - expected) < 4 * math.sqrt(2 * p * (1 - p) / 9999), "both are draws of the same share"


def test_of_many_queries_signs_are_drawn_and_say_about_what_t_says() -> None:
    values = np.random.default_rng(1).normal(0.02, 0.1, size=200)
    found = paired_tests(*pair(values))
    assert found.randomisation == pytest.approx(found.t, rel=0.1, abs=2e-3)
    assert paired_tests(*pair(values)).randomisation == found.randomisation, "drawn from the same seed"
    turned = paired_tests(*reversed(pair(values)))
    assert (turned.better, turned.worse) == (found.worse, found.better)
    assert turned.interval.mean == pytest.approx(-found.interval.mean)


def test_even_models_and_single_queries() -> None:
    even = paired_tests(*pair([0.0, 0.0, 0.0]))
    assert (even.randomisation, even.wilcoxon, even.t, even.even) == (1.0, 1.0, 1.0, 3)
    assert math.isnan(even.effect)
    one = paired_tests(*pair([0.1]))
    assert all(math.isnan(p) for p in (one.randomisation, one.wilcoxon, one.t))
    same = paired_tests(*pair([0.25] * 4))
    assert same.t == 0.0, "no spread at all: any other mean is impossible under t"
    assert same.randomisation == pytest.approx(2 / 16)
    rounded = paired_tests(pd.Series([0.1, 0.3, 0.5, 0.5]), pd.Series([0.2, 0.4, 0.6, 0.6]))
    assert rounded.t == 0.0, "a spread of 1e-17 is rounding"
    assert math.isnan(rounded.effect)
    a, b = pair([0.1, 0.2])
    with pytest.raises(ValueError, match="The queries differ"):
        paired_tests(a, b.drop(1))


def test_seeds_are_averaged_and_folds_stand_beside_one_another() -> None:
    index = pd.MultiIndex.from_tuples(
        [("Fold1", 7, 0), ("Fold1", 7, 1), ("Fold2", 7, 0), ("Fold2", 9, 0), ("Fold2", 9, 1)],
        names=["fold", "query", "seed"],
    )
    found = mean_over_seeds(pd.Series([0.2, 0.4, 0.9, 0.5, 0.7], index=index))
    assert found.to_dict() == pytest.approx({("Fold1", 7): 0.3, ("Fold2", 7): 0.9, ("Fold2", 9): 0.6})
    with pytest.raises(ValueError, match="level “query”"):
        mean_over_seeds(pd.Series([0.1]))
    with pytest.raises(ValueError, match="several values"):
        mean_over_seeds(pd.Series([0.1, 0.2], index=pd.Index([3, 3], name="query")))


def test_corrections_by_hand() -> None:
    p = [0.01, 0.04, 0.03, 0.005]
    assert holm(p) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert benjamini_hochberg(p) == pytest.approx([0.02, 0.04, 0.04, 0.02])
    assert holm([0.5, 0.6]) == pytest.approx([1.0, 1.0])
    assert holm([]).shape == (0,)
    for wrong in ([-0.1], [1.1], [math.nan], [[0.5]]):
        for correct in (holm, benjamini_hochberg):
            with pytest.raises(ValueError, match="from 0 to 1"):
                correct(wrong)


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


def test_of_candidates_that_are_as_good_one_family_in_twenty_looks_better() -> None:
    rng, families = np.random.default_rng(6), 400
    wrong = sum(max_statistic(alike(rng, 30, 6, 2.0), n_resamples=399).min() <= 0.05 for _ in range(families))
    low, high = stats.binom.ppf([0.001, 0.999], families, 0.05)
    assert low <= wrong <= high


def test_candidates_that_are_alike_are_told_from_the_baseline_where_holm_does_not() -> None:
    """Tests of neighbouring C are nearly one test: p is at most Holm's."""
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
