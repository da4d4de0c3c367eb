"""Dual variables with errors: of the size asked for, and what they do to ranks."""

from __future__ import annotations

import numpy as np
import pytest
from naive_dual import part_of, record_of
from naive_ranking import random_grades

from rankviz.analysis.model_duals import RunDuals
from rankviz.analysis.rough_duals import RoughDuals, distance, median_ranks, ranks_with_errors
from rankviz.models.dual_variables import GivenDuals, sides


def duals_of(spread: float, sizes: tuple[int, int] = (30, 40)) -> RunDuals:
    y, ptr = random_grades(8, 3, sizes=sizes)
    return RunDuals(record_of(spread * np.random.default_rng(8).normal(size=len(y))), part_of(y, ptr))


def test_errors_are_of_the_size_asked_for_and_leave_nothing_at_nothing() -> None:
    duals = duals_of(1.0)
    rough = RoughDuals(duals, 1e-3)
    assert distance(rough, duals) == pytest.approx(1e-3, rel=0.2)
    assert distance(duals, duals) == 0
    for block, other in zip(duals, rough, strict=True):
        assert not other.alpha[block.alpha == 0].any()
        assert (other.alpha >= 0).all()
    np.testing.assert_array_equal(rough.block(0).alpha, rough.block(0).alpha)


def test_errors_above_what_counts_as_zero_fill_the_rank() -> None:
    duals = duals_of(0.05)  # every pair is active: rank 4 at most with three grades
    table = ranks_with_errors(duals, [1e-9, 1e-3], errors=[1e-13, 1e-6])
    ranks = table.set_index(["error", "tolerance"])["rank"]
    assert ranks[1e-13, 1e-9] == 4
    assert ranks[1e-13, 1e-3] == ranks[1e-6, 1e-3] <= 4
    assert ranks[1e-6, 1e-9] > 8
    assert [ranks[1e-13, 1e-9]] == median_ranks(duals, [1e-9])


def test_without_dual_variables_the_rank_is_nothing() -> None:
    y, ptr = np.array([0, 0]), np.array([0, 2])
    duals = RunDuals(record_of(np.zeros(2)), part_of(y, ptr))
    assert median_ranks(duals, [1e-6, 1e-3]) == [0, 0]
    assert distance(duals, duals) == 0


def test_errors_keep_signs() -> None:
    """α of a loss that rises is negative at some pairs, and stays so."""
    y, ptr = random_grades(3, 3, sizes=(5, 6))

    def alpha(query: int) -> np.ndarray:
        shape = tuple(map(len, sides(y[ptr[query] : ptr[query + 1]])))
        return np.random.default_rng(query).normal(size=shape)

    exact = GivenDuals(part_of(y, ptr), np.zeros(len(y)), 1.0, alpha)
    assert any((block.alpha < 0).any() for block in exact)
    for block, rough in zip(exact, RoughDuals(exact, 0.1), strict=True):
        assert (np.sign(rough.alpha) == np.sign(block.alpha)).all()
