"""The interface of feature maps, from settings to Φ in three steps, and the form of their scores.

Settings *draw* the random parts from or for documents. A draw serves every γ and every number of features up
to m. *Fitted* at a γ, it is a map φ; its leading columns are the map for fewer features. A map turns
documents into a `FeatureOperator`.

To add one, write a frozen dataclass of settings with `draw(X, report) -> Drawn`, and enter it in
`FEATURE_MAPS` of `rankviz.features.registry`.

Scores f(x) = w·φ(x) may be functions of single features (sums, or sums of products) or kernel expansions. A
fitted map with such a form has `form(w)` (`HasForm`). A map whose scores are sums of kernel values has
`expansion(w)` (`HasExpansion`); its kernel determines the form.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, Self, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from rankviz.common.arrays import BoolArray, FloatArray, IntArray
from rankviz.common.errors import SettingError
from rankviz.common.npz import Arrays
from rankviz.common.progress import Report, silent
from rankviz.features.kernel_base import Kernel, Profile
from rankviz.features.kernels import KERNELS
from rankviz.features.operator import Basis, FeatureOperator

Move = Callable[[FloatArray], FloatArray]
"""A change of documents (s, d) -> (s, d), row by row."""


class FeatureMap(Protocol):
    """Settings of a feature map, before it is drawn for documents."""

    def draw(self, X: FloatArray, report: Report = silent) -> Drawn:
        """Draw the random parts of the map, from or for documents X (n, d)."""
        ...

    def fit(self, X: FloatArray, report: Report = silent) -> FittedMap:
        """Fit the map at its kernel's γ."""
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


@dataclass(frozen=True, eq=False)
class SumForm:
    """f(x) = Σ_l f_l(x_l).

    Attributes
    ----------
    differences : (a, b) -> f_l(a_l) − f_l(b_l)
        For two documents (d,) -> (d,).
    profile : l -> Profile, or None
        Profile of f_l; None if unknown.
    """

    differences: Callable[[FloatArray, FloatArray], FloatArray]
    profile: Callable[[int], Profile] | None = None


@dataclass(frozen=True, eq=False)
class ProductForm:
    """f(x) = Re Σ_i c_i Π_l k_il(x_l), with |k_il| ≤ 1.

    Attributes
    ----------
    coefficients : (m,) float64 or complex128
    factors : (x, terms) -> k_il(x_l)
        For a document (d,) and a slice of the m terms -> (terms, d).
    factor : (values, l, terms) -> k_il(values)
        For values (s,) of one feature -> (s, terms).
    profile : l -> Profile, or None
        Profile of all k_il along feature l; None if unknown.
    """

    coefficients: NDArray[Any]
    factors: Callable[[FloatArray, slice], NDArray[Any]]
    factor: Callable[[FloatArray, int, slice], NDArray[Any]]
    profile: Callable[[int], Profile] | None = None


@dataclass(frozen=True, eq=False)
class BoxForm:
    """f(x) = constant + Σ_i c_i [x is in box i]: sums of trees, whose leaves are boxes.

    Attributes
    ----------
    coefficients : (m,) float64
    box, feature : (k,) int64
        Each side has a box and a feature; no two sides have both in common.
    low, high : (k,) float64
        A document is inside if low < x ≤ high.
    single : bool
        True if features are compared in single precision.
    """

    coefficients: FloatArray
    box: IntArray
    feature: IntArray
    low: FloatArray
    high: FloatArray
    single: bool = False

    profile = None

    def inside(self, x: FloatArray) -> BoolArray:
        """Return for each side if a document x (d,) is inside, (k,)."""
        values = (x.astype(np.float32) if self.single else x)[self.feature]
        found: BoolArray = (self.low < values) & (values <= self.high)
        return found


Form = SumForm | ProductForm | BoxForm


@dataclass(frozen=True, eq=False)
class Expansion:
    """f(x) = Σ_i c_i κ(x, z_i).

    Attributes
    ----------
    kernel : Kernel
    documents : (k, d) float64
        z.
    coefficients : (k,) float64
        c.
    """

    kernel: Kernel
    documents: FloatArray
    coefficients: FloatArray

    @property
    def form(self) -> Form:
        """The expansion as a sum or products; `SettingError` for a kernel not made of single features."""
        declared = self.kernel.by_feature
        if declared is None:
            able = " or ".join(repr(name) for name, kind in KERNELS.items() if kind.by_feature is not None)
            raise SettingError(
                f"the {self.kernel.label} kernel {self.kernel.formula} is neither a product nor a sum of "
                f"functions of single features; choose kernel={able}"
            )
        profile = None if declared.profile is None else self._profile
        if not declared.multiplied:
            return SumForm(self._differences, profile)
        return ProductForm(self.coefficients, self._factors, self._factor, profile)

    def _factors(self, x: FloatArray, terms: slice) -> FloatArray:
        return self._of_features(x, self.documents[terms])

    def _factor(self, values: FloatArray, feature: int, terms: slice) -> FloatArray:
        return self._of_features(values[:, None], self.documents[terms, feature])

    def _profile(self, feature: int) -> Profile:
        assert self.kernel.by_feature is not None
        assert self.kernel.by_feature.profile is not None
        return self.kernel.by_feature.profile(self.kernel, self.documents[:, feature])

    def _differences(self, a: FloatArray, b: FloatArray) -> FloatArray:
        kernels = self._of_features(a, self.documents) - self._of_features(b, self.documents)
        return self.coefficients @ kernels

    def _of_features(self, x: FloatArray, z: FloatArray) -> FloatArray:
        assert self.kernel.by_feature is not None
        with np.errstate(under="ignore"):
            return self.kernel.by_feature.function(self.kernel, x, z)


@runtime_checkable
class HasForm(Protocol):
    """A fitted map whose scores are functions of single features."""

    def form(self, w: FloatArray) -> Form:
        """Return the form of w·φ(x); `SettingError` if its kernel has none."""
        ...


@runtime_checkable
class HasExpansion(Protocol):
    """A fitted map whose scores are a kernel expansion."""

    def expansion(self, w: FloatArray) -> Expansion:
        """Return the expansion of w·φ(x)."""
        ...
