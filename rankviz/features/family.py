"""Feature maps of one draw for every γ and every m up to the largest, and Φ of documents.

Expensive work is done once: the leading columns of the base for the largest m serve all smaller m.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from rankviz.common.arrays import FloatArray
from rankviz.common.progress import Report, Stopwatch, silent
from rankviz.features.maps import Drawn, FittedMap
from rankviz.features.operator import FeatureOperator


class Draws(Protocol):
    """Settings of a feature map, as needed by a family."""

    def draw(self, X: FloatArray, report: Report = silent) -> Drawn:
        """Draw the random parts of the map, from or for documents X (n, d)."""
        ...


class MapFamily:
    """The feature maps of one draw.

    Parameters
    ----------
    settings : Draws
        With the largest m; their γ is not used.
    X : (n, d) float64
        Training documents.

    Attributes
    ----------
    drawn : Drawn
    """

    def __init__(self, settings: Draws, X: FloatArray, report: Report = silent) -> None:
        clock = Stopwatch()
        self.drawn = settings.draw(X, report)
        clock.lap("draw")
        self._draw_seconds, self._fitted_seconds = clock.laps["draw"], 0.0
        self._gamma: float | None = None
        self._widest: FittedMap | None = None
        self._latest: tuple[int, FittedMap] | None = None

    def widest(self, gamma: float, report: Report = silent) -> FittedMap:
        """Return the map at γ with the largest m."""
        if self._widest is None or gamma != self._gamma:
            self._widest = self._latest = None
            clock = Stopwatch()
            self._gamma, self._widest = gamma, self.drawn.fitted(gamma, report)
            clock.lap("fit")
            self._fitted_seconds = clock.laps["fit"]
        return self._widest

    def map(self, m: int, gamma: float, report: Report = silent) -> FittedMap:
        """Return the map at γ with m features, up to the largest m; ValueError if the maps are not nested."""
        widest = self.widest(gamma, report)
        if self._latest is None or self._latest[0] != m:
            self._latest = m, widest.leading(m)
        return self._latest[1]

    def share(self, fitted: FittedMap) -> float:
        """Return a map's number of columns over that of the widest map at the current γ."""
        widest = fitted if self._widest is None else self._widest
        return fitted.basis.shape[0] / max(1, widest.basis.shape[0])

    def seconds(self, fitted: FittedMap) -> float:
        """Return the seconds for a map of the current γ: the draw, and its columns' share of the factor."""
        return self._draw_seconds + self.share(fitted) * self._fitted_seconds


@dataclass(frozen=True)
class OneMap:
    """A fitted map in the role of settings and of their draw, for its own γ only."""

    fitted_map: FittedMap

    @property
    def in_kernel_space(self) -> bool:
        """The map's `in_kernel_space`."""
        return self.fitted_map.in_kernel_space

    def draw(self, X: FloatArray, report: Report = silent) -> OneMap:
        """Return itself."""
        return self

    def fitted(self, gamma: float, report: Report = silent) -> FittedMap:
        """Return the map; ValueError for another γ."""
        kernel = self.fitted_map.kernel
        if kernel is not None and kernel.at(gamma) != kernel:
            raise ValueError(f"the map of gamma = {kernel.gamma:g} is none of gamma = {gamma:g}")
        return self.fitted_map

    def arguments(self, X: FloatArray, report: Report = silent) -> FloatArray:
        """Raise ValueError: there is only one γ."""
        raise ValueError("arguments serve other values of gamma, and this map has one")


class FamilyFeatures:
    """Φ of documents X (n, d) under the maps of a family.

    Parameters
    ----------
    family : MapFamily
    X : (n, d) float64
    keep_arguments : bool
        Keep the kernel's arguments, which need as much memory as the base. Each new γ then takes about a
        third of the time.
    """

    def __init__(self, family: MapFamily, X: FloatArray, *, keep_arguments: bool = False) -> None:
        self.family, self.X, self._keep = family, X, keep_arguments
        self._arguments: FloatArray | None = None
        self._widest: FeatureOperator | None = None
        self._of: FittedMap | None = None
        self._arguments_seconds = self._base_seconds = 0.0

    def know(self, gamma: float, operator: FeatureOperator) -> None:
        """Store Φ of the widest map at γ, already computed."""
        self._of, self._widest = self.family.widest(gamma), operator

    def operator(self, m: int, gamma: float, report: Report = silent) -> FeatureOperator:
        """Return Φ at γ with m features; a new γ replaces the base of the last one."""
        widest = self.family.widest(gamma, report)
        if self._widest is None or self._of is not widest:
            self._widest = None  # frees the old base first: two need too much memory
            self._of, self._widest = widest, self._compute(widest, report)
        basis = self.family.map(m, gamma, report).basis
        return FeatureOperator(self._widest.base[:, : basis.shape[0]], basis)

    def seconds(self, fitted: FittedMap) -> float:
        """Return the seconds for the columns of a map of the current γ."""
        return self.family.share(fitted) * (self._arguments_seconds + self._base_seconds)

    def _compute(self, widest: FittedMap, report: Report) -> FeatureOperator:
        clock = Stopwatch()
        if self._keep and self._arguments is None:
            self._arguments = self.family.drawn.arguments(self.X, report)
            clock.lap("arguments")
            self._arguments_seconds = clock.laps["arguments"]
        if self._arguments is None:
            operator = widest.operator(self.X, report)
        else:
            operator = widest.operator_of(self._arguments, report)
        clock.lap("base")
        self._base_seconds = clock.laps["base"]
        return operator
