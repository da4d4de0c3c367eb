"""Preconditioned conjugate gradients for the Newton system H s = −g."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from rankviz._typing import FloatArray


@dataclass(frozen=True, eq=False)
class CGResult:
    """An approximate solution s (m,) of H s = b and the number of Hessian products it took."""

    s: FloatArray
    iterations: int
    converged: bool


def conjugate_gradients(
    product: Callable[[FloatArray], FloatArray],
    b: FloatArray,
    precondition: Callable[[FloatArray], FloatArray],
    *,
    rtol: float,
    max_iterations: int,
) -> CGResult:
    """Solve H s = b from s = 0 until √(rᵀM^-1r) ≤ rtol·√(bᵀM^-1b).

    With M ≥ H (or M = H) that norm of the residual bounds the error in the energy norm: of the decrement
    ½ bᵀH^-1b at most the share rtol² is then missing. Any iterate is a descent direction.
    """
    s, r = np.zeros_like(b), b.copy()
    z = precondition(r)
    p, rho = z.copy(), float(r @ z)
    target = rtol**2 * rho
    for iteration in range(1, max_iterations + 1):
        if rho <= target or rho == 0.0:
            return CGResult(s, iteration - 1, converged=True)
        Hp = product(p)
        alpha = rho / float(p @ Hp)
        s += alpha * p
        r -= alpha * Hp
        z = precondition(r)
        rho, previous = float(r @ z), rho
        p *= rho / previous
        p += z
    return CGResult(s, max_iterations, converged=rho <= target)
