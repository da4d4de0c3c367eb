"""The work that training typically takes, in counts that `rankviz.experiments.estimate` turns into seconds.

Solvers and methods declare theirs. How many steps it takes is not known beforehand: typical numbers stand.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from rankviz.objectives.preconditioner import document_flops

NEWTON_STEPS, HINGE_STEPS = 5, 15
"""Steps of a loss that is trained as it is, and all widths of a smoothed one together."""
CG_ITERATIONS, PLAIN_CG_ITERATIONS = 8, 30
"""In one Newton step with the preconditioner, and without it."""
KERNEL_STEPS, KERNEL_CG_ITERATIONS = 4, 4
"""Newton steps for the exact kernel, and CG iterations in one, where the fit is easy."""
HARDEST, ROUGHNESS = 400.0, 1.7
"""CG iterations more of all steps at C = 1 for a kernel matrix near the identity; how they grow with γ.

Measured for C from 2^-9 to 2^4 and γ from 2^-6 to 2^2 on the bundled folds and MQ2008: mostly right within a
factor of two where the first preconditioner does.
"""
ENOUGH_CG, MORE_LANDMARKS = 40, 3
"""CG iterations of a step from which on preconditioners have so many times more landmarks."""
EVALUATIONS = 200
"""Of the objective by L-BFGS, and by what declares nothing."""
PASSES = 100
"""Of stochastic gradients."""
PAIR_STEP_SECONDS = 5e-7
"""A step of sixteen pairs is a dozen calls of NumPy's functions; seconds of it by pair."""


@dataclass(frozen=True)
class Sizes:
    """The sizes that work depends on.

    Attributes
    ----------
    n, columns : int
        Documents of the training part, and columns of their features.
    queries, entries : int
        Queries, and entries of the rectangles that their pairs are in.
    in_kernel_space : bool
        Whether weights are coefficients of documents, and products are with the kernel's matrix.
    factored : bool
        Whether features are a base times a factor, so that forming them takes a product of matrices.
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
    """Typical work of training, features apart.

    Attributes
    ----------
    products : float
        With Φ and then with Φᵀ, or with the kernel.
    passes : float
        Over the pairs.
    flops : float
        Operations of other products of matrices.
    traffic : float
        Bytes moved beside.
    seconds : float
        Of many small calls.
    memory : int
        Bytes beside features and risk.
    preconditioned : bool
        Whether a preconditioner is built.
    guess : bool
        Whether nobody has declared this: then it is about what a plain method takes.
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
    """The objective that a solver of RankSVM is asked to minimise.

    Attributes
    ----------
    sizes : Sizes
    continued : bool
        Whether the loss is the limit of smoothed hinges.
    preconditioned : bool
        Whether conjugate gradients are given a preconditioner.
    C, gamma : float
        Weight of the loss and scale of the kernel, which make a fit in kernel space hard; 0 for none.
    """

    sizes: Sizes
    continued: bool = False
    preconditioned: bool = True
    C: float = 0.0
    gamma: float = 0.0


SolverWork = Callable[[SolverTask], Work]


def guessed(products: float = EVALUATIONS) -> Work:
    """Products with documents × features, as a plain method takes them; for what declares nothing."""
    return Work(products=products, guess=True)


def guessed_solver(task: SolverTask) -> Work:
    """Evaluations of the objective."""
    return Work(products=EVALUATIONS, passes=EVALUATIONS, guess=True)


def newton_by_cg(task: SolverTask) -> Work:
    """Newton steps, each by conjugate gradients, of which a third of the work is with the pairs."""
    if task.sizes.in_kernel_space:
        return _newton_in_kernel_space(task)
    cg, steps = CG_ITERATIONS, HINGE_STEPS if task.continued else NEWTON_STEPS
    cg = cg if task.preconditioned else PLAIN_CG_ITERATIONS
    return Work(products=steps * (cg + 3), passes=steps * (cg / 3 + 3), preconditioned=task.preconditioned)


def _newton_in_kernel_space(task: SolverTask) -> Work:
    """More steps, CG iterations and landmarks as C and γ grow: these leave more to a preconditioner.

    The square root of a condition number counts the iterations, and that grows with C times what landmarks
    leave out of the kernel matrix. Squared distances are those of features that are spread over [0, 1].
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
    """Newton steps, each with a Hessian that is formed and factored."""
    n, k = task.sizes.n, task.sizes.columns
    step = 4.0 * n * k**2 + k**3 if k <= n else document_flops(n, k)
    flops = NEWTON_STEPS * step
    return Work(products=2 * NEWTON_STEPS, passes=2 * NEWTON_STEPS, flops=flops)


def evaluations(task: SolverTask) -> Work:
    """Value and gradient, again and again."""
    return Work(products=EVALUATIONS, passes=EVALUATIONS)


def passes_by_query(task: SolverTask) -> Work:
    """Passes over the formed features, about as long as two evaluations, with one of the objective each."""
    return Work(products=3 * PASSES, passes=3 * PASSES, flops=_forming(task.sizes))


def passes_by_pair(task: SolverTask) -> Work:
    """Passes of many small steps, with one evaluation of the objective each."""
    small = PASSES * task.sizes.n * PAIR_STEP_SECONDS
    return Work(products=PASSES, passes=PASSES, flops=_forming(task.sizes), seconds=small)


def _forming(sizes: Sizes) -> float:
    return float(sizes.n * sizes.columns**2) if sizes.factored else 0.0
