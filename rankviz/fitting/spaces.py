"""Where the weights of neighbouring fits live: in the features of one draw, or in the kernel's own space.

A space makes the objective of a task and keeps what tasks share: the base of features, or the kernel matrix.

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
from rankviz.fitting.centring import centred
from rankviz.objectives.feature_space import Objective, RankObjective
from rankviz.objectives.kernel_space import (
    KernelObjective,
    first_landmarks,
    landmarks_within,
    preconditioner_bytes,
)
from rankviz.objectives.precision import copy_bytes
from rankviz.risk import Risk

COARSER, WIDE = 12, 1000
"""Maps with at least WIDE features are trained with a COARSER-th of them first: that costs little, and leaves
half as much to do for the rest."""


@dataclass(frozen=True)
class Task:
    """The settings by which fits in one space differ.

    Attributes
    ----------
    n_components : int
        m, at most that of the settings the features were drawn with.
    gamma, C : float
    alone : bool
        Start from zero whatever there is, and with a preconditioner of its own.
    """

    n_components: int
    gamma: float
    C: float
    alone: bool = False

    def distance(self, other: Task) -> float:
        """How far apart two solutions at one γ are likely to be: the factors between m and between C."""
        return abs(math.log(self.C / other.C)) + abs(math.log(self.n_components / other.n_components))


class Space(Protocol):
    """The objectives of tasks on one training part."""

    X: FloatArray
    family: MapFamily

    def map(self, task: Task, report: Report = silent) -> FittedMap:
        """The feature map of a task."""
        ...

    def objective(self, task: Task, risk: Any, seed: int, report: Report = silent) -> Objective:
        """The objective of a task, with the risk of this space's documents."""
        ...

    def start(self, task: Task, w: FloatArray) -> FloatArray:
        """Where to start a task from the end w of one with at most as many features, with its scores."""
        ...

    def coarser(self, task: Task) -> Task | None:
        """A much cheaper task whose end is a good place to start from, where there is one."""
        ...

    def coefficients(self, w: FloatArray) -> FloatArray:
        """The weights of the feature map, of a vector of the objective."""
        ...

    def vector(self, coefficients: FloatArray) -> FloatArray:
        """The vector of the objective that has these weights: the other way round."""
        ...

    def seconds(self, task: Task) -> float:
        """Seconds of the features or the kernel of the task done last."""
        ...


class MapSpace:
    """What all spaces of weights w of feature maps have in common, wherever features are.

    Parameters
    ----------
    family : MapFamily
    X : (n, d) float64
    """

    def __init__(self, family: MapFamily, X: FloatArray) -> None:
        self.family, self.X = family, X

    def map(self, task: Task, report: Report = silent) -> FittedMap:
        """The family's map for m and γ."""
        return self.family.map(task.n_components, task.gamma, report)

    def start(self, task: Task, w: FloatArray) -> FloatArray:
        """The weights padded with zeros, in the scale of the map's basis."""
        # random Fourier features carry √(2/m): there √(m/m')·w keeps the scores of m' features
        return self.map(task).basis.padded(w)

    def coarser(self, task: Task) -> Task | None:
        """The task with a fraction of the features."""
        fitted, coarser = self.map(task), replace(task, n_components=task.n_components // COARSER)
        if not fitted.basis.nested or task.n_components < WIDE or fitted.n_components > len(self.X):
            return None  # more features than documents are factored as documents, which fewer do not speed up
        return coarser if self.map(coarser).n_components < fitted.n_components else None

    def coefficients(self, w: FloatArray) -> FloatArray:
        """Unchanged."""
        return w

    def vector(self, coefficients: FloatArray) -> FloatArray:
        """Unchanged."""
        return coefficients


class FeatureSpace(MapSpace):
    """Weights w of feature maps that one draw gives, Φ computed once for the largest m.

    Parameters
    ----------
    family : MapFamily
    X : (n, d) float64
    budget : float
        Bytes that may be taken for speed.
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
        """Take Φ of the widest map at γ as computed already."""
        self._features.know(gamma, features)

    def objective(self, task: Task, risk: Risk, seed: int, report: Report = silent) -> RankObjective:
        """½‖w‖² + C·risk(Φw)."""
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
        """The draw, and the share of factor and base that the map's columns are."""
        fitted = self.map(task)
        return self.family.seconds(fitted) + self._features.seconds(fitted)


class KernelSpace:
    """Coefficients β of documents (n, d) in the exact kernel's space, K computed once for each γ.

    Parameters
    ----------
    family : MapFamily
        Of maps in the kernel's space.
    X : (n, d) float64
    budget : float
        Bytes that K may take (see `kernel_matrix`), beside a preconditioner with `first_landmarks`.
    """

    def __init__(self, family: MapFamily, X: FloatArray, budget: float) -> None:
        self.family, self.X, self._budget = family, X, budget
        self._computed: tuple[Kernel, KernelMatrix] | None = None
        self._seconds = 0.0

    def know(self, gamma: float, K: KernelMatrix) -> None:
        """Take K at γ as computed already."""
        self._computed = needed(self.family.widest(gamma).kernel), K

    def matrix(self, gamma: float, report: Report = silent) -> KernelMatrix:
        """K at γ."""
        return self._matrix(needed(self.family.widest(gamma, report).kernel), report)

    def map(self, task: Task, report: Report = silent) -> FittedMap:
        """The exact map at γ; it knows no m."""
        return self.family.widest(task.gamma, report)

    def objective(self, task: Task, risk: Risk, seed: int, report: Report = silent) -> KernelObjective:
        """½βᵀKβ + C·risk(Kβ)."""
        kernel, n = needed(self.map(task, report).kernel), len(self.X)
        K = self._matrix(kernel, report)
        spare = self._budget - K.bytes + preconditioner_bytes(n, first_landmarks(n))
        most = landmarks_within(n, spare)
        return KernelObjective(self.X, kernel, K, risk, task.C, seed, most)

    def start(self, task: Task, w: FloatArray) -> FloatArray:
        """The other end itself: at one γ both are coefficients with their image."""
        return w

    def coarser(self, task: Task) -> None:
        """None: it is not nested."""

    def coefficients(self, w: FloatArray) -> FloatArray:
        """Without the image."""
        coefficients: FloatArray = w[0]  # w is β with its image Kβ
        return coefficients

    def vector(self, coefficients: FloatArray) -> FloatArray:
        """With the image, by the matrix of the γ that was asked for last."""
        if self._computed is None:
            raise ValueError("no kernel matrix is there yet: ask for an objective first")
        return np.stack((coefficients, self._computed[1].product(coefficients)))

    def seconds(self, task: Task) -> float:
        """Seconds of K."""
        return self._seconds

    def _matrix(self, kernel: Kernel, report: Report) -> KernelMatrix:
        if self._computed is None or kernel != self._computed[0]:
            self._computed = None  # two at a time would be one too many
            clock = Stopwatch()
            self._computed = kernel, kernel_matrix(self.X, kernel, self._budget, report)
            clock.lap("kernel")
            self._seconds = clock.laps["kernel"]
        return self._computed[1]


def space_of(
    family: MapFamily, X: FloatArray, budget: float, *, keep_arguments: bool = False
) -> FeatureSpace | KernelSpace:
    """The space in which to train on documents X (n, d); an exact kernel or speed may take `budget` bytes."""
    if family.drawn.in_kernel_space:
        return KernelSpace(family, X, budget)
    return FeatureSpace(family, X, budget, keep_arguments=keep_arguments)
