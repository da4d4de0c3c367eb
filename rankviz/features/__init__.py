"""Feature maps φ (linear, Nyström, random Fourier, exact), kernels, and operators for Φ."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankviz.common import submodules
from rankviz.features.exact import ExactKernel
from rankviz.features.fourier import FREQUENCIES, RandomFourier
from rankviz.features.kernel_base import Kernel
from rankviz.features.kernels import (
    KERNELS,
    RBF,
    KernelKind,
    Laplacian,
    LinearKernel,
    Polynomial,
    rbf_kernel,
    scale_gamma,
)
from rankviz.features.maps import Drawn, FeatureMap, FittedMap
from rankviz.features.nystroem import LANDMARKS, Nystroem
from rankviz.features.operator import FeatureOperator
from rankviz.features.registry import (
    EXACT,
    FEATURE_MAPS,
    LINEAR,
    Linear,
    MapKind,
    MapSettings,
    check_combination,
)

__all__ = [
    "EXACT",
    "FEATURE_MAPS",
    "FREQUENCIES",
    "KERNELS",
    "LANDMARKS",
    "LINEAR",
    "RBF",
    "Drawn",
    "ExactKernel",
    "FeatureMap",
    "FeatureOperator",
    "FittedMap",
    "Kernel",
    "KernelKind",
    "Laplacian",
    "Linear",
    "LinearKernel",
    "MapKind",
    "MapSettings",
    "Nystroem",
    "Polynomial",
    "RandomFourier",
    "check_combination",
    "rbf_kernel",
    "scale_gamma",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = submodules(globals())
