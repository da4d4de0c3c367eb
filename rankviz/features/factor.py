"""Bases from the kernel matrix of landmarks: its Cholesky factor, or its eigenvectors.

Tolerances are relative to the size of the kernel: the mean of κ(x, x) over documents, 1 for shift-invariant
kernels.
"""

from __future__ import annotations

import contextlib

import numpy as np
from scipy import linalg

from rankviz.common.arrays import FloatArray, IntArray
from rankviz.common.progress import Progress, Report, silent
from rankviz.features.bases import CholeskyBasis, DenseBasis
from rankviz.features.kernel_base import Kernel

JITTER = 1e-10
"""Added to the diagonal of the landmarks' kernel matrix, times the size of the kernel.

It is the same for every m, because otherwise the maps would not be nested. It changes kernel values by less
than j: K − K(K + jI)^-1 K = jK(K + jI)^-1 has spectral norm below j.
"""
BLOCK = 128  # landmarks per block of the factorisation


def factored(
    documents: FloatArray, kernel: Kernel, size: float, report: Report = silent
) -> tuple[IntArray, CholeskyBasis]:
    """Factor the kernel matrix of documents (m, d) without those that others span to rounding.

    `size` is the kernel's (see `mean_diagonal`), the same for every m.
    """
    K = kernel.matrix(documents, documents, report)
    report(Progress("features", None))
    return cholesky_basis(K, size)


def cholesky_basis(K: FloatArray, size: float = 1.0) -> tuple[IntArray, CholeskyBasis]:
    """Factor K + jI = L Lᵀ in the given order without landmarks that earlier ones span.

    The squared pivot of a landmark is its residual after earlier kept landmarks, plus the jitter. At 2j or
    below, it adds nothing above the jitter and is left out. The pivot depends on earlier landmarks only, so
    maps stay nested. Blocks of BLOCK landmarks make nearly all work matrix products; rounding of K cannot
    make the factorisation fail. If none is left out, one call of LAPACK gives the same. The first landmark
    stays even if κ(x, x) = 0, so that every map has a feature; a feature of 0 is harmless.
    """
    jitter = JITTER * size
    with contextlib.suppress(linalg.LinAlgError):
        whole = K.copy()
        whole[np.diag_indices(len(K))] += jitter
        # UᵀU by columns is LLᵀ by rows, so nothing is transposed in memory
        U = linalg.cholesky(whole.T, overwrite_a=True, check_finite=False)
        if (np.diag(U) ** 2 > 2 * jitter).all():
            return np.arange(len(K)), CholeskyBasis(U.T)
    L, kept = np.zeros_like(K), np.zeros(0, np.int64)
    for start in range(0, len(K), BLOCK):
        block, r = np.arange(start, min(start + BLOCK, len(K))), len(kept)
        spanned = CholeskyBasis(L[:r, :r]).contract(K[np.ix_(kept, block)])
        left = K[np.ix_(block, block)] + jitter * np.eye(len(block)) - spanned.T @ spanned
        inner, factor = _cholesky_skipping(left, jitter, first=start == 0)
        kept = np.concatenate((kept, block[inner]))
        L[r : len(kept), :r], L[r : len(kept), r : len(kept)] = spanned[:, inner].T, factor
    return kept, CholeskyBasis(L[: len(kept), : len(kept)].copy())


def _cholesky_skipping(S: FloatArray, jitter: float, *, first: bool) -> tuple[IntArray, FloatArray]:
    """Return the rows of S with a pivot above 2j, and the Cholesky factor of S at these."""
    with contextlib.suppress(linalg.LinAlgError):
        L = linalg.cholesky(S, lower=True, check_finite=False)
        if (np.diag(L) ** 2 > 2 * jitter).all():
            return np.arange(len(S)), L
    S, columns = S.copy(), np.zeros_like(S)
    kept = []
    for j in range(len(S)):
        if S[j, j] > 2 * jitter or (first and j == 0):
            columns[j:, j] = S[j:, j] / np.sqrt(S[j, j])
            S[j + 1 :, j + 1 :] -= np.outer(columns[j + 1 :, j], columns[j + 1 :, j])
            kept.append(j)
    inner = np.array(kept, np.int64)
    return inner, columns[np.ix_(inner, inner)]


def eigen_basis(K: FloatArray, rank: int, size: float = 1.0) -> DenseBasis:
    """Return U_k Σ_k^-1/2 of the k largest eigenvalues, without those below the jitter (chen2017 eq. 17–18).

    The largest always stays.
    """
    first, least = max(0, len(K) - rank), JITTER * size * len(K)
    values, vectors = linalg.eigh(K, subset_by_index=(first, len(K) - 1))
    kept = values > least
    kept[-1:] = True
    return DenseBasis(np.ascontiguousarray(vectors[:, kept] / np.sqrt(np.maximum(values[kept], least))))
