"""Kendall's τ per query against a count of pairs."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest

from rankviz.datasets import RankingData, make_fold
from rankviz.metrics import evaluate, kendall_tau, top_overlap


def naive(left: np.ndarray, right: np.ndarray) -> float:
    """τ_b by its definition, pair by pair."""
    concordant = discordant = ties_left = ties_right = 0
    for i, j in combinations(range(len(left)), 2):
        product = np.sign(left[i] - left[j]) * np.sign(right[i] - right[j])
        concordant += product > 0
        discordant += product < 0
        ties_left += left[i] == left[j]
        ties_right += right[i] == right[j]
    pairs = len(left) * (len(left) - 1) // 2
    below = (pairs - ties_left) * (pairs - ties_right)
    return (concordant - discordant) / math.sqrt(below) if below else math.nan


def part(sizes: list[int]) -> RankingData:
    n = sum(sizes)
    qid = np.repeat(np.arange(10, 10 + len(sizes)), sizes)
    return RankingData.from_arrays(np.ones((n, 1)), np.zeros(n, int), qid)


def test_is_the_count_of_pairs_also_with_ties() -> None:
    data = make_fold(n_queries=15, documents_per_query=(2, 12), n_features=3, seed=2).train
    rng = np.random.default_rng(0)
    left, right = rng.integers(0, 5, (2, data.n_documents)).astype(float)
    found = kendall_tau(left, right, data)
    assert found.index.tolist() == data.query_ids.tolist()
    for position, tau in enumerate(found):
        rows = data.query_slice(position)
        assert tau == pytest.approx(naive(left[rows], right[rows]), nan_ok=True)


def test_known_orders() -> None:
    data = part([3, 3, 4])
    left = np.array([1.0, 2, 3, 1, 2, 3, 1, 2, 3, 4])
    right = np.array([10.0, 20, 30, 3, 2, 1, 1, 2, 4, 3])
    assert kendall_tau(left, right, data).tolist() == pytest.approx([1.0, -1.0, 2 / 3])


def test_nothing_to_compare_is_not_a_number() -> None:
    data = part([1, 3])
    found = kendall_tau(np.zeros(4), np.arange(4.0), data)
    assert found.isna().all()


def test_overlap_is_a_count_of_common_documents() -> None:
    data = make_fold(n_queries=15, documents_per_query=(2, 30), n_features=3, seed=2).train
    left, right = np.random.default_rng(0).integers(0, 5, (2, data.n_documents)).astype(float)
    for k in (1, 4, 10):
        found = top_overlap(left, right, data, k)
        assert found.index.tolist() == data.query_ids.tolist()
        for position, overlap in enumerate(found):
            rows = data.query_slice(position)
            tops = [
                sorted(range(len(s)), key=lambda i, s=s: (-s[i], i))[:k] for s in (left[rows], right[rows])
            ]
            assert overlap == sum(i in tops[1] for i in tops[0]) / len(tops[0])


def test_known_overlaps() -> None:
    data = part([3, 12, 1])
    rising, falling = np.arange(16.0), -np.arange(16.0)
    assert top_overlap(rising, rising, data).tolist() == [1, 1, 1]
    assert top_overlap(rising, falling, data).tolist() == [1, 0.8, 1]  # 3 of 3, 8 of 10, 1 of 1
    assert top_overlap(rising, falling, data, 2).tolist() == [0.5, 0, 1]
    assert top_overlap(np.zeros(16), falling, data, 2).tolist() == [1, 1, 1]  # ties: file order
    with pytest.raises(ValueError, match="k=0"):
        top_overlap(rising, falling, data, 0)


def test_ties_are_ranked_as_in_the_metrics() -> None:
    """The first document of tied ones is the one whose grade P@1 counts."""
    data = RankingData.from_arrays(np.ones((3, 1)), np.array([0, 1, 0]), np.array([1, 1, 1]))
    for scores in (np.array([1.0, 1, 0]), np.array([0.0, 1, 1])):
        counted = evaluate(scores, data).per_query["P@1"].iloc[0]
        assert top_overlap(scores, np.array([0.0, 1, 0]), data, 1).iloc[0] == counted
