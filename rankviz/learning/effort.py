"""Typical work of training, in counts that `rankviz.runs.estimate` converts into seconds.

Solvers and methods declare theirs. The number of steps is unknown in advance, so typical numbers are used.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from rankviz.learning.preconditioner import document_flops

NEWTON_STEPS, HINGE_STEPS = 5, 15
"""Newton steps for a smooth loss, and for all widths of a smoothed hinge together."""
CG_ITERATIONS, PLAIN_CG_ITERATIONS = 8, 30
"""CG iterations per Newton step with the preconditioner, and without it."""
KERNEL_STEPS, KERNEL_CG_ITERATIONS = 4, 4
"""Newton steps for the exact kernel, and CG iterations per step, for an easy fit."""
HARDEST, ROUGHNESS = 400.0, 1.7
"""Additional CG iterations of all steps at C = 1 for a kernel matrix close to the identity; growth with γ.

Measured for C from 2^-9 to 2^4 and γ from 2^-6 to 2^2 on the bundled folds and MQ2008. Mostly right within a
factor of two if the first preconditioner suffices.
"""
ENOUGH_CG, MORE_LANDMARKS = 40, 3
"""CG iterations per step above which landmarks grow, and the factor of their growth."""
EVALUATIONS = 200
"""Evaluations of the objective by L-BFGS, and by undeclared solvers."""
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


def guessed(products: float = EVALUATIONS) -> Work:
    """Return products with documents × features, as for a plain method, if nothing is declared."""
    return Work(products=products, guess=True)


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
    steps = KERNEL_STEPS + math.log2(1 + more) / 2
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


def passes_by_query(task: SolverTask) -> Work:
    """Return passes over formed features, each about two evaluations, plus one of the objective."""
    return Work(products=3 * PASSES, passes=3 * PASSES, flops=_forming(task.sizes))


def passes_by_pair(task: SolverTask) -> Work:
    """Return passes of many small steps, each with one evaluation of the objective."""
    small = PASSES * task.sizes.n * PAIR_STEP_SECONDS
    return Work(products=PASSES, passes=PASSES, flops=_forming(task.sizes), seconds=small)


def _forming(sizes: Sizes) -> float:
    return float(sizes.n * sizes.columns**2) if sizes.factored else 0.0
