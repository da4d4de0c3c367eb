"""Solvers by their names in `RankSVM(solver=...)` and the app: settings, requirements, typical work.

To add one, write a frozen dataclass with `solve` (see `rankviz.learning.objective.Solver`), and enter it in
`SOLVERS` with its requirements for a loss and its settings. Invalid combinations are refused from these.

Typical work is in counts that `rankviz.runs.estimate` converts into seconds. Solvers and methods declare
theirs. The number of steps is unknown in advance, so typical numbers are used.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from rankviz.common.errors import SettingError
from rankviz.common.numbers import exact
from rankviz.common.settings import SEED, Choice, Positive, Setting, Steps, Whole, one_of
from rankviz.learning.cutting_planes import CuttingPlanes
from rankviz.learning.feature_space import RankObjective, document_flops
from rankviz.learning.hinge import HingeContinuation
from rankviz.learning.lbfgs import LBFGS
from rankviz.learning.newton import NewtonYuan, TruncatedNewton
from rankviz.learning.objective import Solver
from rankviz.learning.sgd import DampedSteps, PrintedSteps, StepRule, StochasticGradient
from rankviz.learning.stochastic import PairTerms, QueryTerms, Terms


@dataclass(frozen=True)
class Preconditioning:
    """Choice to solve the Newton systems with or without a preconditioner."""

    label: str
    used: bool


PRECONDITIONERS = {
    "auto": Preconditioning("preconditioned", used=True),
    "none": Preconditioning("without preconditioner", used=False),
}
"""Choices by their names in `RankSVM(preconditioner=...)`."""

PRECONDITIONER = Setting(
    name="preconditioner",
    symbol="preconditioner",
    label="Preconditioner",
    domain=Choice(PRECONDITIONERS),
    default="auto",
    help="auto: use the preconditioner for the map. none: use plain conjugate gradients, for comparison.",
    quiet=True,
    how=True,
)

TOLERANCES = (1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8)
"""Tolerances offered on pages."""

TOL = Setting(
    name="tol",
    symbol="tolerance",
    label="Tolerance",
    domain=Positive(),
    default=1e-6,
    help="Training stops when the possible gain, such as the Newton decrement, is at most this share of the "
    "objective.",
    key="tol",
    offer=Steps(TOLERANCES),
    caption=lambda tol: f"tolerance {exact(tol)}",
    quiet=True,
    how=True,
)

MAX_ITER = Setting(
    name="max_iter",
    symbol="iterations",
    label="Largest number of iterations",
    domain=Whole(optional=True),
    default=None,
    help="None for a number that suits the solver.",
    quiet=True,
    how=True,
)


@dataclass(frozen=True)
class Start:
    """Choice of the weights that training starts from.

    Attributes
    ----------
    label : str
    shared : bool
        True if weights of another run may be used.
    """

    label: str
    shared: bool


STARTS = {"near": Start("the nearest run's weights", shared=True), "zero": Start("zero", shared=False)}
"""Choices by their names in `RunSpec(start=...)`."""

START = Setting(
    name="start",
    symbol="start",
    label="Start",
    domain=Choice(STARTS),
    default="near",
    help="; ".join(f"{name}: {start.label}" for name, start in STARTS.items()) + ".",
    caption=lambda name: "",
    how=True,
    parameter=None,
)

NEWTON_STEPS, HINGE_STEPS = 5, 15
"""Newton steps for a smooth loss, and for all widths of a smoothed hinge together."""

CG_ITERATIONS, PLAIN_CG_ITERATIONS = 8, 30
"""CG iterations per Newton step with the preconditioner, and without it."""

KERNEL_STEPS, KERNEL_CG_ITERATIONS = 4, 4
"""Newton steps for the exact kernel, and CG iterations per step, for an easy fit."""

FROM_LANDMARKS = 10_000
"""Documents from which on the exact kernel starts from a Nyström model, whose cost is about one product with
K. An easy fit then takes half of the steps."""

HARDEST, ROUGHNESS = 400.0, 1.7
"""Additional CG iterations of all steps at C = 1 for a kernel matrix close to the identity; growth with γ.

Measured for C from 2^-9 to 2^4 and γ from 2^-6 to 2^2 on the bundled folds and MQ2008. Mostly right within a
factor of two if the first preconditioner suffices.
"""

ENOUGH_CG, MORE_LANDMARKS = 40, 3
"""CG iterations per step above which landmarks grow, and the factor of their growth."""

EVALUATIONS = 200
"""Evaluations of the objective by L-BFGS, and by undeclared solvers."""

PLANES = 100
"""Iterations of cutting planes."""

PASSES = 100
"""Passes of stochastic gradients."""

PAIR_STEP_SECONDS = 5e-7
"""Seconds per pair of a step of sixteen pairs, which is a dozen NumPy calls."""


@dataclass(frozen=True)
class Sizes:
    """The sizes that work depends on.

    Attributes
    ----------
    n, columns : int
        Documents of the training part, and columns of their features.
    queries, entries : int
        Queries, and entries of the rectangles with their pairs.
    in_kernel_space : bool
        True if weights are coefficients of documents, and products use the kernel matrix.
    factored : bool
        True if features are a base times a factor, so that forming them needs a matrix product.
    d, landmarks : int
        Features of documents, and landmarks of the first preconditioner in kernel space.
    """

    n: int
    columns: int
    queries: int = 1
    entries: int = 0
    in_kernel_space: bool = False
    factored: bool = False
    d: int = 1
    landmarks: int = 0


@dataclass(frozen=True)
class Work:
    """Typical work of training, without features.

    Attributes
    ----------
    products : float
        Products with Φ and then with Φᵀ, or with the kernel.
    passes : float
        Passes over the pairs.
    flops : float
        Operations of other matrix products.
    traffic : float
        Other bytes moved.
    seconds : float
        Seconds of many small calls.
    memory : int
        Bytes besides features and risk.
    preconditioned : bool
        True if a preconditioner is built.
    guess : bool
        True if nobody declared it: it is then a plain method's typical work.
    """

    products: float = 0.0
    passes: float = 0.0
    flops: float = 0.0
    traffic: float = 0.0
    seconds: float = 0.0
    memory: int = 0
    preconditioned: bool = False
    guess: bool = False


@dataclass(frozen=True)
class SolverTask:
    """The task of a RankSVM solver.

    Attributes
    ----------
    sizes : Sizes
    continued : bool
        True if the loss is the limit of smoothed hinges.
    preconditioned : bool
        True if conjugate gradients use a preconditioner.
    C, gamma : float
        Weight of the loss and scale of the kernel, which make fits in kernel space hard; 0 for none.
    """

    sizes: Sizes
    continued: bool = False
    preconditioned: bool = True
    C: float = 0.0
    gamma: float = 0.0


SolverWork = Callable[[SolverTask], Work]


def guessed() -> Work:
    """Return products with documents × features, as for a plain method, if nothing is declared."""
    return Work(products=EVALUATIONS, guess=True)


def guessed_solver(task: SolverTask) -> Work:
    """Return evaluations of the objective."""
    return Work(products=EVALUATIONS, passes=EVALUATIONS, guess=True)


def newton_by_cg(task: SolverTask) -> Work:
    """Return Newton steps by conjugate gradients; a third of their work is with the pairs."""
    if task.sizes.in_kernel_space:
        return _newton_in_kernel_space(task)
    cg, steps = CG_ITERATIONS, HINGE_STEPS if task.continued else NEWTON_STEPS
    cg = cg if task.preconditioned else PLAIN_CG_ITERATIONS
    return Work(products=steps * (cg + 3), passes=steps * (cg / 3 + 3), preconditioned=task.preconditioned)


def _newton_in_kernel_space(task: SolverTask) -> Work:
    """Return more steps, CG iterations and landmarks for larger C and γ, where the preconditioner is poorer.

    The number of iterations grows with the square root of the condition number. This grows with C times the
    part of the kernel matrix that landmarks do not cover. Squared distances assume features spread over [0,
    1].
    """
    rough = -math.expm1(-task.gamma * task.sizes.d / 6)
    more = HARDEST * math.sqrt(task.C) * rough**ROUGHNESS
    started = task.preconditioned and task.sizes.n >= FROM_LANDMARKS
    steps = KERNEL_STEPS / (2 if started else 1) + math.log2(1 + more) / 2
    least = KERNEL_CG_ITERATIONS if task.preconditioned else PLAIN_CG_ITERATIONS
    needed = least + more / steps
    flops, m = 0.0, task.sizes.landmarks
    while task.preconditioned and needed > ENOUGH_CG and m < task.sizes.n:
        needed, m = max(needed / 2, least), min(MORE_LANDMARKS * m, task.sizes.n)
        flops = steps / 2 * (2.0 * task.sizes.n * m**2 + 3.0 * m**3)
    products, passes = steps * (needed + 2), steps * (needed / 3 + 3)
    return Work(products=products, passes=passes, flops=flops, preconditioned=task.preconditioned)


def newton_by_factor(task: SolverTask) -> Work:
    """Return Newton steps, each with a Hessian that is formed and factored."""
    n, k = task.sizes.n, task.sizes.columns
    step = 4.0 * n * k**2 + k**3 if k <= n else document_flops(n, k)
    flops = NEWTON_STEPS * step
    return Work(products=2 * NEWTON_STEPS, passes=2 * NEWTON_STEPS, flops=flops)


def evaluations(task: SolverTask) -> Work:
    """Return repeated evaluations of value and gradient."""
    return Work(products=EVALUATIONS, passes=EVALUATIONS)


def planes(task: SolverTask) -> Work:
    """Return iterations with two products each, and the passes of their line searches."""
    return Work(products=2 * PLANES, passes=14 * PLANES)


def passes_by_query(task: SolverTask) -> Work:
    """Return passes over formed features, each about two evaluations, plus one of the objective."""
    return Work(products=3 * PASSES, passes=3 * PASSES, flops=_forming(task.sizes))


def passes_by_pair(task: SolverTask) -> Work:
    """Return passes of many small steps, each with one evaluation of the objective."""
    small = PASSES * task.sizes.n * PAIR_STEP_SECONDS
    return Work(products=PASSES, passes=PASSES, flops=_forming(task.sizes), seconds=small)


def _forming(sizes: Sizes) -> float:
    return float(sizes.n * sizes.columns**2) if sizes.factored else 0.0


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

    @property
    def of_pairs(self) -> bool:
        """True if it is a function of one margin, summed over pairs."""
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
    "a derivative everywhere, or smoothed hinges of which it is the limit",
    lambda loss: loss.smooth or loss.by_continuation,
)

ITSELF = Need("slopes of its own: it must not be a limit", lambda loss: not loss.by_continuation)

TAME = Need(
    "a bounded second derivative where it has one",
    lambda loss: not loss.smooth or math.isfinite(loss.curvature),
)

OF_PAIRS = Need("pairs with one margin each", lambda loss: loss.of_pairs)

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


def _sgd(
    label: str, terms: Callable[[RankObjective], Terms], steps: StepRule, work: SolverWork
) -> SolverChoice:
    def make(settings: SolverSettings) -> Solver:
        return StochasticGradient(terms, steps, settings.seed, settings.tol, settings.at_most(100))

    needs = (CONVEX, SMOOTH, BOUNDED, OF_PAIRS)
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
    "cutting_planes": SolverChoice(
        "cutting planes",
        lambda s: CuttingPlanes(s.tol, s.at_most(1000)),
        (CONVEX, ITSELF, TAME),
        needs_features=False,
        work=planes,
    ),
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
    help="Truncated Newton supports every loss and map. The others are for comparison on the Convergence "
    "page; most end farther from the optimum.",
    key="solver",
    quiet=True,
    how=True,
)


def suitable_solver(loss: LossFacts) -> str:
    """Return the name of the first solver that supports a loss; `SettingError` if none does."""
    for name, choice in SOLVERS.items():
        if not choice.lacks(loss):
            return name
    raise SettingError(f"no solver here can train the {loss.label} loss; choose another loss")


def check_solver(name: str, loss: LossFacts) -> None:
    """Raise `SettingError`, naming a valid solver, for an unknown one or one that does not support a loss."""
    one_of("solver", name, SOLVERS)
    lacking = SOLVERS[name].lacks(loss)
    if lacking:
        able = [other for other, choice in SOLVERS.items() if not choice.lacks(loss)]
        instead = f"choose solver={able[0]!r}, which can train it" if able else "no solver here can train it"
        raise SettingError(
            f"solver={name!r} needs a loss with {' and '.join(lacking)}, unlike {loss.label}; "
            f"{instead}, or another loss"
        )


def check_kernel_space(name: str, n: int) -> None:
    """Raise `SettingError` for a solver that cannot train an exact kernel of n documents in its own space."""
    if SOLVERS[name].needs_features:
        able = next(other for other, choice in SOLVERS.items() if not choice.needs_features)
        raise SettingError(
            f"solver={name!r} needs weights of features, but the exact kernel of {n:,} documents is "
            f"trained in coefficients of documents; choose solver={able!r}, or an approximation of the kernel"
        )
