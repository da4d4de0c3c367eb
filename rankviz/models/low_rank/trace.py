"""Shared by low-rank solvers: how they are called, what they return, one row per iteration."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass, fields
from typing import Generic, Protocol, TypeVar

import numpy as np
import pandas as pd

from rankviz.common.arrays import FloatArray
from rankviz.common.progress import Progress, Report, silent
from rankviz.solvers.result import Status

P = TypeVar("P")
Problem = TypeVar("Problem", contravariant=True)


@dataclass(frozen=True)
class StepRow:
    """Where an iteration has led.

    Attributes
    ----------
    iteration : int
        From 0, the start; of an algorithm that goes from query to query, passes over all.
    objective : float
        What is minimised.
    gap : float
        max ⟨gradient, x − s⟩ over points s of the box, over |objective|: zero where no step in the box lowers
        the objective. Where that is convex, it proves how far the objective is above its minimum.
    seconds : float
        Since the solver started.
    """

    iteration: int
    objective: float
    gap: float
    seconds: float


@dataclass(frozen=True, eq=False)
class LowRankResult(Generic[P]):
    """The last point, how the solver ended, and its trace."""

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
    """A way to minimise problems of a kind, ending at points P."""

    def solve(self, problem: Problem, start: FloatArray, /, report: Report = silent) -> LowRankResult[P]:
        """Run from `start`; a stop asked for through `report` returns what is there."""
        ...


class Tracer:
    """Keeps the trace of one solve and tells whoever listens.

    Parameters
    ----------
    report : Report
    tol : float
        The gap at which to end.
    """

    def __init__(self, report: Report, tol: float) -> None:
        self.rows: list[StepRow] = []
        self._report, self._tol, self._began = report, tol, time.perf_counter()

    def note(self, iteration: int, objective: float, gap: float, scores: FloatArray) -> bool:
        """Add a row; whether its gap is small enough to end."""
        relative = gap / abs(objective) if objective != 0.0 else gap
        self.rows.append(StepRow(iteration, objective, relative, time.perf_counter() - self._began))
        self._report(Progress("newton", None, asdict(self.rows[-1]), scores))
        return relative <= self._tol

    def tell(self) -> None:
        """A sign of life between rows; raises `StopRequested` where a stop was asked for."""
        self._report(Progress("newton", None, asdict(self.rows[-1]) if self.rows else None))
