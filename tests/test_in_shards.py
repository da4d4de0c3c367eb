"""Which runs can be made in shards: said before anything is asked of a cluster, as training says it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rankviz import RunSpec, execute
from rankviz.common.errors import SettingError
from rankviz.datasets import Fold, make_fold
from rankviz.runs.in_shards import plan_in_shards, why_not_in_shards
from rankviz.runs.shape import Shape
from rankviz.shards import Here


@pytest.fixture(scope="module")
def fold() -> Fold:
    return make_fold(n_queries=12, documents_per_query=(5, 12), seed=0)


def spec_of(fold: Fold, **changes: object) -> RunSpec:
    return RunSpec("made", digest=fold.digest, feature_map="nystroem", n_components=10).but(**changes)


@pytest.mark.parametrize("feature_map", ["linear", "nystroem", "fourier"])
def test_what_can_be_made_in_shards_is_planned(fold: Fold, feature_map: str) -> None:
    spec = spec_of(fold, feature_map=feature_map)
    assert why_not_in_shards(spec, Shape.of(fold)) == ""
    assert plan_in_shards(spec, fold, Here(3)).words.startswith("3 shards")


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"solver": "sgd_pair"}, "lists the pairs of all documents in one place"),
        ({"method": "factorized"}, "is not trained in shards here"),
        ({"share": 0.5}, "is not trained in shards here"),
    ],
)
def test_what_cannot_is_refused_with_the_same_words(fold: Fold, changes: dict[str, object], why: str) -> None:
    spec = spec_of(fold, **changes)
    assert why in why_not_in_shards(spec, Shape.of(fold))
    for make in (
        lambda: plan_in_shards(spec, fold, Here(2)),
        lambda: execute(spec, fold=fold, where=Here(2)),
    ):
        with pytest.raises(SettingError, match=why):
            make()


def test_an_exact_kernel_of_many_documents_has_a_coefficient_for_each(fold: Fold) -> None:
    many = replace(Shape.of(fold), n=200_000)
    assert "a coefficient for each of them" in why_not_in_shards(spec_of(fold, feature_map="exact"), many)
