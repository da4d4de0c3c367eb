"""Runs in words: the parts of a description, what is left unsaid, names for legends and sentences."""

from __future__ import annotations

import pytest

from rankviz import RunSpec
from rankviz.experiments.description import data_words, describe, in_a_sentence, method_label
from rankviz.features import FEATURE_MAPS

LINEAR = RunSpec("OHSUMED", feature_map="linear", C=2.0**-7)
KERNEL = RunSpec("demo", "all", feature_map="nystroem", n_components=500, C=0.3, gamma=0.25, seed=3)


def test_a_description_is_its_parts_with_dots_between() -> None:
    told = describe(LINEAR, "vali")
    assert (told.data, told.method, told.model, told.part) == ("OHSUMED fold 1", "", "linear", "validation")
    assert str(told) == "OHSUMED fold 1 · linear · C = 2⁻⁷ · squared hinge · validation"
    assert str(describe(LINEAR)).endswith("squared hinge")


def test_settings_are_told_where_the_run_has_them() -> None:
    told = describe(KERNEL)
    assert told.data == "demo all"
    assert "m = 500" in told.model
    assert told.words("C", "gamma", "seed") == ("C = 0.3", "γ = 2⁻²", "seed 3")
    assert describe(LINEAR).words("gamma", "seed") == ()
    assert told.without("C", "gamma", "seed").words("C", "gamma", "seed", "loss") == ("squared hinge",)


def test_what_is_not_as_usual_is_told() -> None:
    usual, other = describe(LINEAR), describe(LINEAR.but(costs="grade_query", solver="lbfgs"))
    assert {name for name, _ in other.settings} - {name for name, _ in usual.settings} == {"costs", "solver"}
    assert "landmarks" not in str(describe(KERNEL))
    assert "k-means++ landmarks" in describe(KERNEL.but(landmarks="kmeans++")).model
    assert "rank 20" in describe(KERNEL.but(rank=20)).model


def test_a_table_of_costs_is_told_pair_by_pair() -> None:
    table = ((0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (2.0, 1.3, 0.0))
    assert "λ₁₀ = 1, λ₂₀ = 2, λ₂₁ = 1.3" in str(describe(LINEAR.but(costs=table)))
    assert "λ₂₁ = 1.3, × μ by query" in str(describe(LINEAR.but(costs=("query", table))))


def test_a_normalisation_is_named_where_there_is_one() -> None:
    assert describe(LINEAR).normalisation == ""
    assert "normalised: Query-level z-score" in str(describe(LINEAR.but(normalisation="query_zscore")))


def test_other_methods_are_named_before_their_map() -> None:
    low_rank = LINEAR.factorized(5, 0.5)
    assert describe(low_rank).names == ("factorised RankSVM, K = 5", "linear")
    assert method_label(low_rank) == "factorised RankSVM, K = 5"
    assert in_a_sentence(low_rank) == "factorised RankSVM"


def test_names_in_legends_and_sentences() -> None:
    assert method_label(LINEAR) == "linear"
    assert method_label(KERNEL).endswith("m = 500")
    assert in_a_sentence(LINEAR) == "the linear model"
    assert in_a_sentence(KERNEL.exact()) == FEATURE_MAPS["exact"].in_a_sentence


@pytest.mark.parametrize(("fold", "words"), [("Fold3", "demo fold 3"), ("all", "demo all")])
def test_folds_are_numbers_in_words(fold: str, words: str) -> None:
    assert data_words(RunSpec("demo", fold)) == words
