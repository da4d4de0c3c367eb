"""What a feature map is, said in one place: its names, its settings, and what it has and has not.

Everything else asks here rather than for a map by its name: whether there is a kernel, whether m features
approximate it, whether anything is drawn.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from rankviz.common.arrays import FloatArray
from rankviz.common.progress import Report, silent
from rankviz.common.settings import SEED, Setting
from rankviz.features.maps import Drawn, FittedMap
from rankviz.features.settings import N_COMPONENTS


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
        γ of the kernel.
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


@dataclass(frozen=True, eq=False)
class MapKind:
    """A feature map to choose.

    Attributes
    ----------
    label : str
        What menus and legends call it.
    in_a_sentence : str
        The same within a sentence.
    make : MapSettings -> FeatureMap
    settings : tuple of Setting
        Those it reads.
    has_kernel : bool
        Whether its scores are f(x) = Σ αᵢ κ(x, zᵢ), or approximate such.
    expands : bool
        Whether they are just that, with coefficients α of documents z.
    draws_by : Setting or None
        The setting that says how it draws: landmarks, frequencies.
    is_identity : bool
        Whether its weights are weights of the input features: φ(x) = x.
    """

    label: str
    in_a_sentence: str
    make: Callable[[MapSettings], FeatureMap]
    settings: tuple[Setting, ...] = ()
    has_kernel: bool = True
    expands: bool = False
    is_identity: bool = False
    draws_by: Setting | None = None

    @property
    def approximates(self) -> bool:
        """Whether it has m features that come closer to the kernel as m grows."""
        return self.has_kernel and self.has_components

    @property
    def is_exact(self) -> bool:
        """Whether it is the kernel itself."""
        return self.has_kernel and not self.has_components

    @property
    def has_components(self) -> bool:
        """Whether it has a number of features m to choose."""
        return N_COMPONENTS in self.settings

    @property
    def draws(self) -> bool:
        """Whether a seed decides what it is."""
        return SEED in self.settings
