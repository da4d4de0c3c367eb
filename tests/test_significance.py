"""Intervals cover what they promise, comparisons claim no more than the queries show, sentences say so."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from rankviz.datasets.types import RankingData
from rankviz.metrics import evaluate
from rankviz.metrics.significance import METHOD, Comparison, Interval, compare, interval


def series(values: object, index: object = None) -> pd.Series:
    return pd.Series(np.asarray(values, dtype=float), index=index)


def pair(n: int, shift: float, spread: float, seed: int = 0) -> tuple[pd.Series, pd.Series]:
    """Two models whose values vary a lot over queries and differ by `shift` on average."""
    rng = np.random.default_rng(seed)
    base = rng.random(n)
    return series(base + shift + spread * rng.normal(size=n)), series(base)


def drawn(draw: str, rng: np.random.Generator, n: int) -> np.ndarray:
    """Samples of mean 0: as differences of metrics are, many of them exactly 0, or skewed."""
    if draw == "many zeros":
        return rng.laplace(size=n) * (rng.random(n) < 0.6)
    return rng.exponential(size=n) - 1.0 if draw == "skewed" else rng.normal(size=n)


@pytest.mark.parametrize("draw", ["normal", "skewed", "many zeros"])
def test_intervals_cover_the_true_mean_about_as_often_as_they_say(draw: str) -> None:
    covered = 0
    for seed in range(600):
        found = interval(drawn(draw, np.random.default_rng([7, seed]), 21), n_resamples=999)
        covered += found.low <= 0.0 <= found.high
    assert 0.91 < covered / 600 < 0.98


@pytest.mark.parametrize("n", [2, 40, 300])
def test_the_same_as_scipys_bootstrap_for_few_queries_and_for_many(n: int) -> None:
    values = drawn("many zeros", np.random.default_rng(n), n)
    t = stats.t.ppf(0.95, n - 1)
    expected = stats.bootstrap(
        (values,),
        np.mean,
        method="percentile",
        confidence_level=1 - 2 * stats.norm.sf(t * math.sqrt(n / (n - 1))),
        rng=np.random.default_rng(3),
    ).confidence_interval
    found = interval(values, confidence=0.9, seed=3)
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), rel=0, abs=1e-15)


def test_a_few_uneven_queries_are_no_evidence_however_many_are_even() -> None:
    """Four of 21, all worse: a fair coin for each does that in one of eight cases, so 95 % is not reached."""
    base = series(np.full(21, 0.5))
    for uneven, decided in ((4, False), (5, False), (6, True), (7, True)):
        worse = base - np.where(np.arange(21) < uneven, 0.02 + 0.001 * np.arange(21), 0.0)
        found = compare(worse, base)
        assert found.interval.high < 0
        assert found.n_uneven == uneven
        assert found.distinguishable is decided
        said = found.sentence("a", "b", "NDCG@10")
        assert (f"21 queries, of which {uneven} differ (" in said) is not decided
    assert compare(base, base).n_uneven == 0


def test_a_95_percent_claim_is_rarely_made_where_there_is_no_difference() -> None:
    claims = sum(compare(*pair(8, 0.0, 0.1, seed), n_resamples=999).distinguishable for seed in range(400))
    assert claims / 400 < 0.09


def test_as_wide_as_students_interval_where_that_is_exact() -> None:
    """Normal values: plain percentile intervals are about 0.78 (n = 8) and 0.95 (n = 30) times as wide."""
    for n, tolerance in ((8, 0.04), (30, 0.015)):
        ratios = []
        for seed in range(40):
            values = np.random.default_rng([11, seed]).normal(size=n)
            low, high = stats.t.interval(0.95, n - 1, values.mean(), stats.sem(values))
            found = interval(values)
            ratios.append((found.high - found.low) / (high - low))
        assert np.mean(ratios) == pytest.approx(1.0, abs=tolerance)


def test_pairing_sees_what_separate_intervals_do_not() -> None:
    a, b = pair(40, 0.02, 0.03)
    found = compare(a, b)
    assert found.distinguishable
    assert found.difference == pytest.approx((a - b).mean())
    assert interval(a).low < interval(b).high


def test_swapping_mirrors_everything() -> None:
    a, b = pair(40, 0.02, 0.03)
    there, back = compare(a, b), compare(b, a)
    assert back.difference == pytest.approx(-there.difference)
    assert back.interval.low == pytest.approx(-there.interval.high)
    assert back.interval.high == pytest.approx(-there.interval.low)
    assert there.distinguishable
    assert back.distinguishable
    assert there.sentence("A", "B", "MAP").replace(
        "A is better than B", "B is worse than A"
    ) == back.sentence("B", "A", "MAP")


def test_the_seed_decides() -> None:
    a, b = pair(30, 0.0, 0.1)
    assert compare(a, b) == compare(a, b)
    assert compare(a, b, seed=1) != compare(a, b)


def test_more_confidence_is_wider() -> None:
    values = np.random.default_rng(0).random(50)
    narrow, wide = interval(values, confidence=0.8), interval(values, confidence=0.99)
    assert wide.low < narrow.low < narrow.mean < narrow.high < wide.high


@pytest.mark.parametrize("shift", [0.0, 0.1, -0.25])
def test_a_constant_difference_has_itself_as_interval(shift: float) -> None:
    _, b = pair(21, 0.0, 0.0)
    found = compare(b + shift, b)
    np.testing.assert_allclose([found.interval.low, found.difference, found.interval.high], shift, atol=1e-12)
    assert found.distinguishable == (shift != 0)


def test_equal_values_are_not_distinguishable() -> None:
    a, _ = pair(21, 0.0, 0.1)
    found = compare(a, a + 3e-16)
    assert not found.distinguishable
    assert found.sentence("Nyström", "the linear model", "MAP") == (
        "By MAP, Nyström is not distinguishable from the linear model with 21 queries "
        "(difference 0.000, 95 % interval [0.000, 0.000])"
    )


def test_one_query_or_none_claims_nothing() -> None:
    one, none = compare(series([0.9]), series([0.1])), compare(series([]), series([]))
    assert (one.difference, one.n_queries) == (0.8, 1)
    assert math.isnan(one.interval.low)
    assert math.isnan(none.difference)
    assert not one.distinguishable
    assert not none.distinguishable
    assert one.sentence("A", "B", "MAP") == (
        "By MAP, 1 query is too few to tell A from B (at least 6 are needed for 95 %)"
    )
    assert "0 queries are too few" in none.sentence("A", "B", "MAP")


def test_no_claim_where_signs_alone_could_be_chance() -> None:
    """Five differences of one sign come up one time in 16 by coin tosses: no evidence at 95 %."""
    five, six = (compare(series([0.5] * n), series([0.1] * n)) for n in (5, 6))
    assert (five.distinguishable, six.distinguishable) == (False, True)
    assert "5 queries are too few" in five.sentence("A", "B", "MAP")
    assert compare(series([0.5] * 6), series([0.1] * 6), confidence=0.99).n_needed == 8


def test_two_queries_give_an_interval_all_the_same() -> None:
    found = interval([0.2, 0.4])
    assert (found.low, found.mean, found.high) == pytest.approx((0.2, 0.3, 0.4))


def test_wording() -> None:
    better = Comparison(Interval(0.021, 0.004, 0.038, 0.95, 40))
    worse = Comparison(Interval(-0.021, -0.038, -0.004, 0.95, 40))
    neither = Comparison(Interval(-0.003, -0.014, 0.009, 0.95, 21))
    slight = Comparison(Interval(0.00012, 0.00004, 0.0002, 0.9, 10_000))
    names = ("Nyström", "the linear model", "NDCG@10")
    assert better.sentence(*names) == (
        "Nyström is better than the linear model by 0.021 NDCG@10 (95 % interval [0.004, 0.038], 40 queries)"
    )
    assert worse.sentence(*names) == (
        "Nyström is worse than the linear model by 0.021 NDCG@10 (95 % interval [0.004, 0.038], 40 queries)"
    )
    assert neither.sentence(*names) == (
        "By NDCG@10, Nyström is not distinguishable from the linear model with 21 queries "
        "(difference −0.003, 95 % interval [−0.014, +0.009])"
    )
    assert slight.sentence(*names) == (
        "Nyström is better than the linear model by 0.00012 NDCG@10 "
        "(90 % interval [0.00004, 0.00020], 10,000 queries)"
    )
    assert str(Interval(0.4536, 0.4, 0.5, 0.95, 106)) == "0.454 (95 % interval [0.400, 0.500], 106 queries)"
    assert str(interval([0.5])) == "0.500 (1 query: no interval)"
    assert "bootstrap" in METHOD


def test_queries_are_matched_by_id_not_by_place() -> None:
    a, b = pair(30, 0.02, 0.03)
    shuffled = b.sample(frac=1, random_state=0)
    assert compare(a, shuffled) == compare(a, b)


def test_repeated_ids_are_taken_in_order() -> None:
    index = [1, 2, 3, 1, 2, 3]
    a, b = series([0.1, 0.2, 0.3, 0.4, 0.5, 0.6], index), series([0.0] * 6, index)
    assert compare(a, b).difference == pytest.approx(0.35)
    with pytest.raises(ValueError, match="Query ids repeat and their order differs"):
        compare(a, b.iloc[[1, 0, 2, 3, 4, 5]])


def test_other_queries_are_an_error() -> None:
    with pytest.raises(
        ValueError, match=r"The queries differ: 4 only in the first \(1, 2, 3, …\), 1 only in"
    ):
        compare(series([0.1] * 5, [1, 2, 3, 4, 5]), series([0.1] * 2, [5, 6]))
    with pytest.raises(ValueError, match=r"1 only in the first \(2\), 0 only in the second \(none\)"):
        compare(series([0.1, 0.2], [1, 2]), series([0.1], [1]))


def test_values_without_query_ids_are_refused_with_what_would_do() -> None:
    for a, b in ((np.ones(3), series([1, 0, 1])), (series([1, 0, 1]), [1.0, 0.0, 1.0])):
        with pytest.raises(ValueError, match=r"a (ndarray|list) has none.*per_query.*pd\.Series"):
            compare(a, b)  # type: ignore[arg-type]


def test_queries_a_definition_leaves_out_are_left_out() -> None:
    y = [1, 0, 0, 0, 2, 1] * 5
    data = RankingData.from_arrays(np.zeros((30, 1)), y, np.repeat(np.arange(10), 3))
    a, b = (evaluate(s, data, "textbook").per_query["MAP"] for s in (np.arange(30), -np.arange(30)))
    assert a.isna().sum() == 0
    a, b = a.copy(), b.copy()
    a[3] = b[3] = math.nan
    found = compare(a, b)
    assert found.n_queries == 9
    assert found.difference == pytest.approx((a - b).mean())
    b[4] = math.nan
    with pytest.raises(ValueError, match="Query 4 has a value in only one"):
        compare(a, b)


@pytest.mark.parametrize("confidence", [0.0, 1.0, 95])
def test_confidence_is_a_probability(confidence: float) -> None:
    with pytest.raises(ValueError, match="not between 0 and 1"):
        interval([0.1, 0.2], confidence=confidence)


@pytest.mark.parametrize("values", [[0.1, math.inf], [[0.1], [0.2]]])
def test_values_are_one_finite_number_for_each_query(values: list[object]) -> None:
    with pytest.raises(ValueError, match="one finite value for each query"):
        interval(values)
