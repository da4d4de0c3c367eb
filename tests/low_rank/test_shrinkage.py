"""Singular value thresholding against a dense SVD, and against what makes it the minimiser."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankviz.models.regularized import shrunk

SHAPES = {"tall": (9, 4), "wide": (4, 9), "square": (6, 6), "row": (1, 5), "column": (5, 1), "one": (1, 1)}
ROUNDING = 1.5e-8
"""Of the largest singular value: what singular values lose on the way through their squares."""


def dense(X: np.ndarray, tau: float) -> tuple[np.ndarray, float, int]:
    """D_τ of one block by its singular value decomposition, its nuclear norm and its rank."""
    U, sigma, Vt = np.linalg.svd(X, full_matrices=False)
    left = np.maximum(sigma - tau, 0.0)
    return (U * left) @ Vt, float(left.sum()), int((left > 0.0).sum())


def stacked(shape: tuple[int, int], seed: int = 0) -> np.ndarray:
    """Blocks of full rank, of rank one, with a repeated singular value, and nothing at all."""
    rng = np.random.default_rng(seed)
    one = np.outer(rng.normal(size=shape[0]), rng.normal(size=shape[1]))
    return np.stack((rng.normal(size=shape), one, np.eye(*shape), np.zeros(shape)))


@pytest.mark.parametrize("share", [0.01, 0.3, 0.7, 0.999])
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_equals_the_dense_decomposition(shape: tuple[int, int], share: float) -> None:
    X = stacked(shape)
    tau = share * np.linalg.norm(X[0], 2)
    found = shrunk(X, tau)
    for block, A, nuclear, rank in zip(X, found.A, found.nuclear, found.rank, strict=True):
        expected = dense(block, tau)
        np.testing.assert_allclose(A, expected[0], atol=ROUNDING * np.linalg.norm(block, 2))
        assert nuclear == pytest.approx(expected[1], rel=1e-9, abs=1e-12)
        assert rank == expected[2]


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_thresholds_beyond_all_leave_nothing(shape: tuple[int, int]) -> None:
    X = stacked(shape)
    found = shrunk(X, 1.001 * max(np.linalg.norm(block, 2) for block in X))
    assert not found.A.any()
    assert not found.nuclear.any()
    assert not found.rank.any()


@pytest.mark.parametrize("tau", [1e-6, 1e-9, 1e-12, 1e-300])
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_tiny_thresholds_take_next_to_nothing(shape: tuple[int, int], tau: float) -> None:
    X = stacked(shape)
    A = shrunk(X, tau).A
    largest = max(np.linalg.norm(block, 2) for block in X)
    np.testing.assert_allclose(A, X, atol=min(shape) * tau + 2 * ROUNDING * largest)


def leave_what_a_minimiser_leaves(X: np.ndarray, A: np.ndarray, tau: float) -> None:
    """X − A = τ·UVᵀ + W with ‖W‖₂ ≤ τ, UᵀW = 0 and WV = 0, for A = UΣVᵀ of rank k."""
    U, sigma, Vt = np.linalg.svd(A, full_matrices=False)
    size = np.linalg.norm(X, 2)
    k = int((sigma > 10 * ROUNDING * size).sum())
    U, Vt = U[:, :k], Vt[:k]
    W = X - A - tau * U @ Vt
    room = 100 * ROUNDING * size
    assert np.linalg.norm(W, 2) <= tau + room
    assert np.abs(U.T @ W).max(initial=0.0) <= room
    assert np.abs(W @ Vt.T).max(initial=0.0) <= room


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 8), st.integers(1, 8), st.integers(1, 8), st.floats(0.01, 1.2), st.integers(0, 10**6))
def test_the_optimality_condition(rows: int, columns: int, rank: int, share: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, rank)) @ rng.normal(size=(rank, columns))
    tau = share * float(np.linalg.norm(X, 2))
    leave_what_a_minimiser_leaves(X, shrunk(X[None], tau).A[0], tau)


def test_nothing_near_it_is_better() -> None:
    """τ‖A‖_* + ½‖X − A‖_F² rises in every direction tried."""
    rng, tau = np.random.default_rng(0), 1.5
    X = rng.normal(size=(5, 7))
    A = shrunk(X[None], tau).A[0]

    def value(A: np.ndarray) -> float:
        return tau * np.linalg.norm(A, "nuc") + 0.5 * np.linalg.norm(X - A) ** 2

    for size in (1e-3, 1e-1, 1.0):
        for _ in range(50):
            assert value(A + size * rng.normal(size=A.shape)) > value(A)


def test_blocks_of_a_stack_do_not_meet() -> None:
    X = np.random.default_rng(1).normal(size=(4, 3, 6)) * np.array([1e-3, 1.0, 0.0, 1e3])[:, None, None]
    together = shrunk(X, 0.5)
    for place, block in enumerate(X):
        alone = shrunk(block[None], 0.5)
        np.testing.assert_allclose(together.A[place], alone.A[0], rtol=1e-12, atol=1e-12)
        assert together.rank[place] == alone.rank[0]
