"""Comparisons with a baseline: known answers, seeds and folds nested right, sentences."""

from __future__ import annotations

import doctest
import math

import numpy as np
import pytest
from conftest_contestants import LINEAR, NYSTROEM, over_folds, single

from rankviz.analysis import comparison
from rankviz.analysis.comparison import TESTS, Comparison, compare
from rankviz.analysis.contestants import Contestant
from rankviz.common.errors import SettingError
from rankviz.metrics.paired_tests import benjamini_hochberg, holm, paired_tests

RNG = np.random.default_rng(1)
BASE = RNG.uniform(0.2, 0.7, 20)
BETTER = BASE + RNG.normal(0.06, 0.03, 20)
LIKE = BASE + RNG.normal(0.0, 0.03, 20)


@pytest.fixture(scope="module")
def found() -> Comparison:
    given = [single("base", BASE), single("better", BETTER), single("like", LIKE)]
    return compare(given, ["MAP"], "base")


def test_deltas_are_those_of_the_paired_tests(found: Comparison) -> None:
    table = found.matched.by_query("MAP")
    expected = paired_tests(table["better"], table["base"])
    row = found.delta("better", "MAP")
    for name in (*TESTS, "effect", "better", "worse", "even"):
        assert row[name] == getattr(expected, name)
    assert row["difference"] == pytest.approx((BETTER - BASE).mean())
    assert (row["low"], row["high"]) == (expected.interval.low, expected.interval.high)


@pytest.mark.parametrize("test", TESTS)
def test_p_values_are_adjusted_over_all_that_is_compared(test: str) -> None:
    given = [
        single("base", BASE, **{"P@1": BASE}),
        single("better", BETTER, **{"P@1": LIKE}),
        single("like", LIKE, **{"P@1": BETTER}),
    ]
    found = compare(given, ["MAP", "P@1"], "base", test=test)
    assert found.family == 4
    assert found.deltas["holm"].to_numpy() == pytest.approx(holm(found.deltas[test]))
    assert found.deltas["benjamini_hochberg"].to_numpy() == pytest.approx(
        benjamini_hochberg(found.deltas[test])
    )


def test_sentences_say_what_holds(found: Comparison) -> None:
    said = found.sentence("better", "MAP")
    assert said.startswith("By MAP, better is better than base on 19 of 20 queries and worse on 1 (mean diff")
    assert "]); the difference holds after Holm's correction over 2 comparisons (p = " in said
    assert said.endswith("(p = 1.0 × 10⁻⁴ of the paired randomisation test, adjusted 2.0 × 10⁻⁴)")
    assert "that is no evidence of a difference (p = " in found.sentence("like", "MAP")
    alone = compare([single("base", BASE), single("better", BETTER)], ["MAP"], "base")
    assert "; the difference holds (p = " in alone.sentence("better", "MAP")
    with pytest.raises(SettingError, match="'base' was not compared with 'base' by MAP"):
        found.sentence("base", "MAP")


def test_the_answer_names_who_holds(found: Comparison) -> None:
    assert found.answer("MAP") == (
        "By MAP, better is better than base; 1 other model cannot be told from it (20 queries)"
    )
    names = {"up": BETTER, "too": BETTER + 0.01, "down": 2 * BASE - BETTER}
    three = compare([single("base", BASE), *(single(n, v) for n, v in names.items())], ["MAP"], "base")
    assert three.answer("MAP") == (
        "By MAP, up and too are better than base; down is worse than base (20 queries)"
    )
    alike = compare([single("base", BASE), single("like", LIKE), single("same", BASE)], ["MAP"], "base")
    assert alike.answer("MAP") == "By MAP, 2 models cannot be told from base (20 queries)"
    with pytest.raises(SettingError, match="metric='ERR' is not known; choose one of 'MAP'"):
        alike.answer("ERR")


def test_a_small_p_of_many_does_not_hold() -> None:
    close = BASE + np.where(np.arange(20) < 15, 0.05, -0.05)
    crowd = [single(f"like {n}", BASE + RNG.normal(0, 0.05, 20)) for n in range(12)]
    found = compare([single("base", BASE), single("close", close), *crowd], ["MAP"], "base")
    assert found.delta("close", "MAP")["randomisation"] < 0.05
    assert "does not hold after Holm's correction over 13 comparisons" in found.sentence("close", "MAP")


def test_more_seeds_of_the_same_values_narrow_nothing() -> None:
    once = [[0.1, 0.5, 0.3, 0.8, 0.2, 0.4, 0.7]]
    plain = over_folds("plain", LINEAR, {"Fold1": [[0.2, 0.4, 0.3, 0.6, 0.3, 0.1, 0.5]]})
    few, many = (
        compare([over_folds("drawn", NYSTROEM, {"Fold1": once * n}), plain], ["MAP"], "plain") for n in (1, 8)
    )
    for name in ("queries", "mean", "low", "high"):
        assert few.standings[name].to_numpy() == pytest.approx(many.standings[name].to_numpy())
    for name in ("queries", "low", "high", *TESTS, "effect", "better", "worse"):
        assert few.deltas[name].to_numpy() == pytest.approx(many.deltas[name].to_numpy())
    assert many.standings["seeds"].tolist() == [8, 1]
    assert many.standings["seed_sd"][0] == 0.0


def test_the_same_queries_in_several_folds_narrow_nothing() -> None:
    """Training parts of folds share most queries."""

    def of(label: str, values: list[float], folds: int) -> Contestant:
        runs = [single(label, values, LINEAR.but(fold=f"Fold{n}")).runs[0] for n in range(folds)]
        return Contestant(label, tuple(runs))

    a, b = [0.1, 0.5, 0.3, 0.8, 0.2, 0.9], [0.2, 0.4, 0.4, 0.6, 0.1, 0.4]
    one, five = (compare([of("a", a, n), of("b", b, n)], ["MAP"], "b") for n in (1, 5))
    for name in ("queries", "low", "high"):
        assert one.deltas[name].to_numpy() == pytest.approx(five.deltas[name].to_numpy())


def test_spread_over_folds_and_over_seeds_by_hand() -> None:
    drawn = over_folds(
        "drawn",
        NYSTROEM,
        {"Fold1": [[0.1, 0.3], [0.3, 0.5]], "Fold2": [[0.5, 0.5], [0.9, 0.9], [0.7, 0.7]]},
    )
    plain = over_folds("plain", LINEAR, {"Fold1": [[0.1, 0.3]], "Fold2": [[0.6, 0.6]]})
    found = compare([drawn, plain], ["MAP"], "plain").standings.set_index("label")
    assert found["mean"].tolist() == pytest.approx([(0.2 + 0.4 + 0.7 + 0.7) / 4, 0.4])
    assert found["folds"].tolist() == [2, 2]
    assert found["fold_sd"].tolist() == pytest.approx([0.4 / math.sqrt(2)] * 2), "of 0.3, 0.7 and 0.2, 0.6"
    within = np.var([0.2, 0.4], ddof=1) + 2 * np.var([0.5, 0.9, 0.7], ddof=1)
    assert found["seed_sd"]["drawn"] == pytest.approx(math.sqrt(within / 3))
    assert math.isnan(found["seed_sd"]["plain"])


def test_queries_without_a_relevant_document_count_for_none() -> None:
    a, b = [0.1, math.nan, 0.4], [0.2, math.nan, 0.3]
    found = compare([single("a", a), single("b", b)], ["MAP"], "b")
    assert found.delta("a", "MAP")["queries"] == 2
    assert found.standings["mean"].tolist() == pytest.approx([0.25, 0.25])
    assert found.notes == ("1 query has no MAP by its definition, and counts for no model.",)


def test_the_example_gives_what_it_says() -> None:
    assert doctest.testmod(comparison).failed == 0


def test_one_query_tells_nothing() -> None:
    found = compare([single("a", [0.1]), single("b", [0.2])], ["MAP"], "b")
    assert found.deltas["holm"].isna().all()
    assert found.family == 0
    assert found.sentence("a", "MAP") == "By MAP, 1 query cannot tell a from b"


def test_what_is_asked_for_wrongly() -> None:
    given = [single("a", [0.1]), single("b", [0.2])]
    with pytest.raises(SettingError, match="needs a metric"):
        compare(given, [], "b")
    with pytest.raises(SettingError, match="a has no ERR"):
        compare(given, ["ERR"], "b")
    with pytest.raises(SettingError, match="'c' is none of the models"):
        compare(given, ["MAP"], "c")
    with pytest.raises(SettingError, match="test='sign' is not known"):
        compare(given, ["MAP"], "b", test="sign")
