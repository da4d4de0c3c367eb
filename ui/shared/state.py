"""Settings as widgets keep them: what a control holds for a value, and the value for what it holds.

A power of two is kept as its exponent, no rank as 0, costs as a choice and a line of numbers; all else as it is.
"""

from __future__ import annotations

import math
from typing import Any

from rankviz.common.settings import Powers, Setting, Typed
from rankviz.risk.settings import COSTS
from ui.shared.costs import DEFAULT_TABLE, costs_of, state_of_costs

TABLE_KEY = "lam"
"""Of the line of numbers beside the costs."""


def held(setting: Setting, value: Any) -> dict[str, Any]:
    """What the controls of a setting hold for a value, by their keys."""
    if setting is COSTS:
        return state_of_costs(value)
    if isinstance(setting.offer, Powers):
        return {setting.key: round(math.log(value, setting.offer.base))}
    if value is None and isinstance(setting.offer, Typed):
        return {setting.key: int(setting.offer.low)}
    return {setting.key: value}


def value_from(setting: Setting, state: Any) -> Any:
    """The value that the controls of a setting stand for; what the app starts from where there is none.

    Raises `DataError` for costs that are no numbers.
    """
    if not setting.key or setting.key not in state:
        return setting.first
    raw = state[setting.key]
    if setting is COSTS:
        return costs_of(raw, state.get(TABLE_KEY, DEFAULT_TABLE))
    if isinstance(setting.offer, Powers):
        return float(setting.offer.base) ** int(raw)
    if isinstance(setting.offer, Typed) and setting.default is None and int(raw) == setting.offer.low:
        return None
    return raw
