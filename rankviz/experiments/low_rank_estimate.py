"""Predicted seconds and bytes of a run of a low-rank model.

Iterations were read off linear runs on OHSUMED, MQ2008 and the bundled set at C = 2^-13 … 2^-4; their
seconds are mostly within a factor of four of what is said here.
"""

from __future__ import annotations

from rankviz.experiments.rates import Rates
from rankviz.experiments.spec import RunSpec
from rankviz.models.low_rank.base import dual_bytes, factor_bytes
from rankviz.models.low_rank.estimators import DUAL_SOLVERS, FACTOR_SOLVERS
from rankviz.models.low_rank.nested import levels

FIRST_ITERATIONS, MORE_ITERATIONS = 300, 20
"""Of L-BFGS-B with one factor, and with each larger number on the way to K."""
FACTOR_TRAFFIC = 2500
"""Bytes moved per factor in one iteration: partners' sums, and the corrections of L-BFGS."""
QUERY_SECONDS = 5e-5
"""Of one query in one pass of the paper's way: a few dozen calls on small arrays."""
DUAL_TRAFFIC, BLOCK_SECONDS = 1500, 1.5e-5
"""Bytes moved per entry of the rectangles in one step, and seconds for the singular values of one."""
ROUND = 2.5
"""A round of the paper's alternating steps over one accelerated step."""
TYPICAL = {"query_steps": 80, "fista": 100, "alternating": 150}
"""Iterations at C = 2^-7."""
GROWTH = 0.65
"""They grow like this power of C."""


def solver_seconds(spec: RunSpec, n: int, queries: int, entries: int, product: float, rates: Rates) -> float:
    """Seconds of the solver; `product` is the seconds of one product with Φᵀ and one with Φ."""
    if spec.method == "regularized":
        step = entries * DUAL_TRAFFIC / rates.memory + queries * BLOCK_SECONDS + 2 * product
        return _iterations(spec) * step * (ROUND if spec.solver == "alternating" else 1.0)
    if spec.solver == "query_steps":
        return _iterations(spec) * (queries * QUERY_SECONDS + 4 * product)
    more = levels(1, spec.factors)[1:]
    factors, evaluations = FIRST_ITERATIONS + MORE_ITERATIONS * sum(more), MORE_ITERATIONS * len(more)
    return factors * n * FACTOR_TRAFFIC / rates.memory + (FIRST_ITERATIONS + evaluations) * product


def _iterations(spec: RunSpec) -> float:
    """Typical ones, one at least, and no more than the solver is allowed.

    FISTA starts from the plain model, which is the nearer to the end the less the nuclear norm weighs.
    """
    typical = TYPICAL[spec.solver] * (spec.C / 2.0**-7) ** GROWTH
    if spec.solver == "fista":
        typical *= min(1.0, spec.nuclear)
    most: int = (FACTOR_SOLVERS | DUAL_SOLVERS)[spec.solver].max_iter
    return float(min(max(1.0, typical), most))


def solver_bytes(spec: RunSpec, n: int, entries: int) -> int:
    """Bytes beside the features."""
    return dual_bytes(entries) if spec.method == "regularized" else factor_bytes(n, spec.factors)
