"""Choice of landmarks for the Nyström map: uniform, or spread out by k-means++.

To add a choice, write a frozen dataclass with `choose(X, m, seed)` and enter it in `LANDMARKS`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from rankviz.common.arrays import FloatArray, IntArray
from rankviz.common.progress import Progress, Report, silent
from rankviz.features.row_blocks import ROWS


class LandmarkChoice(Protocol):
    """A way to choose landmarks; nested: those for m' < m are the first m' of those for m."""

    @property
    def label(self) -> str:
        """Name in captions and menus."""
        ...

    @property
    def meaning(self) -> str:
        """How it chooses, for help texts."""
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
    Landmarks drawn between two updates of all distances. The distribution does not depend on it: a proposal
    by older distances is accepted with probability D²(now)/D²(then).
    patience : int
        Number of consecutive rejections after which distances are updated early.
    """

    label: str = "k-means++"
    largest_batch: int = 64
    patience: int = 16

    meaning: ClassVar[str] = "documents far from the landmarks before them"
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
    _, first, group = np.unique(_hashes(X), return_index=True, return_inverse=True)
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
    for start in range(0, len(X), ROWS):
        bits = (X[start : start + ROWS] + 0.0).view(np.uint64)  # adding 0.0 turns −0.0 into 0.0
        bits ^= bits >> np.uint64(32)  # the low bits of short numbers are all zero
        bits *= odd
        bits ^= bits >> np.uint64(29)
        bits *= odd[::-1]
        out[start : start + ROWS] = bits.sum(axis=1, dtype=np.uint64)
    return out


LANDMARKS: dict[str, LandmarkChoice] = {
    "uniform": UniformLandmarks(),
    "kmeans++": KMeansPlusPlusLandmarks(),
}
"""Choices by their names in `RankSVM(landmarks=...)` and the app."""
