"""Feature maps, from settings to Φ in three steps; and the linear one.

Settings *draw* what is random from or for documents. What is drawn serves every γ and every number of
features up to the one asked for: *fitted* at a γ it is a map φ, whose leading columns are the map for fewer
features. A map turns documents into a `FeatureOperator`.

To add one: a frozen dataclass of settings with `draw(X, report) -> Drawn`, and an entry in `FEATURE_MAPS` of
`rankviz.features.registry`.
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
"""A change of documents (s, d) -> (s, d), each by itself."""


class FittedMap(Protocol):
    """A feature map φ with everything drawn: documents in, Φ out, the same for any documents."""

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
        """The kernel that it is, or comes close to; None where there is none."""
        ...

    @property
    def in_kernel_space(self) -> bool:
        """Whether weights are coefficients of all training documents, so that ‖f‖² is βᵀKβ and not ‖β‖²."""
        ...

    def operator(self, X: FloatArray, report: Report = silent) -> FeatureOperator:
        """Φ of documents X (n, d), for products."""
        ...

    def operator_of(self, arguments: FloatArray, report: Report = silent) -> FeatureOperator:
        """Φ of documents from their `Drawn.arguments`, cheaper than from themselves."""
        ...

    def leading(self, m: int) -> FittedMap:
        """The map that settings with m features, at most as many, would have given."""
        ...

    def moved(self, move: Move, X: FloatArray) -> FittedMap:
        """The map once documents are X (n, d): landmarks are moved as they were; an exact one is of X."""
        ...

    def arrays(self) -> Arrays:
        """What it is made of, to be stored; `from_arrays` takes it back."""
        ...

    @classmethod
    def from_arrays(cls, arrays: Arrays, d: int, kernel: Kernel | None) -> Self:
        """The map of documents with d features that `arrays` were of; ValueError for arrays of none."""
        ...


class Drawn(Protocol):
    """What a feature map draws, from or for documents: the same for every γ of its kernel."""

    @property
    def in_kernel_space(self) -> bool:
        """That of its maps."""
        ...

    def fitted(self, gamma: float, report: Report = silent) -> FittedMap:
        """The map at γ."""
        ...

    def arguments(self, X: FloatArray, report: Report = silent) -> FloatArray:
        """What no γ changes, of documents X (n, d): arguments of κ with landmarks, or Ωᵀx; (n, m)."""
        ...


@dataclass(frozen=True)
class FittedLinear:
    """φ(x) = x; it draws nothing, so it is its own `Drawn`."""

    n_components: int

    kernel: ClassVar[Kernel | None] = None
    in_kernel_space: ClassVar[bool] = False

    @property
    def basis(self) -> IdentityBasis:
        """The identity."""
        return IdentityBasis(self.n_components)

    def operator(self, X: FloatArray, report: Report = silent) -> FeatureOperator:
        """X itself."""
        return FeatureOperator(X, self.basis)

    def operator_of(self, arguments: FloatArray, report: Report = silent) -> FeatureOperator:
        """The arguments themselves: they are X."""
        return FeatureOperator(arguments, self.basis)

    def form(self, w: FloatArray) -> SumForm:
        """Σ_l w_l x_l."""
        return SumForm(lambda a, b: w * (a - b), lambda feature: Straight())

    def leading(self, m: int) -> FittedLinear:
        """Itself: the linear map knows no m."""
        return self

    def moved(self, move: Move, X: FloatArray) -> FittedLinear:
        """Itself: it has no landmarks."""
        return self

    def fitted(self, gamma: float, report: Report = silent) -> FittedLinear:
        """Itself: the linear map knows no γ."""
        return self

    def arguments(self, X: FloatArray, report: Report = silent) -> FloatArray:
        """X itself."""
        return X

    def arrays(self) -> Arrays:
        """None."""
        return {}

    @classmethod
    def from_arrays(cls, arrays: Arrays, d: int, kernel: Kernel | None) -> FittedLinear:
        """The map of d features."""
        return cls(d)


@dataclass(frozen=True)
class Linear:
    """The linear map φ(x) = x: plain linear RankSVM (chen2017 eq. 4)."""

    def draw(self, X: FloatArray, report: Report = silent) -> FittedLinear:
        """Nothing to draw."""
        return FittedLinear(X.shape[1])

    def fit(self, X: FloatArray, report: Report = silent) -> FittedLinear:
        """The same: there is no γ either."""
        return self.draw(X, report)
