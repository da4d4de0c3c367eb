"""Exact line search: 1-D Newton on φ'(τ) = 0, safeguarded by bisection, one risk evaluation per trial."""

from __future__ import annotations

from rankviz.learning import RiskPoint
from rankviz.learning.feature_space import Ray

SLOPE_TOLERANCE = 1e-2
"""Accept τ once |φ'(τ)| is at most this share of |φ'(0)|; φ is convex, so τ is close to its minimum."""

MAX_TRIALS = 100  # bisection alone then spans any scale; a Newton direction needs one or two


def exact_step(ray: Ray, slope_at_0: float) -> tuple[float, RiskPoint]:
    """Minimise the convex φ(τ) over τ > 0, given φ'(0) < 0; return τ and the risk there.

    (low, high) brackets the root of φ'. A Newton step outside is replaced by bisection, or by doubling while
    no point with φ' > 0 is known.
    """
    low, high, tau = 0.0, float("inf"), 1.0
    for _ in range(MAX_TRIALS):
        slope, curvature, risk = ray.at(tau)
        if abs(slope) <= SLOPE_TOLERANCE * abs(slope_at_0):
            break
        low, high = (tau, high) if slope < 0 else (low, tau)
        newton = tau - slope / curvature
        fallback = 2 * tau if high == float("inf") else (low + high) / 2
        tau = newton if low < newton < high else fallback
    else:
        risk = ray.at(tau)[2]
    return tau, risk
