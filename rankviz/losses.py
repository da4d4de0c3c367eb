"""Losses ℓ(t) on margins t = f_i − f_j of preference pairs; a loss sees margins only, never features.

To add one: write a class with `value`, `derivative` and `second_derivative`, and name it in `LOSSES`.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from rankviz._typing import FloatArray


class Loss(Protocol):
    """A convex, once differentiable function of the margin, applied entry by entry."""

    label: str
    formula: str

    def value(self, t: FloatArray) -> FloatArray:
        """ℓ(t)."""
        ...

    def derivative(self, t: FloatArray) -> FloatArray:
        """ℓ'(t)."""
        ...

    def second_derivative(self, t: FloatArray) -> FloatArray:
        """A generalised ℓ''(t); zero exactly where a pair does not enter the Hessian."""
        ...


class SquaredHinge:
    """ℓ(t) = max(0, 1 − t)², the L2-loss of chen2017 eq. 4 and 22 (C multiplies it without a ½)."""

    label = "squared hinge"
    formula = "max(0, 1 − t)²"

    def value(self, t: FloatArray) -> FloatArray:
        """ℓ(t) = max(0, 1 − t)²."""
        u: FloatArray = np.maximum(0.0, 1.0 - t)
        value: FloatArray = u * u
        return value

    def derivative(self, t: FloatArray) -> FloatArray:
        """ℓ'(t) = −2·max(0, 1 − t)."""
        return -2.0 * np.maximum(0.0, 1.0 - t)

    def second_derivative(self, t: FloatArray) -> FloatArray:
        """ℓ''(t) = 2 where t < 1, else 0; at the kink the side of the inactive pair is taken."""
        curvature: FloatArray = np.where(t < 1.0, 2.0, 0.0)
        return curvature


LOSSES: dict[str, Loss] = {"squared_hinge": SquaredHinge()}
"""Losses by the names that `RankSVM(loss=...)` and the app use."""
