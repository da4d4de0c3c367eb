"""Feature maps φ: linear, Nyström, random Fourier, exact; what they store and how they are applied."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from rankviz.common.arrays import FloatArray
from rankviz.common.progress import Report, silent
from rankviz.features.exact import ExactKernel
from rankviz.features.frequencies import FREQUENCIES
from rankviz.features.kernels import rbf_kernel, scale_gamma
from rankviz.features.landmarks import LANDMARKS
from rankviz.features.maps import Drawn, FittedMap, Linear, RandomFourier
from rankviz.features.nystroem import Nystroem
from rankviz.features.operator import FeatureOperator

__all__ = [
    "FEATURE_MAPS",
    "FREQUENCIES",
    "LANDMARKS",
    "Drawn",
    "ExactKernel",
    "FeatureMap",
    "FeatureOperator",
    "FittedMap",
    "Linear",
    "MapSettings",
    "Nystroem",
    "RandomFourier",
    "rbf_kernel",
    "scale_gamma",
]


class FeatureMap(Protocol):
    """Settings of a feature map, before it has seen documents."""

    def draw(self, X: FloatArray, report: Report = silent) -> Drawn:
        """Draw what the map draws, from or for documents X (n, d)."""
        ...

    def fit(self, X: FloatArray, report: Report = silent) -> FittedMap:
        """The same, fitted at the settings' γ."""
        ...


@dataclass(frozen=True)
class MapSettings:
    """All that any feature map may be told; a map takes what it uses.

    Attributes
    ----------
    n_components : int
        m: landmarks or frequencies.
    gamma : float
        γ of the RBF kernel.
    rank : int or None
        Nyström only: eigenvalues kept.
    seed : int
    landmarks : str
        A name in `LANDMARKS`.
    frequencies : str
        A name in `FREQUENCIES`.
    """

    n_components: int = 1
    gamma: float = 1.0
    rank: int | None = None
    seed: int = 0
    landmarks: str = "uniform"
    frequencies: str = "gaussian"


FEATURE_MAPS: dict[str, Callable[[MapSettings], FeatureMap]] = {
    "linear": lambda s: Linear(),
    "nystroem": lambda s: Nystroem(s.n_components, s.gamma, s.rank, s.seed, LANDMARKS[s.landmarks]),
    "fourier": lambda s: RandomFourier(s.n_components, s.gamma, s.seed, FREQUENCIES[s.frequencies]),
    "exact": lambda s: ExactKernel(s.gamma),
}
"""Feature maps by the names that `RankSVM(feature_map=...)` and the app use."""
