"""Dual variables with errors: what the accuracy of a solver does to ranks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from rankviz.analysis.spectra import spectra_of
from rankviz.common.progress import Progress, Report, silent
from rankviz.models.dual_variables import DualBlock, Duals

SEED = 0
ERRORS = tuple(10.0**power for power in range(-14, 0))


class RoughDuals(Duals):
    """Dual variables with errors without structure: α_ij(1 + error·ξ_ij), ξ_ij standard normal.

    A solver of the dual problem that stops early leaves such errors. What is exactly 0 stays 0, and no error
    changes a sign: where 1 + error·ξ_ij is negative, α_ij becomes 0.
    """

    def __init__(self, duals: Duals, error: float) -> None:
        super().__init__(duals.train, duals.C, duals.gap)
        self.duals, self.error = duals, error

    def block(self, query: int) -> DualBlock:
        """The block of the query at position `query`, the same at every asking."""
        block = self.duals.block(query)
        noise = np.random.default_rng((SEED, query)).standard_normal(block.alpha.shape)
        return replace(block, alpha=block.alpha * np.maximum(1.0 + self.error * noise, 0.0))


def distance(duals: Duals, exact: Duals) -> float:
    """‖α − α'‖/‖α'‖ of two models' dual variables on the same pairs; 0 where both are 0."""
    apart, size = 0.0, 0.0
    for one, other in zip(duals, exact, strict=True):
        apart += float(((one.alpha - other.alpha) ** 2).sum())
        size += float((other.alpha**2).sum())
    return float(np.sqrt(apart / size)) if size > 0 else 0.0


def median_ranks(duals: Duals, tolerances: Sequence[float], matrix: str = "block") -> list[int]:
    """The median numerical rank (the lower one) of the queries, at each tolerance; 0 where there are none."""
    found = spectra_of(duals, matrix)
    if not found.values:
        return [0] * len(tolerances)
    return [int(np.quantile(found.ranks(tol), 0.5, method="lower")) for tol in tolerances]


def ranks_with_errors(
    duals: Duals,
    tolerances: Sequence[float],
    matrix: str = "block",
    errors: Iterable[float] = ERRORS,
    report: Report = silent,
) -> pd.DataFrame:
    """Columns error, tolerance, rank: the median rank of dual variables with errors of that relative size."""
    rows = []
    for error in errors:
        report(Progress("spectra"))
        ranks = median_ranks(RoughDuals(duals, error), tolerances, matrix)
        rows += [(error, tol, rank) for tol, rank in zip(tolerances, ranks, strict=True)]
    return pd.DataFrame(rows, columns=["error", "tolerance", "rank"])
