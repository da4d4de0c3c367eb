"""Sampling of frequencies for random Fourier features: independent, or orthogonal in blocks.

To add a method, write a frozen dataclass with `takes(kernel)`, `lacks(kernel)` and `draw(spectrum, d, m,
rng)`, and enter it in `FREQUENCIES`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np

from rankviz.common.arrays import FloatArray
from rankviz.common.errors import SettingError
from rankviz.features.kernel_base import KernelFacts, Spectrum, lacks_density


class FrequencyChoice(Protocol):
    """A method to draw frequencies; nested: those for m' < m are the first m' of those for m."""

    @property
    def label(self) -> str:
        """Name in captions and menus."""
        ...

    @property
    def meaning(self) -> str:
        """How it draws, for help texts."""
        ...

    @property
    def needs(self) -> str:
        """Required property of a kernel, in words."""
        ...

    def takes(self, kernel: KernelFacts) -> bool:
        """Return True if it supports this kernel."""
        ...

    def lacks(self, kernel: KernelFacts) -> str:
        """Return the property that an unsupported kernel lacks, as in "the kernel …"."""
        ...

    def draw(self, spectrum: Spectrum, d: int, m: int, rng: np.random.Generator) -> FloatArray:
        """Draw standard frequencies (d, m), one per column; the map multiplies them by the kernel's scale."""
        ...


@dataclass(frozen=True)
class IndependentFrequencies:
    """Independent columns from the spectral density (chen2017 Algorithm 2, rahimi2007): N(0, I) for RBF."""

    label: str = "independent"
    meaning: ClassVar[str] = "each from the kernel's spectral density, as in chen2017"
    needs: str = "shift-invariant, with a known spectral density"

    def takes(self, kernel: KernelFacts) -> bool:
        """Return True for any kernel with a spectral density."""
        return not self.lacks(kernel)

    def lacks(self, kernel: KernelFacts) -> str:
        """Return that a spectral density is missing; "" if it is not."""
        return lacks_density(kernel)

    def draw(self, spectrum: Spectrum, d: int, m: int, rng: np.random.Generator) -> FloatArray:
        """Draw column after column."""
        return spectrum.columns(d, m, rng)


@dataclass(frozen=True)
class OrthogonalFrequencies:
    """Blocks of d columns with orthogonal directions and unchanged law, so K̃ is unbiased (yu2016 §3).

    In a block, directions are the columns of a Haar-distributed orthogonal matrix. Lengths are independent;
    for the RBF kernel they are χ-distributed with d degrees of freedom. Blocks are independent.
    """

    label: str = "orthogonal"
    meaning: ClassVar[str] = "at right angles in blocks, so that the kernel stays unbiased"
    needs: str = "rotation-invariant"

    def takes(self, kernel: KernelFacts) -> bool:
        """Return True for kernels whose frequencies have uniformly distributed directions."""
        return kernel.spectrum is not None and kernel.spectrum.length is not None

    def lacks(self, kernel: KernelFacts) -> str:
        """Return the missing property, a density or rotation invariance."""
        return lacks_density(kernel) or "is not"

    def draw(self, spectrum: Spectrum, d: int, m: int, rng: np.random.Generator) -> FloatArray:
        """Draw block after block, O(m d²); the first m' < m columns are the same to rounding."""
        if spectrum.length is None:
            raise SettingError(f"{self.label} frequencies need a kernel that is {self.needs}")
        direction_rng, norm_rng = rng.spawn(2)
        out = np.empty((d, m))
        for start in range(0, m, d):
            block = out[:, start : start + d]
            # leading columns of Q depend on leading columns of the Gaussian matrix only
            Q, R = np.linalg.qr(direction_rng.standard_normal((block.shape[1], d)).T)
            block[:] = Q * np.where(
                np.diag(R) < 0, -1.0, 1.0
            )  # without the signs Q is not Haar (mezzadri2007)
        out *= spectrum.lengths(d, m, norm_rng)
        return out


FREQUENCIES: dict[str, FrequencyChoice] = {
    "gaussian": IndependentFrequencies(),
    "orthogonal": OrthogonalFrequencies(),
}
"""Sampling methods by their names in `RankSVM(frequencies=...)` and the app."""
