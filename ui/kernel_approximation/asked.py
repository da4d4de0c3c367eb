"""Settings of the Kernel approximation page: kernel, maps, and number of draws."""

from __future__ import annotations

from dataclasses import dataclass

from rankviz.analysis.kernel_error import Variant
from rankviz.common.settings import SEED
from rankviz.features import KERNELS, Kernel
from rankviz.runs.spec import RunSpec


@dataclass(frozen=True)
class Asked:
    """The page's settings.

    Attributes
    ----------
    spec : RunSpec
        The sidebar's settings, always with a kernel map.
    norm : str
    draws : int
    grid : tuple of int
    variants : tuple of Variant
        Maps of the curves.
    shown : tuple of Variant
        The maps that approximate the kernel, with the sidebar's sampling methods, for the tabs.
    named : Variant or None
        The current model, if it is one of these maps.
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
        """Seed of the first draw: the sidebar's."""
        return int(self.spec.get(SEED.name, SEED.default))

    @property
    def seeds(self) -> range:
        """Seeds of the draws."""
        return range(self.seed, self.seed + self.draws)


def kernel_of(spec: RunSpec) -> Kernel:
    """Return the kernel that is approximated."""
    kernel: Kernel = KERNELS[spec.kernel].make(spec.values)
    return kernel
