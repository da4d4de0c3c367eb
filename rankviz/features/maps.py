"""Feature maps, from settings to Φ in three steps, and the linear map.

Settings *draw* the random parts from or for documents. A draw serves every γ and every number of features up
to m. *Fitted* at a γ, it is a map φ; its leading columns are the map for fewer features. A map turns
documents into a `FeatureOperator`.

To add one, write a frozen dataclass of settings with `draw(X, report) -> Drawn`, and enter it in
`FEATURE_MAPS` of `rankviz.features.registry`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Protocol, Self

from rankviz.common.arrays import FloatArray
from rankviz.common.npz import Arrays
from rankviz.common.progress import Report, silent
from rankviz.features.bases import Basis, IdentityBasis
from rankviz.features.courses import Straight
from rankviz.features.forms import SumForm
from rankviz.features.kernel_base import Kernel
from rankviz.features.operator import FeatureOperator

Move = Callable[[FloatArray], FloatArray]
"""A change of documents (s, d) -> (s, d), row by row."""


class FittedMap(Protocol):
    """A feature map φ with all random parts drawn; it maps any documents to Φ."""

    @property
    def n_components(self) -> int:
        """Feature dimensions m."""
        ...

    @property
    def basis(self) -> Basis:
        """T of Φ = base · T."""
        ...

    @property
    def kernel(self) -> Kernel | None:
        """The kernel that it equals or approximates; None without one."""
        ...

    @property
    def in_kernel_space(self) -> bool:
        """True if weights are coefficients of all training documents, so that ‖f‖² is βᵀKβ, not ‖β‖²."""
        ...

    def operator(self, X: FloatArray, report: Report = silent) -> FeatureOperator:
        """Return Φ of documents X (n, d), for products."""
        ...

    def operator_of(self, arguments: FloatArray, report: Report = silent) -> FeatureOperator:
        """Return Φ of documents from their `Drawn.arguments`, cheaper than from documents."""
        ...

    def leading(self, m: int) -> FittedMap:
        """Return the map that settings with m features would give, for m up to its own."""
        ...

    def moved(self, move: Move, X: FloatArray) -> FittedMap:
        """Return the map for changed documents X (n, d): landmarks move too; an exact map uses X."""
        ...

    def arrays(self) -> Arrays:
        """Return its arrays for storage; `from_arrays` reads them."""
        ...

    @classmethod
    def from_arrays(cls, arrays: Arrays, d: int, kernel: Kernel | None) -> Self:
        """Return the map of documents with d features from `arrays`; ValueError for invalid arrays."""
        ...


class Drawn(Protocol):
    """The random parts of a feature map, the same for every γ of its kernel."""

    @property
    def in_kernel_space(self) -> bool:
        """`in_kernel_space` of its maps."""
        ...

    def fitted(self, gamma: float, report: Report = silent) -> FittedMap:
        """Return the map at γ."""
        ...

    def arguments(self, X: FloatArray, report: Report = silent) -> FloatArray:
        """Return the part for X (n, d) independent of γ: κ's arguments with landmarks, or Ωᵀx; (n, m)."""
        ...


@dataclass(frozen=True)
class FittedLinear:
    """φ(x) = x; nothing is random, so it is its own `Drawn`."""

    n_components: int

    kernel: ClassVar[Kernel | None] = None
    in_kernel_space: ClassVar[bool] = False

    @property
    def basis(self) -> IdentityBasis:
        """The identity."""
        return IdentityBasis(self.n_components)

    def operator(self, X: FloatArray, report: Report = silent) -> FeatureOperator:
        """Return X."""
        return FeatureOperator(X, self.basis)

    def operator_of(self, arguments: FloatArray, report: Report = silent) -> FeatureOperator:
        """Return the operator of the arguments: they are X."""
        return FeatureOperator(arguments, self.basis)

    def form(self, w: FloatArray) -> SumForm:
        """Return Σ_l w_l x_l."""
        return SumForm(lambda a, b: w * (a - b), lambda feature: Straight())

    def leading(self, m: int) -> FittedLinear:
        """Return this map: the linear map has no m."""
        return self

    def moved(self, move: Move, X: FloatArray) -> FittedLinear:
        """Return this map: it has no landmarks."""
        return self

    def fitted(self, gamma: float, report: Report = silent) -> FittedLinear:
        """Return this map: the linear map has no γ."""
        return self

    def arguments(self, X: FloatArray, report: Report = silent) -> FloatArray:
        """Return X."""
        return X

    def arrays(self) -> Arrays:
        """Return no arrays."""
        return {}

    @classmethod
    def from_arrays(cls, arrays: Arrays, d: int, kernel: Kernel | None) -> FittedLinear:
        """Return the map of d features."""
        return cls(d)


@dataclass(frozen=True)
class Linear:
    """The linear map φ(x) = x: plain linear RankSVM (chen2017 eq. 4)."""

    def draw(self, X: FloatArray, report: Report = silent) -> FittedLinear:
        """Return the map; nothing is random."""
        return FittedLinear(X.shape[1])

    def fit(self, X: FloatArray, report: Report = silent) -> FittedLinear:
        """Return the map; it has no γ."""
        return self.draw(X, report)
