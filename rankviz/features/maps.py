"""Feature maps: linear, Nyström, random Fourier. Settings make a map, `fit` on documents makes it fixed.

To add one: a frozen dataclass of settings with `fit(X, report) -> FittedMap`, named in `FEATURE_MAPS` of
`rankviz.features`; a fitted map turns documents into a `FeatureOperator`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from rankviz._typing import FloatArray
from rankviz.features.blocks import fill_rows, in_place
from rankviz.features.frequencies import FrequencyChoice, GaussianFrequencies
from rankviz.features.kernels import rbf_kernel
from rankviz.features.operator import Basis, FeatureOperator, IdentityBasis
from rankviz.progress import Report, silent


class FittedMap(Protocol):
    """A feature map φ with everything drawn: documents in, Φ out, the same for any documents."""

    @property
    def n_components(self) -> int:
        """Feature dimensions m."""
        ...

    def operator(self, X: FloatArray, report: Report = silent) -> FeatureOperator:
        """Φ of documents X (n, d), for products."""
        ...


@dataclass(frozen=True)
class FittedLinear:
    """φ(x) = x."""

    n_components: int

    def operator(self, X: FloatArray, report: Report = silent) -> FeatureOperator:
        """X itself."""
        return FeatureOperator(X, IdentityBasis(X.shape[1]))


@dataclass(frozen=True)
class Linear:
    """The linear map φ(x) = x: plain linear RankSVM (chen2017 eq. 4)."""

    def fit(self, X: FloatArray, report: Report = silent) -> FittedLinear:
        """Nothing to draw."""
        return FittedLinear(X.shape[1])


@dataclass(frozen=True, eq=False)
class FittedNystroem:
    """φ(x) = Tᵀ [κ(x, x̃_1), …, κ(x, x̃_k)]ᵀ for landmarks x̃ (chen2017 eq. 18, up to a rotation).

    Attributes
    ----------
    landmarks : (k, d) float64
    gamma : float
    basis : Basis
        T (k, m).
    """

    landmarks: FloatArray
    gamma: float
    basis: Basis

    @property
    def n_components(self) -> int:
        """Feature dimensions m: the numerical rank of the landmarks' kernel, or the rank asked for."""
        return self.basis.shape[1]

    def operator(self, X: FloatArray, report: Report = silent) -> FeatureOperator:
        """Kernel matrix with the landmarks, O(n k d), and the basis change beside it."""
        return FeatureOperator(rbf_kernel(X, self.landmarks, self.gamma, report), self.basis)


@dataclass(frozen=True, eq=False)
class FittedFourier:
    """φ(x) = √(2/m) cos(Ωᵀx + b) (chen2017 eq. 21).

    Attributes
    ----------
    frequencies : (d, m) float64
        Ω, each column ω ~ N(0, 2γ I).
    phases : (m,) float64
        b ~ U[0, 2π).
    """

    frequencies: FloatArray
    phases: FloatArray

    @property
    def n_components(self) -> int:
        """Feature dimensions m."""
        return len(self.phases)

    def operator(self, X: FloatArray, report: Report = silent) -> FeatureOperator:
        """Φ itself, O(n m d)."""
        m = self.n_components

        def fill(rows: slice, block: FloatArray) -> None:
            np.matmul(X[rows], self.frequencies, out=block)
            block += self.phases
            in_place(np.cos, block)
            block *= np.sqrt(2 / m)

        return FeatureOperator(fill_rows(len(X), m, fill, report), IdentityBasis(m))


@dataclass(frozen=True)
class RandomFourier:
    """Random Fourier features of the RBF kernel (chen2017 §3.2.2, Algorithm 2).

    Frequencies and phases are drawn column after column, so with one seed the features for m' < m are the
    first m' columns times √(m/m').

    Attributes
    ----------
    n_components : int
        m.
    gamma : float
    seed : int
    frequencies : FrequencyChoice
        How they are drawn (see `rankviz.features.frequencies`).
    """

    n_components: int
    gamma: float
    seed: int = 0
    frequencies: FrequencyChoice = field(default_factory=GaussianFrequencies)

    def fit(self, X: FloatArray, report: Report = silent) -> FittedFourier:
        """Draw m frequencies ω ~ N(0, 2γ I) and phases b ~ U[0, 2π) for d features; X gives only d."""
        d = X.shape[1]
        frequency_rng, phase_rng = np.random.default_rng(self.seed).spawn(2)
        omega = self.frequencies.draw(d, self.n_components, frequency_rng) * np.sqrt(2 * self.gamma)
        return FittedFourier(omega, phase_rng.uniform(0, 2 * np.pi, self.n_components))
