"""Stochastic gradients by query or by pair: many cheap steps, each along the gradient of one term.

chapelle2010 §6.1 prints the step 1/t. Its terms are only 1/N-strongly convex, so these steps first increase
the weights greatly and then contract like T^(−1/N). Steps 1/(t/N + L), with L bounding the curvature of every
term, avoid both. The mean over the last half of the passes removes noise. Both rules are here for comparison.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import ClassVar, Protocol

import numpy as np

from rankviz.common.arrays import FloatArray
from rankviz.common.progress import Progress, Report, StopRequested, silent
from rankviz.learning.feature_space import RankObjective
from rankviz.learning.objective import Objective, Preconditioner, SolverResult, Status, TraceRow
from rankviz.learning.stochastic import Terms

REPORT_EVERY = 64
"""StepRule between reports."""
LARGEST_WEIGHT = 1e100
"""Squares of larger weights are near float64's limit."""


class StepRule(Protocol):
    """A rule for learning rates and for the final weights."""

    @property
    def averaged(self) -> bool:
        """True if the result is the mean over the last half of the passes; False for the last weights."""
        ...

    def rate(self, t: int, terms: Terms) -> float:
        """Return the learning rate of step t = 1, 2, …"""
        ...


@dataclass(frozen=True)
class PrintedSteps:
    """1/t, as in chapelle2010's Algorithms 2 and 3."""

    averaged: ClassVar[bool] = False

    def rate(self, t: int, terms: Terms) -> float:
        """Return 1/t."""
        return 1.0 / t


@dataclass(frozen=True)
class DampedSteps:
    """1/(t/N + L), L = 1/N + the largest curvature of a term, so that first steps are not too long."""

    averaged: ClassVar[bool] = True

    def rate(self, t: int, terms: Terms) -> float:
        """Return 1/(t/N + L)."""
        return 1.0 / ((t + 1.0) / terms.count + terms.curvature)


@dataclass(frozen=True)
class StochasticGradient:
    """Minimise an objective over features by w ← w − rate·(w/N + C ∂risk_k) for random terms k.

    Attributes
    ----------
    terms : RankObjective -> Terms
        Terms of the sum: `QueryTerms` or `PairTerms`.
    steps : StepRule
    seed : int
        Seed of the draws.
    tol : float
        Stop once the duality gap ½‖g‖² is at most tol times the objective; this is rarely reached.
    max_iter : int
        Passes over the data; each has one row of the trace.
    """

    terms: Callable[[RankObjective], Terms]
    steps: StepRule = DampedSteps()
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
        """Minimise from w (m,) (default: zeros); a stop through `report` returns the last pass."""
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
        """Run pass after pass."""
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
        """Take the steps of one pass; return the mean of the weights over its steps."""
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
        """Record the row of the pass that begins now."""
        self.point = self.objective.at(w)
        seconds = time.perf_counter() - self.began
        self.rows.append(TraceRow.at(self.objective, self.point, len(self.rows), seconds))

    def result(self, status: Status) -> SolverResult:
        """Return the result so far."""
        return SolverResult(self.point, status, tuple(self.rows))
