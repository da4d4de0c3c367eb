"""Feature maps φ: linear, Nyström, random Fourier, exact; what they store and how they are applied."""

from __future__ import annotations

from rankviz.common.settings import SEED
from rankviz.features.exact import ExactKernel
from rankviz.features.frequencies import FREQUENCIES
from rankviz.features.kernels import rbf_kernel, scale_gamma
from rankviz.features.kinds import FeatureMap, MapKind, MapSettings
from rankviz.features.landmarks import LANDMARKS
from rankviz.features.maps import Drawn, FittedMap, Linear, RandomFourier
from rankviz.features.nystroem import Nystroem
from rankviz.features.operator import FeatureOperator
from rankviz.features.settings import FREQUENCY_CHOICE, GAMMA, LANDMARK_CHOICE, N_COMPONENTS, RANK

__all__ = [
    "EXACT",
    "FEATURE_MAPS",
    "FREQUENCIES",
    "LANDMARKS",
    "LINEAR",
    "Drawn",
    "ExactKernel",
    "FeatureMap",
    "FeatureOperator",
    "FittedMap",
    "Linear",
    "MapKind",
    "MapSettings",
    "Nystroem",
    "RandomFourier",
    "rbf_kernel",
    "scale_gamma",
]


FEATURE_MAPS: dict[str, MapKind] = {
    "linear": MapKind("linear", "the linear model", lambda s: Linear(), has_kernel=False, is_identity=True),
    "nystroem": MapKind(
        "Nyström",
        "Nyström",
        lambda s: Nystroem(s.n_components, s.gamma, s.rank, s.seed, LANDMARKS[s.landmarks]),
        (N_COMPONENTS, GAMMA, SEED, RANK, LANDMARK_CHOICE),
        draws_by=LANDMARK_CHOICE,
        expands=True,
    ),
    "fourier": MapKind(
        "random Fourier",
        "random Fourier",
        lambda s: RandomFourier(s.n_components, s.gamma, s.seed, FREQUENCIES[s.frequencies]),
        (N_COMPONENTS, GAMMA, SEED, FREQUENCY_CHOICE),
        draws_by=FREQUENCY_CHOICE,
    ),
    "exact": MapKind(
        "exact kernel", "the exact kernel", lambda s: ExactKernel(s.gamma), (GAMMA,), expands=True
    ),
}
"""Feature maps by the names that `RankSVM(feature_map=...)` and the app use."""

LINEAR = next(name for name, kind in FEATURE_MAPS.items() if kind.is_identity)
"""The map whose models are the baseline of every kernel."""

EXACT = next(name for name, kind in FEATURE_MAPS.items() if kind.is_exact)
"""The map that approximations of a kernel are held against."""
