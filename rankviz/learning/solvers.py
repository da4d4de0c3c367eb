"""Solvers by their names in `RankSVM(solver=...)` and the app, with their requirements.

To add one, write a frozen dataclass with `solve` (see `rankviz.learning.result.Solver`), and enter it in
`SOLVERS` with its requirements for a loss and its settings. Invalid combinations are refused from these.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from rankviz.common.errors import SettingError
from rankviz.common.settings import SEED, Choice, Setting, one_of
from rankviz.learning.effort import (
    SolverWork,
    evaluations,
    guessed_solver,
    newton_by_cg,
    newton_by_factor,
    passes_by_pair,
    passes_by_query,
)
from rankviz.learning.feature_space import RankObjective
from rankviz.learning.hinge import HingeContinuation
from rankviz.learning.lbfgs import LBFGS
from rankviz.learning.newton import TruncatedNewton
from rankviz.learning.result import Solver
from rankviz.learning.sgd import DampedSteps, PrintedSteps, Steps, StochasticGradient
from rankviz.learning.solver_settings import PRECONDITIONER
from rankviz.learning.stochastic import PairTerms, QueryTerms, Terms
from rankviz.learning.yuan import NewtonYuan


class LossFacts(Protocol):
    """Facts about a loss that solvers need (see `rankviz.learning.losses.Loss`)."""

    @property
    def label(self) -> str:
        """Name."""
        ...

    @property
    def convex(self) -> bool:
        """True if it is convex."""
        ...

    @property
    def smooth(self) -> bool:
        """True if it has a derivative everywhere."""
        ...

    @property
    def curvature(self) -> float:
        """The largest second derivative."""
        ...

    @property
    def by_continuation(self) -> bool:
        """True if it is the limit of smoothed hinges."""
        ...


@dataclass(frozen=True)
class Need:
    """A requirement of a solver for a loss.

    Attributes
    ----------
    words : str
        The required property: "a derivative everywhere".
    met_by : LossFacts -> bool
    """

    words: str
    met_by: Callable[[LossFacts], bool]


CONVEX = Need("a single minimum (convexity)", lambda loss: loss.convex)
SMOOTH = Need("a derivative everywhere", lambda loss: loss.smooth)
SMOOTH_OR_HINGE = Need(
    "a derivative everywhere, or to be a limit of smoothed hinges",
    lambda loss: loss.smooth or loss.by_continuation,
)
BOUNDED = Need("a bounded second derivative", lambda loss: math.isfinite(loss.curvature))


@dataclass(frozen=True)
class SolverSettings:
    """Settings for making a solver.

    Attributes
    ----------
    loss : LossFacts
    tol : float
    max_iter : int or None
        None for the solver's default.
    preconditioned : bool
    seed : int
    """

    loss: LossFacts
    tol: float = 1e-6
    max_iter: int | None = None
    preconditioned: bool = True
    seed: int = 0

    def at_most(self, usual: int) -> int:
        """Return the largest number of iterations."""
        return usual if self.max_iter is None else self.max_iter


@dataclass(frozen=True)
class SolverChoice:
    """A solver to choose.

    Attributes
    ----------
    label : str
        Name.
    make : SolverSettings -> Solver
    needs : tuple of Need
        Requirements for a loss.
    needs_features : bool
        True if it needs weights of features, so it cannot train in the exact kernel's own space.
    lists_pairs : bool
        True if it lists the pairs for every loss, and forms Φ.
    settings : tuple of Setting
        Settings of this solver alone.
    steps : str
        Name of one row of its trace: "iteration", "pass".
    newton : bool
        True if its rows are Newton steps, which report scores and can be played.
    own_rule : bool
        True if it stops by a rule of its own, not by the tolerance.
    work : SolverTask -> Work
        Typical work, for estimates; a guess if not declared.
    """

    label: str
    make: Callable[[SolverSettings], Solver]
    needs: tuple[Need, ...] = (CONVEX, SMOOTH)
    needs_features: bool = True
    lists_pairs: bool = False
    settings: tuple[Setting, ...] = ()
    steps: str = "iteration"
    newton: bool = False
    own_rule: bool = False
    work: SolverWork = guessed_solver

    def lacks(self, loss: LossFacts) -> list[str]:
        """List requirements that a loss does not meet, in words."""
        return [need.words for need in self.needs if not need.met_by(loss)]


def _newton(settings: SolverSettings) -> Solver:
    if settings.loss.by_continuation:
        return HingeContinuation(settings.tol, settings.at_most(1000), settings.preconditioned)
    return TruncatedNewton(
        tol=settings.tol, max_iter=settings.at_most(100), preconditioned=settings.preconditioned
    )


def _sgd(label: str, terms: Callable[[RankObjective], Terms], steps: Steps, work: SolverWork) -> SolverChoice:
    def make(settings: SolverSettings) -> Solver:
        return StochasticGradient(terms, steps, settings.seed, settings.tol, settings.at_most(100))

    needs = (CONVEX, SMOOTH, BOUNDED)
    return SolverChoice(label, make, needs, lists_pairs=True, settings=(SEED,), steps="pass", work=work)


SOLVERS: dict[str, SolverChoice] = {
    "newton": SolverChoice(
        "truncated Newton",
        _newton,
        (CONVEX, SMOOTH_OR_HINGE),
        needs_features=False,
        settings=(PRECONDITIONER,),
        newton=True,
        work=newton_by_cg,
    ),
    "newton_yuan": SolverChoice(
        "Newton-YUAN",
        lambda s: NewtonYuan(max_iter=s.at_most(100)),
        (CONVEX, SMOOTH, BOUNDED),
        newton=True,
        own_rule=True,
        work=newton_by_factor,
    ),
    "sgd_query": _sgd("SGD by query", QueryTerms, DampedSteps(), passes_by_query),
    "sgd_pair": _sgd("SGD by pair", PairTerms, DampedSteps(), passes_by_pair),
    "sgd_query_printed": _sgd(
        "SGD by query, steps 1/t as printed", QueryTerms, PrintedSteps(), passes_by_query
    ),
    "sgd_pair_printed": _sgd("SGD by pair, steps 1/t as printed", PairTerms, PrintedSteps(), passes_by_pair),
    "lbfgs": SolverChoice("L-BFGS (SciPy)", lambda s: LBFGS(s.tol, s.at_most(10_000)), work=evaluations),
}
"""Truncated Newton supports every loss and map, the hinge by continuation; the others are for comparison."""

USUAL = next(iter(SOLVERS))
"""The default solver."""

SOLVER = Setting(
    name="solver",
    symbol="solver",
    label="Solver",
    domain=Choice(SOLVERS),
    default=USUAL,
    help="Truncated Newton serves every loss and map. The others are here to compare with, best on the "
    "Convergence page: most of them come less close to the optimum.",
    key="solver",
    quiet=True,
    how=True,
)


def check_solver(name: str, loss: LossFacts) -> None:
    """Raise `SettingError`, naming a valid solver, for an unknown one or one that does not support a loss."""
    one_of("solver", name, SOLVERS)
    lacking = SOLVERS[name].lacks(loss)
    if lacking:
        able = [other for other, choice in SOLVERS.items() if not choice.lacks(loss)]
        instead = f"choose solver={able[0]!r}, which can train it" if able else "no solver here can train it"
        raise SettingError(
            f"solver={name!r} needs a loss with {' and '.join(lacking)}, which the {loss.label} has not; "
            f"{instead}, or another loss"
        )


def check_kernel_space(name: str, n: int) -> None:
    """Raise `SettingError` for a solver that cannot train an exact kernel of n documents in its own space."""
    if SOLVERS[name].needs_features:
        able = next(other for other, choice in SOLVERS.items() if not choice.needs_features)
        raise SettingError(
            f"solver={name!r} needs weights of features, and the exact kernel of as many as {n:,} documents "
            f"is trained in coefficients of documents; choose solver={able!r}, which can, or an "
            "approximation of the kernel"
        )
