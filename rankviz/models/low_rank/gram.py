"""Scores from dual variables: f = G c with the Gram matrix G of documents, never formed.

Dual variables α give each document c_i = Σ_j α_ij − Σ_j α_ji; then w = Σ c_i φ(x_i), f = G c and ‖w‖² = cᵀf.

See docs/decisions/0007-low-rank-models-solve-the-dual.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from rankviz.common.arrays import FloatArray
from rankviz.features.kernel_base import Kernel
from rankviz.features.kernel_matrix import KernelMatrix
from rankviz.features.operator import FeatureOperator
from rankviz.models.low_rank.cells import Cells


class Gram(Protocol):
    """The Gram matrix of documents, for products."""

    def scores(self, c: FloatArray) -> FloatArray:
        """Return f = G c: (n,) -> (n,)."""
        ...

    def coefficients(self, c: FloatArray) -> FloatArray:
        """Return the weights of the feature map that have scores G c."""
        ...


@dataclass(frozen=True, eq=False)
class FeatureGram:
    """G = ΦΦᵀ."""

    features: FeatureOperator

    def scores(self, c: FloatArray) -> FloatArray:
        """Return Φ Φᵀ c."""
        return self.features.product(self.features.adjoint(c))

    def coefficients(self, c: FloatArray) -> FloatArray:
        """Return w = Φᵀ c, (m,)."""
        return self.features.adjoint(c)


@dataclass(frozen=True, eq=False)
class KernelGram:
    """G = K, the matrix of documents under a kernel."""

    K: KernelMatrix
    kernel: Kernel

    def scores(self, c: FloatArray) -> FloatArray:
        """Return K c."""
        return self.K.product(c)

    def coefficients(self, c: FloatArray) -> FloatArray:
        """Return β = c itself, (n,)."""
        return c


POWER_STEPS, MARGIN = 40, 1.05
"""Number of power iterations, which estimate from below (solvers check the curvature they rely on), and
safety factor."""


def pair_curvature(gram: Gram, cells: Cells) -> float:
    """Estimate ‖A Φ‖² = λ_max(M), M_(ij),(kl) = ⟨φ_i − φ_j, φ_k − φ_l⟩ (xu2019 eq. 5), times 1.05.

    M = A G Aᵀ with the pair matrix A has the nonzero eigenvalues of L₀ G, which takes O(n) and one product
    with G.
    """
    f = np.random.default_rng(0).standard_normal(cells.n)
    largest = 0.0
    for _ in range(POWER_STEPS):
        c = cells.laplacian(f)
        length = float(f @ c)  # ‖A f‖²
        if length <= 0.0:
            break
        f = gram.scores(c)
        found = float(c @ f) / length
        settled, largest = abs(found - largest) <= 1e-3 * found, max(found, largest)
        if settled or found == 0.0:
            break
        f /= np.abs(f).max()
    return MARGIN * largest
