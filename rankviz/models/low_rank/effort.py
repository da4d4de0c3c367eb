"""Typical work of the solvers of low-rank models.

Iterations were measured on linear runs on OHSUMED, MQ2008 and the bundled set at C = 2^-13 … 2^-4. Most runs
take within a factor of four of the estimated seconds.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rankviz.learning.effort import Sizes, Work

FIRST_ITERATIONS, MORE_ITERATIONS = 300, 20
"""Iterations of L-BFGS-B with one factor, and with each larger number on the way to K."""
FACTOR_TRAFFIC = 2500
"""Bytes moved per factor in one iteration: partners' sums, and L-BFGS corrections."""
QUERY_SECONDS = 5e-5
"""Seconds per query in one pass of the paper's algorithm: a few dozen calls on small arrays."""
DUAL_TRAFFIC, BLOCK_SECONDS = 1500, 1.5e-5
"""Bytes moved per entry of the rectangles in one step, and seconds for the singular values of one."""
ROUND = 2.5
"""Time of a round of the paper's alternating steps over that of one accelerated step."""
QUERY_PASSES, FISTA_STEPS, ROUNDS = 80, 100, 150
"""Iterations at C = 2^-7."""
GROWTH = 0.65
"""Iterations grow like this power of C."""

Values = Mapping[str, Any]


def by_levels(sizes: Sizes, levels: list[int]) -> Work:
    """Return the work of L-BFGS-B on all factors, with these numbers of factors one after the other."""
    more = levels[1:]
    factors, evaluations = FIRST_ITERATIONS + MORE_ITERATIONS * sum(more), MORE_ITERATIONS * len(more)
    return Work(products=FIRST_ITERATIONS + evaluations, traffic=factors * sizes.n * FACTOR_TRAFFIC)


def by_query(values: Values, sizes: Sizes, most: int) -> Work:
    """Return the work of passes over all queries, at most `most`."""
    passes = iterations(QUERY_PASSES, values, most)
    return Work(products=4 * passes, seconds=passes * sizes.queries * QUERY_SECONDS)


def by_dual_steps(steps: float, sizes: Sizes, each: float = 1.0) -> Work:
    """Return the work of steps on α and the matrices A; each costs `each` accelerated steps."""
    steps *= each
    return Work(
        products=2 * steps,
        traffic=steps * sizes.entries * DUAL_TRAFFIC,
        seconds=steps * sizes.queries * BLOCK_SECONDS,
        preconditioned=True,
    )


def iterations(typical: float, values: Values, most: int, share: float = 1.0) -> float:
    """Return typical iterations at this C, times `share`; at least one, and at most the solver's limit."""
    return float(min(max(1.0, share * typical * (values["C"] / 2.0**-7) ** GROWTH), most))
