"""Singular value thresholding of stacked blocks, and the problem that it solves.

D_τ(X) = argmin_A τ‖A‖_* + ½‖X − A‖_F² = U diag(max(0, σ − τ)) Vᵀ for X = U diag(σ) Vᵀ (xu2019 theorem 1,
cai2010).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rankviz.common.arrays import FloatArray, IntArray


class Shrunk(NamedTuple):
    """A = D_τ(X) (g, r, c), its nuclear norms (g,), and its ranks (g,)."""

    A: FloatArray
    nuclear: FloatArray
    rank: IntArray


def shrunk(X: FloatArray, tau: float) -> Shrunk:
    """Return D_τ of each block of X (g, r, c).

    It uses eigenvalues σ² of the smaller of XXᵀ and XᵀX, several times faster than singular values. The error
    is at most about √ε·σ₁, 1.5e-8 of the largest singular value, and ε·σ₁²/τ for larger τ.
    """
    if X.shape[1] < X.shape[2]:
        A, nuclear, rank = shrunk(X.transpose(0, 2, 1), tau)
        return Shrunk(A.transpose(0, 2, 1), nuclear, rank)
    squares, V = np.linalg.eigh(X.transpose(0, 2, 1) @ X)
    sigma = np.sqrt(np.maximum(squares, 0.0))
    left = np.maximum(sigma - tau, 0.0)
    share = np.divide(left, sigma, out=np.zeros_like(sigma), where=sigma > 0.0)
    first = int((share > 0.0).argmax(axis=1).min()) if share.any() else share.shape[1]
    kept = V[:, :, first:]  # eigenvalues ascend: those that vanish in all blocks come first
    A = (X @ kept) * share[:, None, first:] @ kept.transpose(0, 2, 1)
    return Shrunk(A, left.sum(axis=1), (left > 0.0).sum(axis=1))
