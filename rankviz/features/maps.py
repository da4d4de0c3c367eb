"""Feature maps: linear, Nyström, random Fourier: from settings to Φ in three steps.

Settings *draw* what is random from or for documents. What is drawn serves every γ and every number of
features up to the one asked for: *fitted* at a γ it is a map φ, whose leading columns are the map for fewer
features. A map turns documents into a `FeatureOperator`.

To add one: a frozen dataclass of settings with `draw(X, report) -> Drawn`, named in `FEATURE_MAPS` of
`rankviz.features`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from rankviz.common.arrays import FloatArray, IntArray
from rankviz.common.progress import Report, silent
from rankviz.features.frequencies import FrequencyChoice, GaussianFrequencies
from rankviz.features.kernels import rbf_kernel, rbf_of_distances
from rankviz.features.operator import Basis, CosineBasis, FeatureOperator, IdentityBasis
from rankviz.features.row_blocks import fill_rows, in_place


class FittedMap(Protocol):
    """A feature map φ with everything drawn: documents in, Φ out, the same for any documents."""

    @property
    def n_components(self) -> int:
        """Feature dimensions m."""
        ...

    @property
    def basis(self) -> Basis:
        """T of Φ = base · T."""
        ...

    def operator(self, X: FloatArray, report: Report = silent) -> FeatureOperator:
        """Φ of documents X (n, d), for products."""
        ...

    def operator_of(self, arguments: FloatArray, report: Report = silent) -> FeatureOperator:
        """Φ of documents from their `Drawn.arguments`, cheaper than from themselves."""
        ...

    def leading(self, m: int) -> FittedMap:
        """The map that settings with m features, at most as many, would have given."""
        ...


class Drawn(Protocol):
    """What a feature map draws, from or for documents: the same for every γ."""

    def fitted(self, gamma: float, report: Report = silent) -> FittedMap:
        """The map at γ."""
        ...

    def arguments(self, X: FloatArray, report: Report = silent) -> FloatArray:
        """What γ only scales, of documents X (n, d): −‖x − x̃‖² of landmarks, or Ωᵀx at γ = ½; (n, m)."""
        ...


@dataclass(frozen=True)
class FittedLinear:
    """φ(x) = x; it draws nothing, so it is its own `Drawn`."""

    n_components: int

    @property
    def basis(self) -> IdentityBasis:
        """The identity."""
        return IdentityBasis(self.n_components)

    def operator(self, X: FloatArray, report: Report = silent) -> FeatureOperator:
        """X itself."""
        return FeatureOperator(X, self.basis)

    def operator_of(self, arguments: FloatArray, report: Report = silent) -> FeatureOperator:
        """The arguments themselves: they are X."""
        return FeatureOperator(arguments, self.basis)

    def leading(self, m: int) -> FittedLinear:
        """Itself: the linear map knows no m."""
        return self

    def fitted(self, gamma: float, report: Report = silent) -> FittedLinear:
        """Itself: the linear map knows no γ."""
        return self

    def arguments(self, X: FloatArray, report: Report = silent) -> FloatArray:
        """X itself."""
        return X


@dataclass(frozen=True)
class Linear:
    """The linear map φ(x) = x: plain linear RankSVM (chen2017 eq. 4)."""

    def draw(self, X: FloatArray, report: Report = silent) -> FittedLinear:
        """Nothing to draw."""
        return FittedLinear(X.shape[1])

    def fit(self, X: FloatArray, report: Report = silent) -> FittedLinear:
        """The same: there is no γ either."""
        return self.draw(X, report)


@dataclass(frozen=True, eq=False)
class FittedNystroem:
    """φ(x) = Tᵀ [κ(x, x̃_1), …, κ(x, x̃_k)]ᵀ for landmarks x̃ (chen2017 eq. 18, up to a rotation).

    Attributes
    ----------
    landmarks : (k, d) float64
    gamma : float
    basis : Basis
        T (k, m).
    kept : (k,) int64 or None
        Places of these landmarks among those drawn; None where none was left out.
    """

    landmarks: FloatArray
    gamma: float
    basis: Basis
    kept: IntArray | None = None

    @property
    def n_components(self) -> int:
        """Feature dimensions m: the numerical rank of the landmarks' kernel, or the rank asked for."""
        return self.basis.shape[1]

    def operator(self, X: FloatArray, report: Report = silent) -> FeatureOperator:
        """Kernel matrix with the landmarks, O(n k d), and the basis change beside it."""
        return FeatureOperator(rbf_kernel(X, self.landmarks, self.gamma, report), self.basis)

    def operator_of(self, arguments: FloatArray, report: Report = silent) -> FeatureOperator:
        """The same from −‖x − x̃‖² of all landmarks that were drawn, O(n k)."""
        own = arguments if self.kept is None else arguments[:, self.kept]
        return FeatureOperator(rbf_of_distances(own, self.gamma, report), self.basis)

    def leading(self, m: int) -> FittedNystroem:
        """The map of those landmarks that are among the first m drawn."""
        kept = None if self.kept is None else self.kept[self.kept < m]
        k = min(m, len(self.landmarks)) if kept is None else len(kept)
        return FittedNystroem(self.landmarks[:k], self.gamma, self.basis.leading(k), kept)


@dataclass(frozen=True, eq=False)
class FittedFourier:
    """φ(x) = √(2/m) cos(Ωᵀx + b) (chen2017 eq. 21).

    Attributes
    ----------
    frequencies : (d, m) float64
        Ω, each column ω ~ N(0, 2γ I).
    phases : (m,) float64
        b ~ U[0, 2π).
    gamma : float
    """

    frequencies: FloatArray
    phases: FloatArray
    gamma: float

    @property
    def n_components(self) -> int:
        """Feature dimensions m."""
        return len(self.phases)

    @property
    def basis(self) -> CosineBasis:
        """√(2/m) I."""
        return CosineBasis(self.n_components)

    def operator(self, X: FloatArray, report: Report = silent) -> FeatureOperator:
        """The cosines, O(n m d), and their factor beside them."""
        return self._cosines(
            len(X), lambda rows, block: np.matmul(X[rows], self.frequencies, out=block), report
        )

    def operator_of(self, arguments: FloatArray, report: Report = silent) -> FeatureOperator:
        """The same from Ωᵀx at γ = ½, O(n m)."""
        scale = np.sqrt(2 * self.gamma)
        return self._cosines(
            len(arguments), lambda rows, block: np.multiply(arguments[rows], scale, out=block), report
        )

    def leading(self, m: int) -> FittedFourier:
        """The map of the first m frequencies."""
        return FittedFourier(self.frequencies[:, :m], self.phases[:m], self.gamma)

    def _cosines(
        self, n: int, project: Callable[[slice, FloatArray], object], report: Report
    ) -> FeatureOperator:
        def fill(rows: slice, block: FloatArray) -> None:
            project(rows, block)
            block += self.phases
            in_place(np.cos, block)

        return FeatureOperator(fill_rows(n, self.n_components, fill, report), self.basis)


@dataclass(frozen=True, eq=False)
class DrawnFourier:
    """Standard frequencies (d, m), those of γ = ½, and phases (m,)."""

    frequencies: FloatArray
    phases: FloatArray

    def fitted(self, gamma: float, report: Report = silent) -> FittedFourier:
        """Frequencies times √(2γ)."""
        return FittedFourier(self.frequencies * np.sqrt(2 * gamma), self.phases, gamma)

    def arguments(self, X: FloatArray, report: Report = silent) -> FloatArray:
        """X Ω at γ = ½."""

        def fill(rows: slice, block: FloatArray) -> None:
            np.matmul(X[rows], self.frequencies, out=block)

        return fill_rows(len(X), len(self.phases), fill, report)


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

    def draw(self, X: FloatArray, report: Report = silent) -> DrawnFourier:
        """Draw m frequencies ω ~ N(0, I) and phases b ~ U[0, 2π) for d features; X gives only d."""
        frequency_rng, phase_rng = np.random.default_rng(self.seed).spawn(2)
        omega = self.frequencies.draw(X.shape[1], self.n_components, frequency_rng)
        return DrawnFourier(omega, phase_rng.uniform(0, 2 * np.pi, self.n_components))

    def fit(self, X: FloatArray, report: Report = silent) -> FittedFourier:
        """Draw for documents X (n, d), at the settings' γ."""
        return self.draw(X, report).fitted(self.gamma, report)
