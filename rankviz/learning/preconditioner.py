"""Approximate inverse Hessians: their interface, and those by Cholesky factors.

Features are factored in their own space, (m, m), or in the space of documents, (n, n), whichever is smaller.

Objectives choose the approximation; this module only inverts it.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy import linalg
from scipy.linalg import lapack

from rankviz.common.arrays import FloatArray, IntArray
from rankviz.common.errors import DataError
from rankviz.features.operator import FeatureOperator
from rankviz.features.row_blocks import BLOCK_ENTRIES


class Preconditioner(Protocol):
    """An approximate inverse Hessian M^-1, self-adjoint and positive definite."""

    def __call__(self, r: FloatArray) -> FloatArray:
        """Return M^-1 r: (m,) -> (m,)."""
        ...


@dataclass(frozen=True, eq=False)
class CholeskyPreconditioner:
    """M^-1 r by two triangular solves with U, M = UᵀU (m, m)."""

    factor: FloatArray
    kind: str

    @classmethod
    def of(cls, M: FloatArray, kind: str) -> CholeskyPreconditioner:
        """Factor M, O(m³/3); add to its diagonal if rounding has made M indefinite (C very large).

        Raises `DataError` if only rounding is left of M.
        """
        rounding = len(M) * float(np.finfo(np.float64).eps * np.diag(M).max())
        for shift in (0.0, *(rounding * 10.0 ** np.arange(16))):
            M = M if shift == 0.0 else M + shift * np.eye(len(M))
            with contextlib.suppress(linalg.LinAlgError):
                return cls(linalg.cholesky(M.T, check_finite=False), kind)  # M.T has LAPACK's memory order
        raise DataError(
            "features or kernel values so large beside their differences within queries that rounding leaves "
            "nothing of these (the preconditioner is not positive definite)",
            expected="differences that squares of the values do not drown",
            remedy="Normalise the features first, query by query; of a polynomial kernel choose a smaller "
            "coef0 or degree.",
        )

    def __call__(self, r: FloatArray) -> FloatArray:
        """Return M^-1 r; for one vector two solves are several times faster than LAPACK's solve."""
        half = linalg.solve_triangular(self.factor, r, trans="T", check_finite=False)
        x: FloatArray = linalg.solve_triangular(self.factor, half, check_finite=False)
        return x


@dataclass(frozen=True, eq=False)
class DocumentPreconditioner:
    """H^-1 r for H = I + C ΦᵀRΦ with fewer documents n than features m, by a factor of at most (n, n).

    With R = S Sᵀ and UᵀU = I + C SᵀΦΦᵀS, Woodbury's identity gives H^-1 r = r − Φᵀ YᵀY Φ r, Y = √C U^-T Sᵀ.

    Attributes
    ----------
    features : FeatureOperator
        Φ (n, m).
    half : (s, n) float64
        Y.
    """

    features: FeatureOperator
    half: FloatArray
    kind: str = "documents"

    @classmethod
    def of(cls, features: FeatureOperator, roots: Sequence[FloatArray], C: float) -> DocumentPreconditioner:
        """Factor H in the space of documents: O(n²m + n³).

        `roots` has the block of S of each query in turn (see `curvature_roots`), because pairs are within
        queries.
        """
        ends = np.cumsum([len(S) for S in roots])
        rows = [slice(int(end) - len(S), int(end)) for S, end in zip(roots, ends, strict=True)]
        left = [S.T @ features.kernel[own] for S, own in zip(roots, rows, strict=True)]
        SK = np.concatenate([np.zeros((0, features.shape[0])), *left])
        right = [SK[:, own] @ S for S, own in zip(roots, rows, strict=True)]
        W = np.concatenate([np.zeros((len(SK), 0)), *right], axis=1)
        W *= C
        W[np.diag_indices(len(W))] += 1.0
        half = linalg.block_diag(*(S.T for S in roots)) * np.sqrt(C)
        if len(W):
            U = CholeskyPreconditioner.of(W, "documents").factor
            half = linalg.solve_triangular(U, half, trans="T", check_finite=False)
        return cls(features, half)

    def __call__(self, r: FloatArray) -> FloatArray:
        """Return H^-1 r: (m,) -> (m,), or (m, s) -> (m, s)."""
        return r - self.features.adjoint(self.half.T @ (self.half @ self.features.product(r)))


def document_entries(n: int, m: int) -> int:
    """Return the peak entries of a preconditioner for n documents: six squares, and a block of features."""
    return 6 * n * n + 2 * min(n * m, max(BLOCK_ENTRIES, m))


def document_flops(n: int, m: int) -> float:
    """Return its operations for m features: kernel of documents, factor, and solve."""
    return float(n) * n * m + 3.0 * float(n) ** 3


def curvature_roots(product: Callable[[FloatArray], FloatArray], ptr: IntArray) -> list[FloatArray]:
    """Return S_q (n_q, s_q) of each query with R_q = S_q S_qᵀ, from products v -> R v (n,).

    R has one block per query, so one product gives one column of every block. Each block is factored with
    pivots (LAPACK's dpstrf). Its rank s_q is at most n_q − 1 and at most the number of active pairs.
    """
    sizes, n = np.diff(ptr), int(ptr[-1])
    columns = np.zeros((int(sizes.max(initial=0)), n))
    for j in range(len(columns)):
        v = np.zeros(n)
        v[ptr[:-1][sizes > j] + j] = 1.0
        columns[j] = product(v)
    return [_root(columns[: end - start, start:end]) for start, end in itertools.pairwise(ptr)]


def _root(R: FloatArray) -> FloatArray:
    """Return S (k, rank) with R = S Sᵀ for a positive semidefinite R (k, k)."""
    if not R.any():
        return np.zeros((len(R), 0))
    factor, pivots, rank, _ = lapack.dpstrf(R, lower=1)
    S = np.zeros((len(R), int(rank)))
    S[pivots - 1] = np.tril(factor)[:, :rank]
    return S
