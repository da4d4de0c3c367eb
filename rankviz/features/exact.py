"""The exact RBF kernel as a feature map: every distinct document a landmark, or no landmarks at all.

Up to `SMALL` distinct documents it is the Nyström map with all of them, which is exact: chapelle2010 §6.3's
kernel PCA map up to a rotation. Beyond, factoring K costs more than solving with it: the model then has one
coefficient per document (see `rankviz.objectives.kernel_space`).
"""

from __future__ import annotations

from dataclasses import dataclass

from rankviz.common.arrays import FloatArray
from rankviz.common.progress import Report, silent
from rankviz.features.kernels import negative_distances, rbf_kernel, rbf_of_distances
from rankviz.features.landmarks import distinct_rows
from rankviz.features.maps import FittedNystroem
from rankviz.features.nystroem import factored
from rankviz.features.operator import FeatureOperator, IdentityBasis

SMALL = 2000
"""Distinct documents up to which K is factored, O(n³): a fraction of a second."""


@dataclass(frozen=True)
class ExactKernel:
    """The RBF kernel itself, without approximation.

    Attributes
    ----------
    gamma : float
    """

    gamma: float

    def draw(self, X: FloatArray, report: Report = silent) -> AllLandmarks | AllDocuments:
        """Nothing is drawn: documents X (n, d), those that repeat left out where K is factored."""
        rows = distinct_rows(X)
        return AllLandmarks(X[rows]) if len(rows) <= SMALL else AllDocuments(X)

    def fit(self, X: FloatArray, report: Report = silent) -> FittedKernelPCA | FittedExact:
        """The map of documents X (n, d), at the settings' γ."""
        return self.draw(X, report).fitted(self.gamma, report)


class FittedKernelPCA(FittedNystroem):
    """The Nyström map with every distinct document as a landmark: κ itself, among these documents."""

    def leading(self, m: int) -> FittedKernelPCA:
        """Itself: the exact map knows no m."""
        return self


@dataclass(frozen=True, eq=False)
class AllLandmarks:
    """Distinct documents (n, d), few enough for a factor of their kernel matrix."""

    documents: FloatArray

    def fitted(self, gamma: float, report: Report = silent) -> FittedKernelPCA:
        """Factor their kernel matrix at γ, O(n²d + n³), without those that others span to rounding."""
        kept, basis = factored(self.documents, gamma, report)
        return FittedKernelPCA(self.documents[kept], gamma, basis, kept)

    def arguments(self, X: FloatArray, report: Report = silent) -> FloatArray:
        """−‖x − x̃‖² of documents X (s, d), (s, n)."""
        return negative_distances(X, self.documents, report)


@dataclass(frozen=True, eq=False)
class FittedExact:
    """φ(x) = [κ(x, x_1), …, κ(x, x_n)] with the training documents, so that w = β are kernel coefficients.

    Attributes
    ----------
    documents : (n, d) float64
    gamma : float
    """

    documents: FloatArray
    gamma: float

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
        return FeatureOperator(rbf_kernel(X, self.documents, self.gamma, report), self.basis)

    def operator_of(self, arguments: FloatArray, report: Report = silent) -> FeatureOperator:
        """The same from −‖x − x_i‖², O(s n)."""
        return FeatureOperator(rbf_of_distances(arguments, self.gamma, report), self.basis)

    def leading(self, m: int) -> FittedExact:
        """Itself: the exact map knows no m."""
        return self


@dataclass(frozen=True, eq=False)
class AllDocuments:
    """The training documents (n, d)."""

    documents: FloatArray

    def fitted(self, gamma: float, report: Report = silent) -> FittedExact:
        """The map at γ: nothing is computed yet."""
        return FittedExact(self.documents, gamma)

    def arguments(self, X: FloatArray, report: Report = silent) -> FloatArray:
        """−‖x − x_i‖² of documents X (s, d), (s, n)."""
        return negative_distances(X, self.documents, report)
