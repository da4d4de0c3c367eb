"""A loss, a kernel, a feature map, a solver and three rankers that exist nowhere in the project.

Tests enter them where the project's own are, one file and one entry each, and see what becomes of them.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np
import pandas as pd
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax

from rankviz.common.arrays import FloatArray, IntArray
from rankviz.common.npz import Arrays
from rankviz.common.progress import Callback, Progress, Report, reporter, silent
from rankviz.common.settings import Positive, Setting, Steps
from rankviz.datasets import RankingData
from rankviz.features.kernel_base import Fill, Kernel
from rankviz.features.kernels import GAMMA, KernelKind, squared_blocks
from rankviz.features.maps import Move
from rankviz.features.operator import FeatureOperator, IdentityBasis
from rankviz.features.registry import MapKind, MapMemory
from rankviz.learning.losses import LOSS_WEIGHT, Loss
from rankviz.learning.objective import Objective, Preconditioner, SolverResult, Status, TraceRow
from rankviz.learning.pairs import CostRule, GradeCodes, PairCosts, count_pairs
from rankviz.learning.solvers import CONVEX, SMOOTH, TOL, SolverChoice
from rankviz.models.methods import Capabilities, Method
from rankviz.models.ranker import Outcome, Ranker


class Exponential(Loss):
    """ℓ(t) = e^−t, the loss of RankBoost: convex and smooth, its second derivative without a bound."""

    label = "exponential"
    formula = "e^−t"
    convex = True
    smooth = True
    falling = True
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


class SquaredInsensitive(Loss):
    """ℓ(t) = max(0, |1 − t| − ½)²: it wants margins near 1 and rises where they are larger."""

    label = "squared ε-insensitive"
    formula = "max(0, |1 − t| − ½)²"
    convex = True
    smooth = True
    falling = False
    curvature = 2.0

    def _beyond(self, t: FloatArray) -> FloatArray:
        return np.maximum(0.0, np.abs(1.0 - t) - 0.5)

    def value(self, t: FloatArray) -> FloatArray:
        """ℓ(t)."""
        return self._beyond(t) ** 2

    def derivative(self, t: FloatArray) -> FloatArray:
        """ℓ'(t), positive beyond 1.5."""
        return 2.0 * np.sign(t - 1.0) * self._beyond(t)

    def second_derivative(self, t: FloatArray) -> FloatArray:
        """2 outside the tube, 0 within."""
        return np.where(self._beyond(t) > 0.0, 2.0, 0.0)


@dataclass(frozen=True)
class Cauchy(Kernel):
    """κ(x, z) = 1/(1 + γ‖x − z‖²), the Cauchy kernel; its spectral density is not declared."""

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

    def moved(self, move: Move, X: FloatArray) -> FittedSquares:
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
    "squares", "the model of squares", lambda s: Squares(), (FittedSquares,), MapMemory(lambda m, n, d: 2 * d)
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

POWER = Setting(
    name="power",
    symbol="p",
    label="Power",
    domain=Positive(),
    default=1.0,
    help="Features are raised to it before their mean is taken.",
    key="power",
    offer=Steps((0.5, 1.0, 2.0)),
    named=True,
)


class ScaledMean(Ranker):
    """Scores are means of features times a scale that is learned: nothing else."""

    def __init__(self, power: float = 1.0) -> None:
        self.power = power

    def fit_data(self, data: RankingData, *, callback: Callback | None = None) -> Self:
        """The scale that comes nearest to the grades."""
        reporter(callback)(Progress("features", 0.5))
        self.n_features_in_, means = data.n_features, self._means(data.X)
        self.scale_ = float(means @ data.y) / max(float(means @ means), 1e-300)
        return self

    def scores(self, X: FloatArray, report: Report) -> FloatArray:
        """Scale times mean."""
        return self.scale_ * self._means(X)

    def _means(self, X: FloatArray) -> FloatArray:
        return (np.abs(X) ** self.power).mean(axis=1)


SCALED_MEAN = Method("scaled mean", ScaledMean, (POWER,))
"""It has a setting to vary, and neither C nor a feature map."""


class ListNet(Ranker):
    """Scores w·x by the cross entropy of top-one probabilities: weights and a trace, but no pairs, no map."""

    def __init__(self, C: float = 2.0**-7, tol: float = 1e-6) -> None:
        self.C, self.tol = C, tol

    def fit_data(self, data: RankingData, *, callback: Callback | None = None) -> Self:
        """Minimise ½‖w‖² + C Σ −p·log q over queries, p and q being softmax of grades and of scores."""
        self.n_features_in_, report, started = data.n_features, reporter(callback), time.perf_counter()
        queries = [data.query_slice(q) for q in range(data.n_queries)]

        def objective(w: FloatArray) -> tuple[float, FloatArray]:
            scores, slopes, value = data.X @ w, np.zeros(data.n_documents), 0.5 * float(w @ w)
            for at in queries:
                wanted = softmax(data.y[at].astype(np.float64))
                value -= self.C * float(wanted @ log_softmax(scores[at]))
                slopes[at] = self.C * (softmax(scores[at]) - wanted)
            return value, w + data.X.T @ slopes

        rows: list[dict[str, float]] = []

        def note(w: FloatArray) -> None:
            value, gradient = objective(w)
            row = {"iteration": float(len(rows)), "objective": value}
            row |= {"gradient_norm": float(np.linalg.norm(gradient))}
            rows.append(row | {"seconds": time.perf_counter() - started})
            report(Progress("newton", record=rows[-1]))

        zero = np.zeros(data.n_features)
        note(zero)
        options = {"gtol": self.tol, "ftol": 0.0}
        found = minimize(objective, zero, jac=True, method="L-BFGS-B", callback=note, options=options)
        self.coef_, self.objective_, self.trace_ = found.x, float(found.fun), pd.DataFrame(rows)
        return self

    def scores(self, X: FloatArray, report: Report) -> FloatArray:
        """w·x."""
        return X @ self.coef_

    def outcome(self) -> Outcome:
        """Weights, objective and trace; no seconds."""
        m = len(self.coef_)
        return Outcome(objective=self.objective_, n_components=m, weights=self.coef_, trace=self.trace_)


LISTNET = Method(
    "linear ListNet",
    ListNet,
    (LOSS_WEIGHT, TOL),
    lambda values: Capabilities(weights=True, input_weights=True, trace=True),
    minimises="½‖w‖² − C Σ p·log q",
)


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
    "gradient descent", lambda s: GradientDescent(s.tol, s.at_most(100)), needs=(CONVEX, SMOOTH)
)


def flat(codes: GradeCodes, y: IntArray, ptr: IntArray) -> PairCosts:
    """Let every pair of a query cost 1 / its pairs; 0 for a query without pairs."""
    pairs = count_pairs(y, ptr)
    return PairCosts(np.where(pairs > 0, 1.0 / np.maximum(pairs, 1), 0.0)[:, None, None])


COST = CostRule("flat", flat, meaning="every query weighs the same")
LOSS, RISING_LOSS = Exponential(), SquaredInsensitive()
