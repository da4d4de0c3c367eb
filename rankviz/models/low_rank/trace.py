"""Interface, results and traces of low-rank solvers."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass, fields
from typing import Generic, Protocol, TypeVar

import numpy as np
import pandas as pd

from rankviz.common.arrays import FloatArray
from rankviz.common.progress import Progress, Report, silent
from rankviz.learning.result import Status

P = TypeVar("P")
Problem = TypeVar("Problem", contravariant=True)


@dataclass(frozen=True)
class StepRow:
    """The result of one iteration.

    Attributes
    ----------
    iteration : int
        Number from 0, the start; for steps query by query, passes over all queries.
    objective : float
        The minimised function.
    gap : float
        max ⟨gradient, x − s⟩ over points s of the box, over |objective|: zero if no step in the box lowers
        the objective. For a convex objective, it bounds the distance from the minimum.
    seconds : float
        Seconds since the solver started.
    """

    iteration: int
    objective: float
    gap: float
    seconds: float


@dataclass(frozen=True, eq=False)
class LowRankResult(Generic[P]):
    """The last point, the final status, and the trace."""

    point: P
    status: Status
    trace: tuple[StepRow, ...]

    @property
    def frame(self) -> pd.DataFrame:
        """The trace as a table."""
        types = {field.name: np.int64 if field.type == "int" else np.float64 for field in fields(StepRow)}
        return pd.DataFrame(
            {name: np.array([getattr(r, name) for r in self.trace], t) for name, t in types.items()}
        )


class LowRankSolver(Protocol[Problem, P]):
    """A solver for problems of one kind, ending at points P."""

    def solve(self, problem: Problem, start: FloatArray, /, report: Report = silent) -> LowRankResult[P]:
        """Minimise from `start`; a stop through `report` returns the current result."""
        ...


class Tracer:
    """Records the trace of one solve and reports it.

    Parameters
    ----------
    report : Report
    tol : float
        The gap at which to stop.
    """

    def __init__(self, report: Report, tol: float) -> None:
        self.rows: list[StepRow] = []
        self._report, self._tol, self._began = report, tol, time.perf_counter()

    def note(self, iteration: int, objective: float, gap: float, scores: FloatArray) -> bool:
        """Add a row; return True if its gap is small enough to stop."""
        relative = gap / abs(objective) if objective != 0.0 else gap
        self.rows.append(StepRow(iteration, objective, relative, time.perf_counter() - self._began))
        self._report(Progress("newton", None, asdict(self.rows[-1]), scores))
        return relative <= self._tol

    def tell(self) -> None:
        """Report that the solver is alive between rows; raise `StopRequested` on a stop."""
        self._report(Progress("newton", None, asdict(self.rows[-1]) if self.rows else None))
