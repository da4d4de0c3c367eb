"""Settings and their values on axes of figures."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import pandas as pd

from rankviz.common.numbers import power_of_two
from rankviz.common.settings import Powers, Setting
from rankviz.plots.labels import harmless
from rankviz.runs.axes import Range, is_logarithmic
from rankviz.runs.designs import Design

MOST_TICKS = 10
NOTHING = "–"
"""The value of a setting that is not read, or is None."""


def value_words(setting: Setting, value: Any) -> str:
    """Format a value alone, for ticks: "2⁻⁷", "RBF", "500"."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return NOTHING
    if isinstance(value, str) and value in setting.options:
        return harmless(str(setting.options[value].label))
    if isinstance(value, float):
        power = isinstance(setting.offer, Powers) and math.frexp(value)[0] == 0.5
        return power_of_two(value) if power else f"{value:.3g}"
    return harmless(str(value))


def setting_words(setting: Setting) -> str:
    """Return a setting's name for axes and legends: its label if it has options, else its symbol."""
    return setting.label if setting.options else setting.symbol


def on_a_scale(design: Design, name: str, values: Iterable[Any]) -> pd.Series[float]:
    """Return numbers for the values of an axis: log₂ on a logarithmic range, the place in a list.

    NaN for a cell that does not read the setting.
    """
    axis = design.axis(name)
    if isinstance(axis, Range):
        numbers = pd.Series(list(values), dtype=object).astype(float)
        by_powers = is_logarithmic(design.settings[name])
        return numbers.map(math.log2, na_action="ignore") if by_powers else numbers
    places = {value: float(place) for place, value in enumerate(listed(design, name))}
    return pd.Series([places.get(value, math.nan) for value in values], dtype=float)


def listed(design: Design, name: str) -> list[Any]:
    """Return the listed values of an axis, numbers by size; empty for a range."""
    axis = design.axis(name)
    return [] if isinstance(axis, Range) else list(axis.ordered)


def scale_title(design: Design, name: str) -> str:
    """Return the title of an axis of `on_a_scale`."""
    setting = design.settings[name]
    by_powers = isinstance(design.axis(name), Range) and is_logarithmic(setting)
    return f"log₂ {setting.symbol}" if by_powers else setting_words(setting)


def ticks(design: Design, name: str) -> dict[str, Any]:
    """Return ticks of an axis of `on_a_scale`: at most ten listed values."""
    values, setting = listed(design, name), design.settings[name]
    shown = range(0, len(values), max(math.ceil(len(values) / MOST_TICKS), 1))
    words = [value_words(setting, values[place]) for place in shown]
    return {"tickvals": list(shown), "ticktext": words} if values else {}
