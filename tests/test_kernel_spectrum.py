"""Eigenvalues and effective dimension: against dense algebra, and bracketed where K is too large."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from rankviz.analysis.kernel_error import features_of
from rankviz.analysis.kernel_spectrum import effective_dimension, eigenvalues, kernel_spectrum
from rankviz.common.progress import Progress, StopRequested
from rankviz.features import RBF
from rankviz.features.nystroem import KMeansPlusPlusLandmarks

RNG = np.random.default_rng(3)
X = RNG.random((150, 4))


def kernel(Z: np.ndarray, gamma: float) -> np.ndarray:
    return np.exp(-gamma * cdist(Z, Z, "sqeuclidean"))


def slow_dimension(K: np.ndarray, C: float) -> float:
    """tr K (K + I/(2C))^-1 by that formula."""
    return float(np.trace(K @ np.linalg.inv(K + np.eye(len(K)) / (2 * C))))


@pytest.mark.parametrize("m", [1, 7, 30, 90])
def test_eigenvalues_from_the_smaller_product(m: int) -> None:
    Phi = RNG.normal(size=(30, m))
    expected = np.linalg.eigvalsh(Phi @ Phi.T)[::-1]
    np.testing.assert_allclose(eigenvalues(Phi), expected, atol=1e-10)


def test_nystroem_eigenvalues_stay_below_the_kernels() -> None:
    """K − K̃ has no negative eigenvalue, so by Weyl's inequality no eigenvalue of K̃ is above K's."""
    exact = np.linalg.eigvalsh(kernel(X, 1.0))[::-1]
    assert (eigenvalues(features_of("nystroem", X, X, RBF(1.0), 25, 0)) <= exact + 1e-9).all()


@pytest.mark.parametrize("gamma", [2.0**-8, 1.0, 64.0])
@pytest.mark.parametrize("C", [2.0**-15, 0.5, 2.0**10])
def test_few_documents_are_decomposed(gamma: float, C: float) -> None:
    found, K = kernel_spectrum(X, RBF(gamma)), kernel(X, gamma)
    np.testing.assert_allclose(found.values, np.linalg.eigvalsh(K)[::-1], atol=1e-10)
    assert (found.missing, found.n_documents) == (0.0, 150)
    low, high = found.effective_dimension(C)
    assert low == high == pytest.approx(slow_dimension(K, C), rel=1e-6)


@pytest.mark.parametrize("gamma", [2.0**-8, 1.0, 64.0])
@pytest.mark.parametrize("m", [1, 10, 60, 150])
def test_many_documents_are_bracketed(gamma: float, m: int) -> None:
    doubled = np.vstack((X, X[:50]))
    K = kernel(doubled, gamma)
    exact = np.linalg.eigvalsh(K)[::-1]
    for landmarks in (None, KMeansPlusPlusLandmarks()):
        found = kernel_spectrum(doubled, RBF(gamma), m, landmarks=landmarks, all_up_to=0)
        assert found.n_documents == 200
        approximate = np.concatenate((found.values, np.zeros(200 - len(found.values))))
        assert (approximate <= exact + 1e-7).all()
        assert (exact <= approximate + found.missing + 1e-7).all()
        for C in (2.0**-8, 1.0, 2.0**6):
            low, high = found.effective_dimension(C)
            assert low - 1e-4 <= slow_dimension(K, C) <= high + 1e-4
        if m == 150:
            assert found.missing < 1e-6


def test_effective_dimension_counts_from_none_to_all() -> None:
    values = np.array([4.0, 1.0, 0.0])
    assert effective_dimension(values, 0.5) == pytest.approx(4 / 5 + 1 / 2)
    assert effective_dimension(values, 1e-12) == pytest.approx(0.0, abs=1e-10)
    assert effective_dimension(values, 1e12) == pytest.approx(2.0)


def test_one_document_and_documents_all_alike() -> None:
    assert kernel_spectrum(np.ones((1, 2)), RBF(1.0)).values.tolist() == [1.0]
    alike = kernel_spectrum(np.zeros((40, 2)), RBF(1.0), all_up_to=10)
    np.testing.assert_allclose(alike.values, [40.0])
    assert alike.missing < 1e-6


def test_it_can_be_stopped() -> None:
    def stop(progress: Progress) -> None:
        raise StopRequested

    for limit in (0, 2000):
        with pytest.raises(StopRequested):
            kernel_spectrum(X, RBF(1.0), report=stop, all_up_to=limit)
