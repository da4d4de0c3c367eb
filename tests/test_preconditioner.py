"""Inverting an approximate Hessian: what rounding has spoilt is mended, what is no such thing is refused."""

from __future__ import annotations

import numpy as np
import pytest

from rankviz.common.errors import DataError
from rankviz.learning.feature_space import CholeskyPreconditioner


def test_a_form_that_rounding_made_indefinite_is_factored_all_the_same() -> None:
    rng = np.random.default_rng(0)
    B = rng.normal(size=(40, 3))
    M = np.eye(40) + 1e18 * B @ B.T
    with pytest.raises(np.linalg.LinAlgError):
        np.linalg.cholesky(M)
    kept = M.copy()
    precondition = CholeskyPreconditioner.of(M, "test")
    np.testing.assert_array_equal(M, kept)
    r = B[:, 0]
    assert r @ precondition(r) > 0
    np.testing.assert_allclose(M @ precondition(r), r, rtol=1e-3, atol=1e-3)


def test_a_form_that_is_no_preconditioner_is_refused() -> None:
    with pytest.raises(DataError, match="not positive definite"):
        CholeskyPreconditioner.of(-np.eye(3), "test")
