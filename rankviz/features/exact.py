"""The exact kernel as a feature map: every distinct document a landmark, or no landmarks at all.

Up to `SMALL` distinct documents it is the Nyström map with all of them, which is exact: chapelle2010 §6.3's
kernel PCA map up to a rotation. Beyond, factoring K costs more than solving with it: the model then has one
coefficient per document (see `rankviz.objectives.kernel_space`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from rankviz.common.arrays import FloatArray
from rankviz.common.npz import Arrays, shaped
from rankviz.common.progress import Report, silent
from rankviz.features.bases import IdentityBasis
from rankviz.features.factor import factored
from rankviz.features.forms import Expansion, Form
from rankviz.features.kernel_base import Kernel, mean_diagonal, needed
from rankviz.features.landmarks import distinct_rows
from rankviz.features.maps import Move
from rankviz.features.nystroem import FittedNystroem
from rankviz.features.operator import FeatureOperator

SMALL = 2000
"""Distinct documents up to which K is factored, O(n³): a fraction of a second."""


@dataclass(frozen=True)
class ExactKernel:
    """A kernel itself, without approximation.

    Attributes
    ----------
    kernel : Kernel
    """

    kernel: Kernel

    def draw(self, X: FloatArray, report: Report = silent) -> AllLandmarks | AllDocuments:
        """Nothing is drawn: documents X (n, d), those that repeat left out where K is factored."""
        rows = distinct_rows(X)
        few = len(rows) <= SMALL
        return AllLandmarks(X[rows], self.kernel) if few else AllDocuments(X, self.kernel)

    def fit(self, X: FloatArray, report: Report = silent) -> FittedKernelPCA | FittedExact:
        """The map of documents X (n, d), at the settings' γ."""
        return self.draw(X, report).fitted(self.kernel.gamma, report)


class FittedKernelPCA(FittedNystroem):
    """The Nyström map with every distinct document as a landmark: κ itself, among these documents."""

    def moved(self, move: Move, X: FloatArray) -> FittedKernelPCA:
        """That of the documents X, however many they are."""
        return AllLandmarks(X[distinct_rows(X)], self.kernel).fitted(self.kernel.gamma)

    def leading(self, m: int) -> FittedKernelPCA:
        """Itself: the exact map knows no m."""
        return self


@dataclass(frozen=True, eq=False)
class AllLandmarks:
    """Distinct documents (n, d), few enough for a factor of their kernel matrix, and the kernel at any γ."""

    documents: FloatArray
    kernel: Kernel

    in_kernel_space: ClassVar[bool] = False

    def fitted(self, gamma: float, report: Report = silent) -> FittedKernelPCA:
        """Factor their kernel matrix at γ, O(n²d + n³), without those that others span to rounding."""
        kernel = self.kernel.at(gamma)
        kept, basis = factored(self.documents, kernel, mean_diagonal(kernel, self.documents), report)
        return FittedKernelPCA(self.documents[kept], kernel, basis, kept)

    def arguments(self, X: FloatArray, report: Report = silent) -> FloatArray:
        """What κ of documents X (s, d) with these is a function of, (s, n)."""
        return self.kernel.arguments(X, self.documents, report)


@dataclass(frozen=True, eq=False)
class FittedExact:
    """φ(x) = [κ(x, x_1), …, κ(x, x_n)] with the training documents, so that w = β are kernel coefficients.

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
        """Coefficients: as many as documents."""
        return len(self.documents)

    @property
    def basis(self) -> IdentityBasis:
        """The identity."""
        return IdentityBasis(len(self.documents))

    def operator(self, X: FloatArray, report: Report = silent) -> FeatureOperator:
        """Kernel matrix of documents X (s, d) with the training documents, (s, n)."""
        return FeatureOperator(self.kernel.matrix(X, self.documents, report), self.basis)

    def operator_of(self, arguments: FloatArray, report: Report = silent) -> FeatureOperator:
        """The same from their arguments, O(s n)."""
        return FeatureOperator(self.kernel.of_arguments(arguments, report), self.basis)

    def expansion(self, w: FloatArray) -> Expansion:
        """w·φ(x): w are the coefficients."""
        return Expansion(self.kernel, self.documents, w)

    def form(self, w: FloatArray) -> Form:
        """That of the expansion."""
        return self.expansion(w).form

    def leading(self, m: int) -> FittedExact:
        """Itself: the exact map knows no m."""
        return self

    def moved(self, move: Move, X: FloatArray) -> FittedExact:
        """That of the documents X."""
        return FittedExact(X, self.kernel)

    def arrays(self) -> Arrays:
        """The documents."""
        return {"documents": self.documents}

    @classmethod
    def from_arrays(cls, arrays: Arrays, d: int, kernel: Kernel | None) -> FittedExact:
        """The map of these; ValueError where they have not d features."""
        return cls(shaped(arrays, "documents", len(arrays["documents"]), d), needed(kernel))


@dataclass(frozen=True, eq=False)
class AllDocuments:
    """The training documents (n, d), and the kernel at any γ."""

    documents: FloatArray
    kernel: Kernel

    in_kernel_space: ClassVar[bool] = True

    def fitted(self, gamma: float, report: Report = silent) -> FittedExact:
        """The map at γ: nothing is computed yet."""
        return FittedExact(self.documents, self.kernel.at(gamma))

    def arguments(self, X: FloatArray, report: Report = silent) -> FloatArray:
        """What κ of documents X (s, d) with these is a function of, (s, n)."""
        return self.kernel.arguments(X, self.documents, report)
