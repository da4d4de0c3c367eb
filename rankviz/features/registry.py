"""The feature maps by name: their settings and properties, and valid combinations with kernels.

Other modules read these declarations (a kernel? m features that approximate it? random?) and do not compare
names. To add a map, write it (see `rankviz.features.maps`) and enter it in `FEATURE_MAPS`.

See docs/decisions/0002-declare-do-not-guess.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from rankviz.common.arrays import FloatArray
from rankviz.common.errors import SettingError
from rankviz.common.npz import Arrays
from rankviz.common.progress import Report, silent
from rankviz.common.settings import SEED, Choice, ChoiceOrObject, Setting, Steps, Typed, Whole, active
from rankviz.features import exact
from rankviz.features.exact import ExactKernel, FittedExact, FittedKernelPCA
from rankviz.features.fourier import FREQUENCIES, FittedFourier, RandomFourier
from rankviz.features.kernel_base import EntryCost, Kernel, KernelFacts, Straight, lacks_density
from rankviz.features.kernels import KERNELS, RBF, kernel_facts
from rankviz.features.maps import FeatureMap, FittedMap, Move, SumForm
from rankviz.features.nystroem import LANDMARKS, FittedNystroem, Nystroem
from rankviz.features.operator import FeatureOperator, IdentityBasis

MOST_FEATURES = 2**31 - 1
"""Largest m, so that counts of bytes do not overflow; free memory allows far less."""

N_COMPONENTS = Setting(
    name="n_components",
    symbol="m",
    label="Number of features (m)",
    domain=Whole(most=MOST_FEATURES),
    default=500,
    start=200,
    help="Landmarks (Nyström) or frequencies (random Fourier). More are closer to the exact kernel but take "
    "longer.",
    key="m",
    offer=Steps((5, 10, 25, 50, 100, 200, 500, 1000, 2000)),
    named=True,
)


@dataclass(frozen=True, eq=False)
class KernelDomain(ChoiceOrObject):
    """The names of `KERNELS`, or a kernel with its parameters."""

    def check(self, name: str, value: object) -> None:
        """Raise `SettingError` for another value, or a kernel of `KERNELS` with invalid parameters."""
        for kind in KERNELS.values():
            if kind.kernel is type(value):
                for setting in kind.settings:
                    setting.check(getattr(value, setting.name))
        super().check(name, value)


KERNEL = Setting(
    name="kernel",
    symbol="kernel",
    label="Kernel",
    domain=KernelDomain(KERNELS, Kernel, "rankviz.features.kernel_base.Kernel"),
    default="rbf",
    help="κ(x, z): " + "; ".join(f"{kind.label} {kind.formula}" for kind in KERNELS.values()) + ".",
    key="kernel",
    caption=lambda name: f"{KERNELS[name].label} kernel",
    quiet=True,
    named=True,
)

RANK = Setting(
    name="rank",
    symbol="rank",
    label="Rank of the Nyström map (0: all)",
    domain=Whole(optional=True, most=MOST_FEATURES),
    default=None,
    help="Keep only the largest eigenvalues of the landmarks' kernel matrix (chen2017 eq. 16–18).",
    key="rank",
    offer=Typed(0, 2000),
    caption=lambda rank: "full rank" if rank is None else f"rank {rank}",
    quiet=True,
    named=True,
)

LANDMARK_CHOICE = Setting(
    name="landmarks",
    symbol="landmarks",
    label="Landmarks of the Nyström map",
    domain=Choice(LANDMARKS),
    default="uniform",
    help="; ".join(f"{one.label}: {one.meaning}" for one in LANDMARKS.values()) + ".",
    key="landmarks",
    caption=lambda name: f"{LANDMARKS[name].label} landmarks",
    quiet=True,
    named=True,
)

FREQUENCY_CHOICE = Setting(
    name="frequencies",
    symbol="frequencies",
    label="Frequencies of random Fourier",
    domain=Choice(FREQUENCIES),
    default="gaussian",
    help="; ".join(f"{one.label}: {one.meaning}" for one in FREQUENCIES.values()) + ".",
    key="freq",
    caption=lambda name: f"{FREQUENCIES[name].label} frequencies",
    quiet=True,
    named=True,
)


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
class MapMemory:
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
    memory : MapMemory
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
    memory: MapMemory
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


@dataclass(frozen=True)
class FittedLinear:
    """φ(x) = x; nothing is random, so it is its own `Drawn`."""

    n_components: int

    kernel: ClassVar[Kernel | None] = None
    in_kernel_space: ClassVar[bool] = False

    @property
    def basis(self) -> IdentityBasis:
        """The identity."""
        return IdentityBasis(self.n_components)

    def operator(self, X: FloatArray, report: Report = silent) -> FeatureOperator:
        """Return X."""
        return FeatureOperator(X, self.basis)

    def operator_of(self, arguments: FloatArray, report: Report = silent) -> FeatureOperator:
        """Return the operator of the arguments: they are X."""
        return FeatureOperator(arguments, self.basis)

    def form(self, w: FloatArray) -> SumForm:
        """Return Σ_l w_l x_l."""
        return SumForm(lambda a, b: w * (a - b), lambda feature: Straight())

    def leading(self, m: int) -> FittedLinear:
        """Return this map: the linear map has no m."""
        return self

    def moved(self, move: Move, X: FloatArray) -> FittedLinear:
        """Return this map: it has no landmarks."""
        return self

    def fitted(self, gamma: float, report: Report = silent) -> FittedLinear:
        """Return this map: the linear map has no γ."""
        return self

    def arguments(self, X: FloatArray, report: Report = silent) -> FloatArray:
        """Return X."""
        return X

    def arrays(self) -> Arrays:
        """Return no arrays."""
        return {}

    @classmethod
    def from_arrays(cls, arrays: Arrays, d: int, kernel: Kernel | None) -> FittedLinear:
        """Return the map of d features."""
        return cls(d)


@dataclass(frozen=True)
class Linear:
    """The linear map φ(x) = x: plain linear RankSVM (chen2017 eq. 4)."""

    def draw(self, X: FloatArray, report: Report = silent) -> FittedLinear:
        """Return the map; nothing is random."""
        return FittedLinear(X.shape[1])

    def fit(self, X: FloatArray, report: Report = silent) -> FittedLinear:
        """Return the map; it has no γ."""
        return self.draw(X, report)


def _made_of_features(kernel: KernelFacts | None) -> bool:
    """Return True if sums of kernel values are sums, or sums of products, of functions of single features."""
    return kernel is not None and kernel.by_feature is not None


FEATURE_MAPS: dict[str, MapKind] = {
    "linear": MapKind(
        "linear",
        "the linear model",
        lambda s: Linear(),
        (FittedLinear,),
        MapMemory(lambda m, n, d: d, base=False),
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
        MapMemory(lambda m, n, d: min(m, n), factor=True),
        (N_COMPONENTS, KERNEL, SEED, RANK, LANDMARK_CHOICE),
        expands=True,
        has_form=_made_of_features,
        draws_by=LANDMARK_CHOICE,
        meaning="a kernel approximated by m landmark documents",
    ),
    "fourier": MapKind(
        "random Fourier",
        "random Fourier",
        lambda s: RandomFourier(s.n_components, s.kernel, s.seed, FREQUENCIES[s.frequencies]),
        (FittedFourier,),
        MapMemory(lambda m, n, d: m),
        (N_COMPONENTS, KERNEL, SEED, FREQUENCY_CHOICE),
        has_form=lambda kernel: True,
        draws_by=FREQUENCY_CHOICE,
        meaning="a kernel approximated by m random frequencies",
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
        MapMemory(lambda m, n, d: n, factor=True, own_space_beyond=lambda: exact.SMALL),
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

FEATURE_MAP = Setting(
    name="feature_map",
    symbol="φ",
    label="Feature map",
    domain=Choice(FEATURE_MAPS),
    default="nystroem",
    help="; ".join(f"{kind.label}: {kind.meaning}" for kind in FEATURE_MAPS.values() if kind.meaning) + ".",
    key="map",
    named=True,
)


def check_combination(feature_map: str, values: Mapping[str, Any]) -> None:
    """Raise `SettingError` if a map or sampling method does not support the kernel; it names valid choices.

    `values` are valid settings of the map by name; missing ones have their default.
    """
    kind = FEATURE_MAPS[feature_map]
    if not kind.has_kernel:
        return
    kernel = kernel_facts(values.get(KERNEL.name, KERNEL.default))
    if not kind.takes(kernel):
        raise _mismatch("feature_map", feature_map, FEATURE_MAPS, kernel, supported_kernels(kind))
    for setting, value in active(kind.settings, lambda setting: values.get(setting.name, setting.default)):
        if setting is not KERNEL and setting.options and not supports_kernel(setting.options[value], kernel):
            kernels = supported_kernels(kind, setting.options[value])
            raise _mismatch(str(setting.parameter), value, setting.options, kernel, kernels)


def _mismatch(
    parameter: str, value: str, options: Mapping[str, Any], kernel: KernelFacts, kernels: Sequence[str]
) -> SettingError:
    """Return the error for an option that does not support a kernel; it supports `kernels`."""
    others = [name for name, option in options.items() if supports_kernel(option, kernel)]
    return SettingError(
        f"{parameter}={value!r} {needs_of(options[value], kernel)}; choose "
        f"{_named('kernel', kernels)}, or {_named(parameter, others)}"
    )


def needs_of(option: object, kernel: KernelFacts) -> str:
    """Describe an option's requirement that a kernel lacks: "needs a kernel that is …, and …"."""
    asked, lacks = getattr(option, "needs", "") or "another", getattr(option, "lacks", None)
    missing = "is not" if lacks is None else lacks(kernel)
    return f"needs a kernel that is {asked}, and the {kernel.label} kernel {missing}"


def supported_kernels(*options: object) -> list[str]:
    """List the kernels that all of these options (maps, sampling methods) support."""
    return [
        name for name, kernel in KERNELS.items() if all(supports_kernel(option, kernel) for option in options)
    ]


def supports_kernel(option: object, kernel: KernelFacts) -> bool:
    """Return True if an option has a kernel and supports this one; it supports all by default."""
    if not getattr(option, "has_kernel", True):
        return False
    asked = getattr(option, "takes", None)
    return True if asked is None else bool(asked(kernel))


def _named(parameter: str, names: Iterable[str]) -> str:
    return f"{parameter}={' or '.join(map(repr, names))}"
