"""NDCG@10 of many scorings at once against `evaluate`."""

from __future__ import annotations

import numpy as np
import pytest

from rankviz import DataError, RankingData, evaluate
from rankviz.datasets import make_data
from rankviz.metrics.definitions import COMPARED
from rankviz.metrics.top import TopNDCG


@pytest.fixture(scope="module")
def data() -> RankingData:
    """Queries of 1 to 90 documents; some have no relevant one."""
    return make_data(n_queries=80, documents_per_query=(1, 90), n_features=5, seed=3)


@pytest.mark.parametrize("digits", [-2, 0, 1, 12], ids=["all", "many", "some", "none"])
def test_equals_the_metric_of_whole_lists_to_the_bit(digits: int, data: RankingData) -> None:
    scores = np.round(np.random.default_rng(0).standard_normal((7, data.n_documents)), digits)
    found = TopNDCG(data).by_query(scores)
    for own, of_query in zip(scores, found, strict=True):
        expected = evaluate(own, data, COMPARED, measures=["NDCG@10"])
        np.testing.assert_array_equal(of_query, expected.per_query["NDCG@10"])
        assert TopNDCG(data).mean(own) == expected.mean["NDCG@10"]


def test_another_cut_off_and_lists_of_one_size() -> None:
    data = make_data(n_queries=9, documents_per_query=(12, 12), n_features=5, seed=1)
    scores = np.random.default_rng(1).integers(0, 4, (5, data.n_documents)).astype(float)
    for k in (1, 3, 10):
        expected = [evaluate(own, data, COMPARED, measures=[f"NDCG@{k}"]).per_query for own in scores]
        np.testing.assert_array_equal(TopNDCG(data, k).by_query(scores), np.hstack(expected).T)


def test_names_the_document_without_a_score(data: RankingData) -> None:
    scores = np.zeros(data.n_documents)
    scores[3] = np.nan
    with pytest.raises(DataError, match="score"):
        TopNDCG(data).mean(scores)
