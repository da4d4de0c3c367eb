"""Low rank, why so low: the sentences, from tables made by hand."""

from __future__ import annotations

import pandas as pd

from ui.low_rank.why_words import law, staircase


def fit(active: list[int]) -> pd.DataFrame:
    """Queries with 10 pairs and so many active ones, at C = 2⁻⁴."""
    return pd.DataFrame({"C": 2.0**-4, "active": active, "pairs": 10, "law": 4, "rank": [3] * len(active)})


def over(lawful: list[float]) -> pd.DataFrame:
    return pd.DataFrame({"C": [2.0**-15, 2.0**-10, 2.0**-5][: len(lawful)], "lawful": lawful})


def test_the_law_is_said_to_hold_where_every_pair_is_active() -> None:
    text = law(fit([10, 9, 10]), over([1.0, 1.0, 0.5]))
    assert "every pair is active in 2 of 3 queries: there the law allows a rank of at most 4" in text
    assert text.endswith("Every pair of every query is active up to C = 2⁻¹⁰, of the C in the figure")
    assert "in 1 of 3 queries: there" in law(fit([10, 9, 9]), over([0.5]))


def test_where_the_law_does_not_hold_the_smaller_c_with_every_pair_active_is_a_sentence_of_its_own() -> None:
    text = law(fit([9, 9]), over([1.0, 0.5, 0.0]))
    assert text.startswith(
        "At C = 2⁻⁴ some pairs of each query are inactive (2 queries), so only the grades bound the rank. "
        "Every pair of every query is active up to C = 2⁻¹⁵"
    )
    assert "(1 query)" in law(fit([9]), over([0.0]))
    assert "Every pair of every query" not in law(fit([9]), over([0.0, 1.0]))


def test_medians_over_queries_and_a_share_of_all_pairs_are_apart() -> None:
    stairs = pd.DataFrame(
        {"active": [5, 7, 0], "pairs": [400, 600, 1000], "boundary": [2, 0, 0], "stairs": [3, 3, 0]}
        | {"rank": [4, 4, 0], "k_90": [2, 2, 0], "error": [0.0, 0.0, 0.0]}
    )
    text = staircase(stairs)
    assert text.startswith("Medians over 2 queries: 3 stairs, numerical rank 4, but 2 for 90 % of the energy")
    assert "α is off the staircase by nothing. Of all their pairs together 0.2 % lie between 0 and C" in text
    none = staircase(stairs.assign(boundary=0))
    assert none.endswith("Of all their pairs together none lies between 0 and C")
    assert "together 100 % lie" in staircase(stairs.assign(boundary=stairs["pairs"]))
