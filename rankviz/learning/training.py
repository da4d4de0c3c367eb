"""Fits that share work: the draw and the base of features, the pairs, and starting weights.

A `MapFamily` has the feature maps of one draw, for every γ and every m up to the largest. A `Space` makes the
objective of a task, and caches shared parts, such as the base of features. `Training` fits one task after
the other.

Fits of one training part that differ only in m, γ and C minimise nested or similar objectives. With small m
first, each fit starts from the weights of an earlier one. This changes the path but not the result. The
objective is strictly convex, so its minimum is reached from any start, to the solver's tolerance.
"""

from __future__ import annotations

import math
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rankviz.common.arrays import FloatArray
from rankviz.common.errors import SettingError
from rankviz.common.progress import Progress, Report, silent
from rankviz.features.kernel_base import largest_value
from rankviz.features.maps import FeatureMap, FittedMap
from rankviz.features.operator import FeatureOperator, centred
from rankviz.learning.feature_space import RankObjective, SpectralPreconditioner, copy_bytes
from rankviz.learning.newton import TruncatedNewton
from rankviz.learning.objective import Objective, Preconditioner, Solver, SolverResult, Status, certificate
from rankviz.learning.risk import Risk, RiskFacts, adapted_risk
from rankviz.learning.score_risk import ScoreRisk


class MapFamily:
    """The feature maps of one draw.

    Parameters
    ----------
    settings : FeatureMap or OneMap
        With the largest m; their γ is not used.
    X : (n, d) float64
        Training documents.

    Attributes
    ----------
    drawn : Drawn
    """

    def __init__(self, settings: FeatureMap | OneMap, X: FloatArray, report: Report = silent) -> None:
        began = time.perf_counter()
        self.drawn = settings.draw(X, report)
        self._draw_seconds, self._fitted_seconds = time.perf_counter() - began, 0.0
        self._gamma: float | None = None
        self._widest: FittedMap | None = None
        self._latest: tuple[int, FittedMap] | None = None

    def widest(self, gamma: float, report: Report = silent) -> FittedMap:
        """Return the map at γ with the largest m."""
        if self._widest is None or gamma != self._gamma:
            self._widest = self._latest = None
            began = time.perf_counter()
            self._gamma, self._widest = gamma, self.drawn.fitted(gamma, report)
            self._fitted_seconds = time.perf_counter() - began
        return self._widest

    def map(self, m: int, gamma: float, report: Report = silent) -> FittedMap:
        """Return the map at γ with m features, up to the largest m; ValueError if the maps are not nested."""
        widest = self.widest(gamma, report)
        if self._latest is None or self._latest[0] != m:
            self._latest = m, widest.leading(m)
        return self._latest[1]

    def share(self, fitted: FittedMap) -> float:
        """Return a map's number of columns over that of the widest map at the current γ."""
        widest = fitted if self._widest is None else self._widest
        return fitted.basis.shape[0] / max(1, widest.basis.shape[0])

    def seconds(self, fitted: FittedMap) -> float:
        """Return the seconds for a map of the current γ: the draw, and its columns' share of the factor."""
        return self._draw_seconds + self.share(fitted) * self._fitted_seconds


@dataclass(frozen=True)
class OneMap:
    """A fitted map in the role of settings and of their draw, for its own γ only."""

    fitted_map: FittedMap

    @property
    def in_kernel_space(self) -> bool:
        """The map's `in_kernel_space`."""
        return self.fitted_map.in_kernel_space

    def draw(self, X: FloatArray, report: Report = silent) -> OneMap:
        """Return itself."""
        return self

    def fitted(self, gamma: float, report: Report = silent) -> FittedMap:
        """Return the map; ValueError for another γ."""
        kernel = self.fitted_map.kernel
        if kernel is not None and kernel.at(gamma) != kernel:
            raise ValueError(f"the map of gamma = {kernel.gamma:g} is none of gamma = {gamma:g}")
        return self.fitted_map

    def arguments(self, X: FloatArray, report: Report = silent) -> FloatArray:
        """Raise ValueError: there is only one γ."""
        raise ValueError("arguments can be reused for other gamma, but this map has no other")


class FamilyFeatures:
    """Φ of documents X (n, d) under the maps of a family.

    Parameters
    ----------
    family : MapFamily
    X : (n, d) float64
    keep_arguments : bool
        Keep the kernel's arguments, which need as much memory as the base. Each new γ then takes about a
        third of the time.
    """

    def __init__(self, family: MapFamily, X: FloatArray, *, keep_arguments: bool = False) -> None:
        self.family, self.X, self._keep = family, X, keep_arguments
        self._arguments: FloatArray | None = None
        self._widest: FeatureOperator | None = None
        self._of: FittedMap | None = None
        self._arguments_seconds = self._base_seconds = 0.0

    def know(self, gamma: float, operator: FeatureOperator) -> None:
        """Store Φ of the widest map at γ, already computed."""
        self._of, self._widest = self.family.widest(gamma), operator

    def operator(self, m: int, gamma: float, report: Report = silent) -> FeatureOperator:
        """Return Φ at γ with m features; a new γ replaces the base of the last one."""
        widest = self.family.widest(gamma, report)
        if self._widest is None or self._of is not widest:
            self._widest = None  # frees the old base first: two need too much memory
            self._of, self._widest = widest, self._compute(widest, report)
        basis = self.family.map(m, gamma, report).basis
        return FeatureOperator(self._widest.base[:, : basis.shape[0]], basis)

    def seconds(self, fitted: FittedMap) -> float:
        """Return the seconds for the columns of a map of the current γ."""
        return self.family.share(fitted) * (self._arguments_seconds + self._base_seconds)

    def _compute(self, widest: FittedMap, report: Report) -> FeatureOperator:
        if self._keep and self._arguments is None:
            began = time.perf_counter()
            self._arguments = self.family.drawn.arguments(self.X, report)
            self._arguments_seconds = time.perf_counter() - began
        began = time.perf_counter()
        if self._arguments is None:
            operator = widest.operator(self.X, report)
        else:
            operator = widest.operator_of(self._arguments, report)
        self._base_seconds = time.perf_counter() - began
        return operator


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
    share : float
        Share of the documents, in whole queries, that the objective estimates the risk from.
    landmarks : int
        Landmarks in whose span an exact kernel's model is sought; 0 for the span of all documents.
    """

    n_components: int
    gamma: float
    C: float
    alone: bool = False
    share: float = 1.0
    landmarks: int = 0

    def distance(self, other: Task) -> float:
        """Return an expected distance of two solutions at one γ: log ratios of m and of C."""
        return abs(math.log(self.C / other.C)) + abs(math.log(self.n_components / other.n_components))


class Space(ABC):
    """The objectives of tasks on one training part, by default in weights w of feature maps.

    Parameters
    ----------
    family : MapFamily
    X : (n, d) float64
    """

    def __init__(self, family: MapFamily, X: FloatArray) -> None:
        self.family, self.X = family, X

    @abstractmethod
    def objective(self, task: Task, risk: Any, seed: int, report: Report = silent) -> Objective:
        """Return the objective of a task, with the risk of this space's documents."""

    @abstractmethod
    def seconds(self, task: Task) -> float:
        """Return the seconds for features or kernel of the last task."""

    def map(self, task: Task, report: Report = silent) -> FittedMap:
        """Return the feature map of a task, for its m and γ."""
        return self.family.map(task.n_components, task.gamma, report)

    def start(self, task: Task, w: FloatArray) -> FloatArray:
        """Return the start of a task from the result w of one with no more features; it keeps the scores."""
        # random Fourier features have the factor √(2/m): √(m/m')·w keeps the scores of m' features
        return self.map(task).basis.padded(w)

    def coarser(self, task: Task, risk: RiskFacts) -> Task | None:
        """Return a much cheaper task whose result is a good start, here one of fewer features; or None."""
        fitted, coarser = self.map(task), replace(task, n_components=task.n_components // COARSER)
        if not fitted.basis.nested or task.n_components < WIDE or fitted.n_components > len(self.X):
            return None  # factors are then of documents, so fewer features do not help
        return coarser if self.map(coarser).n_components < fitted.n_components else None

    def coefficients(self, w: FloatArray) -> FloatArray:
        """Return the feature map's weights for a vector of the objective: w itself."""
        return w

    def vector(self, coefficients: FloatArray) -> FloatArray:
        """Return the vector of the objective for these weights, the inverse of `coefficients`."""
        return coefficients


class FeatureSpace(Space):
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
        if self.map(task).kernel is None and risk.loss.by_query:
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


FROM_ZERO = "zero"

MOST_ROUNDING = 1e-4
"""Largest relative error of an objective that counts as rounding."""

SAME_PRECONDITIONER = 2.0
"""Largest ratio of values of C that share a preconditioner. The Hessian's condition number grows by at most
this ratio, which costs fewer CG iterations than a new preconditioner."""


COARSE_TOL = 1e-2
"""Ratio of decrement to objective at which a fit with fewer features stops: more accuracy would not help."""

SAMPLE_TOL = 1e-4
"""The same for a fit of a sample of queries or in the span of landmarks, whose steps cost little."""


@dataclass(frozen=True, eq=False)
class Fit:
    """The result of a fit.

    Attributes
    ----------
    task : Task
    map : FittedMap
    coefficients : (m,) float64
    result : SolverResult
    n_pairs : int
    start : str
        Its start, in words: "zero", "the weights for m = 200", or those for a share of the queries.
    seconds : dict
        "features": the draw, and the columns' share of factor and base; "pairs"; "start": Newton seconds of
        the fits it started from, if any; "newton": its own. Their sum is the time for this model alone on the
        same path, regardless of sharing.
    thresholds : (K, 2) float64 or None
        Grades and their thresholds of scores, of a loss that has them.
    """

    task: Task
    map: FittedMap
    coefficients: FloatArray
    result: SolverResult
    n_pairs: int
    start: str
    seconds: dict[str, float]
    thresholds: FloatArray | None = None


@dataclass(frozen=True, eq=False)
class _End:
    """The result of a fit: a start for others."""

    task: Task
    w: FloatArray
    newton_seconds: float


class Training:
    """The fits of one training part whose features come from one draw, small m first.

    Parameters
    ----------
    space : Space
        Space of the weights for the training part's documents.
    risk : () -> RiskFacts
        Prepares the risk of its grades, which takes time and reports progress.
    solver : Solver
    seed : int
        Seed of the preconditioner's pairs.
    """

    def __init__(
        self,
        space: Space,
        risk: Callable[[], RiskFacts],
        solver: Solver,
        seed: int = 0,
    ) -> None:
        self.space, self.solver, self.seed = space, solver, seed
        self._prepare = risk
        self._risk: RiskFacts | None = None
        self._n_pairs, self._pairs_seconds = 0, 0.0
        self._ends: list[_End] = []
        self._precondition: tuple[Task, Preconditioner] | None = None

    @property
    def family(self) -> MapFamily:
        """The drawn maps."""
        return self.space.family

    def resume(self, task: Task, w: FloatArray, precondition: Preconditioner | None = None) -> None:
        """Use w as the result of an earlier fit here, with its last preconditioner."""
        self._ends.append(_End(task, w, 0.0))
        self._precondition = None if precondition is None else (task, precondition)

    def weight(self, report: Report = silent) -> float:
        """Return the number of pairs times the largest cost of one; C is checked against it."""
        return self._listed(report).costs.largest * self._n_pairs

    def objective(self, task: Task, report: Report = silent) -> Objective:
        """Return the objective of a task."""
        risk = adapted_risk(self._listed(report), task.C)  # a smooth hinge's η depends on C
        return self.space.objective(task, risk, self.seed, report)

    def fit(self, task: Task, report: Report = silent) -> Fit:
        """Train one model. `report` may raise to stop; during Newton steps the current weights are kept."""
        objective = self.objective(task, report)
        risk = objective.risk
        end = None if task.alone else self._nearest(task) or self._coarse(task, risk, report)
        began = time.perf_counter()
        start = None if end is None else self.space.start(task, end.w)
        precondition = None if task.alone else self._shared_preconditioner(task)
        result = self.solver.solve(objective, start, report, precondition)
        newton = time.perf_counter() - began
        self._refuse_drowned(task, objective, result)
        seconds = {"features": self.space.seconds(task), "pairs": self._pairs_seconds}
        seconds |= {} if end is None else {"start": end.newton_seconds}
        seconds["newton"] = newton
        self._remember(task, result, newton + seconds.get("start", 0.0))
        return Fit(
            task,
            self.space.map(task),
            self.space.coefficients(result.point.w),
            result,
            self._n_pairs,
            FROM_ZERO if end is None else _in_words(end.task, task),
            seconds,
            risk.thresholds(result.point.scores) if isinstance(risk, ScoreRisk) else None,
        )

    def _refuse_drowned(self, task: Task, objective: Objective, result: SolverResult) -> None:
        """Raise `SettingError` if a kernel is so large that the weights' scores give another objective.

        Solvers add steps to scores, and the weights must reproduce these. Rounding errors of both are
        relative to kernel values. Kernels of differences have values up to 1 only.
        """
        kernel = self.space.map(task).kernel
        if kernel is None or kernel.shift_invariant:
            return
        reached, w = result.point.value, self.space.coefficients(result.point.w)
        with np.errstate(over="ignore", invalid="ignore"):
            again = certificate(objective, objective.at(self.space.vector(w))).value
        if not abs(again - reached) <= MOST_ROUNDING * reached:
            settings = ", ".join(f"{name}={value:g}" for name, value in vars(kernel).items())
            raise SettingError(
                f"{kernel.label} kernel values up to {largest_value(kernel, self.space.X):.1e} ({settings}) "
                f"are too large for double precision: the solver ends at the objective {reached:.6g}, and "
                f"the scores of its weights have {again:.6g}; scale the features to [0, 1], or choose a "
                "smaller gamma, degree or coef0"
            )

    def _coarse(self, task: Task, risk: RiskFacts, report: Report) -> _End | None:
        """Return a rough result of a much cheaper task, if the space has one."""
        coarser = self.space.coarser(task, risk) if self.solver.preconditioned else None
        if coarser is None:
            return None
        began = time.perf_counter()  # counts the coarser tasks too
        before = self._coarse(coarser, risk, report)
        start = None if before is None else self.space.start(coarser, before.w)
        objective = self.space.objective(coarser, risk, self.seed, report)
        if coarser.share < 1.0 or coarser.landmarks:
            rough, report = SAMPLE_TOL, _without_records(report)
        else:
            rough = COARSE_TOL
        w = TruncatedNewton(tol=rough).solve(objective, start, report).point.w
        return _End(coarser, w, time.perf_counter() - began)

    def _listed(self, report: Report) -> RiskFacts:
        """Return the risk, prepared once."""
        if self._risk is None:
            report(Progress("pairs"))
            began = time.perf_counter()
            self._risk = self._prepare()
            self._n_pairs = self._risk.n_pairs  # counting them may list them
            self._pairs_seconds = time.perf_counter() - began
        return self._risk

    def _nearest(self, task: Task) -> _End | None:
        """Return the closest result of a fit at this γ with at most as many features."""
        near = [e for e in self._ends if e.task.gamma == task.gamma]
        near = [e for e in near if e.task.n_components <= task.n_components]
        return min(near, key=lambda end: task.distance(end.task), default=None)

    def _shared_preconditioner(self, task: Task) -> Preconditioner | None:
        """Return the previous preconditioner if it belongs to these features and a similar C."""
        if self._precondition is None:
            return None
        # Along an eigenvalue μ of the risk's curvature H is 1 + Cμ, and (1 + C'μ)/(1 + Cμ) lies between 1 and
        # C'/C: the preconditioned condition number grows by that factor at most.
        built, precondition = self._precondition
        same = (built.n_components, built.gamma) == (task.n_components, task.gamma)
        if same and isinstance(precondition, SpectralPreconditioner):
            return precondition.at(task.C)
        close = abs(math.log(task.C / built.C)) <= math.log(SAME_PRECONDITIONER) * (1 + 1e-9)
        return precondition if same and close else None

    def _remember(self, task: Task, result: SolverResult, newton_seconds: float) -> None:
        """Store weights and preconditioner for later fits."""
        if result.status not in (Status.CONVERGED, Status.STALLED):
            return  # the result of such a run depends on its start
        self._ends.append(_End(task, result.point.w, newton_seconds))
        if result.precondition is None:
            self._precondition = None
        elif self._precondition is None or result.precondition is not self._precondition[1]:
            self._precondition = task, result.precondition


def _without_records(report: Report) -> Report:
    """Return a report without records and scores: those of a rough fit are no estimate of the whole's."""
    return lambda progress: report(replace(progress, record=None, scores=None, weights=None))


def _in_words(end: Task, task: Task) -> str:
    """Describe the start of a fit by the setting that differs."""
    words = [f"m = {end.n_components:,}"] if end.n_components != task.n_components else []
    words += [f"C = {end.C:g}"] if end.C != task.C else []
    words += [f"{end.landmarks:,} landmarks"] if end.landmarks else []
    words += [f"{100 * end.share:.0f} % of the training queries"] if end.share != task.share else []
    return "the weights for " + " and ".join(words or ["the same settings"])
