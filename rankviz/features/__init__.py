"""Feature maps φ: linear, Nyström, random Fourier; what they store and how they are applied."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from rankviz._typing import FloatArray
from rankviz.features.kernels import rbf_kernel, scale_gamma
from rankviz.features.maps import FittedMap, Linear, RandomFourier
from rankviz.features.nystroem import Nystroem
from rankviz.features.operator import FeatureOperator
from rankviz.progress import Report, silent

__all__ = [
    "FEATURE_MAPS",
    "FeatureMap",
    "FeatureOperator",
    "FittedMap",
    "Linear",
    "Nystroem",
    "RandomFourier",
    "rbf_kernel",
    "scale_gamma",
]


class FeatureMap(Protocol):
    """Settings of a feature map, before it has seen documents."""

    def fit(self, X: FloatArray, report: Report = silent) -> FittedMap:
        """Draw what the map draws, from or for documents X (n, d)."""
        ...


FEATURE_MAPS: dict[str, Callable[[int, float, int | None, int], FeatureMap]] = {
    "linear": lambda m, gamma, rank, seed: Linear(),
    "nystroem": lambda m, gamma, rank, seed: Nystroem(m, gamma, rank, seed),
    "fourier": lambda m, gamma, rank, seed: RandomFourier(m, gamma, seed),
}
"""Feature maps by the names that `RankSVM(feature_map=...)` and the app use: (m, γ, rank, seed) -> map."""
