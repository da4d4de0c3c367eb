"""What a run of a low-rank model costs, before the fact."""

from __future__ import annotations

from rankviz.experiments.rates import Rates
from rankviz.experiments.spec import RunSpec
from rankviz.low_rank.ranker import dual_bytes, factor_bytes

FACTOR_ITERATIONS = 400
FACTOR_TRAFFIC = 2500
"""Bytes moved per factor in one iteration: partners' sums, and the corrections of L-BFGS."""
QUERY_PASSES, QUERY_SECONDS = 150, 8e-5
"""Passes of the paper's way, and seconds of a query in one: a few dozen calls on small arrays."""
DUAL_STEPS = 200
DUAL_TRAFFIC = 4000
"""Bytes moved per entry of the rectangles in one step, singular values included."""


def solver_seconds(spec: RunSpec, n: int, queries: int, entries: int, product: float, rates: Rates) -> float:
    """Seconds of the solver; `product` is the seconds of one product with Φᵀ and one with Φ."""
    if spec.method == "regularized":
        return DUAL_STEPS * (entries * DUAL_TRAFFIC / rates.memory + 2 * product)
    if spec.solver == "query_steps":
        return QUERY_PASSES * (queries * QUERY_SECONDS + 4 * product)
    return FACTOR_ITERATIONS * (n * spec.factors * FACTOR_TRAFFIC / rates.memory + product)


def solver_bytes(spec: RunSpec, n: int, entries: int) -> int:
    """Bytes beside the features."""
    return dual_bytes(entries) if spec.method == "regularized" else factor_bytes(n, spec.factors)
