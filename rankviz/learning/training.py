"""Fits that share work: the draw and the base of features, the pairs, and starting weights.

Fits of one training part that differ only in m, γ and C minimise nested or similar objectives. With small m
first, each fit starts from the weights of an earlier one. This changes the path but not the result. The
objective is strictly convex, so its minimum is reached from any start, to the solver's tolerance.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from rankviz.common.arrays import FloatArray
from rankviz.common.errors import SettingError
from rankviz.common.progress import Progress, Report, silent
from rankviz.common.timing import Stopwatch
from rankviz.features.family import MapFamily
from rankviz.features.kernel_base import largest_value
from rankviz.features.maps import FittedMap
from rankviz.learning import RiskFacts, adapted_risk
from rankviz.learning.feature_space import Objective, certificate
from rankviz.learning.newton import TruncatedNewton
from rankviz.learning.preconditioner import Preconditioner
from rankviz.learning.result import Solver, SolverResult, Status
from rankviz.learning.spaces import Space, Task

FROM_ZERO = "zero"

DROWNED = 1e-4
"""Largest relative error of an objective that counts as rounding."""

SAME_PRECONDITIONER = 2.0
"""Largest ratio of values of C that share a preconditioner. The Hessian's condition number grows by at most
this ratio, which costs fewer CG iterations than a new preconditioner."""


COARSE_TOL = 1e-2
"""Ratio of decrement to objective at which a fit with fewer features stops: more accuracy would not help."""


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
        Its start, in words: "zero", or "the weights for m = 200".
    seconds : dict
        "features": the draw, and the columns' share of factor and base; "pairs"; "start": Newton seconds of
        the fits it started from, if any; "newton": its own. Their sum is the time for this model alone on the
        same path, regardless of sharing.
    """

    task: Task
    map: FittedMap
    coefficients: FloatArray
    result: SolverResult
    n_pairs: int
    start: str
    seconds: dict[str, float]


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
        clock = Stopwatch()
        start = None if end is None else self.space.start(task, end.w)
        precondition = None if task.alone else self._shared_preconditioner(task)
        result = self.solver.solve(objective, start, report, precondition)
        clock.lap("newton")
        self._refuse_drowned(task, objective, result)
        seconds = {"features": self.space.seconds(task), "pairs": self._pairs_seconds}
        seconds |= {} if end is None else {"start": end.newton_seconds}
        seconds |= clock.laps
        self._remember(task, result, clock.laps["newton"] + seconds.get("start", 0.0))
        return Fit(
            task,
            self.space.map(task),
            self.space.coefficients(result.point.w),
            result,
            self._n_pairs,
            FROM_ZERO if end is None else _in_words(end.task, task),
            seconds,
        )

    def _refuse_drowned(self, task: Task, objective: Objective, result: SolverResult) -> None:
        """Raise `SettingError` if a kernel is so large that the weights' scores give another objective.

        Solvers add steps to scores, and the weights must reproduce these. Rounding errors of both are
        relative to kernel values. Kernels of differences have values up to 1 only.
        """
        kernel = self.space.map(task).kernel
        if kernel is None or kernel.shift_invariant:
            return
        told, w = result.point.value, self.space.coefficients(result.point.w)
        with np.errstate(over="ignore", invalid="ignore"):
            again = certificate(objective, objective.at(self.space.vector(w))).value
        if not abs(again - told) <= DROWNED * told:
            settings = ", ".join(f"{name}={value:g}" for name, value in vars(kernel).items())
            raise SettingError(
                f"{kernel.label} kernel values up to {largest_value(kernel, self.space.X):.1e} ({settings}) "
                f"are too large for double precision: the solver ends at the objective {told:.6g}, and the "
                f"scores of its weights have {again:.6g}; scale the features to [0, 1], or choose a smaller "
                "gamma, degree or coef0"
            )

    def _coarse(self, task: Task, risk: RiskFacts, report: Report) -> _End | None:
        """Return a rough result of a much cheaper task, if the space has one."""
        coarser = self.space.coarser(task) if self.solver.preconditioned else None
        if coarser is None:
            return None
        clock, before = Stopwatch(), self._coarse(coarser, risk, report)  # the clock counts both
        start = None if before is None else self.space.start(coarser, before.w)
        objective = self.space.objective(coarser, risk, self.seed, report)
        w = TruncatedNewton(tol=COARSE_TOL).solve(objective, start, report).point.w
        clock.lap("newton")
        return _End(coarser, w, clock.laps["newton"])

    def _listed(self, report: Report) -> RiskFacts:
        """Return the risk, prepared once."""
        if self._risk is None:
            report(Progress("pairs"))
            clock = Stopwatch()
            self._risk = self._prepare()
            self._n_pairs = self._risk.n_pairs  # counting them may list them
            clock.lap("pairs")
            self._pairs_seconds = clock.laps["pairs"]
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


def _in_words(end: Task, task: Task) -> str:
    """Describe the start of a fit by the setting that differs."""
    words = [f"m = {end.n_components:,}"] if end.n_components != task.n_components else []
    words += [f"C = {end.C:g}"] if end.C != task.C else []
    return "the weights for " + " and ".join(words or ["the same settings"])
