"""The kernels RBF, Laplacian, polynomial and linear, with scikit-learn's names and parameters.

RBF: κ(x, z) = exp(−γ‖x − z‖²), a matrix product and an exponential per entry. Laplacian: exp(−γ‖x − z‖₁),
which needs all differences. Polynomial: (γ⟨x, z⟩ + coef0)^degree. Linear: ⟨x, z⟩.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from rankviz.common.arrays import FloatArray
from rankviz.common.errors import SettingError
from rankviz.common.parallel import ROWS, each, in_place, powers, shared
from rankviz.common.progress import Report, silent
from rankviz.common.settings import Positive, Powers, Real, Setting, Steps, Whole
from rankviz.features.kernel_base import (
    ByFeature,
    EntryCost,
    Fill,
    Kernel,
    KernelFacts,
    Panels,
    Smooth,
    Spectrum,
    Straight,
    Tents,
    bell_bound,
)

GAMMA = Setting(
    name="gamma",
    symbol="γ",
    label="γ",
    domain=Positive(names=("scale",)),
    default=2.0**-6,
    start=2.0**-2,
    help="How fast the kernel decreases with distance. With a larger γ only close documents are similar, and "
    "the model is less smooth.",
    key="g",
    offer=Powers(-12, 4),
)

DEGREE = Setting(
    name="degree",
    symbol="degree",
    label="Degree of the polynomial",
    domain=Whole(most=1000),
    default=3,
    help="In (γ⟨x, z⟩ + coef0)^degree: the largest number of features in a product.",
    key="deg",
    offer=Steps((1, 2, 3, 4, 5)),
    caption=lambda degree: f"degree {degree}",
)

COEF0 = Setting(
    name="coef0",
    symbol="coef0",
    label="Constant coef0",
    domain=Real(low=0),
    default=1.0,
    help="In (γ⟨x, z⟩ + coef0)^degree: a value above 0 adds products of fewer features.",
    key="coef0",
    offer=Steps((0.0, 0.5, 1.0, 2.0)),
)


TILE_COLUMNS = 512
"""Columns of a tile of a panel: 2 MB with 512 rows."""


def squared_blocks(Z: FloatArray, scale: float) -> Fill:
    """Return a function that fills blocks with −scale·‖x_i − z_j‖² for Z (m, d).

    It is one matrix product with two more columns, [x, ‖x‖², 1]·[2sz, −s, −s‖z‖²]ᵀ, after moving the origin
    to the mean c of Z: a large common offset would cost digits. Values rounded above 0 become 0. An absolute
    rounding error of about 1e-15·s‖x − c‖² remains, so scale features first.
    """
    centre, d = Z.mean(axis=0), Z.shape[1]
    Z = Z - centre
    right = np.vstack((2 * scale * Z.T, np.full(len(Z), -scale), -scale * np.einsum("ij,ij->i", Z, Z)))

    def fill(X: FloatArray, block: FloatArray) -> None:
        for start in range(0, len(block), ROWS):
            part = block[start : start + ROWS]
            left = np.ones((len(part), d + 2))
            centred = np.subtract(X[start : start + len(part)], centre, out=left[:, :d])
            left[:, d] = np.einsum("ij,ij->i", centred, centred)
            np.matmul(left, right, out=part)
            np.minimum(part, 0.0, out=part)

    return fill


def squared_panels(X: FloatArray, scale: float, function: np.ufunc) -> Panels:
    """Return a function that writes row panels of a function of −scale·‖x_i − x_j‖² of X (n, d).

    Own threads fill tiles that fit in the cache, so that each page of a panel is written once.
    """
    X = X - X.mean(axis=0)
    squares, ones = np.einsum("ij,ij->i", X, X), np.ones(len(X))
    left = np.column_stack((X, squares, ones))
    right = np.vstack((2 * scale * X.T, -scale * ones, -scale * squares))

    def panel(start: int, offset: float, out: NDArray[np.floating]) -> None:
        rows, columns = out.shape

        def fill(first: int) -> None:
            there = slice(first, min(first + TILE_COLUMNS, columns))
            tile = left[start : start + rows] @ right[:, there]
            np.minimum(tile, 0.0, out=tile)
            function(tile, out=tile)
            np.subtract(tile, offset, out=out[:, there], casting="same_kind")

        each(fill, range(0, columns, TILE_COLUMNS))

    return panel


def city_blocks(Z: FloatArray) -> Fill:
    """Return a function that fills blocks with −‖x_i − z_j‖₁ for Z (m, d), without cancellation."""
    Z = np.ascontiguousarray(Z)

    def work(X: FloatArray, part: FloatArray) -> None:
        cdist(X, Z, "cityblock", out=part)
        np.negative(part, out=part)

    return lambda X, block: shared(work, X, block)


GAUSSIAN_SPECTRUM = Spectrum(
    column=lambda d, rng: rng.standard_normal(d),
    length=lambda d, rng: float(np.sqrt(rng.chisquare(d))),
)
"""ω ~ N(0, I); its length is χ-distributed with d degrees of freedom."""

CAUCHY_SPECTRUM = Spectrum(column=lambda d, rng: rng.standard_cauchy(d))
"""Independent entries with density 1/(π(1 + ω²)); not rotation-invariant, as ‖·‖₁ depends on the axes."""


@dataclass(frozen=True)
class _Exponential(Kernel):
    """The exponential of −γ times a distance, which is computed in place."""

    gamma: float

    @property
    def offset(self) -> float:
        """κ(x, x) = 1."""
        return 1.0

    def apply(self, arguments: FloatArray, out: FloatArray) -> None:
        """Compute exp(γ·arguments)."""
        np.multiply(arguments, self.gamma, out=out)
        in_place(np.exp, out)

    def scratch(self, d: int) -> int:
        """Return 0: everything is done in place."""
        return 0

    def diagonal(self, X: FloatArray) -> FloatArray:
        """Return ones."""
        return np.ones(len(X))


@dataclass(frozen=True)
class RBF(_Exponential):
    """κ(x, z) = exp(−γ‖x − z‖²); ω ~ N(0, 2γ I) (chen2017 §2.3, §3.2.2).

    Attributes
    ----------
    gamma : float
    """

    label: ClassVar[str] = "RBF"
    formula: ClassVar[str] = "exp(−γ‖x − z‖²)"
    shift_invariant: ClassVar[bool] = True
    spectrum: ClassVar[Spectrum | None] = GAUSSIAN_SPECTRUM
    by_feature: ClassVar[ByFeature | None] = ByFeature(
        lambda kernel, x, z: np.exp(-kernel.gamma * (x - z) ** 2),
        multiplied=True,
        profile=lambda kernel, z: Smooth(np.full(len(z), kernel.frequency_scale), bell_bound),
    )

    @property
    def frequency_scale(self) -> float:
        """√(2γ)."""
        return float(np.sqrt(2 * self.gamma))

    def argument_blocks(self, Z: FloatArray) -> Fill:
        """Return a function for −‖x − z‖²."""
        return squared_blocks(Z, 1.0)

    def blocks(self, Z: FloatArray) -> Fill:
        """Return a function for κ with γ inside the matrix product, which saves a pass."""
        exponents = squared_blocks(Z, self.gamma)

        def fill(X: FloatArray, block: FloatArray) -> None:
            exponents(X, block)
            in_place(np.exp, block)

        return fill

    def panels(self, X: FloatArray) -> Panels:
        """Return a function for row panels about the mean of all documents."""
        return squared_panels(X, self.gamma, np.exp)


@dataclass(frozen=True)
class Laplacian(_Exponential):
    """κ(x, z) = exp(−γ‖x − z‖₁); the entries of ω are independent Cauchy(0, γ) (rahimi2007, figure 1).

    Attributes
    ----------
    gamma : float
    """

    label: ClassVar[str] = "Laplacian"
    formula: ClassVar[str] = "exp(−γ‖x − z‖₁)"
    shift_invariant: ClassVar[bool] = True
    spectrum: ClassVar[Spectrum | None] = CAUCHY_SPECTRUM
    by_feature: ClassVar[ByFeature | None] = ByFeature(
        lambda kernel, x, z: np.exp(-kernel.gamma * np.abs(x - z)),
        multiplied=True,
        profile=lambda kernel, z: Tents(kernel.gamma, z),
    )

    def argument_blocks(self, Z: FloatArray) -> Fill:
        """Return a function for −‖x − z‖₁."""
        return city_blocks(Z)

    def entry_cost(self, d: int) -> EntryCost:
        """Return a sum of d absolute differences (no matrix product) and an exponential."""
        return EntryCost(exp=1, plain=d)


class _OfProducts(Kernel):
    """A function of ⟨x, z⟩."""

    def argument_blocks(self, Z: FloatArray) -> Fill:
        """Return a function for ⟨x, z⟩."""
        right = np.ascontiguousarray(Z.T)
        return lambda X, block: np.matmul(X, right, out=block)

    def scratch(self, d: int) -> int:
        """Return 0: everything is done in place."""
        return 0

    def diagonal(self, X: FloatArray) -> FloatArray:
        """Return the function at ‖x‖²."""
        out: FloatArray = np.einsum("ij,ij->i", X, X)
        self.apply(out, out)
        return out


@dataclass(frozen=True)
class Polynomial(_OfProducts):
    """κ(x, z) = (γ⟨x, z⟩ + coef0)^degree, positive semidefinite for coef0 ≥ 0.

    Attributes
    ----------
    gamma : float
    degree : int
        At least 1.
    coef0 : float
        At least 0.
    """

    gamma: float
    degree: int = 3
    coef0: float = 1.0

    label: ClassVar[str] = "polynomial"
    formula: ClassVar[str] = "(γ⟨x, z⟩ + coef0)^degree"

    @property
    def offset(self) -> float:
        """coef0^degree, the limit as γ vanishes."""
        return float(np.power(self.coef0, self.degree))

    def apply(self, arguments: FloatArray, out: FloatArray) -> None:
        """Compute (γ·arguments + coef0)^degree."""

        def work(source: FloatArray, own: FloatArray) -> None:
            np.multiply(source, self.gamma, out=own)
            own += self.coef0
            powers(own, self.degree)

        shared(work, arguments, out)

    def entry_cost(self, d: int) -> EntryCost:
        """Return a product of d features, a multiplication, a sum, and a power by repeated squaring."""
        return EntryCost(products=d, plain=2 + 2 * np.log2(self.degree))


@dataclass(frozen=True)
class LinearKernel(_OfProducts):
    """κ(x, z) = ⟨x, z⟩: the linear model in coefficients of documents or landmarks."""

    label: ClassVar[str] = "linear"
    formula: ClassVar[str] = "⟨x, z⟩"
    by_feature: ClassVar[ByFeature | None] = ByFeature(
        lambda kernel, x, z: x * z, multiplied=False, profile=lambda kernel, z: Straight()
    )

    def apply(self, arguments: FloatArray, out: FloatArray) -> None:
        """Copy the arguments."""
        if out is not arguments:
            np.copyto(out, arguments)

    def entry_cost(self, d: int) -> EntryCost:
        """Return a product of d features."""
        return EntryCost(products=d)


@dataclass(frozen=True, eq=False)
class KernelKind:
    """A kernel to choose.

    Attributes
    ----------
    kernel : type of Kernel
        A class whose fields are named like its settings.
    settings : tuple of Setting
        Its settings.
    """

    kernel: type[Any]
    settings: tuple[Setting, ...] = ()

    @property
    def label(self) -> str:
        """Name in menus and captions."""
        return str(self.kernel.label)

    @property
    def formula(self) -> str:
        """κ(x, z), in symbols."""
        return str(self.kernel.formula)

    @property
    def shift_invariant(self) -> bool:
        """True if κ(x, z) is a function of x − z."""
        return bool(self.kernel.shift_invariant)

    @property
    def spectrum(self) -> Spectrum | None:
        """Spectral density; None without one."""
        found: Spectrum | None = self.kernel.spectrum
        return found

    @property
    def by_feature(self) -> ByFeature | None:
        """Form in functions of single features; None without one."""
        found: ByFeature | None = self.kernel.by_feature
        return found

    @property
    def has_gamma(self) -> bool:
        """True if it has a γ."""
        return GAMMA in self.settings

    @property
    def usual(self) -> Kernel:
        """The kernel with default settings."""
        return self.make({setting.name: setting.default for setting in self.settings})

    def make(self, values: Mapping[str, Any]) -> Kernel:
        """Return the kernel with these values of its settings, by name; ignore others."""
        return cast(Kernel, self.kernel(**{setting.name: values[setting.name] for setting in self.settings}))


KERNELS: dict[str, KernelKind] = {
    "rbf": KernelKind(RBF, (GAMMA,)),
    "laplacian": KernelKind(Laplacian, (GAMMA,)),
    "polynomial": KernelKind(Polynomial, (GAMMA, DEGREE, COEF0)),
    "linear": KernelKind(LinearKernel),
}
"""Kernels by their names in `RankSVM(kernel=...)` and the app, which are scikit-learn's."""


def kernel_facts(kernel: str | Kernel) -> KernelFacts:
    """Return the properties of a kernel given by its name in `KERNELS`, or as an object."""
    return KERNELS[kernel] if isinstance(kernel, str) else kernel


def usual_kernel(kernel: str | Kernel) -> Kernel:
    """Return a kernel given as an object, or by its name in `KERNELS` with default settings."""
    return KERNELS[kernel].usual if isinstance(kernel, str) else kernel


def kernel_name(kernel: Kernel) -> str:
    """Return a kernel's name in `KERNELS`; `SettingError` for others."""
    found = next((name for name, kind in KERNELS.items() if kind.kernel is type(kernel)), None)
    if found is None:
        raise SettingError(
            f"the kernel {kernel!r} has no name for storage; register its class in "
            f"rankviz.features.kernels.KERNELS, or choose one of {', '.join(map(repr, KERNELS))}"
        )
    return found


def rbf_kernel(X: FloatArray, Z: FloatArray, gamma: float, report: Report = silent) -> FloatArray:
    """Return the kernel matrix K_ij = exp(−γ‖x_i − z_j‖²) of X (n, d) and Z (m, d) -> (n, m) float64."""
    return RBF(gamma).matrix(X, Z, report)


def scale_gamma(X: FloatArray) -> float:
    """Return the default γ = 1/(d·Var X) of features X (n, d), with Var over all entries; 1 for Var X = 0."""
    mean, squares = float(X.mean()), 0.0
    for start in range(0, len(X), ROWS):
        centred = X[start : start + ROWS] - mean
        squares += float(np.einsum("ij,ij->", centred, centred))
    return len(X) / squares if squares > 0 else 1.0
