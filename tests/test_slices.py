"""Slices of queries: groups by size, grades, difficulty or choice, and differences in them."""

import itertools

import numpy as np
import pandas as pd
import pytest
from conftest_contestants import single

from rankviz.analysis import slices
from rankviz.analysis.contestants import Matched
from rankviz.common.errors import SettingError
from rankviz.datasets import RankingData
from rankviz.metrics.significance import compare

RNG = np.random.default_rng(2)
BASE = RNG.uniform(0.2, 0.7, 30)


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
        "1 document": [8],
        "2 documents": [9],
        "3 documents": [7],
    }
    assert list(slices.by_relevant(facts).groups) == ["0% relevant", "67% relevant"]


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
    with pytest.raises(SettingError, match="no compared query"):
        slices.sliced(matched, "MAP", "b", slices.by_choice({"x": [77]}))
    with pytest.raises(SettingError, match="at least one query for 'x'"):
        slices.by_choice({"x": []})
    with pytest.raises(SettingError, match="at least one query"):
        slices.by_choice({})


def test_difficulty_by_the_baseline_makes_alike_models_differ_and_that_is_said() -> None:
    """Two models of the same queries and equal noise: by one of them there is a difference, by both none."""
    ease, noise = RNG.uniform(0, 1, 600), RNG.normal(0, 0.2, (2, 600))
    given = Matched.of([single("a", ease + noise[0]), single("b", ease + noise[1])])
    by_b = slices.by_difficulty(given, "MAP", judge=given.named("b"))
    told = slices.sliced(given, "MAP", "b", by_b)
    assert told["difference"].iloc[0] > 0.05
    assert told["difference"].iloc[-1] < -0.05
    assert by_b.caveat == slices.REGRESSION.format(judge="b")
    by_all = slices.by_difficulty(given, "MAP")
    assert not slices.sliced(given, "MAP", "b", by_all)["distinguishable"].any()
    assert by_all.caveat == slices.MEAN_OF_ALL
    stranger = single("stranger", ease + RNG.normal(0, 0.2, 600))
    by_other = slices.by_difficulty(given, "MAP", judge=stranger)
    assert by_other.caveat == ""
    assert not slices.sliced(given, "MAP", "b", by_other)["distinguishable"].any()
