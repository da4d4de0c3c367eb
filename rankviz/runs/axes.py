"""The axes of a sweep: a setting and the values it takes, listed or between two ends.

A range is walked as the setting's domain asks for: positive numbers by their logarithm, so that every power
of two is as likely as the next; whole numbers and all others evenly. What is chosen by name has no range.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from rankviz.common.errors import SettingError
from rankviz.common.settings import Positive, Powers, Real, Setting, Share, Whole, one_of


@dataclass(frozen=True)
class Values:
    """A setting and the values it takes, in their order; a value that stands twice counts once."""

    setting: str
    values: tuple[Any, ...]

    def checked(self, setting: Setting) -> Values:
        """The same with Python's own values; `SettingError` for none, or one the setting may not have."""
        if not self.values:
            raise SettingError(f"the axis {self.setting!r} has no values; give one at least, or leave it out")
        return Values(self.setting, tuple(dict.fromkeys(setting.checked(value) for value in self.values)))

    @property
    def ordered(self) -> tuple[Any, ...]:
        """The values, numbers by size, so that neighbours are alike."""
        numbers = all(isinstance(value, int | float) for value in self.values)
        return tuple(sorted(self.values)) if numbers else self.values

    def with_values(self, values: Iterable[Any]) -> Values:
        """The axis with these values at its end, those that it has not and that are not None."""
        return Values(
            self.setting, tuple(dict.fromkeys((*self.values, *(v for v in values if v is not None))))
        )

    def own(self, value: Any) -> tuple[Any, ...]:
        """The value as it stands on the axis, alone in a tuple; an empty one where it does not."""
        return tuple(listed for listed in self.values if listed == value)

    def at(self, share: float, setting: Setting) -> Any:
        """The value at a share from 0 to 1 of the axis: each value has as long a piece of it."""
        return self.values[min(int(share * len(self.values)), len(self.values) - 1)]

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return {"setting": self.setting, "values": list(self.values)}


@dataclass(frozen=True)
class Range:
    """A setting and the two ends between which it is drawn."""

    setting: str
    low: float
    high: float

    def checked(self, setting: Setting) -> Range:
        """The same with Python's own numbers; `SettingError` for ends that are none, or not in order."""
        if type(setting.domain) not in _SCALES:
            raise SettingError(f"{self.setting} has no range: list its values, {setting.domain.words}")
        ends = [setting.checked(end) for end in (self.low, self.high)]
        if not all(isinstance(end, int | float) for end in ends) or not ends[0] < ends[1]:
            raise SettingError(
                f"the range of {self.setting} is {self.low!r} to {self.high!r}; give two numbers, "
                "the smaller first"
            )
        return Range(self.setting, *ends)

    def with_values(self, values: Iterable[Any]) -> Range:
        """The range itself, which takes any value between its ends."""
        return self

    def own(self, value: Any) -> tuple[Any, ...]:
        """The value as it lies in the range, alone in a tuple: whole if its ends are; an empty one beyond."""
        if isinstance(value, str | bool | tuple) or value is None or not self.low <= value <= self.high:
            return ()
        found = type(self.low)(value)
        return (found,) if found == value else ()

    def at(self, share: float, setting: Setting) -> Any:
        """The value at a share from 0 to 1 of the range."""
        return setting.checked(_SCALES[type(setting.domain)](self.low, self.high, share))

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return {"setting": self.setting, "low": self.low, "high": self.high}


Axis = Values | Range


def axis_from(values: object) -> Axis:
    """Build what `to_dict` gave; ValueError where it is no axis."""
    if isinstance(values, Mapping) and isinstance(values.get("setting"), str):
        if set(values) == {"setting", "values"} and isinstance(values["values"], list | tuple):
            return Values(values["setting"], tuple(map(_hashable, values["values"])))
        if set(values) == {"setting", "low", "high"}:
            return Range(values["setting"], values["low"], values["high"])
    raise ValueError(f"an axis is a setting with its values, or with low and high; not {values!r}")


def powers(low: int, high: int, base: float = 2.0) -> tuple[float, ...]:
    """The powers of a base from one exponent to another: `powers(-12, 6)` for C as in chen2017."""
    return tuple(base**exponent for exponent in range(low, high + 1))


def usual_axes(settings: Iterable[Setting]) -> list[Setting]:
    """Return the settings that a sweep varies where nobody says which: those offered as powers, as C and γ.

    A method that has none of these varies its first setting, one that changes what is minimised if it can.
    """
    offered = list(settings)
    powers_of = [one for one in offered if isinstance(one.offer, Powers)]
    return powers_of or sorted(offered, key=lambda one: one.how)[:1]


def is_logarithmic(setting: Setting) -> bool:
    """Whether a range of the setting is walked by logarithms."""
    return _SCALES.get(type(setting.domain)) is _by_logarithm


def axis_setting(name: str, known: Mapping[str, Setting]) -> Setting:
    """The setting of an axis by its name; `SettingError` says which there are."""
    one_of("setting", name, known)
    return known[name]


def _hashable(value: Any) -> Any:
    return tuple(map(_hashable, value)) if isinstance(value, list) else value


def _by_logarithm(low: float, high: float, share: float) -> float:
    return min(max(math.exp(math.log(low) + share * (math.log(high) - math.log(low))), low), high)


def _evenly(low: float, high: float, share: float) -> float:
    return low + share * (high - low)


def _whole(low: float, high: float, share: float) -> int:
    return min(int(low + share * (high - low + 1)), int(high))


_SCALES: dict[type, Callable[[float, float, float], float]] = {
    Positive: _by_logarithm,
    Real: _evenly,
    Share: _evenly,
    Whole: _whole,
}
"""How ranges are walked, by the domain of the setting."""
