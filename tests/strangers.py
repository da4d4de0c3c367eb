"""A loss, a kernel, a feature map, a solver and a ranker that exist nowhere in the project.

Tests enter them where the project's own are, one file and one entry each, and see what becomes of them.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np

from rankviz.common.arrays import FloatArray
from rankviz.common.npz import Arrays
from rankviz.common.progress import Callback, Report, silent
from rankviz.datasets import RankingData
from rankviz.features.bases import IdentityBasis
from rankviz.features.distances import squared_blocks
from rankviz.features.kernel_base import BlockKernel, Fill, Kernel
from rankviz.features.kernels import KernelKind
from rankviz.features.kinds import Kept, MapKind
from rankviz.features.operator import FeatureOperator
from rankviz.features.settings import GAMMA
from rankviz.models.methods import Method
from rankviz.models.ranker import Ranker
from rankviz.objectives.feature_space import Objective
from rankviz.objectives.preconditioner import Preconditioner
from rankviz.risk.losses import Loss
from rankviz.solvers.registry import CONVEX, SMOOTH, SolverChoice
from rankviz.solvers.result import SolverResult, Status, TraceRow


class Exponential(Loss):
    """ℓ(t) = e^−t, the loss of RankBoost: convex and smooth, its second derivative without a bound."""

    label = "exponential"
    formula = "e^−t"
    convex = True
    smooth = True
    curvature = math.inf

    def value(self, t: FloatArray) -> FloatArray:
        """ℓ(t)."""
        return np.exp(-t)

    def derivative(self, t: FloatArray) -> FloatArray:
        """ℓ'(t)."""
        return -np.exp(-t)

    def second_derivative(self, t: FloatArray) -> FloatArray:
        """ℓ''(t)."""
        return np.exp(-t)


@dataclass(frozen=True)
class Cauchy(BlockKernel):
    """κ(x, z) = 1/(1 + γ‖x − z‖²), the Cauchy kernel; its spectral density is nobody's business here."""

    gamma: float

    label: ClassVar[str] = "Cauchy"
    formula: ClassVar[str] = "1/(1 + γ‖x − z‖²)"
    shift_invariant: ClassVar[bool] = True

    @property
    def offset(self) -> float:
        """κ(x, x) = 1."""
        return 1.0

    def argument_blocks(self, Z: FloatArray) -> Fill:
        """−‖x − z‖²."""
        return squared_blocks(Z, 1.0)

    def apply(self, arguments: FloatArray, out: FloatArray) -> None:
        """1/(1 − γ·arguments)."""
        np.divide(1.0, 1.0 - self.gamma * arguments, out=out)

    def diagonal(self, X: FloatArray) -> FloatArray:
        """Ones."""
        return np.ones(len(X))


KERNEL = KernelKind(Cauchy, (GAMMA,))


@dataclass(frozen=True)
class FittedSquares:
    """φ(x) = (x, x∘x): it draws nothing, has no kernel and no m, and its weights are not of features."""

    d: int

    kernel: ClassVar[Kernel | None] = None
    in_kernel_space: ClassVar[bool] = False

    @property
    def n_components(self) -> int:
        """2d."""
        return 2 * self.d

    @property
    def basis(self) -> IdentityBasis:
        """The identity."""
        return IdentityBasis(2 * self.d)

    def operator(self, X: FloatArray, report: Report = silent) -> FeatureOperator:
        """Features and their squares."""
        return FeatureOperator(self.arguments(X), self.basis)

    def operator_of(self, arguments: FloatArray, report: Report = silent) -> FeatureOperator:
        """The arguments are the features already."""
        return FeatureOperator(arguments, self.basis)

    def leading(self, m: int) -> FittedSquares:
        """Itself."""
        return self

    def fitted(self, gamma: float, report: Report = silent) -> FittedSquares:
        """Itself."""
        return self

    def arguments(self, X: FloatArray, report: Report = silent) -> FloatArray:
        """Features and their squares."""
        return np.hstack((X, X**2))

    def arrays(self) -> Arrays:
        """Nothing is drawn."""
        return {}

    @classmethod
    def from_arrays(cls, arrays: Arrays, d: int, kernel: Kernel | None) -> Self:
        """The map for d features."""
        return cls(d)


@dataclass(frozen=True)
class Squares:
    """Settings of the map: none."""

    def draw(self, X: FloatArray, report: Report = silent) -> FittedSquares:
        """Nothing to draw."""
        return FittedSquares(X.shape[1])

    def fit(self, X: FloatArray, report: Report = silent) -> FittedSquares:
        """The same."""
        return self.draw(X)


FEATURE_MAP = MapKind(
    "squares", "the model of squares", lambda s: Squares(), (FittedSquares,), Kept(lambda m, n, d: 2 * d)
)


class FeatureMean(Ranker):
    """Scores are the means of features, better side up: scores and nothing else."""

    def fit_data(self, data: RankingData, *, callback: Callback | None = None) -> Self:
        """Find out which side is up."""
        self.n_features_in_ = data.n_features
        means = data.X.mean(axis=1) - data.X.mean() if data.n_documents else np.zeros(0)
        self.sign_ = 1.0 if float(means @ data.y) >= 0 else -1.0
        return self

    def scores(self, X: FloatArray, report: Report) -> FloatArray:
        """± the mean feature of each document."""
        return self.sign_ * X.mean(axis=1)


RANKER = Method("feature mean", FeatureMean, ())


@dataclass(frozen=True)
class GradientDescent:
    """Steps down the gradient, halved until they go down."""

    tol: float = 1e-6
    max_iter: int = 2000

    preconditioned: ClassVar[bool] = False

    def solve(
        self,
        objective: Objective,
        w: FloatArray | None = None,
        report: Report = silent,
        precondition: Preconditioner | None = None,
    ) -> SolverResult:
        """Run from w, zeros if not given."""
        point = objective.at(objective.start() if w is None else w)
        rows, rate, started = [], 1.0, time.perf_counter()
        for iteration in range(self.max_iter):
            rows.append(TraceRow.at(objective, point, iteration, time.perf_counter() - started))
            if rows[-1].gap <= self.tol:
                return SolverResult(point, Status.CERTIFIED, tuple(rows))
            square = objective.inner(point.gradient, point.gradient)
            rate *= 2.0
            trial = objective.at(point.w - rate * point.gradient)
            while not trial.value <= point.value - 0.5 * rate * square:
                rate *= 0.5
                trial = objective.at(point.w - rate * point.gradient)
            rows[-1] = replace(rows[-1], step=rate)
            point = trial
        return SolverResult(point, Status.MAX_ITERATIONS, tuple(rows))


SOLVER = SolverChoice(
    "gradient descent", lambda s: GradientDescent(s.tol, s.at_most(2000)), needs=(CONVEX, SMOOTH)
)

LOSS = Exponential()
