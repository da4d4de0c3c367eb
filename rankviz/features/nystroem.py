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
        Places of these landmarks among those drawn; None where none was left out.
    """

    landmarks: FloatArray
    kernel: Kernel
    basis: Basis
    kept: IntArray | None = None

    in_kernel_space: ClassVar[bool] = False

    @property
    def n_components(self) -> int:
        """Feature dimensions m: the numerical rank of the landmarks' kernel, or the rank asked for."""
        return self.basis.shape[1]

    def operator(self, X: FloatArray, report: Report = silent) -> FeatureOperator:
        """Kernel matrix with the landmarks, O(n k d), and the basis change beside it."""
        return FeatureOperator(self.kernel.matrix(X, self.landmarks, report), self.basis)

    def operator_of(self, arguments: FloatArray, report: Report = silent) -> FeatureOperator:
        """The same from the arguments of all landmarks that were drawn, O(n k)."""
        own = arguments if self.kept is None else arguments[:, self.kept]
        return FeatureOperator(self.kernel.of_arguments(own, report), self.basis)

    def expansion(self, w: FloatArray) -> Expansion:
        """w·φ(x) in the landmarks: their coefficients are T w."""
        return Expansion(self.kernel, self.landmarks, self.basis.expand(w))

    def form(self, w: FloatArray) -> Form:
        """That of the expansion."""
        return self.expansion(w).form

    def leading(self, m: int) -> FittedNystroem:
        """The map of those landmarks that are among the first m drawn."""
        kept = None if self.kept is None else self.kept[self.kept < m]
        k = min(m, len(self.landmarks)) if kept is None else len(kept)
        return FittedNystroem(self.landmarks[:k], self.kernel, self.basis.leading(k), kept)

    def moved(self, move: Move, X: FloatArray) -> FittedNystroem:
        """That of the landmarks moved, their kernel matrix factored again: O(m²d + m³)."""
        rank = None if self.basis.nested else self.n_components
        return DrawnLandmarks(move(self.landmarks), X, self.kernel, rank).fitted(self.kernel.gamma)

    def arrays(self) -> Arrays:
        """Landmarks, their factor or eigenvectors, and their places."""
        places: Arrays = {} if self.kept is None else {"kept": self.kept}
        return {"landmarks": self.landmarks} | self.basis.arrays() | places

    @classmethod
    def from_arrays(cls, arrays: Arrays, d: int, kernel: Kernel | None) -> Self:
        """The map of these; ValueError where they do not fit each other or d."""
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
        Keep the `rank` largest eigenvalues of the landmarks' kernel (chen2017 eq. 16–18). None keeps all, in
        the Cholesky form, which gives the same scores as the eigenvector form with all of them and is nested.
    seed : int
        With one seed the landmarks for m' < m are the first m'.
    landmarks : LandmarkChoice
        How they are chosen (see `rankviz.features.landmarks`).
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
    """The Nyström map of landmarks (m, d) that are given: any points, in the order that makes them nested."""

    landmarks: FloatArray
    kernel: Kernel

    def draw(self, X: FloatArray, report: Report = silent) -> DrawnLandmarks:
        """These landmarks, whatever the documents X (n, d) are."""
        return DrawnLandmarks(self.landmarks, X, self.kernel, None)

    def fit(self, X: FloatArray, report: Report = silent) -> FittedNystroem:
        """Factor their kernel matrix at the settings' γ."""
        return self.draw(X, report).fitted(self.kernel.gamma, report)


@dataclass(frozen=True, eq=False)
class DrawnLandmarks:
    """Landmarks (m, d) of documents (n, d), the kernel at any γ, and the rank to keep of its matrices.

    The documents say how large the kernel is, whatever m is: tolerances are relative to that.
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
        """What κ of documents X (n, d) with the landmarks is a function of."""
        return self.kernel.arguments(X, self.landmarks, report)


def _places(arrays: Arrays, k: int) -> IntArray | None:
    if "kept" not in arrays:
        return None
    kept = arrays["kept"]
    if kept.dtype != np.int64 or kept.shape != (k,) or (np.diff(kept, prepend=-1) < 1).any():
        raise ValueError("array 'kept' does not count landmarks in their order")
    return kept
