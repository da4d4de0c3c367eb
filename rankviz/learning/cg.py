"""Preconditioned conjugate gradients for the Newton system H s = −g."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from rankviz.common.arrays import FloatArray


def euclidean(a: FloatArray, b: FloatArray) -> float:
    """Return the inner product aᵀb."""
    return float(a @ b)


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
    floor: float = 0.0,
    inner: Callable[[FloatArray, FloatArray], float] = euclidean,
) -> CGResult:
    """Solve H s = b, H ≥ I, from s = 0 until √⟨r, M^-1r⟩ ≤ rtol·√⟨b, M^-1b⟩.

    H and M are self-adjoint in the inner product ⟨·, ·⟩, by default rᵀs.

    For M = H, at most the share rtol² of the decrement ½⟨b, H^-1b⟩ is then missing; for other M this is a
    guess. So while the current decrement ½⟨b, s⟩ is at most `floor`, iterations continue until it exceeds
    `floor`, or until the full decrement is proved to be at most `floor`. The proof can also end them earlier:
    the missing part ½⟨r, H^-1r⟩ is at most ½⟨r, r⟩. Any iterate is a descent direction.
    """
    s, r = np.zeros_like(b), b.copy()
    z = precondition(r)
    p, rho = z.copy(), inner(r, z)
    target, decrement = rtol**2 * rho, 0.0
    for iteration in range(max_iterations + 1):
        # H ≥ I bounds the missing part of the decrement by ½⟨r, r⟩: below floor, stopping is proved
        reached = rho == 0.0 or (rho <= target and decrement > floor)
        if reached or 0.0 < decrement <= floor - 0.5 * inner(r, r):
            return CGResult(s, iteration, converged=True)
        if iteration == max_iterations:
            break
        Hp = product(p)
        curvature = inner(p, Hp)
        if not curvature > 0.0:  # H is positive definite, so only rounding can cause this
            return CGResult(s, iteration + 1, converged=False)
        alpha = rho / curvature
        decrement += 0.5 * alpha * rho
        s += alpha * p
        r -= alpha * Hp
        z = precondition(r)
        rho, previous = inner(r, z), rho
        p *= rho / previous
        p += z
    return CGResult(s, max_iterations, converged=False)
