"""The same dual variables dealt at random to the same pairs: what a spectrum owes to their arrangement.

Where the loss falls, no dual variable is negative, and much of the energy of such a matrix lies along its
mean. Only what a block needs less than this baseline says something of the order of its rows and columns.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rankviz.dual.variables import DualBlock, Duals

SEED = 0


def shuffled(block: DualBlock, rng: np.random.Generator) -> DualBlock:
    """The block with its α_ij permuted over its pairs: same pairs, values, zeros and energy Σα²."""
    alpha, is_pair = np.zeros_like(block.alpha), block.is_pair
    alpha[is_pair] = rng.permutation(block.alpha[is_pair])
    return replace(block, alpha=alpha)


class ShuffledDuals(Duals):
    """Dual variables with each query's shuffled over its pairs, the same way at every asking."""

    def __init__(self, duals: Duals) -> None:
        super().__init__(duals.train, duals.C, duals.gap)
        self.duals = duals

    def block(self, query: int) -> DualBlock:
        """The shuffled block of the query at position `query`."""
        return shuffled(self.duals.block(query), np.random.default_rng((SEED, query)))
