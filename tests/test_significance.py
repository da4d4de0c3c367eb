"""Intervals cover what they promise, comparisons claim no more than the queries show, sentences say so."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from rankviz.datasets.types import RankingData
from rankviz.metrics import evaluate
from rankviz.metrics.significance import Comparison, Interval, compare, interval


def series(values: object, index: object = None) -> pd.Series:
    return pd.Series(np.asarray(values, dtype=float), index=index)


def pair(n: int, shift: float, spread: float, seed: int = 0) -> tuple[pd.Series, pd.Series]:
    """Two models whose values vary a lot over queries and differ by `shift` on average."""
    rng = np.random.default_rng(seed)
    base = rng.random(n)
    return series(base + shift + spread * rng.normal(size=n)), series(base)


def drawn(draw: str, rng: np.random.Generator, n: int) -> np.ndarray:
    """Samples of mean 0, as metrics and their differences are: many equal to one value, or skewed."""
    some = rng.random(n) < 0.2
    return {
        "normal": lambda: rng.normal(size=n),
        "0 or 1": lambda: some - 0.2,
        "80 % zeros": lambda: rng.random(n) * some - 0.1,
        "skewed": lambda: rng.exponential(size=n) - 1.0,
        "log-normal": lambda: np.exp(rng.normal(size=n)) - math.exp(0.5),
        "differences, 70 % zeros": lambda: rng.laplace(size=n) * (rng.random(n) < 0.3),
    }[draw]()


DRAWS = ["normal", "0 or 1", "80 % zeros", "skewed", "log-normal", "differences, 70 % zeros"]


@pytest.mark.parametrize("n", [8, 63])
@pytest.mark.parametrize("draw", DRAWS)
def test_intervals_cover_the_true_mean_about_as_often_as_they_say(draw: str, n: int) -> None:
    """93 times in 100 at least, less three standard errors; a log-normal tail of few values is the limit."""
    covered = given = 0
    for seed in range(1000):
        found = interval(drawn(draw, np.random.default_rng([7, seed]), n))
        given += not math.isnan(found.low)
        covered += found.low - 1e-12 <= 0.0 <= found.high + 1e-12
    least = 0.91 if draw == "log-normal" and n < 21 else 0.93
    assert covered / given > least - 3 * math.sqrt(least * (1 - least) / given)
    assert given > 100


def test_the_ends_by_hand() -> None:
    """Check 0, 0, 0, 1, 2, 6: mean 1.5, s² = 5.5 (n − 1), skewness 1.403 (n)."""
    values = np.array([0.0, 0.0, 0.0, 1.0, 2.0, 6.0])
    deviations = values - 1.5
    error = math.sqrt(5.5 / 6)
    reach = (1 + 1 / 6) * stats.t.ppf(0.975, 5)
    gamma = np.mean(deviations**3) / np.mean(deviations**2) ** 1.5 / math.sqrt(5)
    far = 3 / gamma * (1 - np.cbrt(1 - gamma * (reach + gamma / 6)))
    found = interval(values)
    assert (found.mean, found.low, found.high) == pytest.approx((1.5, 1.5 - error * reach, 1.5 + error * far))
    assert far > 1.5 * reach
    symmetric = interval([-3.0, -1.0, -0.5, 0.5, 1.0, 3.0])
    assert symmetric.high == pytest.approx(reach * math.sqrt(20.5 / 30))


@pytest.mark.parametrize(
    ("scale", "shift"), [(10.0, 0.0), (1e-150, 0.0), (1e120, 0.0), (-1.0, 0.0), (3.0, 7.0)]
)
def test_an_interval_moves_with_the_scale_and_the_shift_of_its_values(scale: float, shift: float) -> None:
    values = np.random.default_rng(4).beta(0.4, 3, size=15)
    found, moved = interval(values), interval(scale * values + shift)
    ends = sorted((found.low, found.high), key=lambda end: scale * end)
    expected = [scale * end + shift for end in ends]
    assert [moved.low, moved.high] == pytest.approx(expected, rel=1e-9)


def test_too_few_queries_that_differ_have_no_interval() -> None:
    """Resamples of 21 that miss all of three ones come up in 4 of 100 cases, of four in 1 of 100."""
    for n, ones, known in ((21, 0, False), (21, 3, False), (21, 4, True), (21, 17, True), (21, 18, False)):
        found = interval(np.arange(n) < ones)
        assert found.known is known
        assert math.isnan(found.high) is not known
        assert found.mean == pytest.approx(ones / n)
    assert interval(np.full(21, 0.1) + 1e-17 * np.arange(21)).known is False
    rounded = np.where(np.arange(21) < 10, 0.1 + 0.2, 0.3)
    assert interval(rounded).known is False, "0.1 + 0.2 and 0.3 are one value"
    assert [interval(np.arange(float(n))).known for n in (5, 6)] == [False, True]
    assert "too few queries for a 95 % interval" in str(interval(np.zeros(21)))


def test_a_few_uneven_queries_are_no_evidence_however_many_are_even() -> None:
    """Four of 21, all worse: a fair coin for each does that in one of eight cases, so 95 % is not reached."""
    base = series(np.full(21, 0.5))
    for uneven, decided in ((3, False), (4, False), (5, False), (6, True), (7, True)):
        worse = base - np.where(np.arange(21) < uneven, 0.02 + 0.001 * np.arange(21), 0.0)
        found = compare(worse, base)
        assert found.interval.known is (uneven > 3)
        assert found.n_uneven == uneven
        assert found.distinguishable is decided
        said = found.sentence("a", "b", "NDCG@10")
        assert (f"21 queries, of which {uneven} differ (" in said) is not decided
        assert ("too many equal differences for a 95 % interval" in said) is not found.interval.known
    assert compare(base, base).n_uneven == 0


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


def test_more_confidence_is_wider() -> None:
    values = np.random.default_rng(0).random(50)
    narrow, wide = interval(values, confidence=0.8), interval(values, confidence=0.99)
    assert wide.low < narrow.low < narrow.mean < narrow.high < wide.high


@pytest.mark.parametrize("shift", [0.1, -0.25])
def test_a_constant_difference_does_not_say_how_far_it_reaches(shift: float) -> None:
    _, b = pair(21, 0.0, 0.0)
    found = compare(b + shift, b)
    assert found.difference == pytest.approx(shift)
    assert not found.interval.known
    assert not found.distinguishable


def test_equal_values_are_not_distinguishable() -> None:
    a, _ = pair(21, 0.0, 0.1)
    found = compare(a, a + 3e-16)
    assert not found.distinguishable
    assert found.sentence("Nyström", "the linear model", "MAP") == (
        "By MAP, Nyström does not differ significantly from the linear model with 21 queries, of which none "
        "differs (difference 0.000, too many equal differences for a 95 % interval)"
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
    better = 0.5 + 0.01 * np.arange(6)
    five, six = (compare(series(better[:n]), series([0.1] * n)) for n in (5, 6))
    assert (five.distinguishable, six.distinguishable) == (False, True)
    assert "5 queries are too few" in five.sentence("A", "B", "MAP")
    assert compare(series([0.5] * 6), series([0.1] * 6), confidence=0.99).n_needed == 8


def test_wording() -> None:
    worse = Comparison(Interval(-0.021, -0.038, -0.004, 0.95, 40))
    neither = Comparison(Interval(-0.003, -0.014, 0.009, 0.95, 21))
    slight = Comparison(Interval(0.00012, 0.00004, 0.0002, 0.9, 10_000))
    names = ("Nyström", "the linear model", "NDCG@10")
    assert worse.sentence(*names).endswith(
        "is worse than the linear model by 0.021 NDCG@10 (95 % interval [0.004, 0.038], 40 queries)"
    )
    assert "does not differ significantly" in neither.sentence(*names)
    assert "(difference −0.003, 95 % interval [−0.014, +0.009])" in neither.sentence(*names)
    assert "by 0.00012 NDCG@10 (90 % interval [0.00004, 0.00020], 10,000" in slight.sentence(*names)
    assert str(interval([0.5])) == "0.500 (too few queries for a 95 % interval, 1 query)"


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


@pytest.mark.parametrize(
    ("ends", "uneven", "n", "verdict"),
    [
        ((0.001, 0.018), 40, 40, "significant"),
        ((-0.003, 0.018), 40, 40, "no significant difference"),
        ((0.001, 0.018), 2, 40, "no significant difference"),
        ((0.001, 0.018), 3, 3, "too few queries to decide"),
        ((math.nan, math.nan), 2, 40, "too few differences to decide"),
    ],
)
def test_an_effect_claims_no_more_than_the_queries_show(
    ends: tuple[float, float], uneven: int, n: int, verdict: str
) -> None:
    told = Comparison(Interval(0.008, *ends, 0.95, n), uneven).effect("MAP")
    assert told.startswith("MAP +0.008")
    assert told.endswith(f"{n} queries: {verdict}")
    assert ("[" in told) == (not math.isnan(ends[0]))


def test_no_end_of_a_significant_effect_reads_as_zero() -> None:
    told = Comparison(Interval(-0.005, -0.024, -0.0002, 0.95, 40), 40).effect("MAP")
    assert told == "MAP −0.0050 [−0.0240, −0.0002], 40 queries: significant"
