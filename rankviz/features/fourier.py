"""Random Fourier features: cosines with frequencies from a shift-invariant kernel's spectral density.

To add a method to draw frequencies, write a frozen dataclass with `takes(kernel)`, `lacks(kernel)` and
`draw(spectrum, d, m, rng)`, and enter it in `FREQUENCIES`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from rankviz.common.arrays import FloatArray
from rankviz.common.errors import SettingError
from rankviz.common.npz import Arrays, shaped
from rankviz.common.parallel import fill_rows
from rankviz.common.progress import Report, silent
from rankviz.features.kernel_base import (
    Kernel,
    KernelFacts,
    Smooth,
    Spectrum,
    lacks_density,
    needed,
    wave_bound,
)
from rankviz.features.maps import Move, ProductForm
from rankviz.features.operator import CosineBasis, FeatureOperator


class FrequencyChoice(Protocol):
    """A method to draw frequencies; nested: those for m' < m are the first m' of those for m."""

    @property
    def label(self) -> str:
        """Name in captions and menus."""
        ...

    @property
    def meaning(self) -> str:
        """The method of drawing, for help texts."""
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
        """Say that a spectral density is missing; "" if it is not."""
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
    meaning: ClassVar[str] = "orthogonal in blocks; the kernel stays unbiased"
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


@dataclass(frozen=True, eq=False)
class FittedFourier:
    """φ(x) = √(2/m) cos(Ωᵀx + b) (chen2017 eq. 21).

    Attributes
    ----------
    frequencies : (d, m) float64
        Ω, each column a draw from the kernel's spectral density: ω ~ N(0, 2γ I) for the RBF kernel.
    phases : (m,) float64
        b ~ U[0, 2π).
    kernel : Kernel
    """

    frequencies: FloatArray
    phases: FloatArray
    kernel: Kernel

    in_kernel_space: ClassVar[bool] = False

    @property
    def n_components(self) -> int:
        """Feature dimensions m."""
        return len(self.phases)

    @property
    def basis(self) -> CosineBasis:
        """√(2/m) I."""
        return CosineBasis(self.n_components)

    def operator(self, X: FloatArray, report: Report = silent) -> FeatureOperator:
        """Return the cosines, O(n m d), and their factor separately."""
        return self._cosines(
            len(X), lambda rows, block: np.matmul(X[rows], self.frequencies, out=block), report
        )

    def operator_of(self, arguments: FloatArray, report: Report = silent) -> FeatureOperator:
        """Return the same from products with standard frequencies, O(n m)."""
        scale = self.kernel.frequency_scale
        return self._cosines(
            len(arguments), lambda rows, block: np.multiply(arguments[rows], scale, out=block), report
        )

    def form(self, w: FloatArray) -> ProductForm:
        """Return √(2/m) Re Σ_i w_i e^{i b_i} Π_l e^{i ω_il x_l}."""
        waves = self.basis.expand(w) * np.exp(1j * self.phases)

        def factors(x: FloatArray, terms: slice) -> NDArray[np.complex128]:
            return _turned(self.frequencies[:, terms].T * x)

        def factor(values: FloatArray, feature: int, terms: slice) -> NDArray[np.complex128]:
            return _turned(values[:, None] * self.frequencies[feature, terms])

        def profile(feature: int) -> Smooth:
            return Smooth(np.abs(self.frequencies[feature]), wave_bound)

        return ProductForm(waves, factors, factor, profile)

    def leading(self, m: int) -> FittedFourier:
        """Return the map of the first m frequencies."""
        return FittedFourier(self.frequencies[:, :m], self.phases[:m], self.kernel)

    def moved(self, move: Move, X: FloatArray) -> FittedFourier:
        """Return this map: its frequencies do not depend on documents."""
        return self

    def arrays(self) -> Arrays:
        """Return frequencies and phases."""
        return {"frequencies": self.frequencies, "phases": self.phases}

    @classmethod
    def from_arrays(cls, arrays: Arrays, d: int, kernel: Kernel | None) -> FittedFourier:
        """Return the map from arrays; ValueError if their shapes do not fit."""
        m = len(arrays["phases"])
        frequencies, phases = shaped(arrays, "frequencies", d, m), shaped(arrays, "phases", m)
        return cls(frequencies, phases, needed(kernel))

    def _cosines(
        self, n: int, project: Callable[[slice, FloatArray], object], report: Report
    ) -> FeatureOperator:
        def fill(rows: slice, block: FloatArray) -> None:
            project(rows, block)
            block += self.phases
            cosines(block)

        return FeatureOperator(fill_rows(n, self.n_components, fill, report), self.basis)


STEPS = 4096
"""Angles per turn in the table of cosines; a power of two."""
_ANGLES = 2 * np.pi / STEPS * np.arange(STEPS)
_COS, _SIN = np.cos(_ANGLES), np.sin(_ANGLES)
_WHOLE = 1.5 * 2.0**52
"""Added to a number below 2^51, it leaves a whole number in the last bits."""
LARGEST_ANGLE = 1e12
"""Beyond it, NumPy's cosine is used: the number of steps would not stay below 2^51."""
PIECE = 16_384
"""Entries per piece: all temporary arrays then stay in the inner caches."""


def cosines(block: FloatArray) -> None:
    """Replace the angles in a block (s, m) by their cosines, four times as fast as NumPy.

    The error is at most 2^-51 (1 + |θ|): products that make θ round it by as much. With a the nearest of the
    table's angles and r = θ − a, cos θ = cos a − (cos a · (1 − cos r) + sin a · sin r). |r| is below 0.0008,
    so two terms of each series suffice.
    """
    step = max(1, PIECE // max(block.shape[1], 1))
    for start in range(0, len(block), step):
        x = block[start : start + step]
        if not max(x.max(initial=0.0), -x.min(initial=0.0)) <= LARGEST_ANGLE:
            np.cos(x, out=x)
            continue
        r = x * (STEPS / (2 * np.pi))
        near = r + _WHOLE
        at = near.view(np.int64) & (STEPS - 1)
        near -= _WHOLE
        r -= near
        r *= 2 * np.pi / STEPS
        square = np.multiply(r, r, out=near)
        less = square * (-1 / 24)
        less += 0.5
        less *= square  # 1 − cos r
        square *= -1 / 6
        square += 1.0
        r *= square  # sin r
        np.take(_COS, at, out=x, mode="clip")
        less *= x
        np.take(_SIN, at, out=square, mode="clip")
        r *= square
        x -= less
        x -= r


def _turned(angles: FloatArray) -> NDArray[np.complex128]:
    """Return e^{iθ}."""
    return np.cos(angles) + 1j * np.sin(angles)


@dataclass(frozen=True, eq=False)
class DrawnFourier:
    """Standard frequencies (d, m) of a kernel's spectral density, phases (m,), and the kernel at any γ."""

    frequencies: FloatArray
    phases: FloatArray
    kernel: Kernel

    in_kernel_space: ClassVar[bool] = False

    def fitted(self, gamma: float, report: Report = silent) -> FittedFourier:
        """Return the map with frequencies times the kernel's scale at γ."""
        kernel = self.kernel.at(gamma)
        return FittedFourier(self.frequencies * kernel.frequency_scale, self.phases, kernel)

    def arguments(self, X: FloatArray, report: Report = silent) -> FloatArray:
        """Return X Ω for standard frequencies."""

        def fill(rows: slice, block: FloatArray) -> None:
            np.matmul(X[rows], self.frequencies, out=block)

        return fill_rows(len(X), len(self.phases), fill, report)


@dataclass(frozen=True)
class RandomFourier:
    """Random Fourier features of a shift-invariant kernel (rahimi2007; chen2017 §3.2.2, Algorithm 2).

    Columns are drawn one after another. So for one seed, the features for m' < m are the first m' columns
    times √(m/m').

    Attributes
    ----------
    n_components : int
        m.
    kernel : Kernel
        A kernel with a spectral density.
    seed : int
    frequencies : FrequencyChoice
        Sampling method (see `rankviz.features.fourier`).
    """

    n_components: int
    kernel: Kernel
    seed: int = 0
    frequencies: FrequencyChoice = field(default_factory=IndependentFrequencies)

    def draw(self, X: FloatArray, report: Report = silent) -> DrawnFourier:
        """Draw m standard frequencies and phases b ~ U[0, 2π) for d features; X gives only d.

        Raises `SettingError` for a kernel without a spectral density, or one that `frequencies` do not
        support.
        """
        if self.kernel.spectrum is None:
            why = lacks_density(self.kernel)
            raise SettingError(f"the {self.kernel.label} kernel {why}, so it has no frequencies to draw")
        frequency_rng, phase_rng = np.random.default_rng(self.seed).spawn(2)
        omega = self.frequencies.draw(self.kernel.spectrum, X.shape[1], self.n_components, frequency_rng)
        return DrawnFourier(omega, phase_rng.uniform(0, 2 * np.pi, self.n_components), self.kernel)

    def fit(self, X: FloatArray, report: Report = silent) -> FittedFourier:
        """Draw for documents X (n, d), at the settings' γ."""
        return self.draw(X, report).fitted(self.kernel.gamma, report)
