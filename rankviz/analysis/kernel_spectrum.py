"""Eigenvalues of kernel matrices, and the effective dimension of regularised learning with them.

Up to 2000 documents the exact kernel matrix K is decomposed. Beyond, a Nyström approximation K̃ on all
documents bounds its eigenvalues, in O(n m²) and without an n × n matrix: K − K̃ has no negative eigenvalue,
so μ_i(K̃) ≤ μ_i(K) ≤ μ_i(K̃) + ε with ε = tr(K − K̃) = Σ κ(x, x) − tr K̃.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rankviz.analysis.kernel_error import ALL_UP_TO
from rankviz.common.arrays import FloatArray
from rankviz.common.parallel import BLOCK_ENTRIES
from rankviz.common.progress import Progress, Report, silent
from rankviz.features import FittedMap, Kernel, Nystroem
from rankviz.features.nystroem import LandmarkChoice, UniformLandmarks


@dataclass(frozen=True, eq=False)
class KernelSpectrum:
    """Eigenvalues of K, or of K̃ with the missing trace.

    Attributes
    ----------
    values : (k,) float64
        μ_1 ≥ μ_2 ≥ …; k = n for K itself, k ≤ m for a K̃, whose other eigenvalues are 0.
    missing : float
        ε = tr(K − K̃) ≥ 0; 0 for K itself. No eigenvalue of K exceeds K̃'s by more.
    n_documents : int
    """

    values: FloatArray
    missing: float
    n_documents: int

    def effective_dimension(self, C: float) -> tuple[float, float]:
        """Bound tr K(K + λI)^-1 = Σ μ_i/(μ_i + λ), λ = 1/(2C); both bounds agree for K itself.

        The upper bound adds ε/λ: x/(x + λ) is concave and 0 at 0, so its trace is subadditive (rotfeld1969),
        and at most x/λ. The number of documents bounds both. Source: caponnetto2007 §2 for the quantity.
        """
        low = effective_dimension(self.values, C)
        return low, min(low + 2 * C * self.missing, float(self.n_documents))


def effective_dimension(values: FloatArray, C: float) -> float:
    """Return Σ μ/(μ + 1/(2C)) over eigenvalues μ ≥ 0."""
    return float((values / (values + 0.5 / C)).sum())


def eigenvalues(Phi: FloatArray) -> FloatArray:
    """Return the N eigenvalues of ΦΦᵀ, Φ (N, m), largest first: of the smaller of ΦΦᵀ and ΦᵀΦ, then 0."""
    n, m = Phi.shape
    values = kernel_eigenvalues(Phi @ Phi.T if n <= m else Phi.T @ Phi)
    return np.concatenate((values, np.zeros(n - len(values))))


def kernel_eigenvalues(K: FloatArray) -> FloatArray:
    """Return the eigenvalues of a positive semidefinite K (N, N), largest first; negative ones become 0."""
    values = np.asarray(np.linalg.eigvalsh(K), np.float64)
    return np.maximum(values[::-1], 0.0)


def kernel_spectrum(
    X: FloatArray,
    kernel: Kernel,
    m: int = 1000,
    seed: int = 0,
    landmarks: LandmarkChoice | None = None,
    report: Report = silent,
    *,
    all_up_to: int = ALL_UP_TO,
) -> KernelSpectrum:
    """Return eigenvalues of the kernel matrix of documents X (n, d), exact up to `all_up_to` documents.

    Beyond, m landmarks give K̃'s, for the n × m kernel matrix and n·m² multiplications.
    """
    if len(X) <= all_up_to:
        return KernelSpectrum(kernel_eigenvalues(kernel.matrix(X, X, report)), 0.0, len(X))
    fitted = Nystroem(m, kernel, None, seed, landmarks or UniformLandmarks()).fit(X, report)
    values = kernel_eigenvalues(_gram(fitted, X, report))
    trace = float(kernel.diagonal(X).sum())
    return KernelSpectrum(values, max(0.0, trace - float(values.sum())), len(X))


def _gram(fitted: FittedMap, X: FloatArray, report: Report) -> FloatArray:
    """Compute ΦᵀΦ (m, m), by blocks of documents.

    Φ is formed. With the landmarks' kernel columns B, Tᵀ(BᵀB)T would magnify rounding errors by the condition
    number of the landmarks' kernel, up to 1e10.
    """
    m = fitted.n_components
    total, step = np.zeros((m, m)), max(1, BLOCK_ENTRIES // max(m, 1))
    for start in range(0, len(X), step):
        Phi = fitted.operator(X[start : start + step]).dense()
        total += Phi.T @ Phi
        report(Progress("eigenvalues", min(1.0, (start + step) / len(X))))
    return total
