"""The precision of curvature: single where memory is spare and rounding does not tell, else double.

Values and gradients of an objective are always in double precision. Hessian products and preconditioners
only choose directions; in single precision they take half the time, most of it spent reading Φ.

See docs/decisions/0006-features-are-an-operator.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from rankviz.common.arrays import FloatArray
from rankviz.features.bases import Basis
from rankviz.features.operator import FeatureOperator
from rankviz.risk import RiskPoint

LARGE = 2**24
"""Entries of a base, 134 MB, from which on products wait for memory, and a copy in single precision pays."""

NOISE = 0.02
"""Single precision may change √(sᵀHs) by this share: CG then takes as many iterations as in double, and the
decrement that it proves is right to a few per cent."""

POWER_STEPS = 6
"""Of power iteration: a norm is wanted to a factor of two."""


def copy_bytes(n: int, k: int) -> int:
    """Bytes of a copy of a base (n, k) in single precision; 0 where it would not pay."""
    return 4 * n * k if n * k >= LARGE else 0


def curvature_features(
    features: FeatureOperator, risk: RiskPoint, C: float, spare: float, largest: float = 1.0
) -> FeatureOperator:
    """Φ for Hessian products at a point: in single precision where that is spare and exact enough.

    `largest` (at least 1) is what no entry of the base is beyond.
    """
    fits = 4.0 * features.base.size <= spare
    return features.single if fits and largest * single_noise(features, risk, C) <= NOISE else features


def single_noise(features: FeatureOperator, risk: RiskPoint, C: float) -> float:
    """Largest relative change of √(sᵀHs), H = I + C ΦᵀRΦ, when the base of Φ is rounded to float32.

    By the triangle inequality it is at most √(C‖R‖)·‖E T‖, for ‖s‖² ≤ sᵀHs. The errors E (n, k) of entries
    in [−1, 1] are at most 2^-25 and as good as independent, so ‖E‖ is about 2^-25 (√n + √k), and T, which an
    ill-conditioned kernel makes large, multiplies them by ‖T‖ at most.
    """
    n, k = features.base.shape
    spread = spread_of_basis(features.basis)
    return noise_of(n, k, C * largest_eigenvalue(risk.hessian_product, n) * spread)


def noise_of(n: int, k: int, stiffness: float) -> float:
    """The same for a base (n, k), from C‖R‖·‖T‖²."""
    return 2.0**-25 * (math.sqrt(n) + math.sqrt(k)) * math.sqrt(stiffness)


def spread_of_basis(basis: Basis) -> float:
    """‖T‖² of a basis change T (k, m), roughly."""
    return largest_eigenvalue(lambda u: basis.expand(basis.contract(u)), basis.shape[0])


def largest_eigenvalue(product: Callable[[FloatArray], FloatArray], size: int) -> float:
    """Of a positive semi-definite matrix (size, size), from below and roughly, by power iteration."""
    v = np.random.default_rng(0).normal(size=size)
    value = float(np.linalg.norm(v))
    for _ in range(POWER_STEPS):
        if value == 0.0:
            break
        v = product(v / value)
        value = float(np.linalg.norm(v))
    return value
