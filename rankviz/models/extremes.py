"""Errors for settings and documents whose products would overflow."""

from __future__ import annotations

import numpy as np

from rankviz.common.arrays import FloatArray
from rankviz.common.errors import DataError, SettingError
from rankviz.datasets.types import RankingData
from rankviz.features import Kernel
from rankviz.features.kernel_base import largest_value
from rankviz.models.inputs import LARGEST_FEATURE

DROWNED = 1e4
"""Kernels of inner products refuse documents longer than this times their largest difference within a
query."""


def refuse_huge_kernel(kernel: Kernel | None, X: FloatArray) -> None:
    """Raise an error if κ of documents X (n, d), or its argument, is too large for float64.

    `DataError` if κ² overflows, because κ(x, z)² ≤ κ(x, x)·κ(z, z). `SettingError` if γ‖x − z‖² or γ‖x − z‖₁
    of a shift-invariant kernel may overflow.
    """
    if kernel is None:
        return
    if not largest_value(kernel, X) <= LARGEST_FEATURE:
        raise DataError(
            f"documents whose {kernel.label} kernel is beyond {LARGEST_FEATURE:g}",
            expected="kernel values whose squares are numbers",
            remedy="Normalise the features first, or choose a smaller γ, coef0 or degree.",
        )
    if kernel.shift_invariant:
        largest = _largest_gamma(X)
        if kernel.gamma > largest:
            raise SettingError(
                f"gamma={kernel.gamma:g} is too large for features up to {_largest(X):.3g}: γ·‖x − z‖² must "
                f"stay a number, as it does for gamma up to {largest:.3g}"
            )


def refuse_drowned(kernel: Kernel | None, data: RankingData) -> None:
    """Raise `DataError` if κ of long documents loses the differences within a query to rounding.

    Kernels of differences x − z do not depend on a common offset, but inner products square it. At `DROWNED`
    times the differences it takes half of the digits of a kernel value. Eigenvalues that separate documents
    are then as small as rounding errors.
    """
    if kernel is None or kernel.shift_invariant or data.n_documents == 0:
        return
    X, starts = data.X, data.ptr[:-1]
    spread = float((np.maximum.reduceat(X, starts) - np.minimum.reduceat(X, starts)).max(initial=0.0))
    length = float(np.sqrt(np.einsum("ij,ij->i", X, X).max()))
    if spread > 0 and length > DROWNED * spread:
        raise DataError(
            f"documents of length {length:.3g}, whose features differ by at most {spread:.3g} within a query",
            expected=f"for the {kernel.label} kernel at most {DROWNED:,.0f} times the difference, or "
            "rounding leaves nothing of it",
            remedy="Normalise the features first, or choose the linear map or a kernel of differences (RBF).",
            path=data.name or None,
        )


def refuse_huge_weight(C: float, pairs: float) -> None:
    """Raise `SettingError` if C times the total cost of the pairs has a square that overflows."""
    if C * pairs > LARGEST_FEATURE:
        raise SettingError(
            f"C={C:g} is too large for pairs that cost {pairs:.3g} together: the square of both must stay a "
            f"number, as it does for C up to {LARGEST_FEATURE / pairs:.3g}"
        )


def _largest_gamma(X: FloatArray) -> float:
    """Return γ up to which γ‖x − z‖² ≤ 4γd·max X² and γ‖x − z‖₁ ≤ 2γd·max|X| are below `LARGEST_FEATURE`²."""
    largest = _largest(X)
    spread = max(4.0 * X.shape[1] * largest * max(largest, 1.0), 1.0)
    return float(LARGEST_FEATURE / spread * LARGEST_FEATURE)


def _largest(X: FloatArray) -> float:
    ends = float(X.max(initial=0.0)), -float(X.min(initial=0.0))
    return max(ends)
