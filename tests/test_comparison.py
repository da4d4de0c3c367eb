"""Comparisons with a baseline: known answers, seeds and folds nested right, sentences."""

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from conftest_contestants import LINEAR, NYSTROEM, over_folds, run, single

from rankviz.analysis import slices
from rankviz.analysis.comparison import (
    TESTS,
    Comparison,
    best_of,
    compare,
    efficient,
    front,
    metric_by_cutoff,
)
from rankviz.analysis.contestants import Contestant, Matched
from rankviz.common.errors import SettingError
from rankviz.metrics.paired_tests import benjamini_hochberg, holm, paired_tests
from rankviz.metrics.significance import interval

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
    assert "]); the difference is significant after Holm's correction over 2 comparisons (p = " in said
    assert said.endswith("(p = 1.0 × 10⁻⁴ of the paired randomisation test, adjusted 2.0 × 10⁻⁴)")
    assert "the difference is not significant (p = " in found.sentence("like", "MAP")
    alone = compare([single("base", BASE), single("better", BETTER)], ["MAP"], "base")
    assert "; the difference is significant (p = " in alone.sentence("better", "MAP")
    with pytest.raises(SettingError, match="'base' was not compared with 'base' by MAP"):
        found.sentence("base", "MAP")


def test_the_answer_names_who_holds(found: Comparison) -> None:
    assert found.answer("MAP") == (
        "By MAP, better is better than base; 1 other model does not differ significantly from it (20 queries)"
    )
    names = {"up": BETTER, "too": BETTER + 0.01, "down": 2 * BASE - BETTER}
    three = compare([single("base", BASE), *(single(n, v) for n, v in names.items())], ["MAP"], "base")
    assert three.answer("MAP") == (
        "By MAP, up and too are better than base; down is worse than base (20 queries)"
    )
    alike = compare([single("base", BASE), single("like", LIKE), single("same", BASE)], ["MAP"], "base")
    assert alike.answer("MAP") == "By MAP, 2 models do not differ significantly from base (20 queries)"
    with pytest.raises(SettingError, match="metric='ERR' is not known; choose one of 'MAP'"):
        alike.answer("ERR")


def test_a_small_p_of_many_does_not_hold() -> None:
    close = BASE + np.where(np.arange(20) < 15, 0.05, -0.05)
    crowd = [single(f"like {n}", BASE + RNG.normal(0, 0.05, 20)) for n in range(12)]
    found = compare([single("base", BASE), single("close", close), *crowd], ["MAP"], "base")
    assert found.delta("close", "MAP")["randomisation"] < 0.05
    assert "the difference is not significant after Holm's correction over 13 comparisons" in found.sentence(
        "close", "MAP"
    )


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
        "drawn", NYSTROEM, {"Fold1": [[0.1, 0.3], [0.3, 0.5]], "Fold2": [[0.5, 0.5], [0.9, 0.9], [0.7, 0.7]]}
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


def test_one_query_tells_nothing() -> None:
    found = compare([single("a", [0.1]), single("b", [0.2])], ["MAP"], "b")
    assert found.deltas["holm"].isna().all()
    assert found.family == 0
    assert found.sentence("a", "MAP") == "By MAP, 1 query is too few to compare a with b"


def test_what_is_asked_for_wrongly() -> None:
    given = [single("a", [0.1]), single("b", [0.2])]
    with pytest.raises(SettingError, match="needs a metric"):
        compare(given, [], "b")
    with pytest.raises(SettingError, match="a has no ERR"):
        compare(given, ["ERR"], "b")
    with pytest.raises(SettingError, match="'c' is not among the compared models"):
        compare(given, ["MAP"], "c")
    with pytest.raises(SettingError, match="test='sign' is not known"):
        compare(given, ["MAP"], "b", test="sign")


CHANCE = np.random.default_rng(2)


LEVELS = CHANCE.uniform(0.2, 0.7, 30)


def test_the_best_of_models_that_are_alike_is_not_shown_to_be_better() -> None:
    """The best of 20 draws of noise has a small p by itself, but not adjusted for the choice."""
    noise = np.random.default_rng(5).normal(0, 0.1, (20, 30))
    given = [single("base", LEVELS), *(single(f"C {n}", LEVELS + own) for n, own in enumerate(noise))]
    found = best_of(Matched.of(given), "MAP", "base")
    rows = found.table.set_index("label")
    assert rows["mean"].idxmax() == found.label
    assert rows["p"][found.label] < 0.1 < rows["p_chosen"][found.label]
    assert (found.table["p_chosen"] >= found.table["p"]).all()
    assert f"Of 20 candidates, {found.label} has the best MAP; chosen on the same 30" in found.sentence()
    assert "it is not shown to be better than base (difference +0." in found.sentence()


def test_the_best_that_is_better_is_said_to_be() -> None:
    given = [single("base", LEVELS), single("good", LEVELS + 0.1), single("bad", LEVELS - 0.1)]
    found = best_of(Matched.of(given), "MAP", "base")
    assert found.label == "good"
    assert "chosen on the same 30 queries, it is better than base (difference +0.100" in found.sentence()
    worse = best_of(Matched.of([given[0], given[2]]), "MAP", "base")
    assert "Of 1 candidate, bad has the best MAP" in worse.sentence()
    assert "is not shown to be better" in worse.sentence(), "p is small, for it is worse"
    one = Matched.of([single("base", [0.1]), single("other", [0.2])])
    assert best_of(one, "MAP", "base").sentence().endswith("1 query is too few to compare it with base")


def test_cutoffs_are_means_with_intervals_at_every_k() -> None:
    metrics = {f"NDCG@{k}": LEVELS[:6] / k for k in (1, 2, 10)}
    given = Matched.of([single("a", LEVELS[:6], **metrics), single("b", LEVELS[:6], NYSTROEM, **metrics)])
    table = metric_by_cutoff(given)
    assert table["k"].tolist() == [1, 1, 2, 2, 10, 10]
    assert table["method"].tolist() == ["linear", "nystroem"] * 3
    found = interval(LEVELS[:6] / 2)
    assert table.loc[2, ["value", "low", "high"]].tolist() == [found.mean, found.low, found.high]
    with pytest.raises(SettingError, match="no P@k in common; they have MAP, NDCG@1"):
        metric_by_cutoff(given, "P")


def test_efficient_against_every_pair() -> None:
    for _ in range(30):
        cost, quality = CHANCE.integers(0, 5, (2, 8)).astype(float)
        points = list(zip(cost, -quality, strict=True))
        expected = [not any(a <= c and b <= d and (a, b) != (c, d) for a, b in points) for c, d in points]
        assert efficient(cost, quality).tolist() == expected


def test_the_cheapest_within_one_standard_error_is_paired() -> None:
    """c is behind on every query by about as much: within the error of a mean, and not of the difference."""
    steady = LEVELS - 0.02 + CHANCE.normal(0, 0.005, 30)
    noisy = LEVELS + CHANCE.normal(0, 0.2, 30)
    noisy += (LEVELS - noisy).mean() - 0.02
    given = [
        single("best", LEVELS, seconds=9.0),
        single("steady", steady, seconds=1.0),
        single("noisy", noisy, seconds=4.0),
        single("worse", LEVELS - 0.1, seconds=5.0),
    ]
    found = front(Matched.of(given), "MAP")
    assert found.table["label"].tolist() == ["steady", "noisy", "worse", "best"]
    assert found.table["efficient"].tolist() == [True, bool(noisy.mean() > steady.mean()), False, True]
    assert (found.best, found.cheapest) == ("best", "noisy")
    row = found.table.set_index("label").loc["noisy"]
    assert row["behind"] == pytest.approx(0.02)
    assert row["se"] == pytest.approx((LEVELS - noisy).std(ddof=1) / math.sqrt(30))
    assert LEVELS.std(ddof=1) / math.sqrt(30) > 0.02, "or steady would not be within it either way"
    assert f"best has the best MAP, {LEVELS.mean():.3f} in 9 s; the cheapest within" in found.sentence()
    assert "is noisy, " in found.sentence()
    two = front(Matched.of([given[0], given[3]]), "MAP")
    assert two.sentence().endswith("no cheaper model is within one standard error of it")


def test_seconds_are_those_of_a_run_on_average() -> None:
    drawn = Contestant(
        "drawn", (run(NYSTROEM, [0.5], seconds=2.0), run(NYSTROEM.but(seed=1), [0.5], seconds=4.0))
    )
    found = front(Matched.of([drawn, single("plain", [0.4], seconds=1.0)]), "MAP")
    assert found.table["seconds"].tolist() == [1.0, 3.0]
    assert found.cheapest == found.best == "drawn", "one query has no standard error"
    unknown = single("unknown", [0.1], LINEAR, seconds=math.nan)
    with pytest.raises(SettingError, match="the training seconds of unknown are unknown"):
        front(Matched.of([drawn, unknown]), "MAP")


def test_models_that_differ_by_rounding_are_the_same_model() -> None:
    """0.1 + 0.2 and 0.3 are one value: no p-value, no order of the best and no slice may come of it."""
    base = np.round(LEVELS, 2)
    rounded = base + np.where(np.arange(len(base)) % 3 == 0, 1e-16, 0.0)
    own = [single("base", base), single("same", rounded, NYSTROEM)]
    matched = Matched.of(own)
    assert (rounded != base).any()
    found = best_of(matched, "MAP", "base")
    assert found.table["p"].tolist() == [1.0]
    assert found.table["difference"].tolist() == [0.0]
    assert front(matched, "MAP").table["behind"].tolist() == [0.0, 0.0]
    three = [
        single("least", base - 0.1),
        single("one", base, NYSTROEM),
        single("two", rounded, LINEAR.but(C=1.0)),
    ]
    assert best_of(Matched.of(three), "MAP", "least").label == "one"
    values = pd.Series([0.3, 0.1 + 0.2, 0.3, 0.9, 0.9, 0.9])
    assert [len(group) for group in slices._quantiles(values, 2, "{}", ".2f").values()] == [3, 3]


def test_a_comparison_shows_its_tables_and_notes() -> None:
    found = compare([single("a", [0.1, 0.4]), single("b", [0.2, 0.3], NYSTROEM)], ["MAP"], "a")
    shown = repr(replace(found, notes=("A note.",)))
    assert shown.startswith(found.standings.to_string(index=False))
    assert found.deltas.to_string(index=False) in shown
    assert shown.endswith("\n\nA note.")
