"""The settings of the Kernel approximation page: which kernel, which maps, how many draws."""

from __future__ import annotations

from dataclasses import dataclass

from rankviz.analysis.kernel_error import Variant
from rankviz.common.settings import SEED
from rankviz.experiments.spec import RunSpec
from rankviz.features import KERNELS, Kernel


@dataclass(frozen=True)
class Asked:
    """The page's settings.

    Attributes
    ----------
    spec : RunSpec
        The sidebar's settings with a kernel map in any case.
    norm : str
    draws : int
    grid : tuple of int
    variants : tuple of Variant
        Maps of the curves.
    shown : tuple of Variant
        The maps that approximate the kernel, as the sidebar has them drawn, for the tabs.
    named : Variant or None
        The current model, where it is one of these maps.
    """

    spec: RunSpec
    norm: str
    draws: int
    grid: tuple[int, ...]
    variants: tuple[Variant, ...]
    shown: tuple[Variant, ...]
    named: Variant | None

    @property
    def kernel(self) -> Kernel:
        """The kernel that is approximated."""
        return kernel_of(self.spec)

    @property
    def seed(self) -> int:
        """Of the first draw: the sidebar's."""
        return int(self.spec.get(SEED.name, SEED.default))

    @property
    def seeds(self) -> range:
        """Of the draws."""
        return range(self.seed, self.seed + self.draws)


def kernel_of(spec: RunSpec) -> Kernel:
    """The kernel that is approximated."""
    kernel: Kernel = KERNELS[spec.kernel].make(spec.values)
    return kernel
