"""Approximate inverse Hessians: what solvers may ask of one, and one by a Cholesky factor.

What to approximate is for the objectives to say; here it is only inverted.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy import linalg

from rankviz.common.arrays import FloatArray
from rankviz.common.errors import DataError


class Preconditioner(Protocol):
    """An approximate inverse Hessian M^-1, self-adjoint and positive definite."""

    def __call__(self, r: FloatArray) -> FloatArray:
        """M^-1 r: (m,) -> (m,)."""
        ...


@dataclass(frozen=True, eq=False)
class CholeskyPreconditioner:
    """M^-1 r by two triangular solves with U, M = UᵀU (m, m)."""

    factor: FloatArray
    kind: str

    @classmethod
    def of(cls, M: FloatArray, kind: str) -> CholeskyPreconditioner:
        """Factor M, O(m³/3); its diagonal grows where rounding has made M indefinite (C very large).

        Raises `DataError` where nothing but rounding is left of M.
        """
        rounding = len(M) * float(np.finfo(np.float64).eps * np.diag(M).max())
        for shift in (0.0, *(rounding * 10.0 ** np.arange(16))):
            M = M if shift == 0.0 else M + shift * np.eye(len(M))
            with contextlib.suppress(linalg.LinAlgError):
                return cls(linalg.cholesky(M.T, check_finite=False), kind)  # M.T is in LAPACK's order
        raise DataError(
            "features or kernel values so large beside their differences within queries that rounding leaves "
            "nothing of these (the preconditioner is not positive definite)",
            expected="differences that squares of the values do not drown",
            remedy="Normalise the features first, query by query; of a polynomial kernel choose a smaller "
            "coef0 or degree.",
        )

    def __call__(self, r: FloatArray) -> FloatArray:
        """M^-1 r; for one vector two solves are several times faster than LAPACK's solve with a factor."""
        half = linalg.solve_triangular(self.factor, r, trans="T", check_finite=False)
        x: FloatArray = linalg.solve_triangular(self.factor, half, check_finite=False)
        return x
