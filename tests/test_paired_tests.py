"""Paired tests against all signs gone through, known answers and simulations; corrections by hand."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from rankviz.metrics.paired_tests import benjamini_hochberg, holm, mean_over_seeds, paired_tests


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


@pytest.mark.parametrize("test", ["randomisation", "wilcoxon", "t"])
def test_where_models_are_alike_few_p_values_are_small(test: str) -> None:
    """A share α of them lies below α; of 400, 5 % are 20 ± 9."""
    rng = np.random.default_rng(5)
    found = [
        getattr(paired_tests(*pair(rng.laplace(size=30) * 0.1), n_resamples=499), test) for _ in range(400)
    ]
    assert 8 <= np.sum(np.array(found) <= 0.05) <= 34


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


def test_holm_is_wrong_about_one_family_in_twenty() -> None:
    rng = np.random.default_rng(9)
    wrong = [holm(rng.random(10)).min() <= 0.05 for _ in range(2000)]
    assert 0.03 < np.mean(wrong) < 0.07
