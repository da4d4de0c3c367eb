"""Results of solvers: weights, final status, and one record per iteration. A solver never prints.

See docs/decisions/0005-every-trace-row-has-a-proof.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from enum import Enum
from typing import Protocol

import numpy as np
import pandas as pd

from rankviz.common.arrays import FloatArray
from rankviz.common.progress import Report, silent
from rankviz.learning.feature_space import Objective, Point, certificate
from rankviz.learning.preconditioner import Preconditioner


class Status(Enum):
    """Final status of a solver; the value is the sentence to show."""

    CONVERGED = "converged: the Newton decrement is below the tolerance"
    CERTIFIED = "converged: the duality gap is below the tolerance"
    STATIONARY = "converged: no step within the bounds lowers the objective, to the tolerance"
    RULE = "ended by he2009's rule: gradient or direction is at most 1e-4; its steps may raise the objective"
    TOO_EARLY = (
        "ended too early by he2009's rule: the direction is at most 1e-4, but the duality gap is above 1 %"
    )
    MAX_ITERATIONS = "stopped at the largest number of iterations before reaching the tolerance"
    STALLED = "stalled: rounding keeps the step from lowering the objective further"
    DIVERGED = "diverged: the steps are too long, and the weights grow without bound"
    STOPPED = "stopped on request; the weights are those of the last finished iteration"

    @property
    def converged(self) -> bool:
        """True if the solver's own stopping rule was met, so that its tolerance holds.

        False if it ran out of iterations, stalled by rounding, diverged or was stopped. Also False if the
        rule was met but the gap shows that this proves nothing.
        """
        return self in _REACHED


_REACHED = frozenset({Status.CONVERGED, Status.CERTIFIED, Status.STATIONARY, Status.RULE})


@dataclass(frozen=True)
class TraceRow:
    """One iteration, at its first point.

    Attributes
    ----------
    iteration : int
        Number, from 0.
    objective : float
        ½‖w‖² + C·risk, of the loss itself if a smoothed one is trained.
    gradient_norm : float
        ‖∇‖; ½‖∇‖² bounds objective − optimum: it is the duality gap at w for a loss with a derivative.
    decrement : float
        Newton decrement ½|gᵀs|, the decrease of the quadratic model; NaN for solvers without one.
    cg_iterations : int
        Hessian products for the direction s.
    step : float
        Step length along s, or the learning rate; 0 in the last row, without a step.
    active_pairs : int
        Pairs with ℓ'' ≠ 0.
    active_share : float
        Share of these among all pairs.
    seconds : float
        Seconds since the solver started.
    gap : float
        Duality gap over objective: a proved bound on the relative distance to the optimum.
    smoothing : float
        Width h of the smoothing; 0 without smoothing.
    products : float
        Products with Φ and then with Φᵀ (or with the kernel) in this iteration. Formed Hessians and
        preconditioners are not counted.
    """

    iteration: int
    objective: float
    gradient_norm: float
    decrement: float
    cg_iterations: int
    step: float
    active_pairs: int
    active_share: float
    seconds: float
    gap: float
    smoothing: float = 0.0
    products: float = 0.0

    @classmethod
    def at(
        cls,
        objective: Objective,
        point: Point,
        iteration: int,
        seconds: float,
        *,
        decrement: float = math.nan,
        cg_iterations: int = 0,
        products: float = 0.0,
    ) -> TraceRow:
        """Return the row of an iteration that begins at a point, without a step yet."""
        active, proved = point.risk.n_active, certificate(objective, point)
        return cls(
            iteration=iteration,
            objective=proved.value,
            gradient_norm=math.sqrt(max(0.0, objective.inner(point.gradient, point.gradient))),
            decrement=decrement,
            cg_iterations=cg_iterations,
            step=0.0,
            active_pairs=active,
            active_share=active / max(objective.n_pairs, 1),
            seconds=seconds,
            gap=proved.gap,
            products=products,
        )


class Solver(Protocol):
    """An algorithm that minimises an objective."""

    @property
    def preconditioned(self) -> bool:
        """True if conjugate gradients use a preconditioner."""
        ...

    def solve(
        self,
        objective: Objective,
        w: FloatArray | None = None,
        report: Report = silent,
        precondition: Preconditioner | None = None,
    ) -> SolverResult:
        """Minimise from w (default: the objective's start); `precondition` is tried before one is built.

        An exception from `report` stops it with the current weights.
        """
        ...


@dataclass(frozen=True, eq=False)
class SolverResult:
    """Final weights and the trace of iterations.

    Attributes
    ----------
    point : Point
        Final weights with scores, objective and gradient.
    status : Status
    trace : tuple of TraceRow
    precondition : Preconditioner or None
        The last one in use, if any.
    """

    point: Point
    status: Status
    trace: tuple[TraceRow, ...]
    precondition: Preconditioner | None = None

    @property
    def frame(self) -> pd.DataFrame:
        """The trace as a table, one row per iteration."""
        types = {field.name: np.int64 if field.type == "int" else np.float64 for field in fields(TraceRow)}
        columns = {name: np.array([getattr(row, name) for row in self.trace], t) for name, t in types.items()}
        return pd.DataFrame(columns)
