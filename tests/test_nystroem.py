"""The Nyström map: never above the kernel, nested, of any rank, with documents that repeat."""

import numpy as np
import pytest
from naive_kernels import DOCUMENTS, approximation, kernel, repeated
from scipy import linalg

from rankviz.features import RBF, Nystroem, rbf_kernel
from rankviz.features.nystroem import BLOCK, JITTER

LINE = np.random.default_rng(5).normal(size=(3 * BLOCK, 1)) @ np.ones((1, 3))  # numerical rank far below n


def test_documents_that_repeat_do_not_change_the_map() -> None:
    X = np.vstack((DOCUMENTS, DOCUMENTS[::-1]))
    once, twice = Nystroem(30, RBF(0.2), seed=7).fit(DOCUMENTS), Nystroem(30, RBF(0.2), seed=7).fit(X)
    np.testing.assert_array_equal(once.landmarks, twice.landmarks)


@pytest.mark.parametrize(
    ("X", "gamma", "skips"), [(DOCUMENTS, 0.2, False), (LINE, 0.5, True), (1e-4 * DOCUMENTS, 2.0**-12, True)]
)
def test_nested(X: np.ndarray, gamma: float, *, skips: bool) -> None:
    large = Nystroem(len(X), RBF(gamma), seed=2).fit(X)
    assert (large.n_components < len(np.unique(X + 0.0, axis=0))) == skips
    Phi = large.operator(X).dense()
    for m in (1, 2, 5, 31, BLOCK + 1):
        small = Nystroem(m, RBF(gamma), seed=2).fit(X)
        k = small.n_components
        np.testing.assert_array_equal(small.landmarks, large.landmarks[:k])
        features = small.operator(X).dense()
        # columns of small pivots magnify the rounding of the kernel
        np.testing.assert_allclose(features, Phi[:, :k], atol=1e-5 if skips else 1e-10)
        np.testing.assert_allclose(features @ features.T, Phi[:, :k] @ Phi[:, :k].T, atol=1e-7)


@pytest.mark.parametrize("gamma", [2.0**-20, 2.0**-6, 2.0**6])
@pytest.mark.parametrize("X", [LINE, repeated(LINE)], ids=["line", "repeated"])
def test_kernels_that_plain_cholesky_cannot_factor(X: np.ndarray, gamma: float) -> None:
    fitted = Nystroem(len(X), RBF(gamma)).fit(X)
    assert (np.diag(fitted.basis.L) ** 2 > 2 * JITTER).all()
    np.testing.assert_allclose(approximation(fitted, X), kernel(X, X, gamma), atol=1e-8)


def test_a_kernel_that_rounding_made_indefinite() -> None:
    """Features far apart, some documents nearly the same: errors of the kernel exceed the jitter."""
    far = np.repeat(1e4 * DOCUMENTS, 2, axis=0)
    far[1::2] += 1e-4
    K = rbf_kernel(far, far, 1.0)
    assert np.linalg.eigvalsh(K).min() < -100 * JITTER
    fitted = Nystroem(len(far), RBF(1.0)).fit(far)
    np.testing.assert_allclose(approximation(fitted, far), kernel(far, far, 1.0), atol=1e-2)


@pytest.mark.parametrize("gamma", [0.05, 1.0])
def test_full_rank_is_the_cholesky_form_rotated(gamma: float) -> None:
    X, m = DOCUMENTS, 25
    cholesky, eigen = Nystroem(m, RBF(gamma)).fit(X), Nystroem(m, RBF(gamma), rank=m).fit(X)
    np.testing.assert_array_equal(cholesky.landmarks, eigen.landmarks)
    np.testing.assert_allclose(approximation(cholesky, X), approximation(eigen, X), atol=1e-8)
    np.testing.assert_allclose(
        approximation(eigen, X), approximation(Nystroem(m, RBF(gamma), rank=99).fit(X), X)
    )


@pytest.mark.parametrize("rank", [1, 3, 10])
def test_rank_k_is_the_formula_of_the_paper(rank: int) -> None:
    """chen2017 eq. 16: K̃ = K_nm (W_k)⁺ K_nmᵀ, W_k the best rank-k approximation of the landmarks' kernel."""
    fitted = Nystroem(20, RBF(0.3), rank).fit(DOCUMENTS)
    K_nm, W = kernel(DOCUMENTS, fitted.landmarks, 0.3), kernel(fitted.landmarks, fitted.landmarks, 0.3)
    U, sigma, Vt = linalg.svd(W)
    W_k = (U[:, :rank] * sigma[:rank]) @ Vt[:rank]
    expected = K_nm @ linalg.pinv(W_k, rtol=1e-12) @ K_nm.T
    assert fitted.n_components == rank
    np.testing.assert_allclose(approximation(fitted, DOCUMENTS), expected, atol=1e-9)


def test_rank_of_a_kernel_that_has_less() -> None:
    fitted = Nystroem(200, RBF(2.0**-12), rank=150).fit(LINE)
    assert fitted.n_components < 30
    np.testing.assert_allclose(approximation(fitted, LINE), kernel(LINE, LINE, 2.0**-12), atol=1e-6)


@pytest.mark.parametrize("rank", [None, 6])
def test_documents_of_the_training_part_are_mapped_alike_later(rank: int | None) -> None:
    fitted = Nystroem(20, RBF(0.4), rank).fit(DOCUMENTS)
    Phi = fitted.operator(DOCUMENTS).dense()
    np.testing.assert_allclose(fitted.operator(DOCUMENTS[[7, 3]]).dense(), Phi[[7, 3]], atol=1e-12)
    np.testing.assert_allclose(
        approximation(Nystroem(60, RBF(0.4)).fit(DOCUMENTS), DOCUMENTS[:9], DOCUMENTS[9:]),
        kernel(DOCUMENTS[:9], DOCUMENTS[9:], 0.4),
        atol=1e-8,
    )
