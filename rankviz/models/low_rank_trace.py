"""Interface, results, traces and typical work of low-rank solvers.

Iterations were measured on linear runs on OHSUMED, MQ2008 and the bundled set at C = 2^-13 … 2^-4. Most runs
take within a factor of four of the estimated seconds.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Generic, Protocol, TypeVar

import pandas as pd

from rankviz.common.arrays import FloatArray
from rankviz.common.progress import Progress, Report, silent
from rankviz.learning.objective import Status, frame_of
from rankviz.learning.solvers import Sizes, Work

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
        return frame_of(self.trace, StepRow)


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


FIRST_ITERATIONS, MORE_ITERATIONS = 300, 20
"""Iterations of L-BFGS-B with one factor, and with each larger number on the way to K."""
FACTOR_TRAFFIC = 2500
"""Bytes moved per factor in one iteration: partners' sums, and L-BFGS corrections."""
QUERY_SECONDS = 5e-5
"""Seconds per query in one pass of the paper's algorithm: a few dozen calls on small arrays."""
DUAL_TRAFFIC, BLOCK_SECONDS = 1500, 1.5e-5
"""Bytes moved per entry of the rectangles in one step, and seconds for the singular values of one."""
ROUND = 2.5
"""Time of a round of the paper's alternating steps over that of one accelerated step."""
QUERY_PASSES, FISTA_STEPS, ROUNDS = 80, 100, 150
"""Iterations at C = 2^-7."""
GROWTH = 0.65
"""Iterations grow like this power of C."""

Values = Mapping[str, Any]


def by_levels(sizes: Sizes, levels: list[int]) -> Work:
    """Return the work of L-BFGS-B on all factors, with these numbers of factors one after the other."""
    more = levels[1:]
    factors, evaluations = FIRST_ITERATIONS + MORE_ITERATIONS * sum(more), MORE_ITERATIONS * len(more)
    return Work(products=FIRST_ITERATIONS + evaluations, traffic=factors * sizes.n * FACTOR_TRAFFIC)


def by_query(values: Values, sizes: Sizes, most: int) -> Work:
    """Return the work of passes over all queries, at most `most`."""
    passes = iterations(QUERY_PASSES, values, most)
    return Work(products=4 * passes, seconds=passes * sizes.queries * QUERY_SECONDS)


def by_dual_steps(steps: float, sizes: Sizes, each: float = 1.0) -> Work:
    """Return the work of steps on α and the matrices A; each costs `each` accelerated steps."""
    steps *= each
    return Work(
        products=2 * steps,
        traffic=steps * sizes.entries * DUAL_TRAFFIC,
        seconds=steps * sizes.queries * BLOCK_SECONDS,
        preconditioned=True,
    )


def iterations(typical: float, values: Values, most: int, share: float = 1.0) -> float:
    """Return typical iterations at this C, times `share`; at least one, and at most the solver's limit."""
    return float(min(max(1.0, share * typical * (values["C"] / 2.0**-7) ** GROWTH), most))
