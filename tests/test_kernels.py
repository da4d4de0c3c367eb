"""Kernels: each against scikit-learn's, whole, in blocks, from arguments, in panels; diagonals and memory."""

import tracemalloc

import numpy as np
import pytest
from naive_kernels import KERNELS, KNOWN, InverseDistance, Matern, slow_kernel

from rankviz.common import parallel
from rankviz.common.progress import Progress
from rankviz.features import KERNELS as KINDS
from rankviz.features import RBF, Kernel, Laplacian, LinearKernel, Polynomial
from rankviz.features.kernel_base import mean_diagonal
from rankviz.features.kernel_matrix import (
    PANEL_ROWS,
    KernelPanels,
    RecomputedKernel,
    StoredKernel,
    kernel_matrix,
    stored_bytes,
)
from rankviz.features.kernels import kernel_name

RNG = np.random.default_rng(0)
X, Z = RNG.normal(size=(60, 5)) + 0.5, RNG.normal(size=(17, 5)) + 0.5
each_kernel = pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)


@each_kernel
def test_a_kernel_is_scikit_learns_or_the_same_row_by_row(kernel: Kernel) -> None:
    expected = slow_kernel(kernel, X, Z)
    np.testing.assert_allclose(kernel.matrix(X, Z), expected, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(kernel.of_arguments(kernel.arguments(X, Z)), expected, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(kernel.diagonal(X), np.diag(slow_kernel(kernel, X, X)), rtol=1e-12)
    assert kernel.matrix(X[:0], Z).shape == (0, 17)
    assert np.linalg.eigvalsh(kernel.matrix(X, X)).min() > -1e-10 * kernel.diagonal(X).sum()


@each_kernel
def test_blocks_and_cores_change_nothing(kernel: Kernel, monkeypatch: pytest.MonkeyPatch) -> None:
    many = RNG.normal(size=(900, 5))
    expected = slow_kernel(kernel, many, many[:301])
    monkeypatch.setattr(parallel, "cores", lambda: 3)  # blocks are large enough to be shared out
    np.testing.assert_allclose(kernel.matrix(many, many[:301]), expected, rtol=1e-11, atol=1e-12)
    monkeypatch.setattr(parallel, "BLOCK_ENTRIES", 7 * len(Z) * (1 + kernel.scratch(5)))
    told: list[Progress] = []
    np.testing.assert_allclose(kernel.matrix(X, Z, told.append), slow_kernel(kernel, X, Z), rtol=1e-11)
    assert [p.fraction for p in told] == [*(7 * i / 60 for i in range(1, 9)), 1.0]


@each_kernel
def test_what_arguments_gave_is_left_as_it_was(kernel: Kernel) -> None:
    arguments = kernel.arguments(X, Z)
    before = arguments.copy()
    first = kernel.of_arguments(arguments)
    np.testing.assert_array_equal(arguments, before)
    np.testing.assert_array_equal(kernel.of_arguments(arguments[:, ::2]), first[:, ::2])


@each_kernel
def test_one_set_of_arguments_serves_every_gamma(kernel: Kernel) -> None:
    arguments = kernel.arguments(X, Z)
    for gamma in (2.0**-8, 0.7, 3.0):
        other = kernel.at(gamma)
        assert type(other) is type(kernel)
        np.testing.assert_allclose(
            other.of_arguments(arguments), slow_kernel(other, X, Z), rtol=1e-11, atol=1e-12
        )
    assert kernel.at(kernel.gamma) == kernel
    if isinstance(kernel, LinearKernel):
        assert kernel.at(3.0) is kernel
        assert kernel.gamma == 1.0


@each_kernel
@pytest.mark.parametrize("n", [1, PANEL_ROWS, 2 * PANEL_ROWS + 7])
def test_products_in_every_form_of_storage(kernel: Kernel, n: int) -> None:
    documents, v = RNG.normal(size=(n, 5)), RNG.normal(size=n)
    K = slow_kernel(kernel, documents, documents)
    panels, scale = KernelPanels(documents, kernel), np.abs(K) @ np.abs(v)
    for form in (RecomputedKernel(panels), StoredKernel.of(panels, np.float64)):
        np.testing.assert_allclose(form.product(v), K @ v, rtol=0, atol=1e-12 * scale.max())
    rounded = StoredKernel.of(panels, np.float32)
    assert {panel.dtype for panel in rounded.stored} == {np.dtype(np.float32)}
    offset = np.abs(K - kernel.offset) @ np.abs(v)
    assert (np.abs(rounded.product(v) - K @ v) <= 2.0**-24 * offset + 1e-12 * scale.max()).all()


@pytest.mark.parametrize("kernel", [RBF(1e-7), Laplacian(1e-7), Polynomial(1e-7, 3, 1.5)])
def test_float32_keeps_the_digits_that_matter_where_gamma_is_small(kernel: Kernel) -> None:
    """Entries differ from the offset by 1e-6; with seven digits of themselves nothing would be left."""
    e, K = np.eye(len(X)), slow_kernel(kernel, X, X)
    rounded = StoredKernel.of(KernelPanels(X, kernel), np.float32)
    found = np.column_stack([rounded.product(column) for column in e])
    assert np.abs(K - kernel.offset).max() < 1e-4
    np.testing.assert_allclose(found, K, rtol=0, atol=1e-11)


def test_only_what_is_far_from_its_offset_has_none() -> None:
    assert [kernel.offset for kernel in KNOWN.values()] == [1.0, 1.0, 1.5**3, 0.0, 0.5**5, 0.0]


@pytest.mark.parametrize("unit", [1e-12, 1.0, 1e17])
def test_values_that_float32_does_not_hold_are_computed_anew(unit: float) -> None:
    """Squares of the features: 1e-24 is cut off at seven digits and fewer, 1e34 nearly infinite."""
    many, kernel = unit * RNG.normal(size=(700, 5)), LinearKernel()
    found = kernel_matrix(many, kernel, stored_bytes(700, 4))
    assert ("float32" in found.storage) == (unit == 1.0)
    v = RNG.normal(size=700)
    np.testing.assert_allclose(found.product(v), many @ (many.T @ v), rtol=1e-3, atol=1e-3 * unit**2)


def test_facts_of_kernels() -> None:
    for name, spectral in (("rbf", True), ("laplacian", True), ("polynomial", False), ("linear", False)):
        assert KINDS[name].shift_invariant == (KINDS[name].spectrum is not None) == spectral
        assert KINDS[name].has_gamma == (name != "linear")
    for name, kind in KINDS.items():
        assert kernel_name(kind.usual) == name
        assert kind.has_gamma == (kind.usual.at(0.1) != kind.usual)
        moved = kind.usual.matrix(X + 1, Z + 1)
        assert kind.shift_invariant == np.allclose(moved, kind.usual.matrix(X, Z), rtol=1e-10)
        assert kind.shift_invariant or kind.spectrum is None
        assert kind.formula
    with pytest.raises(ValueError, match=r"InverseDistance.*KERNELS.*rbf"):
        kernel_name(InverseDistance())


def test_degree_one_without_a_constant_is_linear() -> None:
    one, linear = Polynomial(1.0, 1, 0.0), LinearKernel()
    np.testing.assert_array_equal(one.matrix(X, Z), linear.matrix(X, Z))
    np.testing.assert_allclose(one.diagonal(X), linear.diagonal(X))


@pytest.mark.parametrize("degree", range(1, 18))
def test_powers_by_squares(degree: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel, "PIECE_ENTRIES", 40)
    block = RNG.normal(size=(9, 17))
    expected = block**degree
    parallel.powers(block, degree)
    np.testing.assert_allclose(block, expected, rtol=1e-13)
    vector = np.linspace(-1, 1, 90)
    parallel.powers(vector, degree)
    np.testing.assert_allclose(vector, np.linspace(-1, 1, 90) ** degree, rtol=1e-13)


def test_the_mean_diagonal_is_a_unit() -> None:
    assert mean_diagonal(RBF(0.3), X) == mean_diagonal(Laplacian(3.0), X) == 1.0
    assert mean_diagonal(LinearKernel(), X) == pytest.approx((X**2).sum(axis=1).mean())
    assert mean_diagonal(LinearKernel(), 0 * X) == mean_diagonal(LinearKernel(), X[:0]) == 1.0


# --- memory -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "kernel", [*KERNELS.values(), InverseDistance(), Matern()], ids=[*KERNELS, "inverse", "matern"]
)
@pytest.mark.parametrize("kept", [False, True], ids=["at once", "from arguments"])
def test_a_kernel_takes_no_more_memory_than_it_says(kernel: Kernel, *, kept: bool) -> None:
    """Beside the matrix: a block's scratch, and copies of documents as factors of a product."""
    n, m, d = 6000, 150, 40
    documents = RNG.random((n, d))
    kernel.matrix(documents[:9], documents[:m])
    arguments = kernel.arguments(documents, documents[:m]) if kept else None
    tracemalloc.start()
    try:
        kernel.matrix(documents, documents[:m]) if arguments is None else kernel.of_arguments(arguments)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    scratch = kernel.scratch(d)
    block = scratch * min(n * m, parallel.BLOCK_ENTRIES // (1 + scratch))
    pieces = 8 * parallel.PIECE_ENTRIES
    assert peak <= 8 * (n * m + block + (parallel.ROWS + 2 * m) * (d + 2) + pieces)
    if scratch and not kept:
        assert peak > 8 * (n * m + 0.4 * block / parallel.PIECES)  # one thread has one piece at a time
