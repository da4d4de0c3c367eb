"""The Nyström map: landmarks among distinct documents, and a basis from their kernel matrix."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Self

import numpy as np

from rankviz.common.arrays import FloatArray, IntArray
from rankviz.common.npz import Arrays, shaped
from rankviz.common.progress import Progress, Report, silent
from rankviz.features.bases import Basis, landmark_basis
from rankviz.features.factor import eigen_basis, factored
from rankviz.features.forms import Expansion, Form
from rankviz.features.kernel_base import Kernel, mean_diagonal, needed
from rankviz.features.landmarks import LandmarkChoice, UniformLandmarks
from rankviz.features.maps import Move
from rankviz.features.operator import FeatureOperator


@dataclass(frozen=True, eq=False)
class FittedNystroem:
    """φ(x) = Tᵀ [κ(x, x̃_1), …, κ(x, x̃_k)]ᵀ for landmarks x̃ (chen2017 eq. 18, up to a rotation).

    Attributes
    ----------
    landmarks : (k, d) float64
    kernel : Kernel
    basis : Basis
        T (k, m).
    kept : (k,) int64 or None
        Positions of these landmarks among those drawn; None if all are kept.
    """

    landmarks: FloatArray
    kernel: Kernel
    basis: Basis
    kept: IntArray | None = None

    in_kernel_space: ClassVar[bool] = False

    @property
    def n_components(self) -> int:
        """Feature dimensions m: the numerical rank of the landmarks' kernel matrix, or the required rank."""
        return self.basis.shape[1]

    def operator(self, X: FloatArray, report: Report = silent) -> FeatureOperator:
        """Return the kernel matrix with the landmarks, O(n k d), and the basis change separately."""
        return FeatureOperator(self.kernel.matrix(X, self.landmarks, report), self.basis)

    def operator_of(self, arguments: FloatArray, report: Report = silent) -> FeatureOperator:
        """Return the same from the arguments of all drawn landmarks, O(n k)."""
        own = arguments if self.kept is None else arguments[:, self.kept]
        return FeatureOperator(self.kernel.of_arguments(own, report), self.basis)

    def expansion(self, w: FloatArray) -> Expansion:
        """Return w·φ(x) as an expansion in the landmarks, with coefficients T w."""
        return Expansion(self.kernel, self.landmarks, self.basis.expand(w))

    def form(self, w: FloatArray) -> Form:
        """Return the form of the expansion."""
        return self.expansion(w).form

    def leading(self, m: int) -> FittedNystroem:
        """Return the map with those of its landmarks that are among the first m drawn."""
        kept = None if self.kept is None else self.kept[self.kept < m]
        k = min(m, len(self.landmarks)) if kept is None else len(kept)
        return FittedNystroem(self.landmarks[:k], self.kernel, self.basis.leading(k), kept)

    def moved(self, move: Move, X: FloatArray) -> FittedNystroem:
        """Return the map of the moved landmarks, with their kernel matrix factored again: O(m²d + m³)."""
        rank = None if self.basis.nested else self.n_components
        return DrawnLandmarks(move(self.landmarks), X, self.kernel, rank).fitted(self.kernel.gamma)

    def arrays(self) -> Arrays:
        """Return landmarks, their factor or eigenvectors, and their positions."""
        places: Arrays = {} if self.kept is None else {"kept": self.kept}
        return {"landmarks": self.landmarks} | self.basis.arrays() | places

    @classmethod
    def from_arrays(cls, arrays: Arrays, d: int, kernel: Kernel | None) -> Self:
        """Return the map from arrays; ValueError if their shapes do not fit."""
        k = len(arrays["landmarks"])
        landmarks, places = shaped(arrays, "landmarks", k, d), _places(arrays, k)
        return cls(landmarks, needed(kernel), landmark_basis(arrays, k), places)


@dataclass(frozen=True)
class Nystroem:
    """The Nyström approximation of a kernel (chen2017 §3.2.1, Algorithm 1).

    Attributes
    ----------
    n_components : int
        Number of landmarks m; at most the number of distinct documents is used.
    kernel : Kernel
    rank : int or None
        Keep the `rank` largest eigenvalues of the landmarks' kernel (chen2017 eq. 16–18). None keeps all in
        the Cholesky form, which is nested and gives the same scores as all eigenvectors.
    seed : int
        For one seed, the landmarks for m' < m are the first m'.
    landmarks : LandmarkChoice
        Sampling method (see `rankviz.features.landmarks`).
    """

    n_components: int
    kernel: Kernel
    rank: int | None = None
    seed: int = 0
    landmarks: LandmarkChoice = field(default_factory=UniformLandmarks)

    def draw(self, X: FloatArray, report: Report = silent) -> DrawnLandmarks:
        """Choose landmarks among documents X (n, d)."""
        rows = self.landmarks.choose(X, self.n_components, self.seed, report)
        return DrawnLandmarks(X[rows], X, self.kernel, self.rank)

    def fit(self, X: FloatArray, report: Report = silent) -> FittedNystroem:
        """Choose landmarks among documents X (n, d) and factor their kernel matrix at the settings' γ."""
        return self.draw(X, report).fitted(self.kernel.gamma, report)


@dataclass(frozen=True, eq=False)
class GivenLandmarks:
    """The Nyström map of given landmarks (m, d): any points, in the order that makes maps nested."""

    landmarks: FloatArray
    kernel: Kernel

    def draw(self, X: FloatArray, report: Report = silent) -> DrawnLandmarks:
        """Return these landmarks for any documents X (n, d)."""
        return DrawnLandmarks(self.landmarks, X, self.kernel, None)

    def fit(self, X: FloatArray, report: Report = silent) -> FittedNystroem:
        """Factor their kernel matrix at the settings' γ."""
        return self.draw(X, report).fitted(self.kernel.gamma, report)


@dataclass(frozen=True, eq=False)
class DrawnLandmarks:
    """Landmarks (m, d) of documents (n, d), the kernel at any γ, and the rank to keep.

    Tolerances are relative to the kernel's mean diagonal over these documents, the same for every m.
    """

    landmarks: FloatArray
    documents: FloatArray
    kernel: Kernel
    rank: int | None

    in_kernel_space: ClassVar[bool] = False

    def fitted(self, gamma: float, report: Report = silent) -> FittedNystroem:
        """Factor the landmarks' kernel matrix at γ: O(m²d + m³)."""
        kernel = self.kernel.at(gamma)
        size = mean_diagonal(kernel, self.documents)
        if self.rank is not None:
            K = kernel.matrix(self.landmarks, self.landmarks, report)
            report(Progress("features", None))
            return FittedNystroem(self.landmarks, kernel, eigen_basis(K, self.rank, size))
        kept, basis = factored(self.landmarks, kernel, size, report)
        if len(kept) == len(self.landmarks):
            return FittedNystroem(self.landmarks, kernel, basis)
        return FittedNystroem(self.landmarks[kept], kernel, basis, kept)

    def arguments(self, X: FloatArray, report: Report = silent) -> FloatArray:
        """Return the arguments of κ of documents X (n, d) with the landmarks."""
        return self.kernel.arguments(X, self.landmarks, report)


def _places(arrays: Arrays, k: int) -> IntArray | None:
    if "kept" not in arrays:
        return None
    kept = arrays["kept"]
    if kept.dtype != np.int64 or kept.shape != (k,) or (np.diff(kept, prepend=-1) < 1).any():
        raise ValueError("array 'kept' does not count landmarks in their order")
    return kept
