"""Scores f(x) = w·φ(x) as functions of single features (sums, sums of products) or kernel expansions.

A fitted map with such a form has `form(w)` (`HasForm`). A map whose scores are sums of kernel values has
`expansion(w)` (`HasExpansion`); its kernel determines the form.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from rankviz.common.arrays import FloatArray
from rankviz.common.errors import SettingError
from rankviz.features.courses import Course
from rankviz.features.kernel_base import Kernel
from rankviz.features.kernels import KERNELS


@dataclass(frozen=True, eq=False)
class SumForm:
    """f(x) = Σ_l f_l(x_l).

    Attributes
    ----------
    differences : (a, b) -> f_l(a_l) − f_l(b_l)
        For two documents (d,) -> (d,).
    course : l -> Course, or None
        Course of f_l; None if unknown.
    """

    differences: Callable[[FloatArray, FloatArray], FloatArray]
    course: Callable[[int], Course] | None = None


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
    course : l -> Course, or None
        Course of all k_il along feature l; None if unknown.
    """

    coefficients: NDArray[Any]
    factors: Callable[[FloatArray, slice], NDArray[Any]]
    factor: Callable[[FloatArray, int, slice], NDArray[Any]]
    course: Callable[[int], Course] | None = None


Form = SumForm | ProductForm


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
        course = None if declared.course is None else self._course
        if not declared.multiplied:
            return SumForm(self._differences, course)
        return ProductForm(self.coefficients, self._factors, self._factor, course)

    def _factors(self, x: FloatArray, terms: slice) -> FloatArray:
        return self._of_features(x, self.documents[terms])

    def _factor(self, values: FloatArray, feature: int, terms: slice) -> FloatArray:
        return self._of_features(values[:, None], self.documents[terms, feature])

    def _course(self, feature: int) -> Course:
        assert self.kernel.by_feature is not None
        assert self.kernel.by_feature.course is not None
        return self.kernel.by_feature.course(self.kernel, self.documents[:, feature])

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
