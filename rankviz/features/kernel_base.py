"""What a kernel is: arguments that no γ changes, computed in blocks, and an entrywise function of them.

To add one: a frozen dataclass derived from `BlockKernel`, and one entry in `KERNELS` of
`rankviz.features.kernels`.

See docs/decisions/0031-contracts-of-extensions.md.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, Protocol, Self

import numpy as np

from rankviz.common.arrays import FloatArray
from rankviz.common.progress import Report, silent
from rankviz.features import row_blocks
from rankviz.features.courses import Course

Fill = Callable[[FloatArray, FloatArray], object]
"""What fills a block (s, m) for documents (s, d)."""
Panels = Callable[[int, int], FloatArray]
"""What makes K[start:end, :end] for two rows start and end, as a new array."""


@dataclass(frozen=True)
class EntryCost:
    """What one entry of a matrix takes to compute.

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
    """The spectral density of a shift-invariant kernel: what frequencies of random Fourier features follow.

    It draws one frequency at a time, so that those for m' < m features are the first m' of those for m.

    Attributes
    ----------
    column : (d, rng) -> (d,)
        A standard frequency, from what `rng` gives alone: it is called once for each of m, in turn.
    length : (d, rng) -> float, or None
        The length of such a frequency where any direction is as likely as any other: the kernel then is
        rotation-invariant. None where it is not.
    """

    column: Callable[[int, np.random.Generator], FloatArray]
    length: Callable[[int, np.random.Generator], float] | None = None

    def columns(self, d: int, m: int, rng: np.random.Generator) -> FloatArray:
        """Independent standard frequencies (d, m), one per column."""
        return np.stack([self.column(d, rng) for _ in range(m)], axis=1)

    def lengths(self, d: int, m: int, rng: np.random.Generator) -> FloatArray:
        """Independent lengths (m,); ValueError where directions are not alike."""
        if self.length is None:
            raise ValueError("directions are not alike, and a length alone makes no frequency")
        return np.array([self.length(d, rng) for _ in range(m)])


@dataclass(frozen=True)
class ByFeature:
    """How a kernel is made of functions of single features: κ(x, z) = Π_l k(x_l, z_l), or Σ_l k(x_l, z_l).

    Attributes
    ----------
    function : (kernel, x, z) -> k(x, z)
        Entry by entry, x and z being broadcast.
    multiplied : bool
        Whether they are multiplied, as in exp(−γ‖x − z‖²); else they are added, as in ⟨x, z⟩.
    course : (kernel, z) -> Course, or None
        How k(x, z_i) runs along x, for values z (m,) of one feature; None where that is not known.
    """

    function: Callable[[Any, FloatArray, FloatArray], FloatArray]
    multiplied: bool
    course: Callable[[Any, FloatArray], Course] | None = None


class KernelFacts(Protocol):
    """What is known of a kernel whatever its parameters are."""

    @property
    def label(self) -> str:
        """What it is called: "RBF"."""
        ...

    @property
    def formula(self) -> str:
        """κ(x, z), in symbols."""
        ...

    @property
    def shift_invariant(self) -> bool:
        """Whether κ(x, z) is a function of x − z."""
        ...

    @property
    def spectrum(self) -> Spectrum | None:
        """Where its frequencies come from; None where it is not shift-invariant, or that is not known."""
        ...

    @property
    def by_feature(self) -> ByFeature | None:
        """How it is made of functions of single features; None where it is not, or that is not known."""
        ...


class Kernel(KernelFacts, Protocol):
    """A positive semidefinite kernel κ with its parameters."""

    @property
    def gamma(self) -> float:
        """γ; 1 where it has none."""
        ...

    @property
    def offset(self) -> float:
        """What entries are close to where γ is small: in single precision the difference to it is stored."""
        ...

    @property
    def frequency_scale(self) -> float:
        """What frequencies of its spectrum are multiplied by at its γ."""
        ...

    def at(self, gamma: float) -> Self:
        """The same kernel with another γ; itself where it has none."""
        ...

    def matrix(self, X: FloatArray, Z: FloatArray, report: Report = silent) -> FloatArray:
        """K_ij = κ(x_i, z_j) of X (n, d) and Z (m, d) -> (n, m)."""
        ...

    def arguments(self, X: FloatArray, Z: FloatArray, report: Report = silent) -> FloatArray:
        """What kernels of every γ are made of: (n, d), (m, d) -> (n, m)."""
        ...

    def of_arguments(self, arguments: FloatArray, report: Report = silent) -> FloatArray:
        """K from what `arguments` gave: (n, m) -> (n, m), a new array."""
        ...

    def panels(self, X: FloatArray) -> Panels:
        """Row panels up to the diagonal of K (n, n) of documents X (n, d)."""
        ...

    def diagonal(self, X: FloatArray) -> FloatArray:
        """κ(x_i, x_i) of X (n, d) -> (n,)."""
        ...

    def entry_cost(self, d: int) -> EntryCost:
        """What an entry takes for documents with d features."""
        ...

    def scratch(self, d: int) -> int:
        """Numbers that computing an entry keeps meanwhile, beside the entry itself."""
        ...


@dataclass(frozen=True)
class BlockKernel(ABC):
    """A kernel from two things: blocks of arguments, and an entrywise function of these.

    What is left to say for a kernel that is not shift-invariant: `label`, `formula`, `argument_blocks`,
    `apply`, `diagonal` and its parameters as fields.
    """

    label: ClassVar[str]
    formula: ClassVar[str]
    shift_invariant: ClassVar[bool] = False
    spectrum: ClassVar[Spectrum | None] = None
    by_feature: ClassVar[ByFeature | None] = None
    gamma = 1.0

    @abstractmethod
    def argument_blocks(self, Z: FloatArray) -> Fill:
        """What fills blocks with the arguments of documents and Z (m, d): no parameter changes them."""

    @abstractmethod
    def apply(self, arguments: FloatArray, out: FloatArray) -> None:
        """Write κ for arguments into `out` of the same shape, which may be the same array."""

    @abstractmethod
    def diagonal(self, X: FloatArray) -> FloatArray:
        """κ(x_i, x_i) of X (n, d) -> (n,)."""

    @property
    def offset(self) -> float:
        """What entries are close to where γ is small."""
        return 0.0

    @property
    def frequency_scale(self) -> float:
        """What standard frequencies are multiplied by."""
        return float(self.gamma)

    def at(self, gamma: float) -> Self:
        """The same kernel with another γ; itself where it has none."""
        change: dict[str, Any] = {"gamma": gamma}
        return replace(self, **change) if "gamma" in {field.name for field in fields(self)} else self

    def blocks(self, Z: FloatArray) -> Fill:
        """What fills blocks with κ of documents and Z (m, d)."""
        arguments = self.argument_blocks(Z)

        def fill(X: FloatArray, block: FloatArray) -> None:
            arguments(X, block)
            self.apply(block, block)

        return fill

    def matrix(self, X: FloatArray, Z: FloatArray, report: Report = silent) -> FloatArray:
        """K_ij = κ(x_i, z_j) of X (n, d) and Z (m, d) -> (n, m); what `report` raises ends it."""
        return self._filled(self.blocks(Z), X, len(Z), report)

    def arguments(self, X: FloatArray, Z: FloatArray, report: Report = silent) -> FloatArray:
        """What kernels of every γ are made of: (n, d), (m, d) -> (n, m)."""
        return self._filled(self.argument_blocks(Z), X, len(Z), report)

    def of_arguments(self, arguments: FloatArray, report: Report = silent) -> FloatArray:
        """K from what `arguments` gave: (n, m) -> (n, m), a new array."""
        n, m = arguments.shape
        scratch = self.scratch(1)  # of `apply`: features have no part in it
        return row_blocks.fill_rows(
            n, m, lambda rows, block: self.apply(arguments[rows], block), report, scratch
        )

    def panels(self, X: FloatArray) -> Panels:
        """Row panels up to the diagonal of K (n, n) of documents X (n, d)."""

        def panel(start: int, end: int) -> FloatArray:
            return self._filled(self.blocks(X[:end]), X[start:end], end, silent)

        return panel

    def entry_cost(self, d: int) -> EntryCost:
        """A product of d features and an exponential, where nothing else is said."""
        return EntryCost(products=d, exp=1)

    def scratch(self, d: int) -> int:
        """Four, where nothing else is said: copies of its block that expressions in `apply` make.

        Blocks are so much smaller. One that works in place says 0.
        """
        return 4

    def _filled(self, fill: Fill, X: FloatArray, m: int, report: Report) -> FloatArray:
        return row_blocks.fill_rows(
            len(X), m, lambda rows, block: fill(X[rows], block), report, self.scratch(X.shape[1])
        )


def lacks_density(kernel: KernelFacts) -> str:
    """What a kernel lacks of a spectral density, as in "the kernel …"; "" where it has one."""
    if kernel.spectrum is not None:
        return ""
    return "has no known spectral density" if kernel.shift_invariant else "is not shift-invariant"


def mean_diagonal(kernel: Kernel, X: FloatArray) -> float:
    """The mean of κ(x, x) over documents X (n, d), which tolerances are relative to; 1 where it is 0."""
    return float(kernel.diagonal(X).mean()) or 1.0 if len(X) else 1.0


def largest_value(kernel: Kernel | None, X: FloatArray) -> float:
    """What no |κ(x, z)| is beyond among documents X (n, d), by Cauchy and Schwarz; 0 without a kernel."""
    if kernel is None:
        return 0.0
    with np.errstate(over="ignore", invalid="ignore"):
        return float(kernel.diagonal(X).max(initial=0.0))


def needed(kernel: Kernel | None) -> Kernel:
    """The kernel; ValueError where there is none."""
    if kernel is None:
        raise ValueError("there is no kernel")
    return kernel
