"""Kernels, operators of features and random Fourier features: exactness, nesting, convergence."""

import os
import subprocess
import sys

import numpy as np
import pytest
from naive_kernels import DOCUMENTS, OTHERS, RNG, kernel

from rankviz.common.progress import Progress, StopRequested
from rankviz.features import (
    FEATURE_MAPS,
    RBF,
    FeatureOperator,
    MapSettings,
    Nystroem,
    RandomFourier,
    rbf_kernel,
    scale_gamma,
)
from rankviz.features.fourier import cosines
from rankviz.features.operator import CholeskyBasis, DenseBasis, IdentityBasis

# --- kernel -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("gamma", [2.0**-12, 2.0**-6, 1.0, 32.0])
@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_kernel_is_that_of_the_distances(gamma: float, offset: float) -> None:
    found = rbf_kernel(DOCUMENTS + offset, OTHERS + offset, gamma)
    # the offset itself costs the features 1e6·1e-16, as it does those that cdist is given
    expected = kernel(DOCUMENTS + offset, OTHERS + offset, gamma)
    np.testing.assert_allclose(found, expected, atol=1e-12 if offset == 0 else 1e-8)
    assert found.max() <= 1


@pytest.mark.parametrize("scale", [1.0, 1e3])
def test_identical_rows_have_kernel_one(scale: float) -> None:
    X = scale * DOCUMENTS
    diagonal = np.diag(rbf_kernel(X, X, 1.0))
    assert (diagonal <= 1).all()
    assert (1 - diagonal).max() <= 1e-14 * (1 + (X**2).sum(axis=1).max())


def test_a_report_that_raises_ends_the_computation() -> None:
    def stop(progress: Progress) -> None:
        raise StopRequested

    for fitted in (Nystroem(5, RBF(1.0)).fit(DOCUMENTS), RandomFourier(5, RBF(1.0)).fit(DOCUMENTS)):
        with pytest.raises(StopRequested):
            fitted.operator(DOCUMENTS, stop)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system cannot fork")
def test_a_forked_process_has_threads_of_its_own() -> None:
    """The pool's threads do not survive a fork; a child that waited for them would never end."""
    code = """
import os, signal, numpy as np
from rankviz.common import parallel as blocks
blocks.cores = lambda: 2
block = np.ones((1000, 200))
blocks.in_place(np.exp, block)
child = os.fork()
if child == 0:
    signal.alarm(10)
    blocks.in_place(np.log, block)
    os._exit(0 if np.allclose(block, 1) else 1)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    run = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        cwd=os.path.dirname(os.path.dirname(__file__)),
    )
    assert run.stdout.strip() == "0", run.stderr


def test_scale_gamma() -> None:
    assert scale_gamma(DOCUMENTS) == pytest.approx(1 / (5 * DOCUMENTS.var()))
    assert scale_gamma(np.full((4, 3), 2.0)) == 1.0


# --- operators --------------------------------------------------------------------------------------------

L = np.linalg.cholesky(kernel(OTHERS, OTHERS, 0.5))
OPERATORS = {
    "identity": FeatureOperator(DOCUMENTS, IdentityBasis(5)),
    "cholesky": FeatureOperator(RNG.normal(size=(60, 17)), CholeskyBasis(L)),
    "dense": FeatureOperator(DOCUMENTS, DenseBasis(RNG.normal(size=(5, 3)))),
}
each_operator = pytest.mark.parametrize("operator", OPERATORS.values(), ids=OPERATORS)


@each_operator
def test_product_and_adjoint(operator: FeatureOperator) -> None:
    n, m = operator.shape
    w, u = RNG.normal(size=m), RNG.normal(size=n)
    T = operator.basis.expand(np.eye(m))
    Phi = operator.base @ T
    assert T.shape == operator.basis.shape
    np.testing.assert_allclose(operator.dense(), Phi, atol=1e-10)
    np.testing.assert_allclose(operator.product(w), Phi @ w, atol=1e-10)
    np.testing.assert_allclose(operator.adjoint(u), Phi.T @ u, atol=1e-10)
    assert operator.product(w) @ u == pytest.approx(w @ operator.adjoint(u), rel=1e-10)


@each_operator
def test_forms_and_row_differences(operator: FeatureOperator) -> None:
    Phi, A = operator.dense(), RNG.normal(size=(4, operator.base.shape[1]))
    T = operator.basis.expand(np.eye(operator.shape[1]))
    np.testing.assert_allclose(operator.reduce(A.T @ A), T.T @ A.T @ A @ T, rtol=1e-9, atol=1e-9)
    i, j = np.array([3, 0, 59]), np.array([1, 2, 1])
    np.testing.assert_allclose(operator.row_differences(i, j), (Phi[i] - Phi[j]).T, atol=1e-10)


# --- random Fourier ---------------------------------------------------------------------------------------


def test_fourier_features_by_the_formula() -> None:
    fitted = RandomFourier(6, RBF(0.7), seed=1).fit(DOCUMENTS)
    expected = np.sqrt(2 / 6) * np.cos(DOCUMENTS @ fitted.frequencies + fitted.phases)
    np.testing.assert_allclose(fitted.operator(DOCUMENTS).dense(), expected, atol=1e-14)


@pytest.mark.parametrize("scale", [1e-9, 1.0, 30.0, 1e5, 1e11, 1e13, 1e14, 1e300])
def test_cosines_are_as_good_as_those_of_the_c_library(scale: float) -> None:
    angles = scale * RNG.normal(size=(700, 60))
    angles[::50, 3] = 0.0
    found = angles.copy()
    cosines(found)
    assert (np.abs(found - np.cos(angles)) <= 2.0**-51 * (1 + np.abs(angles))).all()
    assert np.abs(found).max() <= 1 + 2.0**-50


def test_cosines_of_numbers_that_are_none() -> None:
    angles = np.array([[0.5, np.nan, np.pi]])
    cosines(angles)
    np.testing.assert_allclose(angles, np.cos([[0.5, np.nan, np.pi]]))


@pytest.mark.parametrize("name", FEATURE_MAPS)
def test_maps_by_name_are_deterministic_in_their_seed(name: str) -> None:
    def features(seed: int) -> np.ndarray:
        return (
            FEATURE_MAPS[name]
            .make(MapSettings(12, RBF(0.5), None, seed))
            .fit(DOCUMENTS)
            .operator(OTHERS)
            .dense()
        )

    np.testing.assert_array_equal(features(1), features(1))
    assert np.array_equal(features(1), features(2)) == (name in ("linear", "exact"))


def test_the_linear_map_is_the_features() -> None:
    fitted = FEATURE_MAPS["linear"].make(MapSettings(500, RBF(1.0), None, 0)).fit(DOCUMENTS)
    assert fitted.n_components == 5
    np.testing.assert_array_equal(fitted.operator(OTHERS).dense(), OTHERS)
