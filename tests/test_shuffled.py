"""Shuffled dual variables keep everything but their order."""

from __future__ import annotations

import numpy as np
from naive_dual import part_of, record_of
from naive_ranking import random_grades

from rankviz.analysis.model_duals import RunDuals
from rankviz.models.dual_variables import ShuffledDuals, shuffled


def test_shuffled_blocks_have_the_same_values_on_the_same_pairs() -> None:
    y, ptr = random_grades(5, 4, sizes=(6, 20))
    duals = RunDuals(record_of(2 * np.random.default_rng(5).normal(size=len(y))), part_of(y, ptr))
    mixed, again = ShuffledDuals(duals), ShuffledDuals(duals)
    assert len(mixed) == len(duals)
    for query, block in enumerate(duals):
        other = mixed.block(query)
        np.testing.assert_array_equal(other.alpha, again.block(query).alpha)
        np.testing.assert_array_equal(np.sort(other.alpha.ravel()), np.sort(block.alpha.ravel()))
        assert not other.alpha[~block.is_pair].any()
        assert (other.n_pairs, other.n_active) == (block.n_pairs, block.n_active)


def test_a_shuffle_moves_values() -> None:
    y, ptr = random_grades(6, 3, sizes=(20, 20))
    block = RunDuals(record_of(np.random.default_rng(6).normal(size=len(y))), part_of(y, ptr)).block(0)
    assert not np.array_equal(shuffled(block, np.random.default_rng(0)).alpha, block.alpha)
