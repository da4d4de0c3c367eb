"""Declarations of the feature maps: names, settings and properties.

Other modules read these declarations (a kernel? m features that approximate it? random?) and do not compare
names.

See docs/decisions/0002-declare-do-not-guess.md.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from rankviz.common.arrays import FloatArray
from rankviz.common.progress import Report, silent
from rankviz.common.settings import SEED, Setting
from rankviz.features.kernel_base import EntryCost, Kernel, KernelFacts
from rankviz.features.kernels import RBF
from rankviz.features.maps import Drawn, FittedMap
from rankviz.features.settings import KERNEL, N_COMPONENTS


class FeatureMap(Protocol):
    """Settings of a feature map, before it is drawn for documents."""

    def draw(self, X: FloatArray, report: Report = silent) -> Drawn:
        """Draw the random parts of the map, from or for documents X (n, d)."""
        ...

    def fit(self, X: FloatArray, report: Report = silent) -> FittedMap:
        """Fit the map at its kernel's γ."""
        ...


@dataclass(frozen=True)
class MapSettings:
    """All settings of all feature maps; each map reads some of them.

    Attributes
    ----------
    n_components : int
        m: landmarks or frequencies.
    kernel : Kernel
        The kernel with its parameters.
    rank : int or None
        Nyström only: eigenvalues kept.
    seed : int
    landmarks : str
        A name in `LANDMARKS`.
    frequencies : str
        A name in `FREQUENCIES`.
    """

    n_components: int = 1
    kernel: Kernel = field(default_factory=lambda: RBF(1.0))
    rank: int | None = None
    seed: int = 0
    landmarks: str = "uniform"
    frequencies: str = "gaussian"


@dataclass(frozen=True)
class Kept:
    """Memory of training with a map, in counts of numbers.

    Attributes
    ----------
    width : (m, n, d) -> int
        Columns of the base for m features of n documents with d features.
    base : bool
        True if there is a base besides the documents.
    factor : bool
        True if documents are compared with landmarks, with a square factor of these.
    own_space_beyond : () -> int or None
        Number of distinct documents above which there is no base and the model is solved in kernel space.
    """

    width: Callable[[int, int, int], int]
    base: bool = True
    factor: bool = False
    own_space_beyond: Callable[[], int] | None = None

    def in_kernel_space(self, n: int) -> bool:
        """Return True if n distinct documents are trained in coefficients of documents."""
        return self.own_space_beyond is not None and n > self.own_space_beyond()


@dataclass(frozen=True, eq=False)
class MapKind:
    """A feature map to choose.

    Attributes
    ----------
    label : str
        Name in menus and legends.
    in_a_sentence : str
        Name within a sentence.
    make : MapSettings -> FeatureMap
    fitted : tuple of types
        Types of its fitted maps; models are stored under their names.
    kept : Kept
        Its memory.
    settings : tuple of Setting
        Its settings.
    expands : bool
        True if its scores are a kernel expansion f(x) = Σ αᵢ κ(x, zᵢ), with coefficients α of documents z.
    has_form : kernel -> bool
        True if its scores are sums, or sums of products, of functions of single features, for a kernel (None
        for a map without one). Its fitted maps then have `form`.
    is_identity : bool
        True if its weights are weights of the input features: φ(x) = x.
    draws_by : Setting or None
        The setting that chooses the sampling method.
    entry_cost : (kernel, d) -> EntryCost
        Operations for an entry of its base; by default those of the kernel.
    takes : kernel -> bool
        True if it has features for a kernel.
    needs : str
        Requirement for a kernel, in words: "needs a kernel that is …".
    lacks : kernel -> str
        The missing requirement of an unsupported kernel, as in "the kernel …".
    meaning : str
        What its features are, for help texts.
    """

    label: str
    in_a_sentence: str
    make: Callable[[MapSettings], FeatureMap]
    fitted: tuple[type[FittedMap], ...]
    kept: Kept
    settings: tuple[Setting, ...] = ()
    expands: bool = False
    has_form: Callable[[KernelFacts | None], bool] = lambda kernel: False
    is_identity: bool = False
    draws_by: Setting | None = None
    entry_cost: Callable[[Kernel, int], EntryCost] = lambda kernel, d: kernel.entry_cost(d)
    takes: Callable[[KernelFacts], bool] = lambda kernel: True
    needs: str = ""
    lacks: Callable[[KernelFacts], str] = lambda kernel: "is not"
    meaning: str = ""

    @property
    def has_kernel(self) -> bool:
        """True if its scores come from a kernel, approximated or not."""
        return KERNEL in self.settings

    @property
    def approximates(self) -> bool:
        """True if it has m features that approximate the kernel better as m grows."""
        return self.has_kernel and self.has_components

    @property
    def is_exact(self) -> bool:
        """True for the exact kernel."""
        return self.has_kernel and not self.has_components

    @property
    def has_components(self) -> bool:
        """True if the number of features m is a setting."""
        return N_COMPONENTS in self.settings

    @property
    def draws(self) -> bool:
        """True if it depends on a seed."""
        return SEED in self.settings
