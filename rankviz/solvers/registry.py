"""Solvers by the names that `RankSVM(solver=...)` and the app use, and what each of them needs.

To add one: a frozen dataclass with `solve` (see `rankviz.solvers.result.Solver`), and one entry in `SOLVERS`
that says what it needs of a loss and which settings it reads. What does not go together is refused from that.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from rankviz.common.errors import SettingError
from rankviz.common.settings import SEED, Choice, Setting, one_of
from rankviz.objectives.feature_space import RankObjective
from rankviz.objectives.stochastic import PairTerms, QueryTerms, Terms
from rankviz.solvers.effort import (
    SolverWork,
    evaluations,
    guessed_solver,
    newton_by_cg,
    newton_by_factor,
    passes_by_pair,
    passes_by_query,
)
from rankviz.solvers.hinge import HingeContinuation
from rankviz.solvers.lbfgs import LBFGS
from rankviz.solvers.newton import TruncatedNewton
from rankviz.solvers.result import Solver
from rankviz.solvers.settings import PRECONDITIONER
from rankviz.solvers.sgd import DampedSteps, PrintedSteps, Steps, StochasticGradient
from rankviz.solvers.yuan import NewtonYuan


class LossFacts(Protocol):
    """What solvers need to know of a loss (see `rankviz.risk.losses.Loss`)."""

    @property
    def label(self) -> str:
        """What to call it."""
        ...

    @property
    def convex(self) -> bool:
        """Whether it is convex."""
        ...

    @property
    def smooth(self) -> bool:
        """Whether it has a derivative everywhere."""
        ...

    @property
    def curvature(self) -> float:
        """The largest second derivative."""
        ...

    @property
    def by_continuation(self) -> bool:
        """Whether it is the limit of smoothed hinges."""
        ...


@dataclass(frozen=True)
class Need:
    """Something of a loss that a solver cannot do without.

    Attributes
    ----------
    words : str
        What a loss must have: "a derivative everywhere".
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
    """What solvers are made with.

    Attributes
    ----------
    loss : LossFacts
    tol : float
    max_iter : int or None
        None for a number that suits the solver.
    preconditioned : bool
    seed : int
    """

    loss: LossFacts
    tol: float = 1e-6
    max_iter: int | None = None
    preconditioned: bool = True
    seed: int = 0

    def at_most(self, usual: int) -> int:
        """The largest number of iterations."""
        return usual if self.max_iter is None else self.max_iter


@dataclass(frozen=True)
class SolverChoice:
    """A solver to choose.

    Attributes
    ----------
    label : str
        What to call it.
    make : SolverSettings -> Solver
    needs : tuple of Need
        What a loss must have.
    needs_features : bool
        Whether it works on weights of features, so that it cannot train in the exact kernel's own space.
    lists_pairs : bool
        Whether it lists the pairs whatever the loss is, and forms Φ.
    settings : tuple of Setting
        Those that it alone reads.
    steps : str
        What one row of its trace is called: "iteration", "pass".
    newton : bool
        Whether its rows are Newton steps, which tell their scores and can be played.
    own_rule : bool
        Whether it stops by a rule of its own and not by the tolerance.
    work : SolverTask -> Work
        Typical work, for estimates; a guess where it is not declared.
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
        """What a loss lacks for this solver, in words; empty where they go together."""
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
"""Truncated Newton serves every loss and map, the hinge by continuation; the others are there to compare."""

USUAL = next(iter(SOLVERS))
"""The solver that is taken where nothing is said."""

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
    """Raise `SettingError` for a solver that is not known or does not go with a loss, saying what would."""
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
