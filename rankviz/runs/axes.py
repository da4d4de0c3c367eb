"""The axes of a sweep, and the kinds of designs that make cells from them.

An axis is a setting with listed values or a range. A range follows the setting's domain: positive numbers by
their logarithm, all others evenly. To add a kind: an object with `label`, `complete`, `check`, `count` and
`cells`, and one entry in `KINDS`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from scipy.stats import qmc

from rankviz.common.arrays import FloatArray
from rankviz.common.errors import SettingError
from rankviz.common.settings import Positive, Powers, Real, Setting, Share, Whole, one_of

if TYPE_CHECKING:
    from rankviz.runs.designs import Design


@dataclass(frozen=True)
class Values:
    """A setting and its values, in order; duplicates count once."""

    setting: str
    values: tuple[Any, ...]

    def checked(self, setting: Setting) -> Values:
        """Return the axis with checked values. Raises `SettingError` for none or an invalid one."""
        if not self.values:
            raise SettingError(f"the axis {self.setting!r} has no values; give at least one, or omit it")
        return Values(self.setting, tuple(dict.fromkeys(setting.checked(value) for value in self.values)))

    @property
    def ordered(self) -> tuple[Any, ...]:
        """Values, sorted if they are numbers."""
        numbers = all(isinstance(value, int | float) for value in self.values)
        return tuple(sorted(self.values)) if numbers else self.values

    def with_values(self, values: Iterable[Any]) -> Values:
        """Return the axis with new values at its end, without None and duplicates."""
        return Values(
            self.setting, tuple(dict.fromkeys((*self.values, *(v for v in values if v is not None))))
        )

    def own(self, value: Any) -> tuple[Any, ...]:
        """Return a tuple of the axis' own value; empty if it has none."""
        return tuple(listed for listed in self.values if listed == value)

    def at(self, share: float, setting: Setting) -> Any:
        """Return the value at a share from 0 to 1 of the axis; each value has an equal part."""
        return self.values[min(int(share * len(self.values)), len(self.values) - 1)]

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON."""
        return {"setting": self.setting, "values": list(self.values)}


@dataclass(frozen=True)
class Range:
    """A setting and the two ends of its range."""

    setting: str
    low: float
    high: float

    def checked(self, setting: Setting) -> Range:
        """Return the range with checked ends. Raises `SettingError` for invalid or unordered ones."""
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
        """Return the range itself, because it has all values between its ends."""
        return self

    def own(self, value: Any) -> tuple[Any, ...]:
        """Return a tuple of the value, whole if the ends are; empty outside the range."""
        if isinstance(value, str | bool | tuple) or value is None or not self.low <= value <= self.high:
            return ()
        found = type(self.low)(value)
        return (found,) if found == value else ()

    def at(self, share: float, setting: Setting) -> Any:
        """Return the value at a share from 0 to 1 of the range."""
        return setting.checked(_SCALES[type(setting.domain)](self.low, self.high, share))

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON."""
        return {"setting": self.setting, "low": self.low, "high": self.high}


Axis = Values | Range


def axis_from(values: object) -> Axis:
    """Build an axis from `to_dict`. Raises ValueError for anything else."""
    if isinstance(values, Mapping) and isinstance(values.get("setting"), str):
        if set(values) == {"setting", "values"} and isinstance(values["values"], list | tuple):
            return Values(values["setting"], tuple(map(_hashable, values["values"])))
        if set(values) == {"setting", "low", "high"}:
            return Range(values["setting"], values["low"], values["high"])
    raise ValueError(f"an axis has a setting and values, or low and high; not {values!r}")


def powers(low: int, high: int, base: float = 2.0) -> tuple[float, ...]:
    """Return powers of a base between two exponents: `powers(-12, 6)` for C as in chen2017."""
    return tuple(base**exponent for exponent in range(low, high + 1))


def usual_axes(settings: Iterable[Setting]) -> list[Setting]:
    """Return the settings that a sweep varies by default: those offered as powers, such as C and γ.

    Without these it is the first setting, if possible one that changes the objective.
    """
    offered = list(settings)
    powers_of = [one for one in offered if isinstance(one.offer, Powers)]
    return powers_of or sorted(offered, key=lambda one: one.how)[:1]


def is_logarithmic(setting: Setting) -> bool:
    """Return True if a range of the setting follows its logarithm."""
    return _SCALES.get(type(setting.domain)) is _by_logarithm


def axis_setting(name: str, known: Mapping[str, Setting]) -> Setting:
    """Return the setting of an axis by name. Raises `SettingError` for an unknown one."""
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
"""Scales of ranges, by the domain of the setting."""


Cell = dict[str, Any]
"""Settings of a cell, by name."""


class Kind(Protocol):
    """A way to make cells from axes."""

    @property
    def label(self) -> str:
        """Its name on pages."""
        ...

    @property
    def complete(self) -> bool:
        """True if every value meets every other, so that effects can be separated exactly."""
        ...

    def check(self, design: Design) -> None:
        """Raise `SettingError` for a design that this kind does not support."""
        ...

    def count(self, design: Design) -> int:
        """Return the number of cells."""
        ...

    def cells(self, design: Design, settings: Mapping[str, Setting]) -> list[Cell]:
        """Return the cells, in their order."""
        ...


@dataclass(frozen=True)
class Grid:
    """All combinations of values; the last axis changes first."""

    label: str = "grid"
    complete: bool = True

    def check(self, design: Design) -> None:
        """Raise `SettingError` unless every axis lists its values, without points or given cells."""
        _no_points(self.label, design)
        _not_given(self.label, design)
        _listed(design.axes)

    def count(self, design: Design) -> int:
        """Return the product of the axes' lengths."""
        return math.prod(len(axis.values) for axis in _listed(design.axes))

    def cells(self, design: Design, settings: Mapping[str, Setting]) -> list[Cell]:
        """Return all combinations."""
        names = [axis.setting for axis in design.axes]
        values = product(*(axis.values for axis in _listed(design.axes)))
        return [dict(zip(names, point, strict=True)) for point in values]


@dataclass(frozen=True, eq=False)
class Drawn:
    """Points of the unit cube, one coordinate per axis; a longer draw begins with the same points."""

    label: str
    sample: Callable[[int, int, int], FloatArray]
    """(points, axes, seed) -> (points, axes) in [0, 1)."""
    complete: bool = False

    def check(self, design: Design) -> None:
        """Raise `SettingError` unless `points` is at least 1 and `draw` at least 0."""
        _not_given(self.label, design)
        for name, value, least in (("points", design.points, 1), ("draw", design.draw, 0)):
            if not isinstance(value, int) or isinstance(value, bool) or value < least:
                raise SettingError(f"{name}={value!r} must be a whole number of at least {least}")

    def count(self, design: Design) -> int:
        """Return the number of points."""
        return design.points

    def cells(self, design: Design, settings: Mapping[str, Setting]) -> list[Cell]:
        """Return one cell per point."""
        drawn = self.sample(design.points, len(design.axes), design.draw)
        return [
            {
                axis.setting: axis.at(float(share), settings[axis.setting])
                for axis, share in zip(design.axes, row, strict=True)
            }
            for row in drawn
        ]


@dataclass(frozen=True)
class Given:
    """Cells listed one by one, such as an adviser's additions to a design."""

    label: str = "listed cells"
    complete: bool = False

    def check(self, design: Design) -> None:
        """Raise `SettingError` unless there is a cell and each lies on the axes."""
        _no_points(self.label, design)
        axes = {axis.setting: axis for axis in design.axes}
        if not design.given:
            raise SettingError("given has no cells; list at least one")
        for cell in design.given:
            if any(name not in axes or not axes[name].own(value) for name, value in cell):
                raise SettingError(f"the cell {dict(cell)} is not on the axes; widen them")

    def count(self, design: Design) -> int:
        """Return the number of listed cells."""
        return len(design.given)

    def cells(self, design: Design, settings: Mapping[str, Setting]) -> list[Cell]:
        """Return the cells as listed."""
        return [dict(cell) for cell in design.given]


def _listed(axes: Sequence[Axis]) -> list[Values]:
    ranges = [axis.setting for axis in axes if isinstance(axis, Range)]
    if ranges:
        raise SettingError(
            f"a grid lists its values, and {ranges[0]} has a range; list values, or draw points"
        )
    return [axis for axis in axes if isinstance(axis, Values)]


def _no_points(label: str, design: Design) -> None:
    if design.points or design.draw:
        raise SettingError(f"a design of kind {label} has no random points; omit points and draw")


def _not_given(label: str, design: Design) -> None:
    if design.given:
        raise SettingError(f"a design of kind {label} makes its own cells; omit given")


def _sobol(points: int, axes: int, seed: int) -> FloatArray:
    """Draw scrambled Sobol points; a number that is not a power of two cuts the next one, unbalanced."""
    found: FloatArray = qmc.Sobol(axes, rng=seed).random_base2(max(points - 1, 0).bit_length())
    return found[:points]


KINDS: dict[str, Kind] = {
    "grid": Grid(),
    "random": Drawn(
        "random points", lambda points, axes, seed: np.random.default_rng(seed).random((points, axes))
    ),
    "sobol": Drawn("Sobol points", _sobol),
    "given": Given(),
}
"""Kinds of design by name."""
