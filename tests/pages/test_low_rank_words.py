"""Sentences of the Low rank page, from tables made by hand."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from ui.study.low_rank_computations import Cut
from ui.study.low_rank_words import law, law_holds_up_to, losses_of_all, off_the_staircase, staircase


def fit(active: list[int]) -> pd.DataFrame:
    """Queries with 10 pairs and so many active ones, at C = 2⁻⁴."""
    return pd.DataFrame({"C": 2.0**-4, "active": active, "pairs": 10, "law": 4, "rank": [3] * len(active)})


def over(lawful: list[float]) -> pd.DataFrame:
    return pd.DataFrame({"C": [2.0**-15, 2.0**-10, 2.0**-5][: len(lawful)], "lawful": lawful})


def test_the_law_is_said_to_hold_where_every_pair_is_active() -> None:
    text = law(fit([10, 9, 10]))
    assert "every pair is active in 2 of 3 queries: the law allows rank 4, and the largest is 3" in text
    assert "C = 2⁻¹⁰ " in law_holds_up_to(over([1.0, 1.0, 0.5]))


def test_the_sentence_speaks_of_most_queries_not_of_the_few_for_which_the_law_holds() -> None:
    assert law(fit([10, 9, 8, 5])) == (
        "At C = 2⁻⁴ the law holds for 1 of 4 queries; medians of the others: 20 % of pairs inactive, rank 3 "
        "where the law allows 4"
    )
    assert "the law holds for none of 2 queries; medians" in law(fit([9, 9]))


def test_the_law_holds_up_to_the_first_c_at_which_it_does_not() -> None:
    assert "C = 2⁻¹⁵ " in law_holds_up_to(over([1.0, 0.5, 0.0]))
    assert law_holds_up_to(over([0.0, 1.0])) == ""


def test_medians_over_queries_and_a_share_of_all_pairs_are_apart() -> None:
    stairs = pd.DataFrame(
        {"active": [5, 7, 0], "pairs": [400, 600, 1000], "boundary": [2, 0, 0], "stairs": [3, 3, 0]}
        | {"rank": [4, 4, 0], "k_90": [2, 2, 0], "error": [0.0, 0.0, 0.0]}
    )
    said = "Medians over 2 queries: 3 stairs, numerical rank 4, but 2 for 90 % of the energy"
    assert staircase(stairs) == said
    off = off_the_staircase(stairs)
    assert off.startswith("α differs from the staircase by 0 % (median). Of all pairs 0.2 % lie")
    assert off_the_staircase(stairs.assign(boundary=0)).endswith("Of all pairs none lies between 0 and C.")
    assert "all pairs 100 % lie" in off_the_staircase(stairs.assign(boundary=stairs["pairs"]))


def test_there_are_no_stairs_where_every_dual_variable_is_0() -> None:
    none = pd.DataFrame({"active": [0], "pairs": [10], "boundary": 0, "stairs": 0, "rank": 0, "k_90": 0})
    assert "every α is 0" in staircase(none.assign(error=0.0))
    assert off_the_staircase(none.assign(error=0.0)) == ""


@pytest.fixture
def cut() -> Cut:
    """Blocks cut to rank 1 and 2, of which the latter cuts nothing but rounding; rankings are the same."""
    rows = {"scope": "all", "k": [1, 2], "energy": [0.9, 1.0]}
    table = pd.DataFrame(rows | {"alpha_error": [0.3, 1e-16], "w_error": [0.2, 2e-15]})
    queries = np.linspace(0.1, 0.9, 10)
    return Cut(table, {"all": pd.DataFrame({1: queries, 2: queries})})


@pytest.mark.parametrize("k", [2, 100])
def test_a_cut_that_loses_nothing_changes_nothing(cut: Cut, k: int) -> None:
    assert f"cut to rank {k}, nothing changes" in losses_of_all(k, cut)
    assert "differs" not in losses_of_all(k, cut)


def test_a_cut_that_loses_something_is_compared_by_its_rankings(cut: Cut) -> None:
    said = losses_of_all(1, cut)
    assert "changes by 30 % of its norm, w by 20 % of its length" in said
    assert "none differs" in said


def test_w_alone_is_enough_of_a_loss(cut: Cut) -> None:
    table = cut.table.assign(alpha_error=0.0, w_error=1e-6)
    assert "nothing changes" not in losses_of_all(2, Cut(table, cut.metric))
