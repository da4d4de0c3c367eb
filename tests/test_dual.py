"""Dual variables against plain loops, and the identity that makes them what they are."""

from __future__ import annotations

import numpy as np
import pytest
from naive_dual import C, part_of, slow_alpha
from naive_ranking import GRADES, pair_matrix, problem, qid_of, slow_pairs

from rankviz.datasets import RankingData
from rankviz.learning.losses import LOSSES
from rankviz.models.dual_variables import dual_block
from rankviz.models.ranksvm import RankSVM

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
        assert block.n_pairs == len(slow_pairs(y[rows], np.array([0, rows.stop - rows.start])))


@pytest.mark.parametrize("name", GRADES)
def test_every_row_and_column_of_the_rectangle_has_a_pair(name: str) -> None:
    y, ptr = GRADES[name]
    for query in range(len(ptr) - 1):
        is_pair = dual_block(np.zeros(len(y)), part_of(y, ptr), query, C, LOSS).is_pair
        assert is_pair.any(axis=0).all()
        assert is_pair.any(axis=1).all()


@pytest.mark.parametrize("C", [2.0**-15, 2.0**-3, 2.0**5])
@pytest.mark.parametrize("feature_map", ["linear", "nystroem", "fourier"])
def test_weights_are_the_dual_variables_at_the_optimum(feature_map: str, C: float) -> None:
    """w = Φᵀ Aᵀ α (xu2019 eq. 6) up to the gradient that the solver left, which is exactly the difference."""
    X, y, ptr = problem(3, n_queries=12)
    data = RankingData.from_arrays(X, y, qid_of(ptr))
    model = RankSVM(feature_map, 20, gamma=0.3, C=C, tol=1e-12).fit_data(data)
    Phi, f = model.feature_map_.operator(data.X), model.predict(data.X)
    alpha = np.zeros((len(y), len(y)))
    for query in range(data.n_queries):
        rows = data.query_slice(query)
        alpha[rows, rows] = dual_block(f, data, query, C, LOSS).full()
    pairs = slow_pairs(y, ptr)
    weights = Phi.adjoint(pair_matrix(y, ptr).T @ np.array([alpha[i, j] for i, j in pairs]))
    apart, size = np.linalg.norm(model.coef_ - weights), np.linalg.norm(model.coef_)
    assert apart == pytest.approx(model.trace_["gradient_norm"].iloc[-1], abs=1e-10 * size, rel=1e-6)
    assert apart <= 1e-2 * size
