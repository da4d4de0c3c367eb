"""The work that the solvers of low-rank models typically take.

Iterations were read off linear runs on OHSUMED, MQ2008 and the bundled set at C = 2^-13 … 2^-4; their
seconds are mostly within a factor of four of what is said here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rankviz.solvers.effort import Sizes, Work

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
QUERY_PASSES, FISTA_STEPS, ROUNDS = 80, 100, 150
"""Iterations at C = 2^-7."""
GROWTH = 0.65
"""They grow like this power of C."""

Values = Mapping[str, Any]


def by_levels(sizes: Sizes, levels: list[int]) -> Work:
    """L-BFGS-B on all factors at once, with so many factors one after the other."""
    more = levels[1:]
    factors, evaluations = FIRST_ITERATIONS + MORE_ITERATIONS * sum(more), MORE_ITERATIONS * len(more)
    return Work(products=FIRST_ITERATIONS + evaluations, traffic=factors * sizes.n * FACTOR_TRAFFIC)


def by_query(values: Values, sizes: Sizes, most: int) -> Work:
    """Passes over all queries, `most` at most."""
    passes = iterations(QUERY_PASSES, values, most)
    return Work(products=4 * passes, seconds=passes * sizes.queries * QUERY_SECONDS)


def by_dual_steps(steps: float, sizes: Sizes, each: float = 1.0) -> Work:
    """Steps on α and the matrices A, `each` as long as an accelerated one."""
    steps *= each
    return Work(
        products=2 * steps,
        traffic=steps * sizes.entries * DUAL_TRAFFIC,
        seconds=steps * sizes.queries * BLOCK_SECONDS,
        preconditioned=True,
    )


def iterations(typical: float, values: Values, most: int, share: float = 1.0) -> float:
    """Typical ones at this C, or a share of them; one at least, and no more than the solver is allowed."""
    return float(min(max(1.0, share * typical * (values["C"] / 2.0**-7) ** GROWTH), most))
