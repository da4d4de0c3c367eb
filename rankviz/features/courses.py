"""Properties of functions of one feature, used to find the turning points of their sums."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from rankviz.common.arrays import FloatArray


@dataclass(frozen=True)
class Straight:
    """Straight lines."""


@dataclass(frozen=True, eq=False)
class Smooth:
    """Functions k_i whose derivatives have bounds: |k_i⁽ⁿ⁾(x)| ≤ factor(n)·rate_iⁿ at every x.

    Attributes
    ----------
    rates : (m,) float64
        Per unit of the feature.
    factor : n -> float
    """

    rates: FloatArray
    factor: Callable[[int], float]


@dataclass(frozen=True, eq=False)
class Tents:
    """Functions exp(−rate·|x − centre_i|).

    Attributes
    ----------
    rate : float
        Per unit of the feature.
    centres : (m,) float64
    """

    rate: float
    centres: FloatArray


Course = Straight | Smooth | Tents


def of_waves(n: int) -> float:
    """Return the factor of e^{iωx}, whose rate is |ω|: 1."""
    return 1.0


def of_bells(n: int) -> float:
    """Return the factor of exp(−γ(x − z)²), whose rate is √(2γ): 1.0865·√(n!).

    This is Cramér's inequality for Hermite polynomials, |H_n(x)| e^{−x²/2} ≤ 1.0865·√(2ⁿ n!).
    """
    return 1.0865 * math.sqrt(math.factorial(n))
