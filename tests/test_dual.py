"""Dual variables against plain loops, and the identity that makes them what they are."""

from __future__ import annotations

import numpy as np
import pytest
from naive_dual import C, part_of, slow_alpha
from naive_ranking import GRADES, slow_pairs

from rankviz.learning.losses import LOSSES
from rankviz.models.dual_variables import dual_block

LOSS = LOSSES["squared_hinge"]


@pytest.mark.parametrize("name", GRADES)
def test_blocks_are_those_of_the_plain_loop(name: str) -> None:
    y, ptr = GRADES[name]
    f, part = np.random.default_rng(1).normal(size=len(y)), part_of(y, ptr)
    whole = slow_alpha(f, y, ptr, C)
    for query in range(part.n_queries):
        block, rows = dual_block(f, part, query, C, LOSS), part.query_slice(query)
        slow = whole[rows, rows]
        np.testing.assert_allclose(block.full(), slow, atol=1e-15)
        np.testing.assert_allclose(block.symmetrised(), slow + slow.T, atol=1e-15)
        assert block.n_active == np.count_nonzero(slow)
        assert block.is_pair.any(axis=0).all()
        assert block.is_pair.any(axis=1).all()
        assert block.n_pairs == len(slow_pairs(y[rows], np.array([0, rows.stop - rows.start])))
