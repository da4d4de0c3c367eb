"""The settings of feature maps (see `rankviz.common.settings`)."""

from __future__ import annotations

from rankviz.common.settings import Choice, Setting, Steps, Typed, Whole
from rankviz.features.frequencies import FREQUENCIES
from rankviz.features.kernel_settings import COEF0, DEGREE, GAMMA
from rankviz.features.kernels import KERNELS
from rankviz.features.landmarks import LANDMARKS

__all__ = [
    "COEF0",
    "DEGREE",
    "FREQUENCY_CHOICE",
    "GAMMA",
    "KERNEL",
    "LANDMARK_CHOICE",
    "N_COMPONENTS",
    "RANK",
]

MOST_FEATURES = 2**31 - 1
"""Largest m, so that counts of bytes do not overflow; free memory allows far less."""

N_COMPONENTS = Setting(
    name="n_components",
    symbol="m",
    label="Number of features (m)",
    domain=Whole(most=MOST_FEATURES),
    default=500,
    start=200,
    help="Landmarks (Nyström) or frequencies (random Fourier). More come closer to the exact kernel and "
    "take longer.",
    key="m",
    offer=Steps((5, 10, 25, 50, 100, 200, 500, 1000, 2000)),
    named=True,
)

KERNEL = Setting(
    name="kernel",
    symbol="kernel",
    label="Kernel",
    domain=Choice(KERNELS),
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
    domain=Whole(optional=True),
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
