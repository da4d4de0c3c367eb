"""Registry of feature maps, and valid combinations with kernels and sampling methods."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rankviz.common.errors import SettingError
from rankviz.common.settings import SEED, active
from rankviz.features import exact
from rankviz.features.exact import ExactKernel, FittedExact, FittedKernelPCA
from rankviz.features.fourier import FittedFourier, RandomFourier
from rankviz.features.frequencies import FREQUENCIES
from rankviz.features.kernel_base import EntryCost, KernelFacts, lacks_density
from rankviz.features.kernels import KERNELS, KernelKind
from rankviz.features.kinds import Kept, MapKind
from rankviz.features.landmarks import LANDMARKS
from rankviz.features.maps import FittedLinear, Linear
from rankviz.features.nystroem import FittedNystroem, Nystroem
from rankviz.features.settings import FREQUENCY_CHOICE, KERNEL, LANDMARK_CHOICE, N_COMPONENTS, RANK


def _made_of_features(kernel: KernelFacts | None) -> bool:
    """Return True if sums of kernel values are sums, or sums of products, of functions of single features."""
    return kernel is not None and kernel.by_feature is not None


FEATURE_MAPS: dict[str, MapKind] = {
    "linear": MapKind(
        "linear",
        "the linear model",
        lambda s: Linear(),
        (FittedLinear,),
        Kept(lambda m, n, d: d, base=False),
        has_form=lambda kernel: True,
        is_identity=True,
        meaning="the features themselves",
        entry_cost=lambda kernel, d: EntryCost(),
    ),
    "nystroem": MapKind(
        "Nyström",
        "Nyström",
        lambda s: Nystroem(s.n_components, s.kernel, s.rank, s.seed, LANDMARKS[s.landmarks]),
        (FittedNystroem,),
        Kept(lambda m, n, d: min(m, n), factor=True),
        (N_COMPONENTS, KERNEL, SEED, RANK, LANDMARK_CHOICE),
        expands=True,
        has_form=_made_of_features,
        draws_by=LANDMARK_CHOICE,
        meaning="a kernel through m landmark documents",
    ),
    "fourier": MapKind(
        "random Fourier",
        "random Fourier",
        lambda s: RandomFourier(s.n_components, s.kernel, s.seed, FREQUENCIES[s.frequencies]),
        (FittedFourier,),
        Kept(lambda m, n, d: m),
        (N_COMPONENTS, KERNEL, SEED, FREQUENCY_CHOICE),
        has_form=lambda kernel: True,
        draws_by=FREQUENCY_CHOICE,
        meaning="a kernel through m random frequencies",
        entry_cost=lambda kernel, d: EntryCost(products=d, cos=1),
        takes=lambda kernel: kernel.spectrum is not None,
        needs="shift-invariant, with a known spectral density",
        lacks=lacks_density,
    ),
    "exact": MapKind(
        "exact kernel",
        "the exact kernel",
        lambda s: ExactKernel(s.kernel),
        (FittedKernelPCA, FittedExact),
        Kept(lambda m, n, d: n, factor=True, own_space_beyond=lambda: exact.SMALL),
        (KERNEL,),
        expands=True,
        has_form=_made_of_features,
        meaning="the kernel itself; time and memory grow with the square of the documents",
    ),
}
"""Feature maps by their names in `RankSVM(feature_map=...)` and the app."""

LINEAR = next(name for name, kind in FEATURE_MAPS.items() if kind.is_identity)
"""The map of the baseline models."""

EXACT = next(name for name, kind in FEATURE_MAPS.items() if kind.is_exact)
"""The map that approximations of a kernel are compared with."""


def check_combination(feature_map: str, values: Mapping[str, Any]) -> None:
    """Raise `SettingError` if a map or sampling method does not support the kernel; it names valid choices.

    `values` are valid settings of the map by name; missing ones have their default.
    """
    kind = FEATURE_MAPS[feature_map]
    if not kind.has_kernel:
        return
    kernel = KERNELS[str(values.get(KERNEL.name, KERNEL.default))]
    if not kind.takes(kernel):
        raise _mismatch("feature_map", feature_map, FEATURE_MAPS, kernel, taken(kind))
    for setting, value in active(kind.settings, lambda setting: values.get(setting.name, setting.default)):
        if setting.options and not goes_with(setting.options[value], kernel):
            kernels = taken(kind, setting.options[value])
            raise _mismatch(str(setting.parameter), value, setting.options, kernel, kernels)


def _mismatch(
    parameter: str, value: str, options: Mapping[str, Any], kernel: KernelKind, kernels: Sequence[str]
) -> SettingError:
    """Return the error for an option that does not support a kernel; it supports `kernels`."""
    others = [name for name, option in options.items() if goes_with(option, kernel)]
    return SettingError(
        f"{parameter}={value!r} {needs_of(options[value], kernel)}; choose "
        f"{_named('kernel', kernels)}, or {_named(parameter, others)}"
    )


def needs_of(option: object, kernel: KernelFacts) -> str:
    """Describe an option's requirement that a kernel lacks: "needs a kernel that is …, and …"."""
    asked, lacks = getattr(option, "needs", "") or "another", getattr(option, "lacks", None)
    missing = "is not" if lacks is None else lacks(kernel)
    return f"needs a kernel that is {asked}, and the {kernel.label} kernel {missing}"


def taken(*options: object) -> list[str]:
    """List the kernels that all of these options (maps, sampling methods) support."""
    return [name for name, kernel in KERNELS.items() if all(goes_with(option, kernel) for option in options)]


def goes_with(option: object, kernel: KernelFacts) -> bool:
    """Return True if an option has a kernel and supports this one; it supports all by default."""
    if not getattr(option, "has_kernel", True):
        return False
    asked = getattr(option, "takes", None)
    return True if asked is None else bool(asked(kernel))


def _named(parameter: str, names: Iterable[str]) -> str:
    return f"{parameter}={' or '.join(map(repr, names))}"
