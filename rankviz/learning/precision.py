"""Precision of Hessian products: single if memory allows and rounding is harmless, else double.

Values and gradients of an objective are always in double precision. Hessian products and preconditioners only
affect directions. In single precision they take half the time, most of it spent reading Φ.

See docs/decisions/0006-features-are-an-operator.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from rankviz.common.arrays import FloatArray
from rankviz.features.bases import Basis
from rankviz.features.operator import FeatureOperator
from rankviz.learning import RiskPoint

LARGE = 2**24
"""Number of entries of a base (134 MB) from which products are limited by memory, so a copy in single
precision pays."""

NOISE = 0.02
"""Largest relative change of √(sᵀHs) by single precision. CG then takes as many iterations as in double
precision, and its decrement is right to a few per cent."""

POWER_STEPS = 6
"""Number of power iterations: they give a norm to a factor of two."""


def copy_bytes(n: int, k: int) -> int:
    """Return the bytes of a copy of a base (n, k) in single precision; 0 if it would not pay."""
    return 4 * n * k if n * k >= LARGE else 0


def curvature_features(
    features: FeatureOperator, risk: RiskPoint, C: float, spare: float, largest: float = 1.0
) -> FeatureOperator:
    """Return Φ for Hessian products at a point, in single precision if it fits in memory and is accurate.

    `largest` (at least 1) bounds the entries of the base.
    """
    fits = 4.0 * features.base.size <= spare
    return features.single if fits and largest * single_noise(features, risk, C) <= NOISE else features


def single_noise(features: FeatureOperator, risk: RiskPoint, C: float) -> float:
    """Return the largest relative change of √(sᵀHs), H = I + C ΦᵀRΦ, with Φ's base rounded to float32.

    By the triangle inequality it is at most √(C‖R‖)·‖E T‖, because ‖s‖² ≤ sᵀHs. The errors E (n, k) of
    entries in [−1, 1] are at most 2^-25 and nearly independent, so ‖E‖ is about 2^-25 (√n + √k). T multiplies
    them by at most ‖T‖, which is large for an ill-conditioned kernel.
    """
    n, k = features.base.shape
    spread = spread_of_basis(features.basis)
    return noise_of(n, k, C * largest_eigenvalue(risk.hessian_product, n) * spread)


def noise_of(n: int, k: int, stiffness: float) -> float:
    """Return the same for a base (n, k), from C‖R‖·‖T‖²."""
    return 2.0**-25 * (math.sqrt(n) + math.sqrt(k)) * math.sqrt(stiffness)


def spread_of_basis(basis: Basis) -> float:
    """Return ‖T‖² of a basis change T (k, m), roughly."""
    return largest_eigenvalue(lambda u: basis.expand(basis.contract(u)), basis.shape[0])


def largest_eigenvalue(product: Callable[[FloatArray], FloatArray], size: int) -> float:
    """Estimate the largest eigenvalue of a positive semidefinite matrix from below, by power iteration."""
    v = np.random.default_rng(0).normal(size=size)
    value = float(np.linalg.norm(v))
    for _ in range(POWER_STEPS):
        if value == 0.0:
            break
        v = product(v / value)
        value = float(np.linalg.norm(v))
    return value
