"""The exact kernel as a feature map, with every distinct document as a landmark or without landmarks.

Up to `SMALL` distinct documents it is the Nyström map with all of them, which is exact. It equals
chapelle2010 §6.3's kernel PCA map up to a rotation. For more documents, factoring K costs more than solving
with it. The model then has one coefficient per document (see `rankviz.learning.kernel_space`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from rankviz.common.arrays import FloatArray
from rankviz.common.npz import Arrays, shaped
from rankviz.common.progress import Report, silent
from rankviz.features.kernel_base import Kernel, mean_diagonal, needed
from rankviz.features.maps import Expansion, Form, Move
from rankviz.features.nystroem import FittedNystroem, distinct_rows, factored
from rankviz.features.operator import FeatureOperator, IdentityBasis

SMALL = 2000
"""Largest number of distinct documents for which K is factored, O(n³): a fraction of a second."""


@dataclass(frozen=True)
class ExactKernel:
    """A kernel without approximation.

    Attributes
    ----------
    kernel : Kernel
    """

    kernel: Kernel

    def draw(self, X: FloatArray, report: Report = silent) -> AllLandmarks | AllDocuments:
        """Return documents X (n, d), without duplicates if K is factored; nothing is random."""
        rows = distinct_rows(X)
        few = len(rows) <= SMALL
        return AllLandmarks(X[rows], self.kernel) if few else AllDocuments(X, self.kernel)

    def fit(self, X: FloatArray, report: Report = silent) -> FittedKernelPCA | FittedExact:
        """Return the map of documents X (n, d), at the settings' γ."""
        return self.draw(X, report).fitted(self.kernel.gamma, report)


class FittedKernelPCA(FittedNystroem):
    """The Nyström map with every distinct document as a landmark; exact for these documents."""

    def moved(self, move: Move, X: FloatArray) -> FittedKernelPCA:
        """Return the map of the documents X, for any number of them."""
        return AllLandmarks(X[distinct_rows(X)], self.kernel).fitted(self.kernel.gamma)

    def leading(self, m: int) -> FittedKernelPCA:
        """Return this map: the exact map has no m."""
        return self


@dataclass(frozen=True, eq=False)
class AllLandmarks:
    """Distinct documents (n, d), few enough to factor their kernel matrix, and the kernel at any γ."""

    documents: FloatArray
    kernel: Kernel

    in_kernel_space: ClassVar[bool] = False

    def fitted(self, gamma: float, report: Report = silent) -> FittedKernelPCA:
        """Factor the kernel matrix at γ, O(n²d + n³), without documents that others span to rounding."""
        kernel = self.kernel.at(gamma)
        kept, basis = factored(self.documents, kernel, mean_diagonal(kernel, self.documents), report)
        return FittedKernelPCA(self.documents[kept], kernel, basis, kept)

    def arguments(self, X: FloatArray, report: Report = silent) -> FloatArray:
        """Return the arguments of κ of documents X (s, d) with these, (s, n)."""
        return self.kernel.arguments(X, self.documents, report)


@dataclass(frozen=True, eq=False)
class FittedExact:
    """φ(x) = [κ(x, x_1), …, κ(x, x_n)] with the training documents; w = β are kernel coefficients.

    Attributes
    ----------
    documents : (n, d) float64
    kernel : Kernel
    """

    documents: FloatArray
    kernel: Kernel

    in_kernel_space: ClassVar[bool] = True

    @property
    def n_components(self) -> int:
        """Number of coefficients: one per document."""
        return len(self.documents)

    @property
    def basis(self) -> IdentityBasis:
        """The identity."""
        return IdentityBasis(len(self.documents))

    def operator(self, X: FloatArray, report: Report = silent) -> FeatureOperator:
        """Return the kernel matrix of documents X (s, d) with the training documents, (s, n)."""
        return FeatureOperator(self.kernel.matrix(X, self.documents, report), self.basis)

    def operator_of(self, arguments: FloatArray, report: Report = silent) -> FeatureOperator:
        """Return the same from arguments, O(s n)."""
        return FeatureOperator(self.kernel.of_arguments(arguments, report), self.basis)

    def expansion(self, w: FloatArray) -> Expansion:
        """Return w·φ(x) as a kernel expansion; w are its coefficients."""
        return Expansion(self.kernel, self.documents, w)

    def form(self, w: FloatArray) -> Form:
        """Return the form of the expansion."""
        return self.expansion(w).form

    def leading(self, m: int) -> FittedExact:
        """Return this map: the exact map has no m."""
        return self

    def moved(self, move: Move, X: FloatArray) -> FittedExact:
        """Return the map of the documents X."""
        return FittedExact(X, self.kernel)

    def arrays(self) -> Arrays:
        """Return the documents."""
        return {"documents": self.documents}

    @classmethod
    def from_arrays(cls, arrays: Arrays, d: int, kernel: Kernel | None) -> FittedExact:
        """Return the map from arrays; ValueError unless they have d features."""
        return cls(shaped(arrays, "documents", len(arrays["documents"]), d), needed(kernel))


@dataclass(frozen=True, eq=False)
class AllDocuments:
    """The training documents (n, d), and the kernel at any γ."""

    documents: FloatArray
    kernel: Kernel

    in_kernel_space: ClassVar[bool] = True

    def fitted(self, gamma: float, report: Report = silent) -> FittedExact:
        """Return the map at γ; this computes nothing yet."""
        return FittedExact(self.documents, self.kernel.at(gamma))

    def arguments(self, X: FloatArray, report: Report = silent) -> FloatArray:
        """Return the arguments of κ of documents X (s, d) with these, (s, n)."""
        return self.kernel.arguments(X, self.documents, report)
