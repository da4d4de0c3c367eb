"""The values that pages offer of a setting, where a page has a control of its own for it."""

from __future__ import annotations

from rankviz.common.settings import Powers, Setting, Steps
from rankviz.features.settings import GAMMA, N_COMPONENTS
from rankviz.risk.settings import LOSS_WEIGHT


def exponents(setting: Setting) -> tuple[int, int]:
    """The least and the largest exponent that are offered; TypeError for what is not offered as powers."""
    if not isinstance(setting.offer, Powers):
        raise TypeError(f"{setting.name} is not offered as powers")
    return setting.offer.low, setting.offer.high


def steps(setting: Setting) -> tuple[int, ...]:
    """The values of a list that is offered; TypeError for what is not offered as one."""
    if not isinstance(setting.offer, Steps):
        raise TypeError(f"{setting.name} is not offered as a list")
    return setting.offer.values


C_EXPONENTS, GAMMA_EXPONENTS = exponents(LOSS_WEIGHT), exponents(GAMMA)
COMPONENTS = steps(N_COMPONENTS)
