"""Cells, blocks and the Gram matrix against plain loops over pairs, and the curvature of the dual problem."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive_low_rank import PARTS, PROBLEMS, explicit_curvature, full_matrix, gram_of, mask_of
from naive_ranking import offsets, pair_matrix, problem, slow_pairs

from rankviz.features.kernel_matrix import kernel_matrix
from rankviz.features.kernels import RBF, rbf_kernel
from rankviz.models.dual_variables import sides
from rankviz.models.low_rank_blocks import Blocks, Cells, KernelGram, pair_curvature, rectangle_entries

each_part = pytest.mark.parametrize(("y", "ptr"), PARTS.values(), ids=PARTS)
QUERIES = st.lists(st.lists(st.integers(0, 4), max_size=7), min_size=1, max_size=5)


def part_of(queries: list[list[int]]) -> tuple[np.ndarray, np.ndarray]:
    return np.array([g for q in queries for g in q], np.int64), offsets([len(q) for q in queries])


def check_cells(y: np.ndarray, ptr: np.ndarray) -> None:
    cells, mask = Cells(y, ptr), mask_of(y, ptr)
    X = np.random.default_rng(0).normal(size=(len(y), 3))
    worse, better = cells.partners(X)
    np.testing.assert_allclose(worse, mask @ X, atol=1e-12)
    np.testing.assert_allclose(better, mask.T @ X, atol=1e-12)
    assert cells.degree.tolist() == (mask.sum(axis=0) + mask.sum(axis=1)).tolist()
    assert (cells.n, cells.n_pairs) == (len(y), mask.sum())
    A = pair_matrix(y, ptr)
    np.testing.assert_allclose(cells.laplacian(X[:, 0]), A.T @ (A @ X[:, 0]), atol=1e-12)


def check_blocks(y: np.ndarray, ptr: np.ndarray) -> None:
    blocks, mask = Blocks(y, ptr), mask_of(y, ptr)
    rng = np.random.default_rng(0)
    f, entries = rng.normal(size=len(y)), rng.uniform(size=blocks.size) * blocks.is_pair
    assert (full_matrix(blocks, blocks.is_pair.astype(float)) == mask).all()
    np.testing.assert_allclose(
        full_matrix(blocks, blocks.margins(f)), np.where(mask, f[:, None] - f, 0.0), atol=1e-12
    )
    A = full_matrix(blocks, entries)
    assert A.sum() == pytest.approx(entries.sum())
    np.testing.assert_allclose(blocks.given(entries), A.sum(axis=1) - A.sum(axis=0), atol=1e-12)
    assert blocks.n_pairs == len(slow_pairs(y, ptr))
    assert blocks.size == rectangle_entries(y, ptr) == sum(stack.of(entries).size for stack in blocks.stacks)


@each_part
def test_sums_over_partners_are_the_plain_loops(y: np.ndarray, ptr: np.ndarray) -> None:
    check_cells(y, ptr)


@each_part
def test_blocks_are_the_plain_loops(y: np.ndarray, ptr: np.ndarray) -> None:
    check_blocks(y, ptr)


@settings(max_examples=60, deadline=None)
@given(QUERIES)
def test_whatever_the_grades(queries: list[list[int]]) -> None:
    check_cells(*part_of(queries))
    check_blocks(*part_of(queries))


@each_part
def test_cells_of_single_queries(y: np.ndarray, ptr: np.ndarray) -> None:
    found = {rows.start: (rows.stop, cells.n_pairs) for rows, cells in Cells(y, ptr).queries()}
    mask = mask_of(y, ptr)
    expected = {int(a): (int(b), int(mask[a:b].sum())) for a, b in itertools.pairwise(ptr) if mask[a:b].any()}
    assert found == expected


def test_rows_and_columns_are_those_of_dual_blocks() -> None:
    y, ptr = PARTS["five grades"]
    blocks = Blocks(y, ptr)
    seen = []
    for query, stack, place in blocks.queries():
        winners, losers = sides(y[ptr[query] : ptr[query + 1]])
        assert stack.rows[place].tolist() == (winners + ptr[query]).tolist()
        assert stack.columns[place].tolist() == (losers + ptr[query]).tolist()
        seen.append(query)
    assert len(seen) == len(set(seen)) == sum(len(stack.queries) for stack in blocks.stacks)


def test_blocks_of_one_shape_are_stacked() -> None:
    blocks = Blocks(np.array([1, 0, 0, 0, 1, 0, 0, 2]), np.array([0, 3, 6, 8]))
    assert [stack.shape for stack in blocks.stacks] == [(2, 1, 2), (1, 1, 1)]
    flat = np.arange(5.0)
    blocks.stacks[0].of(flat)[1] = -1.0
    assert flat.tolist() == [0.0, 1.0, -1.0, -1.0, 4.0]


def test_products_with_both_gram_matrices() -> None:
    X = PROBLEMS["three grades"][0]
    c = np.random.default_rng(0).normal(size=len(X))
    features, kernel = gram_of(X), KernelGram(kernel_matrix(X, RBF(0.5), 1e9), RBF(0.5))
    np.testing.assert_allclose(features.scores(c), X @ X.T @ c, atol=1e-12)
    np.testing.assert_allclose(features.coefficients(c), X.T @ c, atol=1e-12)
    np.testing.assert_allclose(kernel.scores(c), rbf_kernel(X, X, 0.5) @ c, atol=1e-12)
    assert kernel.coefficients(c) is c


@pytest.mark.parametrize("n_grades", [2, 3, 5])
@pytest.mark.parametrize("d", [1, 4, 30])
@pytest.mark.parametrize("seed", range(4))
def test_the_curvature_is_within_five_percent_from_above(n_grades: int, d: int, seed: int) -> None:
    X, y, ptr = problem(seed, n_queries=15, d=d, n_grades=n_grades)
    exact = explicit_curvature(X, y, ptr)
    assert exact * (1 - 1e-9) <= pair_curvature(gram_of(X), Cells(y, ptr)) <= 1.0501 * exact


@pytest.mark.parametrize(("y", "ptr"), [PARTS["one grade"], PARTS["single documents"]])
def test_no_pairs_have_no_curvature(y: np.ndarray, ptr: np.ndarray) -> None:
    assert pair_curvature(gram_of(np.ones((len(y), 2))), Cells(y, ptr)) == 0.0


def test_equal_documents_have_no_curvature() -> None:
    y, ptr = PARTS["three grades"]
    assert pair_curvature(gram_of(np.ones((len(y), 2))), Cells(y, ptr)) == pytest.approx(0.0, abs=1e-20)
