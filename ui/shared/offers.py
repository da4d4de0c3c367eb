"""Values of a setting offered by pages with their own control for it."""

from __future__ import annotations

from rankviz.common.settings import Powers, Setting, Steps
from rankviz.features.settings import GAMMA, N_COMPONENTS
from rankviz.learning.risk_settings import LOSS_WEIGHT


def exponents(setting: Setting) -> tuple[int, int]:
    """Return the smallest and the largest exponent offered; TypeError unless it is offered as powers."""
    if not isinstance(setting.offer, Powers):
        raise TypeError(f"{setting.name} is not offered as powers")
    return setting.offer.low, setting.offer.high


def steps(setting: Setting) -> tuple[int, ...]:
    """Return the values of an offered list; TypeError unless it is offered as a list."""
    if not isinstance(setting.offer, Steps):
        raise TypeError(f"{setting.name} is not offered as a list")
    return setting.offer.values


C_EXPONENTS, GAMMA_EXPONENTS = exponents(LOSS_WEIGHT), exponents(GAMMA)
COMPONENTS = steps(N_COMPONENTS)
