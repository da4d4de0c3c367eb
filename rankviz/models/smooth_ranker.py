"""Rankers with a smooth loss that is not convex: L-BFGS from several starts, the lowest end kept."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, ClassVar

import numpy as np

from rankviz.common.arrays import FloatArray, IntArray
from rankviz.common.progress import Report
from rankviz.common.settings import SEED, Setting, Steps, Whole
from rankviz.features.registry import FEATURE_MAP
from rankviz.learning.lbfgs import LBFGS
from rankviz.learning.losses import LOSS_WEIGHT
from rankviz.learning.newton import TruncatedNewton
from rankviz.learning.objective import Point, Status, TraceRow, frame_of
from rankviz.learning.score_losses import Queries, RankRLS, ScoreLoss, ScoreTerms
from rankviz.learning.score_risk import ScoreRisk, ScoreRiskPoint
from rankviz.learning.solvers import TOL
from rankviz.models.map_ranker import MapRanker, Problem, Trained

MOST_ITERATIONS = 200
"""Iterations of L-BFGS from each start, unless `max_iter` says otherwise."""
REGRESSION_TOL = 1e-6

STARTS_OF = Setting(
    name="starts",
    symbol="starts",
    label="Starts",
    domain=Whole(1, 100),
    default=3,
    help="Training minimises from so many starts and keeps the lowest end: the objective is not convex.",
    key="restarts",
    offer=Steps((1, 2, 3, 5, 10, 20)),
    caption=lambda n: f"{n} start{'s' * (n > 1)}",
    quiet=True,
)


class SmoothLoss(ScoreLoss):
    """A loss of scores with a gradient, but not convex: its Hessian is not given."""

    convex = False
    curvature = float("inf")
    family = "listwise"

    @abstractmethod
    def prepared(self, y: IntArray, queries: Queries) -> Callable[[FloatArray], ScoreTerms]:
        """Return the loss of documents with grades y (n,) as a function of scores."""

    def terms(self, f: FloatArray, y: IntArray, queries: Queries) -> ScoreTerms:
        """Return the loss at scores f (n,) of documents with grades y (n,)."""
        return self.prepared(y, queries)(f)

    def stages(self) -> Sequence[SmoothLoss]:
        """Return losses to train one after another, ending with itself."""
        return (self,)


def blocks(own: IntArray, query: IntArray, ptr: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """Pair each of these documents with all of its query: return firsts, starts of blocks, and seconds."""
    size = np.diff(ptr)[query]
    start = np.concatenate(([0], np.cumsum(size)))
    second = np.arange(start[-1]) + (ptr[:-1][query] - start[:-1]).repeat(size)
    return own.repeat(size), start[:-1], second


@dataclass(frozen=True)
class StartRow(TraceRow):
    """A row of the trace, with the number of its start; those of the kept start come last."""

    start: int = 0


@dataclass(frozen=True, eq=False)
class End:
    """The end of one start, and its rows."""

    point: Point
    status: Status
    rows: list[TraceRow]


def descend(stages: Sequence[Any], w: FloatArray, tol: float, max_iter: int, report: Report) -> End:
    """Minimise objectives one after another, each from the end of the one before; rows are of the last one.

    An earlier stage has one row, at its end, with its smoothing. L-BFGS ends once ½‖∇‖² is at most `tol`
    times the objective.
    """
    rows: list[TraceRow] = []
    for stage in stages:
        smoothing = stage.risk.loss.smoothing
        found = LBFGS(tol, max_iter).solve(stage, w, report)
        w = found.point.w
        if found.status is Status.STOPPED or stage is stages[-1]:
            break
        row = TraceRow.at(stages[-1], stages[-1].at(w), 0, found.trace[-1].seconds)
        products = sum(one.products for one in found.trace)
        rows.append(replace(row, smoothing=smoothing, step=1.0, products=products))
    point = found.point if stage is stages[-1] else stages[-1].at(w)
    rows += [replace(row, smoothing=smoothing) for row in found.trace] if stage is stages[-1] else []
    return End(point, found.status, rows or [TraceRow.at(stages[-1], point, 0, 0.0)])


def lowest(ends: Sequence[End]) -> tuple[int, list[StartRow]]:
    """Return the start with the lowest end, and the rows of all starts, its own last."""
    best = min(range(len(ends)), key=lambda k: ends[k].point.value)
    order = [*(k for k in range(len(ends)) if k != best), best]
    rows = [(k, row) for k in order for row in ends[k].rows]
    return best, [StartRow(**asdict(row) | {"iteration": i, "start": k}) for i, (k, row) in enumerate(rows)]


@dataclass(frozen=True, eq=False)
class ShiftedRisk(ScoreRisk):
    """A risk of scores f + offset (n,)."""

    offset: FloatArray | float = 0.0

    def at(self, f: FloatArray) -> ScoreRiskPoint:
        """Return the value and gradient at scores f + offset."""
        return super().at(f + self.offset)


@dataclass(eq=False, repr=False)
class SmoothRanker(MapRanker):
    """Minimises ½‖w − w₀‖² + C·loss(Φw) for a smooth loss that is not convex; w₀ is 0 unless declared.

    The first start is regression on grades within queries (RankRLS, its C divided by the documents of a
    query). Others are random steps from w₀, of equal length. L-BFGS runs from each, and the lowest end is
    kept. Nothing bounds its distance from the minimum.

    Attributes
    ----------
    starts_ : (starts,) float64
        Objective at the end of each start.
    origin_ : (m,) float64
        w₀.
    trace_ : DataFrame
        Rows of all starts, with the column "start"; the kept start comes last.
    """

    starts: int = 3

    settings: ClassVar[tuple[Setting, ...]] = (LOSS_WEIGHT, FEATURE_MAP, STARTS_OF, SEED, TOL)
    kept = ("starts", "origin")
    around: ClassVar[float | None] = None
    """C of the regression if w₀ is its solution; None for w₀ = 0."""

    @abstractmethod
    def loss(self) -> SmoothLoss:
        """Return the loss with its settings."""

    def train(self, problem: Problem, report: Report) -> Trained:
        """Minimise from every start."""
        data, first = problem.data, self._regression(problem, report)
        self.origin_ = np.zeros(len(first)) if self.around is None else first
        plain = problem.objective(ScoreRisk(data.y, data.ptr, self.loss()), report)
        offset = plain.features.product(self.origin_)
        stages = [
            plain.with_risk(ShiftedRisk(data.y, data.ptr, loss, offset=offset))
            for loss in self.loss().stages()
        ]
        most = MOST_ITERATIONS if self.max_iter is None else self.max_iter
        ends: list[End] = []
        for v in self._steps(first, problem.seed):
            ends.append(descend(stages, v, self.tol, most, report))
            if ends[-1].status is Status.STOPPED:
                break
        best, rows = lowest(ends)
        self.starts_ = np.array([end.point.value for end in ends])
        stopped = ends[-1].status is Status.STOPPED
        point, status = ends[best].point, Status.STOPPED if stopped else ends[best].status
        fitted = problem.space.map(problem.task)
        return Trained(fitted, self.origin_ + point.w, point.value, status, frame_of(rows, StartRow))

    def _regression(self, problem: Problem, report: Report) -> FloatArray:
        """Return the weights of regression on grades within queries."""
        data = problem.data
        C = problem.task.C if self.around is None else self.around
        objective = problem.objective(ScoreRisk(data.y, data.ptr, RankRLS()), report)
        objective = replace(objective, C=C * data.n_queries / data.n_documents)
        return TruncatedNewton(tol=REGRESSION_TOL).solve(objective, None, report).point.w

    def _steps(self, first: FloatArray, seed: int) -> list[FloatArray]:
        """Return each start minus w₀."""
        rng, size = np.random.default_rng(seed), float(np.linalg.norm(first))
        drawn = [rng.normal(size=len(first)) for _ in range(self.starts - 1)]
        return [first - self.origin_, *(v * (size / np.linalg.norm(v)) for v in drawn)]

    @property
    def solution(self) -> dict[str, FloatArray]:
        """The objectives at the ends of all starts, and w₀."""
        return {"starts": self.starts_, "origin": self.origin_}
