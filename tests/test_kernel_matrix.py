"""The kernel matrix in panels: every form of storage against the whole matrix."""

import numpy as np
import pytest

from rankviz.common.progress import Progress
from rankviz.features.kernel_matrix import (
    PANEL_ROWS,
    KernelPanels,
    RecomputedKernel,
    StoredKernel,
    kernel_matrix,
    storage_dtype,
    stored_bytes,
)
from rankviz.features.kernels import RBF, rbf_kernel

GAMMA = 0.3


def documents(n: int, d: int = 5) -> np.ndarray:
    return np.random.default_rng(n).standard_normal((n, d)) + 3.0


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n", [PANEL_ROWS, 1300, 1301])
def test_blocks_of_rows_serve_both_triangles(n: int, dtype: type) -> None:
    X, v = documents(n), np.random.default_rng(1).standard_normal(n)
    kernel = StoredKernel.of(KernelPanels(X, RBF(GAMMA)), dtype)
    expected = np.full(n, kernel.offset * v.sum())
    for start, panel in zip(range(0, n, PANEL_ROWS), kernel.stored, strict=True):
        rows = slice(start, start + len(panel))
        expected[rows] += panel.astype(np.float64) @ v[: rows.stop]
        expected[:start] += v[rows] @ panel[:, :start].astype(np.float64)
    np.testing.assert_allclose(kernel.product(v), expected, rtol=0, atol=1e-10)


@pytest.mark.parametrize("columns", [7, 512, 10_000])
def test_panels_are_filled_by_tiles(monkeypatch: pytest.MonkeyPatch, columns: int) -> None:
    monkeypatch.setattr("rankviz.features.kernels.TILE_COLUMNS", columns)
    X = documents(1300)
    panels, expected = KernelPanels(X, RBF(GAMMA)), rbf_kernel(X, X, GAMMA)
    for start in panels.starts:
        panel = panels.panel(start)
        assert panel.shape == (min(512, 1300 - start), min(start + 512, 1300))
        whole = expected[start : start + len(panel), : panel.shape[1]]
        np.testing.assert_allclose(panel, whole, rtol=0, atol=1e-13)


def test_the_most_precise_form_that_fits_is_taken() -> None:
    X, n = documents(1000), 1000
    need = stored_bytes(n, 8)
    assert need == pytest.approx(8 * n * n / 2, rel=0.6)
    assert need >= 8 * n * (n + 1) // 2
    forms = [kernel_matrix(X, RBF(GAMMA), budget) for budget in (need, need - 1, stored_bytes(n, 4) - 1)]
    assert [kernel.storage for kernel in forms] == [
        "kernel stored in float64",
        "kernel stored in float32",
        "kernel computed anew in every product",
    ]
    assert storage_dtype(n, need) is np.float64
    assert storage_dtype(n, 0) is None
    assert storage_dtype(22_000, 1e12) is np.float64
    assert storage_dtype(24_000, 1e12) is np.float32
    kept = sum(panel.nbytes for panel in StoredKernel.of(KernelPanels(X, RBF(GAMMA)), np.float64).stored)
    assert kept <= need


def test_progress_is_told_and_what_it_raises_ends_the_work() -> None:
    X, told = documents(3 * PANEL_ROWS), []
    kernel = StoredKernel.of(KernelPanels(X, RBF(GAMMA)), np.float64, told.append)
    fractions = [progress.fraction for progress in told]
    assert fractions == sorted(fractions)
    assert fractions[-1] == 1.0
    assert len(fractions) == 3

    def refuse(progress: Progress) -> None:
        raise KeyboardInterrupt

    for work in (
        lambda: StoredKernel.of(KernelPanels(X, RBF(GAMMA)), np.float64, refuse),
        lambda: kernel.product(X[:, 0], refuse),
        lambda: RecomputedKernel(KernelPanels(X, RBF(GAMMA))).product(X[:, 0], refuse),
    ):
        with pytest.raises(KeyboardInterrupt):
            work()
