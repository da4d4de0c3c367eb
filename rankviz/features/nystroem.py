"""The Nyström map: landmarks among distinct documents, and a basis from their kernel matrix."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, field

import numpy as np
from scipy import linalg

from rankviz.common.arrays import FloatArray, IntArray
from rankviz.common.progress import Progress, Report, silent
from rankviz.features.kernels import negative_distances, rbf_kernel
from rankviz.features.landmarks import LandmarkChoice, UniformLandmarks
from rankviz.features.maps import FittedNystroem
from rankviz.features.operator import CholeskyBasis, DenseBasis

JITTER = 1e-10
"""Added to the diagonal of the landmarks' kernel matrix, whose entries there are 1.

One absolute value for every m, or the maps would not be nested. The map then changes no kernel value by
more than this: K − K(K + jI)^-1 K = jK(K + jI)^-1 has spectral norm below j.
"""


BLOCK = 128  # landmarks factored at a time


@dataclass(frozen=True)
class Nystroem:
    """The Nyström approximation of the RBF kernel (chen2017 §3.2.1, Algorithm 1).

    Attributes
    ----------
    n_components : int
        Number of landmarks m; at most the number of distinct documents is used.
    gamma : float
    rank : int or None
        Keep the `rank` largest eigenvalues of the landmarks' kernel (chen2017 eq. 16–18). None keeps all, in
        the Cholesky form, which gives the same scores as the eigenvector form with all of them and is nested.
    seed : int
        With one seed the landmarks for m' < m are the first m'.
    landmarks : LandmarkChoice
        How they are chosen (see `rankviz.features.landmarks`).
    """

    n_components: int
    gamma: float
    rank: int | None = None
    seed: int = 0
    landmarks: LandmarkChoice = field(default_factory=UniformLandmarks)

    def draw(self, X: FloatArray, report: Report = silent) -> DrawnLandmarks:
        """Choose landmarks among documents X (n, d)."""
        rows = self.landmarks.choose(X, self.n_components, self.seed, report)
        return DrawnLandmarks(X[rows], self.rank)

    def fit(self, X: FloatArray, report: Report = silent) -> FittedNystroem:
        """Choose landmarks among documents X (n, d) and factor their kernel matrix at the settings' γ."""
        return self.draw(X, report).fitted(self.gamma, report)


@dataclass(frozen=True, eq=False)
class DrawnLandmarks:
    """Landmarks (m, d), and the rank to keep of their kernel matrices."""

    landmarks: FloatArray
    rank: int | None

    def fitted(self, gamma: float, report: Report = silent) -> FittedNystroem:
        """Factor the landmarks' kernel matrix at γ: O(m²d + m³)."""
        if self.rank is not None:
            K = rbf_kernel(self.landmarks, self.landmarks, gamma, report)
            report(Progress("features", None))
            return FittedNystroem(self.landmarks, gamma, _eigen_basis(K, self.rank))
        kept, basis = factored(self.landmarks, gamma, report)
        if len(kept) == len(self.landmarks):
            return FittedNystroem(self.landmarks, gamma, basis)
        return FittedNystroem(self.landmarks[kept], gamma, basis, kept)

    def arguments(self, X: FloatArray, report: Report = silent) -> FloatArray:
        """−‖x − x̃‖² of documents X (n, d)."""
        return negative_distances(X, self.landmarks, report)


def factored(documents: FloatArray, gamma: float, report: Report = silent) -> tuple[IntArray, CholeskyBasis]:
    """Factor the kernel matrix of documents (m, d) at γ, leaving out those that others span to rounding."""
    K = rbf_kernel(documents, documents, gamma, report)
    report(Progress("features", None))
    return cholesky_basis(K)


def cholesky_basis(K: FloatArray) -> tuple[IntArray, CholeskyBasis]:
    """Factor K + jI = L Lᵀ in the given order without the landmarks that earlier ones already span.

    The squared pivot of a landmark is what earlier kept landmarks leave of it, plus the jitter; at 2j or
    below it adds nothing above the jitter. That depends on earlier landmarks only: still nested. Taking them
    BLOCK at a time makes nearly all of it matrix products, and no rounding of K can make it fail. Where none
    is left out, one call of LAPACK gives the same.
    """
    with contextlib.suppress(linalg.LinAlgError):
        whole = K.copy()
        whole[np.diag_indices(len(K))] += JITTER
        # K = UᵀU by columns is LLᵀ by rows: nothing is transposed in memory
        U = linalg.cholesky(whole.T, overwrite_a=True, check_finite=False)
        if (np.diag(U) ** 2 > 2 * JITTER).all():
            return np.arange(len(K)), CholeskyBasis(U.T)
    L, kept = np.zeros_like(K), np.zeros(0, np.int64)
    for start in range(0, len(K), BLOCK):
        block, r = np.arange(start, min(start + BLOCK, len(K))), len(kept)
        spanned = CholeskyBasis(L[:r, :r]).contract(K[np.ix_(kept, block)])
        left = K[np.ix_(block, block)] + JITTER * np.eye(len(block)) - spanned.T @ spanned
        inner, factor = _cholesky_skipping(left)
        kept = np.concatenate((kept, block[inner]))
        L[r : len(kept), :r], L[r : len(kept), r : len(kept)] = spanned[:, inner].T, factor
    return kept, CholeskyBasis(L[: len(kept), : len(kept)].copy())


def _cholesky_skipping(S: FloatArray) -> tuple[IntArray, FloatArray]:
    """Indices of the rows of S with a pivot above 2j, and the Cholesky factor of S at these."""
    with contextlib.suppress(linalg.LinAlgError):
        L = linalg.cholesky(S, lower=True, check_finite=False)
        if (np.diag(L) ** 2 > 2 * JITTER).all():
            return np.arange(len(S)), L
    S, columns = S.copy(), np.zeros_like(S)
    kept = []
    for j in range(len(S)):
        if S[j, j] > 2 * JITTER:
            columns[j:, j] = S[j:, j] / np.sqrt(S[j, j])
            S[j + 1 :, j + 1 :] -= np.outer(columns[j + 1 :, j], columns[j + 1 :, j])
            kept.append(j)
    inner = np.array(kept, np.int64)
    return inner, columns[np.ix_(inner, inner)]


def _eigen_basis(K: FloatArray, rank: int) -> DenseBasis:
    """U_k Σ_k^-1/2 of the k largest eigenvalues, without those below the jitter (chen2017 eq. 17–18)."""
    first = max(0, len(K) - rank)
    values, vectors = linalg.eigh(K, subset_by_index=(first, len(K) - 1))
    kept = values > JITTER * len(K)
    return DenseBasis(np.ascontiguousarray(vectors[:, kept] / np.sqrt(values[kept])))
