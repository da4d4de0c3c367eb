"""Results of solvers: weights, how it ended, and one record per iteration. A solver never prints.

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
from rankviz.objectives.feature_space import Objective, Point, certificate
from rankviz.objectives.preconditioner import Preconditioner


class Status(Enum):
    """How a solver ended; the value is the sentence to show."""

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
        """Whether the rule by which the solver means to end was met: what its tolerance promises holds.

        Not where it ran out of iterations, was kept by rounding, diverged or was stopped on request; nor
        where its rule was met while the gap says that it proves nothing.
        """
        return self in _REACHED


_REACHED = frozenset({Status.CONVERGED, Status.CERTIFIED, Status.STATIONARY, Status.RULE})


@dataclass(frozen=True)
class TraceRow:
    """One iteration, at the point where it begins.

    Attributes
    ----------
    iteration : int
        From 0.
    objective : float
        ½‖w‖² + C·risk, of the loss itself where a smoothed one is trained.
    gradient_norm : float
        ‖∇‖; ½‖∇‖² bounds objective − optimum: it is the duality gap at w for a loss with a derivative.
    decrement : float
        Newton decrement ½|gᵀs|, the drop that the quadratic model promises; NaN for solvers without one.
    cg_iterations : int
        Hessian products spent on the direction s.
    step : float
        Step length along s, or the learning rate; 0 in the last row, where no step is taken.
    active_pairs : int
        Pairs with ℓ'' ≠ 0.
    active_share : float
        The same divided by all pairs.
    seconds : float
        Since the solver started.
    gap : float
        Duality gap over objective, a proved bound on how far the objective is above its optimum.
    smoothing : float
        Width h over which the loss is smoothed; 0 for a loss that is trained as it is.
    products : float
        Products with Φ and then with Φᵀ (or with the kernel) that the iteration spent. Hessians and
        preconditioners that are formed are not counted.
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
        """The row of an iteration that begins at a point, and takes no step yet."""
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
    """A way to minimise an objective."""

    @property
    def preconditioned(self) -> bool:
        """Whether conjugate gradients are given a preconditioner."""
        ...

    def solve(
        self,
        objective: Objective,
        w: FloatArray | None = None,
        report: Report = silent,
        precondition: Preconditioner | None = None,
    ) -> SolverResult:
        """Run from w, the objective's start if not given, with a preconditioner to try before one is built.

        What `report` raises to stop it ends it with the weights so far.
        """
        ...


@dataclass(frozen=True, eq=False)
class SolverResult:
    """Weights and the story of how they were reached.

    Attributes
    ----------
    point : Point
        Final weights with scores, objective and gradient.
    status : Status
    trace : tuple of TraceRow
    precondition : Preconditioner or None
        The last one in use, where there was one.
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
