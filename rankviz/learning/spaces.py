"""Spaces of the weights of related fits: features of one draw, or the kernel's own space.

A space makes the objective of a task, and caches shared parts: the base of features, or the kernel matrix.

See docs/decisions/0009-the-exact-kernel-in-coefficients.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from rankviz.common.arrays import FloatArray
from rankviz.common.progress import Report, silent
from rankviz.common.timing import Stopwatch
from rankviz.features.family import FamilyFeatures, MapFamily
from rankviz.features.kernel_base import Kernel, largest_value, needed
from rankviz.features.kernel_matrix import KernelMatrix, kernel_matrix
from rankviz.features.maps import FittedMap
from rankviz.features.operator import FeatureOperator
from rankviz.learning import Risk
from rankviz.learning.centring import centred
from rankviz.learning.feature_space import Objective, RankObjective
from rankviz.learning.kernel_space import (
    KernelObjective,
    first_landmarks,
    landmarks_within,
    preconditioner_bytes,
)
from rankviz.learning.precision import copy_bytes

COARSER, WIDE = 12, 1000
"""Maps with at least WIDE features are first trained with this fraction of them: this costs little, and
halves the remaining work."""


@dataclass(frozen=True)
class Task:
    """The settings that differ between fits in one space.

    Attributes
    ----------
    n_components : int
        m, at most that of the draw.
    gamma, C : float
    alone : bool
        Start from zero, and with a new preconditioner.
    """

    n_components: int
    gamma: float
    C: float
    alone: bool = False

    def distance(self, other: Task) -> float:
        """Return an expected distance of two solutions at one γ: log ratios of m and of C."""
        return abs(math.log(self.C / other.C)) + abs(math.log(self.n_components / other.n_components))


class Space(Protocol):
    """The objectives of tasks on one training part."""

    X: FloatArray
    family: MapFamily

    def map(self, task: Task, report: Report = silent) -> FittedMap:
        """Return the feature map of a task."""
        ...

    def objective(self, task: Task, risk: Any, seed: int, report: Report = silent) -> Objective:
        """Return the objective of a task, with the risk of this space's documents."""
        ...

    def start(self, task: Task, w: FloatArray) -> FloatArray:
        """Return the start of a task from the result w of one with no more features; it keeps the scores."""
        ...

    def coarser(self, task: Task) -> Task | None:
        """Return a much cheaper task whose result is a good start, or None."""
        ...

    def coefficients(self, w: FloatArray) -> FloatArray:
        """Return the feature map's weights for a vector of the objective."""
        ...

    def vector(self, coefficients: FloatArray) -> FloatArray:
        """Return the vector of the objective for these weights, the inverse of `coefficients`."""
        ...

    def seconds(self, task: Task) -> float:
        """Return the seconds for features or kernel of the last task."""
        ...


class MapSpace:
    """Common part of all spaces of feature maps' weights w, for local or remote features.

    Parameters
    ----------
    family : MapFamily
    X : (n, d) float64
    """

    def __init__(self, family: MapFamily, X: FloatArray) -> None:
        self.family, self.X = family, X

    def map(self, task: Task, report: Report = silent) -> FittedMap:
        """Return the family's map for m and γ."""
        return self.family.map(task.n_components, task.gamma, report)

    def start(self, task: Task, w: FloatArray) -> FloatArray:
        """Return the weights padded with zeros, in the scale of the map's basis."""
        # random Fourier features have the factor √(2/m): √(m/m')·w keeps the scores of m' features
        return self.map(task).basis.padded(w)

    def coarser(self, task: Task) -> Task | None:
        """Return the task with a fraction of the features."""
        fitted, coarser = self.map(task), replace(task, n_components=task.n_components // COARSER)
        if not fitted.basis.nested or task.n_components < WIDE or fitted.n_components > len(self.X):
            return None  # factors are then of documents, so fewer features do not help
        return coarser if self.map(coarser).n_components < fitted.n_components else None

    def coefficients(self, w: FloatArray) -> FloatArray:
        """Return w unchanged."""
        return w

    def vector(self, coefficients: FloatArray) -> FloatArray:
        """Return the coefficients unchanged."""
        return coefficients


class FeatureSpace(MapSpace):
    """Weights w of feature maps of one draw; Φ is computed once for the largest m.

    Parameters
    ----------
    family : MapFamily
    X : (n, d) float64
    budget : float
        Bytes of memory allowed for speed.
    keep_arguments : bool
        See `FamilyFeatures`.
    """

    def __init__(
        self, family: MapFamily, X: FloatArray, budget: float = 0.0, *, keep_arguments: bool = False
    ) -> None:
        super().__init__(family, X)
        self._budget = budget
        self._features = FamilyFeatures(family, X, keep_arguments=keep_arguments)

    def know(self, gamma: float, features: FeatureOperator) -> None:
        """Store Φ of the widest map at γ, already computed."""
        self._features.know(gamma, features)

    def objective(self, task: Task, risk: Risk, seed: int, report: Report = silent) -> RankObjective:
        """Return ½‖w‖² + C·risk(Φw)."""
        features = self._features.operator(task.n_components, task.gamma, report).compact()
        if self.map(task).kernel is None:
            features = centred(features, risk.ptr)
        # a copy in single precision halves what a Hessian product reads; `budget` bounds it
        pays = features.basis.nested and copy_bytes(*features.base.shape) > 0
        if not pays:
            return RankObjective(features, risk, task.C, seed)
        largest = largest_value(self.map(task).kernel, self.X)
        return RankObjective(features, risk, task.C, seed, self._budget, max(1.0, largest))

    def seconds(self, task: Task) -> float:
        """Return the seconds of the draw, and of the map's share of factor and base."""
        fitted = self.map(task)
        return self.family.seconds(fitted) + self._features.seconds(fitted)


class KernelSpace:
    """Coefficients β of documents (n, d) in the exact kernel's space; K is computed once for each γ.

    Parameters
    ----------
    family : MapFamily
        Maps in the kernel's space.
    X : (n, d) float64
    budget : float
        Bytes for K (see `kernel_matrix`), besides a preconditioner with `first_landmarks`.
    """

    def __init__(self, family: MapFamily, X: FloatArray, budget: float) -> None:
        self.family, self.X, self._budget = family, X, budget
        self._computed: tuple[Kernel, KernelMatrix] | None = None
        self._seconds = 0.0

    def know(self, gamma: float, K: KernelMatrix) -> None:
        """Store K at γ, already computed."""
        self._computed = needed(self.family.widest(gamma).kernel), K

    def matrix(self, gamma: float, report: Report = silent) -> KernelMatrix:
        """Return K at γ."""
        return self._matrix(needed(self.family.widest(gamma, report).kernel), report)

    def map(self, task: Task, report: Report = silent) -> FittedMap:
        """Return the exact map at γ; it has no m."""
        return self.family.widest(task.gamma, report)

    def objective(self, task: Task, risk: Risk, seed: int, report: Report = silent) -> KernelObjective:
        """Return ½βᵀKβ + C·risk(Kβ)."""
        kernel, n = needed(self.map(task, report).kernel), len(self.X)
        K = self._matrix(kernel, report)
        spare = self._budget - K.bytes + preconditioner_bytes(n, first_landmarks(n))
        most = landmarks_within(n, spare)
        return KernelObjective(self.X, kernel, K, risk, task.C, seed, most)

    def start(self, task: Task, w: FloatArray) -> FloatArray:
        """Return w itself: at one γ, both tasks have coefficients with their image."""
        return w

    def coarser(self, task: Task) -> None:
        """Return None: the map is not nested."""

    def coefficients(self, w: FloatArray) -> FloatArray:
        """Return the coefficients without their image."""
        coefficients: FloatArray = w[0]  # w is β with its image Kβ
        return coefficients

    def vector(self, coefficients: FloatArray) -> FloatArray:
        """Return the coefficients with their image by the last γ's matrix; ValueError without one."""
        if self._computed is None:
            raise ValueError("no kernel matrix is there yet: ask for an objective first")
        return np.stack((coefficients, self._computed[1].product(coefficients)))

    def seconds(self, task: Task) -> float:
        """Return the seconds of K."""
        return self._seconds

    def _matrix(self, kernel: Kernel, report: Report) -> KernelMatrix:
        if self._computed is None or kernel != self._computed[0]:
            self._computed = None  # frees the old one first: two need too much memory
            clock = Stopwatch()
            self._computed = kernel, kernel_matrix(self.X, kernel, self._budget, report)
            clock.lap("kernel")
            self._seconds = clock.laps["kernel"]
        return self._computed[1]


def space_of(
    family: MapFamily, X: FloatArray, budget: float, *, keep_arguments: bool = False
) -> FeatureSpace | KernelSpace:
    """Return the space for training on documents X (n, d); kernel matrix or copies may use `budget` bytes."""
    if family.drawn.in_kernel_space:
        return KernelSpace(family, X, budget)
    return FeatureSpace(family, X, budget, keep_arguments=keep_arguments)
