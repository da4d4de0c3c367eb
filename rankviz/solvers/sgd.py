"""Stochastic gradients by query or by pair: many cheap steps, each along the gradient of one term of the sum.

chapelle2010 §6.1 prints the step 1/t. Its terms are only 1/N-strongly convex, so these steps first blow the
weights up and then contract like T^(−1/N). Steps 1/(t/N + L), with L bounding the curvature of every term, do
neither; the mean of the last half of the weights takes the noise out. Both are here, to be compared.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import ClassVar, Protocol

import numpy as np

from rankviz.common.arrays import FloatArray
from rankviz.common.progress import Progress, Report, StopRequested, silent
from rankviz.objectives.feature_space import Objective, RankObjective
from rankviz.objectives.preconditioner import Preconditioner
from rankviz.objectives.stochastic import Terms
from rankviz.solvers.result import SolverResult, Status, TraceRow

REPORT_EVERY = 64
"""Steps between reports."""
LARGEST_WEIGHT = 1e100
"""Larger weights have squares near the end of float64's range."""


class Steps(Protocol):
    """A rule for learning rates, and what becomes of the weights."""

    @property
    def averaged(self) -> bool:
        """Whether the result is the mean over the last half of the passes, or the last weights."""
        ...

    def rate(self, t: int, terms: Terms) -> float:
        """The learning rate of step t = 1, 2, …"""
        ...


@dataclass(frozen=True)
class PrintedSteps:
    """1/t, as chapelle2010's Algorithms 2 and 3 have it."""

    averaged: ClassVar[bool] = False

    def rate(self, t: int, terms: Terms) -> float:
        """1/t."""
        return 1.0 / t


@dataclass(frozen=True)
class DampedSteps:
    """1/(t/N + L), L = 1/N + the largest curvature of a term: the first steps are short enough for each."""

    averaged: ClassVar[bool] = True

    def rate(self, t: int, terms: Terms) -> float:
        """1/(t/N + L)."""
        return 1.0 / ((t + 1.0) / terms.count + terms.curvature)


@dataclass(frozen=True)
class StochasticGradient:
    """Minimise an objective over features by w ← w − rate·(w/N + C ∂risk_k) for terms k drawn at random.

    Attributes
    ----------
    terms : RankObjective -> Terms
        What the sum is over: `QueryTerms` or `PairTerms`.
    steps : Steps
    seed : int
        Of the draws.
    tol : float
        Stop once the duality gap ½‖g‖² is at most tol times the objective; that is rarely reached.
    max_iter : int
        Passes over the data, one row of the trace each.
    """

    terms: Callable[[RankObjective], Terms]
    steps: Steps = DampedSteps()
    seed: int = 0
    tol: float = 1e-6
    max_iter: int = 100

    preconditioned: ClassVar[bool] = False

    def solve(
        self,
        objective: Objective,
        w: FloatArray | None = None,
        report: Report = silent,
        precondition: Preconditioner | None = None,
    ) -> SolverResult:
        """Run from w (m,), zeros if not given; a stop asked for through `report` returns the last pass."""
        if not isinstance(objective, RankObjective):
            raise TypeError(
                "stochastic gradients need rows of features: an objective in kernel space has none"
            )
        run = _Run(self, objective, report, objective.start() if w is None else w.copy())
        try:
            return run.passes()
        except StopRequested:
            return run.result(Status.STOPPED)


class _Run:
    """Weights, their means over passes, and the trace."""

    def __init__(
        self, solver: StochasticGradient, objective: RankObjective, report: Report, w: FloatArray
    ) -> None:
        self.solver, self.objective, self.report = solver, objective, report
        self.began = time.perf_counter()
        self.rng = np.random.default_rng(solver.seed)
        self.w, self.t, self.means = w, 0, list[FloatArray]()
        self.rows = list[TraceRow]()
        self._note(w)

    def passes(self) -> SolverResult:
        """One pass after the other."""
        self._tell(begins=True)
        if self.objective.n_pairs == 0:
            return self.result(Status.CERTIFIED)
        terms = self.solver.terms(self.objective)
        for _ in range(self.solver.max_iter):
            if self.rows[-1].gap <= self.solver.tol:
                return self.result(Status.CERTIFIED)
            rate = self.solver.steps.rate(self.t + 1, terms)
            with np.errstate(over="ignore", invalid="ignore"):
                self.means.append(self._pass(terms))
            if not np.abs(self.w).max() <= LARGEST_WEIGHT:
                return self.result(Status.DIVERGED)
            seconds = time.perf_counter() - self.began
            self.rows[-1] = replace(self.rows[-1], step=rate, products=terms.products, seconds=seconds)
            tail = self.means[len(self.means) // 2 :]
            self._note(np.mean(tail, axis=0) if self.solver.steps.averaged else self.w.copy())
            self._tell(begins=True)
        return self.result(Status.MAX_ITERATIONS)

    def _pass(self, terms: Terms) -> FloatArray:
        """Steps over one pass; the mean of the weights after each."""
        total, w, first, N = np.zeros_like(self.w), self.w, self.t, terms.count
        for term in terms.passed(self.rng):
            self.t += 1
            rate = self.solver.steps.rate(self.t, terms)
            change = term.gradient(w)
            change *= rate
            w *= 1.0 - rate / N
            w -= change
            total += w
            if self.t % REPORT_EVERY == 0:
                self._tell()
        return total / (self.t - first)

    def _tell(self, *, begins: bool = False) -> None:
        scores = self.point.scores if begins else None
        self.report(Progress("newton", None, asdict(self.rows[-1]), scores))

    def _note(self, w: FloatArray) -> None:
        """The row of the pass that begins now."""
        self.point = self.objective.at(w)
        seconds = time.perf_counter() - self.began
        self.rows.append(TraceRow.at(self.objective, self.point, len(self.rows), seconds))

    def result(self, status: Status) -> SolverResult:
        """The result so far."""
        return SolverResult(self.point, status, tuple(self.rows))
