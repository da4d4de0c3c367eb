"""Dual variables permuted at random over the same pairs: a baseline for spectra.

If the loss never rises, no dual variable is negative, and much of the energy of such a matrix lies along its
mean. Only a difference from this baseline shows structure in the order of rows and columns.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rankviz.models.dual_variables import DualBlock, Duals

SEED = 0


def shuffled(block: DualBlock, rng: np.random.Generator) -> DualBlock:
    """Return the block with its α_ij permuted over its pairs: same pairs, values, zeros and energy Σα²."""
    alpha, is_pair = np.zeros_like(block.alpha), block.is_pair
    alpha[is_pair] = rng.permutation(block.alpha[is_pair])
    return replace(block, alpha=alpha)


class ShuffledDuals(Duals):
    """Dual variables with each query's permuted over its pairs, always in the same way."""

    def __init__(self, duals: Duals) -> None:
        super().__init__(duals.train, duals.C, duals.gap)
        self.duals = duals

    def block(self, query: int) -> DualBlock:
        """Return the shuffled block of the query at position `query`."""
        return shuffled(self.duals.block(query), np.random.default_rng((SEED, query)))
