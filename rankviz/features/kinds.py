"""What a feature map is, said in one place: its names, its settings, and what it has and has not.

Everything else asks here rather than for a map by its name: whether there is a kernel, whether m features
approximate it, whether anything is drawn.

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
    """Settings of a feature map, before it has seen documents."""

    def draw(self, X: FloatArray, report: Report = silent) -> Drawn:
        """Draw what the map draws, from or for documents X (n, d)."""
        ...

    def fit(self, X: FloatArray, report: Report = silent) -> FittedMap:
        """The same, fitted at its kernel's γ."""
        ...


@dataclass(frozen=True)
class MapSettings:
    """All that any feature map may be told; a map takes what it uses.

    Attributes
    ----------
    n_components : int
        m: landmarks or frequencies.
    kernel : Kernel
        With its parameters.
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
    """What training with a map keeps in memory: what its bytes are counted from.

    Attributes
    ----------
    width : (m, n, d) -> int
        Columns of the base for m features of n documents with d features.
    base : bool
        Whether there is a base beside the documents themselves.
    factor : bool
        Whether documents are compared with each other, and a square factor of landmarks stands beside it.
    own_space_beyond : () -> int or None
        Distinct documents beyond which there is no base: the model is solved for in the kernel's own space.
    """

    width: Callable[[int, int, int], int]
    base: bool = True
    factor: bool = False
    own_space_beyond: Callable[[], int] | None = None

    def in_kernel_space(self, n: int) -> bool:
        """Whether n distinct documents are trained in coefficients of documents."""
        return self.own_space_beyond is not None and n > self.own_space_beyond()


@dataclass(frozen=True, eq=False)
class MapKind:
    """A feature map to choose.

    Attributes
    ----------
    label : str
        What menus and legends call it.
    in_a_sentence : str
        The same within a sentence.
    make : MapSettings -> FeatureMap
    fitted : tuple of types
        Of its maps, by whose names models are stored.
    kept : Kept
        What it keeps in memory.
    settings : tuple of Setting
        Those it reads.
    expands : bool
        Whether its scores are a kernel expansion f(x) = Σ αᵢ κ(x, zᵢ), with coefficients α of documents z.
    has_form : kernel -> bool
        Whether its scores are sums, or sums of products, of functions of single features, with a kernel (None
        for a map without one); its fitted maps then have `form`.
    is_identity : bool
        Whether its weights are weights of the input features: φ(x) = x.
    draws_by : Setting or None
        Of its settings the one that says how it draws.
    entry_cost : (kernel, d) -> EntryCost
        What an entry of its base takes to compute: by default what one of the kernel does.
    takes : kernel -> bool
        Whether it has features for a kernel.
    needs : str
        What it asks of a kernel, in words: "needs a kernel that is …".
    lacks : kernel -> str
        Which of these a kernel that it does not take lacks, as in "the kernel …".
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

    @property
    def has_kernel(self) -> bool:
        """Whether a kernel is behind its scores, approximated or not."""
        return KERNEL in self.settings

    @property
    def approximates(self) -> bool:
        """Whether it has m features that come closer to the kernel as m grows."""
        return self.has_kernel and self.has_components

    @property
    def is_exact(self) -> bool:
        """Whether it is the kernel itself."""
        return self.has_kernel and not self.has_components

    @property
    def has_components(self) -> bool:
        """Whether it has a number of features m to choose."""
        return N_COMPONENTS in self.settings

    @property
    def draws(self) -> bool:
        """Whether a seed decides what it is."""
        return SEED in self.settings
