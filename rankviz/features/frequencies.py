"""How the frequencies of random Fourier features are drawn: independent Gaussian, or orthogonal in blocks.

To add a way: a frozen dataclass with `draw(d, m, rng)` and an entry in `FREQUENCIES`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from rankviz.common.arrays import FloatArray


class FrequencyChoice(Protocol):
    """A way to draw frequencies, each N(0, I); nested: those for m' < m are the first m' of those for m."""

    @property
    def label(self) -> str:
        """What it is called in captions and menus."""
        ...

    def draw(self, d: int, m: int, rng: np.random.Generator) -> FloatArray:
        """Standard frequencies (d, m), one per column; the map multiplies them by √(2γ)."""
        ...


@dataclass(frozen=True)
class GaussianFrequencies:
    """Independent columns ω ~ N(0, I) (chen2017 Algorithm 2, rahimi2007)."""

    label: str = "Gaussian"

    def draw(self, d: int, m: int, rng: np.random.Generator) -> FloatArray:
        """Column after column."""
        return np.ascontiguousarray(rng.standard_normal((m, d)).T)


@dataclass(frozen=True)
class OrthogonalFrequencies:
    """Blocks of d columns with orthogonal directions: each is N(0, I), so K̃ stays unbiased (yu2016 §3).

    In a block the directions are the columns of a Haar-distributed orthogonal matrix, and the norms are
    independent, χ-distributed with d degrees of freedom. Blocks are independent of each other.
    """

    label: str = "orthogonal"

    def draw(self, d: int, m: int, rng: np.random.Generator) -> FloatArray:
        """Block after block, O(m d²); the first m' < m columns are the same to rounding."""
        direction_rng, norm_rng = rng.spawn(2)
        out = np.empty((d, m))
        for start in range(0, m, d):
            block = out[:, start : start + d]
            # leading columns of Q depend on leading columns of the Gaussian matrix only
            Q, R = np.linalg.qr(direction_rng.standard_normal((block.shape[1], d)).T)
            block[:] = Q * np.where(
                np.diag(R) < 0, -1.0, 1.0
            )  # without the signs Q is not Haar (mezzadri2007)
        out *= np.sqrt(norm_rng.chisquare(d, m))
        return out


FREQUENCIES: dict[str, FrequencyChoice] = {
    "gaussian": GaussianFrequencies(),
    "orthogonal": OrthogonalFrequencies(),
}
"""Choices by the names that `RankSVM(frequencies=...)` and the app use."""
