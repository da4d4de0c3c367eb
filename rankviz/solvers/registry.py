"""Solvers by the names that `RankSVM(solver=...)` and the app use, and what each of them needs.

To add one: a frozen dataclass with `solve` (see `rankviz.solvers.result.Solver`), and one entry in `SOLVERS`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from rankviz.objectives.feature_space import RankObjective
from rankviz.objectives.stochastic import PairTerms, QueryTerms, Terms
from rankviz.solvers.hinge import HingeContinuation
from rankviz.solvers.lbfgs import LBFGS
from rankviz.solvers.newton import TruncatedNewton
from rankviz.solvers.result import Solver
from rankviz.solvers.sgd import DampedSteps, PrintedSteps, Steps, StochasticGradient
from rankviz.solvers.yuan import NewtonYuan


@dataclass(frozen=True)
class SolverSettings:
    """What solvers are made with.

    Attributes
    ----------
    loss : str
        A name in `rankviz.risk.losses.LOSSES`.
    tol : float
    max_iter : int or None
        None for a number that suits the solver.
    preconditioned : bool
    seed : int
    """

    loss: str = "squared_hinge"
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
    needs : str
        What a loss must have, in words; "" where every loss is served.
    needs_features : bool
        Whether it works on weights of features, so that it cannot train in the exact kernel's own space.
    lists_pairs : bool
        Whether it lists the pairs whatever the loss is, and forms Φ.
    """

    label: str
    make: Callable[[SolverSettings], Solver]
    needs: str = ""
    needs_features: bool = True
    lists_pairs: bool = False


def _newton(settings: SolverSettings) -> Solver:
    if settings.loss == "hinge":
        return HingeContinuation(settings.tol, settings.at_most(1000), settings.preconditioned)
    return TruncatedNewton(
        tol=settings.tol, max_iter=settings.at_most(100), preconditioned=settings.preconditioned
    )


def _sgd(label: str, terms: Callable[[RankObjective], Terms], steps: Steps) -> SolverChoice:
    def make(settings: SolverSettings) -> Solver:
        return StochasticGradient(terms, steps, settings.seed, settings.tol, settings.at_most(100))

    return SolverChoice(label, make, "a bounded second derivative", lists_pairs=True)


SOLVERS: dict[str, SolverChoice] = {
    "newton": SolverChoice("truncated Newton", _newton, needs_features=False),
    "newton_yuan": SolverChoice(
        "Newton-YUAN", lambda s: NewtonYuan(max_iter=s.at_most(100)), "a second derivative"
    ),
    "sgd_query": _sgd("SGD by query", QueryTerms, DampedSteps()),
    "sgd_pair": _sgd("SGD by pair", PairTerms, DampedSteps()),
    "sgd_query_printed": _sgd("SGD by query, steps 1/t as printed", QueryTerms, PrintedSteps()),
    "sgd_pair_printed": _sgd("SGD by pair, steps 1/t as printed", PairTerms, PrintedSteps()),
    "lbfgs": SolverChoice("L-BFGS (SciPy)", lambda s: LBFGS(s.tol, s.at_most(10_000)), "a derivative"),
}
"""Truncated Newton serves every loss and map, the hinge by continuation; the others are there to compare."""


def check_solver(name: str, loss: str) -> None:
    """Raise ValueError for a solver that is not known or does not go with a loss, saying what would."""
    if name not in SOLVERS:
        raise ValueError(f"solver={name!r} is not known; choose one of {', '.join(map(repr, SOLVERS))}")
    needs = SOLVERS[name].needs
    if loss == "hinge" and needs:
        raise ValueError(
            f"solver={name!r} needs a loss with {needs}, and the hinge has none at its corner; choose "
            "solver='newton', which trains it by continuation, or loss='huber', a hinge with a round corner"
        )


def check_kernel_space(name: str, n: int) -> None:
    """Raise ValueError for a solver that cannot train an exact kernel of n documents in its own space."""
    if SOLVERS[name].needs_features:
        raise ValueError(
            f"solver={name!r} needs weights of features, and the exact kernel of as many as {n:,} documents "
            "is trained in coefficients of documents; choose solver='newton', which can, or "
            "feature_map='nystroem'"
        )
