"""The Nyström map: landmarks among distinct documents, and a basis from their kernel matrix.

Tolerances are relative to the size of the kernel: the mean of κ(x, x) over documents, 1 for shift-invariant
kernels. To add a choice of landmarks, write a frozen dataclass with `choose(X, m, seed)` and enter it in
`LANDMARKS`.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, field
from typing import ClassVar, Protocol, Self

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from rankviz.common.arrays import FloatArray, IntArray
from rankviz.common.npz import Arrays, shaped
from rankviz.common.parallel import ROWS, for_rows
from rankviz.common.progress import Progress, Report, silent
from rankviz.features.kernel_base import Kernel, mean_diagonal, needed
from rankviz.features.maps import Expansion, Form, Move
from rankviz.features.operator import Basis, CholeskyBasis, DenseBasis, FeatureOperator, landmark_basis


class LandmarkChoice(Protocol):
    """A way to choose landmarks; nested: those for m' < m are the first m' of those for m."""

    @property
    def label(self) -> str:
        """Name in captions and menus."""
        ...

    @property
    def meaning(self) -> str:
        """The method of choice, for help texts."""
        ...

    @property
    def measures(self) -> bool:
        """True if it computes the distance of every document to every landmark."""
        ...

    def choose(self, X: FloatArray, m: int, seed: int, report: Report = silent) -> IntArray:
        """Return indices of min(m, distinct rows) different rows of X (n, d): -> (m,)."""
        ...


@dataclass(frozen=True)
class UniformLandmarks:
    """Uniform sampling of distinct documents (chen2017 Algorithm 1)."""

    label: str = "uniform"

    meaning: ClassVar[str] = "any distinct document, as in chen2017"
    measures: ClassVar[bool] = False

    def choose(self, X: FloatArray, m: int, seed: int, report: Report = silent) -> IntArray:
        """Return the first m of a random permutation of the distinct rows of X (n, d)."""
        return np.random.default_rng(seed).permutation(distinct_rows(X))[:m]


@dataclass(frozen=True)
class KMeansPlusPlusLandmarks:
    """k-means++ seeding over distinct documents: P(x) ∝ D(x)², the squared distance to the nearest landmark.

    Sources: arthur2007 for the sampling, oglic2017 for its use in the Nyström method. There distances are in
    the kernel's feature space; here between documents, so one choice serves every γ.

    Attributes
    ----------
    largest_batch : int
        Landmarks drawn between two updates of all distances. The distribution does not depend on it: a
        proposal by older distances is accepted with probability D²(now)/D²(then).
    patience : int
        Number of consecutive rejections after which distances are updated early.
    """

    label: str = "k-means++"
    largest_batch: int = 64
    patience: int = 16

    meaning: ClassVar[str] = "documents far from earlier landmarks"
    measures: ClassVar[bool] = True

    def choose(self, X: FloatArray, m: int, seed: int, report: Report = silent) -> IntArray:
        """Draw m rows of X (n, d) one after another: O(n m d), nearly all of it matrix products."""
        rows, rng = distinct_rows(X), np.random.default_rng(seed)
        if len(rows) == 0:
            return rows
        nearest, order = _NearestLandmark(X[rows]), [int(rng.integers(len(rows)))]
        while len(order) < min(m, len(rows)):
            report(Progress("features", None))
            cumulative = np.cumsum(nearest.update(order))
            if not cumulative[-1] > 0:  # remaining rows coincide with landmarks to rounding
                rest = np.setdiff1d(np.arange(len(rows)), order)
                order += rng.permutation(rest)[: m - len(order)].tolist()
                break
            batch = min(self.largest_batch, 1 + len(order) // 4, m - len(order))
            order += self._draw(nearest, cumulative, batch, rng)
        return rows[np.array(order, np.int64)]

    def _draw(
        self, nearest: _NearestLandmark, cumulative: FloatArray, batch: int, rng: np.random.Generator
    ) -> list[int]:
        """Draw up to `batch` landmarks by rejection, from the cumulative sum of distances."""
        drawn: list[int] = []
        refused = 0
        while len(drawn) < batch and refused < self.patience:
            u, v = rng.random(2)
            i = int(np.searchsorted(cumulative, u * cumulative[-1], side="right"))
            if i < len(cumulative) and nearest.left_of(i, drawn) > v:
                drawn.append(i)
                refused = 0
            else:
                refused += 1
        return drawn


class _NearestLandmark:
    """Squared distances of documents to their nearest landmark so far."""

    def __init__(self, X: FloatArray) -> None:
        X = X - X.mean(axis=0)
        self._X = X / (np.abs(X).max(initial=0.0) or 1.0)  # in [-1, 1]: squares cannot overflow or all vanish
        self._columns = np.vstack((self._X.T, np.ones(len(X))))
        self._squares = np.einsum("ij,ij->i", self._X, self._X)
        self._distances = np.full(len(X), np.inf)
        self._seen = 0

    def update(self, order: list[int]) -> FloatArray:
        """Return distances (n,) to the nearest landmark in `order`, 0 at the landmarks."""
        new = order[self._seen :]
        products = np.column_stack((-2 * self._X[new], self._squares[new])) @ self._columns
        closest = products.min(axis=0) + self._squares  # min ‖z‖² − 2x·z, and ‖x‖²
        np.minimum(self._distances, np.maximum(closest, 0.0), out=self._distances)
        self._distances[new], self._seen = 0.0, len(order)
        return self._distances

    def left_of(self, i: int, drawn: list[int]) -> float:
        """Return D² of document i now over D² at the last update, given landmarks drawn since."""
        if not drawn:
            return 1.0
        differences = self._X[drawn] - self._X[i]
        return float(np.einsum("ij,ij->i", differences, differences).min() / self._distances[i])


def distinct_rows(X: FloatArray) -> IntArray:
    """Return the index of the first of each group of equal rows of X (n, d), in the order of X.

    Rows are compared by 64-bit hashes, and those with equal hashes by value, without a copy of X.
    """
    hashes = _hashes(X)
    ordered = np.sort(hashes)
    if (ordered[1:] != ordered[:-1]).all():  # the usual case, found ten times as fast
        return np.arange(len(X))
    _, first, group = np.unique(hashes, return_index=True, return_inverse=True)
    earlier = first[group]
    later = np.flatnonzero(earlier != np.arange(len(X)))
    chance = np.zeros(len(X), bool)  # rows with the same hash as another but other values
    for start in range(0, len(later), ROWS):
        rows = later[start : start + ROWS]
        chance[rows] = (X[rows] != X[earlier[rows]]).any(axis=1)
    return np.union1d(first, _distinct_among(X, np.flatnonzero(chance))).astype(np.int64)


def _distinct_among(X: FloatArray, rows: IntArray) -> IntArray:
    """Return the first of each group of equal rows among `rows`."""
    if len(rows) == 0:
        return rows
    return rows[np.unique(X[rows], axis=0, return_index=True)[1]]


def _hashes(X: FloatArray) -> NDArray[np.uint64]:
    """Return a hash of each row, (n,): its bits times random odd numbers, mixed before and after."""
    odd = np.random.default_rng(0).integers(2**63, size=(X.shape[1],), dtype=np.uint64) * 2 + 1
    out = np.empty(len(X), np.uint64)

    def fill(rows: slice) -> None:
        bits = (X[rows] + 0.0).view(np.uint64)  # adding 0.0 turns −0.0 into 0.0
        bits ^= bits >> np.uint64(32)  # the low bits of short numbers are all zero
        bits *= odd
        bits ^= bits >> np.uint64(29)
        bits *= odd[::-1]
        out[rows] = bits.sum(axis=1, dtype=np.uint64)

    for_rows(fill, *X.shape)
    return out


LANDMARKS: dict[str, LandmarkChoice] = {
    "uniform": UniformLandmarks(),
    "kmeans++": KMeansPlusPlusLandmarks(),
}
"""Choices by their names in `RankSVM(landmarks=...)` and the app."""

JITTER = 1e-10
"""Added to the diagonal of the landmarks' kernel matrix, times the size of the kernel.

It is the same for every m, because otherwise the maps would not be nested. It changes kernel values by less
than j: K − K(K + jI)^-1 K = jK(K + jI)^-1 has spectral norm below j.
"""

BLOCK = 128  # landmarks per block of the factorisation


def factored(
    documents: FloatArray, kernel: Kernel, size: float, report: Report = silent
) -> tuple[IntArray, CholeskyBasis]:
    """Factor the kernel matrix of documents (m, d) without those that others span to rounding.

    `size` is the kernel's (see `mean_diagonal`), the same for every m.
    """
    K = kernel.matrix(documents, documents, report)
    report(Progress("features", None))
    return cholesky_basis(K, size)


def cholesky_basis(K: FloatArray, size: float = 1.0) -> tuple[IntArray, CholeskyBasis]:
    """Factor K + jI = L Lᵀ in the given order without landmarks that earlier ones span.

    The squared pivot of a landmark is its residual after earlier kept landmarks, plus the jitter. At 2j or
    below, it adds nothing above the jitter and is left out. The pivot depends on earlier landmarks only, so
    maps stay nested. Blocks of BLOCK landmarks make nearly all work matrix products; rounding of K cannot
    make the factorisation fail. If none is left out, one call of LAPACK gives the same. The first landmark
    stays even if κ(x, x) = 0, so that every map has a feature; a feature of 0 does no harm.
    """
    jitter = JITTER * size
    with contextlib.suppress(linalg.LinAlgError):
        whole = K.copy()
        whole[np.diag_indices(len(K))] += jitter
        # UᵀU by columns is LLᵀ by rows, so nothing is transposed in memory
        U = linalg.cholesky(whole.T, overwrite_a=True, check_finite=False)
        if (np.diag(U) ** 2 > 2 * jitter).all():
            return np.arange(len(K)), CholeskyBasis(U.T)
    L, kept = np.zeros_like(K), np.zeros(0, np.int64)
    for start in range(0, len(K), BLOCK):
        block, r = np.arange(start, min(start + BLOCK, len(K))), len(kept)
        spanned = CholeskyBasis(L[:r, :r]).contract(K[np.ix_(kept, block)])
        left = K[np.ix_(block, block)] + jitter * np.eye(len(block)) - spanned.T @ spanned
        inner, factor = _cholesky_skipping(left, jitter, first=start == 0)
        kept = np.concatenate((kept, block[inner]))
        L[r : len(kept), :r], L[r : len(kept), r : len(kept)] = spanned[:, inner].T, factor
    return kept, CholeskyBasis(L[: len(kept), : len(kept)].copy())


def _cholesky_skipping(S: FloatArray, jitter: float, *, first: bool) -> tuple[IntArray, FloatArray]:
    """Return the rows of S with a pivot above 2j, and the Cholesky factor of S at these."""
    with contextlib.suppress(linalg.LinAlgError):
        L = linalg.cholesky(S, lower=True, check_finite=False)
        if (np.diag(L) ** 2 > 2 * jitter).all():
            return np.arange(len(S)), L
    S, columns = S.copy(), np.zeros_like(S)
    kept = []
    for j in range(len(S)):
        if S[j, j] > 2 * jitter or (first and j == 0):
            columns[j:, j] = S[j:, j] / np.sqrt(S[j, j])
            S[j + 1 :, j + 1 :] -= np.outer(columns[j + 1 :, j], columns[j + 1 :, j])
            kept.append(j)
    inner = np.array(kept, np.int64)
    return inner, columns[np.ix_(inner, inner)]


def eigen_basis(K: FloatArray, rank: int, size: float = 1.0) -> DenseBasis:
    """Return U_k Σ_k^-1/2 of the k largest eigenvalues, without those below the jitter (chen2017 eq. 17–18).

    The largest always stays.
    """
    first, least = max(0, len(K) - rank), JITTER * size * len(K)
    values, vectors = linalg.eigh(K, subset_by_index=(first, len(K) - 1))
    kept = values > least
    kept[-1:] = True
    return DenseBasis(np.ascontiguousarray(vectors[:, kept] / np.sqrt(np.maximum(values[kept], least))))


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
        Sampling method (see `rankviz.features.nystroem`).
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
