"""The interface of kernels: arguments independent of γ, computed in blocks, and a function of each.

A kernel may declare properties of its functions of single features. They are used to find the turning points
of sums of such functions.

To add a kernel, derive a frozen dataclass from `Kernel`. `RankSVM(kernel=...)` takes the object. An entry
`NAME: KernelKind(Class, settings)` in `KERNELS` of `rankviz.features.kernels` names it for runs and the app.

See docs/decisions/0031-contracts-of-extensions.md.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from rankviz.common import parallel
from rankviz.common.arrays import FloatArray
from rankviz.common.progress import Report, silent


@dataclass(frozen=True)
class Straight:
    """Straight lines."""


@dataclass(frozen=True, eq=False)
class Smooth:
    """Functions k_i whose derivatives have bounds: |k_i⁽ⁿ⁾(x)| ≤ factor(n)·rate_iⁿ at every x.

    Attributes
    ----------
    rates : (m,) float64
        Per unit of the feature.
    factor : n -> float
    """

    rates: FloatArray
    factor: Callable[[int], float]


@dataclass(frozen=True, eq=False)
class Tents:
    """Functions exp(−rate·|x − centre_i|).

    Attributes
    ----------
    rate : float
        Per unit of the feature.
    centres : (m,) float64
    """

    rate: float
    centres: FloatArray


Profile = Straight | Smooth | Tents


def wave_bound(n: int) -> float:
    """Return the factor of e^{iωx}, whose rate is |ω|: 1."""
    return 1.0


def bell_bound(n: int) -> float:
    """Return the factor of exp(−γ(x − z)²), whose rate is √(2γ): 1.0865·√(n!).

    This is Cramér's inequality for Hermite polynomials, |H_n(x)| e^{−x²/2} ≤ 1.0865·√(2ⁿ n!).
    """
    return 1.0865 * math.sqrt(math.factorial(n))


Fill = Callable[[FloatArray, FloatArray], object]
"""Function that fills a block (s, m) for documents (s, d)."""
Panels = Callable[[int, float, NDArray[np.floating]], None]
"""Function that writes K − offset, from a first row on, into an array (rows, leading columns)."""


@dataclass(frozen=True)
class EntryCost:
    """Operations for one entry of a matrix.

    Attributes
    ----------
    products : float
        Multiplications in a matrix product.
    exp, cos : float
        Exponentials and cosines.
    plain : float
        Other operations, entry by entry.
    """

    products: float = 0.0
    exp: float = 0.0
    cos: float = 0.0
    plain: float = 0.0


@dataclass(frozen=True)
class Spectrum:
    """The spectral density of a shift-invariant kernel, from which random Fourier features draw frequencies.

    Frequencies are drawn one at a time, so those for m' < m features are the first m' of those for m.

    Attributes
    ----------
    column : (d, rng) -> (d,)
        A standard frequency from `rng` alone; called once for each of m, in turn.
    length : (d, rng) -> float, or None
        The length of such a frequency if its direction is uniform, that is for a rotation-invariant kernel.
        None otherwise.
    """

    column: Callable[[int, np.random.Generator], FloatArray]
    length: Callable[[int, np.random.Generator], float] | None = None

    def columns(self, d: int, m: int, rng: np.random.Generator) -> FloatArray:
        """Draw independent standard frequencies (d, m), one per column."""
        return np.stack([self.column(d, rng) for _ in range(m)], axis=1)

    def lengths(self, d: int, m: int, rng: np.random.Generator) -> FloatArray:
        """Draw independent lengths (m,); ValueError unless directions are uniform."""
        if self.length is None:
            raise ValueError(
                "directions have different distributions, so a length does not define a frequency"
            )
        return np.array([self.length(d, rng) for _ in range(m)])


@dataclass(frozen=True)
class ByFeature:
    """A kernel as functions of single features: κ(x, z) = Π_l k(x_l, z_l), or Σ_l k(x_l, z_l).

    Attributes
    ----------
    function : (kernel, x, z) -> k(x, z)
        Entrywise, with x and z broadcast.
    multiplied : bool
        True if they are multiplied, as in exp(−γ‖x − z‖²); False if added, as in ⟨x, z⟩.
    profile : (kernel, z) -> Profile, or None
        Profile of k(x, z_i) along x, for values z (m,) of one feature; None if unknown.
    """

    function: Callable[[Any, FloatArray, FloatArray], FloatArray]
    multiplied: bool
    profile: Callable[[Any, FloatArray], Profile] | None = None


class KernelFacts(Protocol):
    """Facts about a kernel that do not depend on its parameters."""

    @property
    def label(self) -> str:
        """Name: "RBF"."""
        ...

    @property
    def formula(self) -> str:
        """κ(x, z), in symbols."""
        ...

    @property
    def shift_invariant(self) -> bool:
        """True if κ(x, z) is a function of x − z."""
        ...

    @property
    def spectrum(self) -> Spectrum | None:
        """Spectral density; None if the kernel is not shift-invariant, or the density is unknown."""
        ...

    @property
    def by_feature(self) -> ByFeature | None:
        """Form in functions of single features; None if there is none, or it is unknown."""
        ...


@dataclass(frozen=True)
class Kernel(ABC):
    """A positive semidefinite kernel κ with its parameters: blocks of arguments, and a function of entries.

    A subclass that is not shift-invariant defines `label`, `formula`, `argument_blocks`, `apply`, `diagonal`
    and its parameters as fields.
    """

    label: ClassVar[str]
    formula: ClassVar[str]
    shift_invariant: ClassVar[bool] = False
    spectrum: ClassVar[Spectrum | None] = None
    by_feature: ClassVar[ByFeature | None] = None
    gamma = 1.0

    @abstractmethod
    def argument_blocks(self, Z: FloatArray) -> Fill:
        """Return a function that fills blocks with arguments for Z (m, d), independent of all parameters."""

    @abstractmethod
    def apply(self, arguments: FloatArray, out: FloatArray) -> None:
        """Write κ for arguments into `out` of the same shape, which may be the same array."""

    @abstractmethod
    def diagonal(self, X: FloatArray) -> FloatArray:
        """Return κ(x_i, x_i) of X (n, d) -> (n,)."""

    @property
    def offset(self) -> float:
        """Value near all entries for small γ; in single precision the difference to it is stored."""
        return 0.0

    @property
    def frequency_scale(self) -> float:
        """Factor of its spectrum's frequencies at its γ."""
        return float(self.gamma)

    def at(self, gamma: float) -> Self:
        """Return the same kernel with another γ; itself if it has none."""
        change: dict[str, Any] = {"gamma": gamma}
        return replace(self, **change) if "gamma" in {field.name for field in fields(self)} else self

    def blocks(self, Z: FloatArray) -> Fill:
        """Return a function that fills blocks with κ of documents and Z (m, d)."""
        arguments = self.argument_blocks(Z)

        def fill(X: FloatArray, block: FloatArray) -> None:
            arguments(X, block)
            self.apply(block, block)

        return fill

    def matrix(self, X: FloatArray, Z: FloatArray, report: Report = silent) -> FloatArray:
        """Return K_ij = κ(x_i, z_j) of X (n, d) and Z (m, d) -> (n, m); `report` may raise to stop it."""
        return self._filled(self.blocks(Z), X, len(Z), report)

    def arguments(self, X: FloatArray, Z: FloatArray, report: Report = silent) -> FloatArray:
        """Return the arguments of kernels of every γ: (n, d), (m, d) -> (n, m)."""
        return self._filled(self.argument_blocks(Z), X, len(Z), report)

    def of_arguments(self, arguments: FloatArray, report: Report = silent) -> FloatArray:
        """Return K from the result of `arguments`: (n, m) -> (n, m), a new array."""
        n, m = arguments.shape
        scratch = self.scratch(1)  # for `apply`, which does not depend on features
        return parallel.fill_rows(
            n, m, lambda rows, block: self.apply(arguments[rows], block), report, scratch
        )

    def panels(self, X: FloatArray) -> Panels:
        """Return a function that writes row panels of K (n, n) of documents X (n, d)."""

        def panel(start: int, offset: float, out: NDArray[np.floating]) -> None:
            rows, columns = out.shape
            found = self._filled(self.blocks(X[:columns]), X[start : start + rows], columns, silent)
            np.subtract(found, offset, out=out, casting="same_kind")

        return panel

    def entry_cost(self, d: int) -> EntryCost:
        """Return the operations for an entry with d features: by default a product and an exponential."""
        return EntryCost(products=d, exp=1)

    def scratch(self, d: int) -> int:
        """Return the temporary numbers per entry: by default four, copies of the block in `apply`.

        Blocks become smaller accordingly. Kernels that work in place return 0.
        """
        return 4

    def _filled(self, fill: Fill, X: FloatArray, m: int, report: Report) -> FloatArray:
        return parallel.fill_rows(
            len(X), m, lambda rows, block: fill(X[rows], block), report, self.scratch(X.shape[1])
        )


def lacks_density(kernel: KernelFacts) -> str:
    """Return the missing property for a spectral density, as in "the kernel …"; "" if there is one."""
    if kernel.spectrum is not None:
        return ""
    return "has no known spectral density" if kernel.shift_invariant else "is not shift-invariant"


def mean_diagonal(kernel: Kernel, X: FloatArray) -> float:
    """Return the mean of κ(x, x) over documents X (n, d), the unit of tolerances; 1 if it is 0."""
    return float(kernel.diagonal(X).mean()) or 1.0 if len(X) else 1.0


def largest_value(kernel: Kernel | None, X: FloatArray) -> float:
    """Return a bound of |κ(x, z)| among documents X (n, d), by Cauchy–Schwarz; 0 without a kernel."""
    if kernel is None:
        return 0.0
    with np.errstate(over="ignore", invalid="ignore"):
        return float(kernel.diagonal(X).max(initial=0.0))


def needed(kernel: Kernel | None) -> Kernel:
    """Return the kernel; ValueError for None."""
    if kernel is None:
        raise ValueError("there is no kernel")
    return kernel
