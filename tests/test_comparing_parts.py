"""The best of several, slices of queries, cut-offs, time and quality: known answers by hand."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from conftest_contestants import LINEAR, NYSTROEM, run, single

from rankviz.analysis import slices
from rankviz.analysis.chosen import best_of
from rankviz.analysis.contestants import Contestant
from rankviz.analysis.cutoffs import cutoffs
from rankviz.analysis.front import efficient, front
from rankviz.analysis.matched import Matched
from rankviz.common.errors import SettingError
from rankviz.datasets import RankingData
from rankviz.metrics.significance import compare, interval

RNG = np.random.default_rng(2)
BASE = RNG.uniform(0.2, 0.7, 30)


def test_the_best_of_models_that_are_alike_is_not_shown_to_be_better() -> None:
    """The best of 20 draws of noise has a small p by itself, and not with the choice counted."""
    noise = np.random.default_rng(5).normal(0, 0.1, (20, 30))
    given = [single("base", BASE), *(single(f"C {n}", BASE + own) for n, own in enumerate(noise))]
    found = best_of(Matched.of(given), "MAP", "base")
    rows = found.table.set_index("label")
    assert rows["mean"].idxmax() == found.label
    assert rows["p"][found.label] < 0.1 < rows["p_chosen"][found.label]
    assert (found.table["p_chosen"] >= found.table["p"]).all()
    assert f"Of 20 candidates, {found.label} has the best MAP; chosen on the same 30" in found.sentence()
    assert "it is not shown to be better than base (difference +0." in found.sentence()


def test_the_best_that_is_better_is_said_to_be() -> None:
    given = [single("base", BASE), single("good", BASE + 0.1), single("bad", BASE - 0.1)]
    found = best_of(Matched.of(given), "MAP", "base")
    assert found.label == "good"
    assert "chosen on the same 30 queries, it is better than base (difference +0.100" in found.sentence()
    worse = best_of(Matched.of([given[0], given[2]]), "MAP", "base")
    assert "Of 1 candidate, bad has the best MAP" in worse.sentence()
    assert "is not shown to be better" in worse.sentence(), "p is small, for it is worse"
    one = Matched.of([single("base", [0.1]), single("other", [0.2])])
    assert best_of(one, "MAP", "base").sentence().endswith("1 query cannot tell it from base")


def test_what_is_known_of_queries_beforehand() -> None:
    part = RankingData.from_arrays(np.zeros((6, 1)), [0, 1, 2, 0, 0, 0], [7, 7, 7, 9, 9, 8])
    again = RankingData.from_arrays(np.zeros((1, 1)), [1], [7])
    facts = slices.query_facts([part, again])
    assert facts.to_dict("index") == {
        7: {"documents": 3, "relevant": pytest.approx(2 / 3)},
        9: {"documents": 2, "relevant": 0.0},
        8: {"documents": 1, "relevant": 0.0},
    }
    groups = slices.by_length(facts).groups
    assert {name: list(queries) for name, queries in groups.items()} == {
        "1 to 1 documents": [8],
        "2 to 2 documents": [9],
        "3 to 3 documents": [7],
    }
    assert list(slices.by_relevant(facts).groups) == ["0% to 0% relevant", "67% to 67% relevant"]


def test_groups_hold_every_query_once_and_about_as_many() -> None:
    values = pd.DataFrame({"documents": RNG.integers(5, 500, 90)}, index=range(90))
    groups = slices.by_length(values, 4).groups
    assert sorted(itertools.chain.from_iterable(groups.values())) == list(range(90))
    assert all(20 <= len(queries) <= 25 for queries in groups.values())
    ends = [values["documents"][queries].agg(["min", "max"]).tolist() for queries in groups.values()]
    assert all(left[1] < right[0] for left, right in itertools.pairwise(ends))


def test_neighbouring_groups_of_one_name_stay_apart() -> None:
    facts = pd.DataFrame({"relevant": [0.101, 0.102, 0.103]})
    assert len(slices.by_relevant(facts).groups) == 3


def test_slices_are_paired_comparisons_of_their_queries() -> None:
    a, b = BASE + RNG.normal(0.05, 0.1, 30), BASE
    matched = Matched.of([single("a", a), single("b", b)])
    chosen = slices.by_choice({"first": [1, 2, 3, 4, 5, 6, 7], "one": [9], "none of them": [77]})
    table = slices.sliced(matched, "MAP", "b", chosen).set_index("slice")
    assert table["queries"].tolist() == [7, 1, 0]
    values = matched.by_query("MAP").loc[:7]
    expected = compare(values["a"], values["b"])
    assert table.loc["first", ["difference", "low", "high"]].tolist() == [
        expected.difference,
        expected.interval.low,
        expected.interval.high,
    ]
    assert table.loc["one", "difference"] == pytest.approx(a[8] - b[8])
    assert table.loc[["one", "none of them"], "low"].isna().all()
    assert not table["distinguishable"][["one", "none of them"]].any()


def test_slices_of_nothing_are_refused() -> None:
    matched = Matched.of([single("a", [0.1]), single("b", [0.2])])
    with pytest.raises(SettingError, match="none of the queries compared"):
        slices.sliced(matched, "MAP", "b", slices.by_choice({"x": [77]}))
    with pytest.raises(SettingError, match="one query at least for 'x'"):
        slices.by_choice({"x": []})
    with pytest.raises(SettingError, match="one query at least"):
        slices.by_choice({})


def test_difficulty_by_the_baseline_makes_alike_models_differ_and_that_is_said() -> None:
    """Two models of the same queries and equal noise: by one of them there is a difference, by both none."""
    ease, noise = RNG.uniform(0, 1, 600), RNG.normal(0, 0.2, (2, 600))
    given = Matched.of([single("a", ease + noise[0]), single("b", ease + noise[1])])
    by_b = slices.by_difficulty(given, "MAP", judge=given.named("b"))
    told = slices.sliced(given, "MAP", "b", by_b)
    assert told["difference"].iloc[0] > 0.05
    assert told["difference"].iloc[-1] < -0.05
    assert "by b itself" in by_b.caveat
    by_all = slices.by_difficulty(given, "MAP")
    assert not slices.sliced(given, "MAP", "b", by_all)["distinguishable"].any()
    assert "mean of the models compared" in by_all.caveat
    stranger = single("stranger", ease + RNG.normal(0, 0.2, 600))
    by_other = slices.by_difficulty(given, "MAP", judge=stranger)
    assert by_other.caveat == ""
    assert not slices.sliced(given, "MAP", "b", by_other)["distinguishable"].any()


def test_cutoffs_are_means_with_intervals_at_every_k() -> None:
    metrics = {f"NDCG@{k}": BASE[:6] / k for k in (1, 2, 10)}
    given = Matched.of([single("a", BASE[:6], **metrics), single("b", BASE[:6], NYSTROEM, **metrics)])
    table = cutoffs(given)
    assert table["k"].tolist() == [1, 1, 2, 2, 10, 10]
    assert table["method"].tolist() == ["linear", "nystroem"] * 3
    found = interval(BASE[:6] / 2)
    assert table.loc[2, ["value", "low", "high"]].tolist() == [found.mean, found.low, found.high]
    with pytest.raises(SettingError, match="no P@k in common; they have MAP, NDCG@1"):
        cutoffs(given, "P")


def test_efficient_against_every_pair() -> None:
    for _ in range(30):
        cost, quality = RNG.integers(0, 5, (2, 8)).astype(float)
        points = list(zip(cost, -quality, strict=True))
        expected = [not any(a <= c and b <= d and (a, b) != (c, d) for a, b in points) for c, d in points]
        assert efficient(cost, quality).tolist() == expected


def test_the_cheapest_within_one_standard_error_is_paired() -> None:
    """c is behind on every query by about as much: within the error of a mean, and not of the difference."""
    steady = BASE - 0.02 + RNG.normal(0, 0.005, 30)
    noisy = BASE + RNG.normal(0, 0.2, 30)
    noisy += (BASE - noisy).mean() - 0.02
    given = [
        single("best", BASE, seconds=9.0),
        single("steady", steady, seconds=1.0),
        single("noisy", noisy, seconds=4.0),
        single("worse", BASE - 0.1, seconds=5.0),
    ]
    found = front(Matched.of(given), "MAP")
    assert found.table["label"].tolist() == ["steady", "noisy", "worse", "best"]
    assert found.table["efficient"].tolist() == [True, bool(noisy.mean() > steady.mean()), False, True]
    assert (found.best, found.cheapest) == ("best", "noisy")
    row = found.table.set_index("label").loc["noisy"]
    assert row["behind"] == pytest.approx(0.02)
    assert row["se"] == pytest.approx((BASE - noisy).std(ddof=1) / math.sqrt(30))
    assert BASE.std(ddof=1) / math.sqrt(30) > 0.02, "or steady would not be within it either way"
    assert f"best has the best MAP, {BASE.mean():.3f} in 9 s; the cheapest within" in found.sentence()
    assert "is noisy, " in found.sentence()
    two = front(Matched.of([given[0], given[3]]), "MAP")
    assert two.sentence().endswith("nothing cheaper is within one standard error of it")


def test_seconds_are_those_of_a_run_on_average() -> None:
    drawn = Contestant(
        "drawn", (run(NYSTROEM, [0.5], seconds=2.0), run(NYSTROEM.but(seed=1), [0.5], seconds=4.0))
    )
    found = front(Matched.of([drawn, single("plain", [0.4], seconds=1.0)]), "MAP")
    assert found.table["seconds"].tolist() == [1.0, 3.0]
    assert found.cheapest == found.best == "drawn", "one query has no standard error"
    unknown = single("unknown", [0.1], LINEAR, seconds=math.nan)
    with pytest.raises(SettingError, match="the training seconds of unknown are not known"):
        front(Matched.of([drawn, unknown]), "MAP")


def test_models_that_differ_by_rounding_are_the_same_model() -> None:
    """0.1 + 0.2 and 0.3 are one value: no p-value, no order of the best and no slice may come of it."""
    base = np.round(BASE, 2)
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
    assert [len(group) for group in slices._quantiles(values, 2, "{} to {}").values()] == [3, 3]
