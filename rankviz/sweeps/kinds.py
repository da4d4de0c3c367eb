"""The kinds of design, by the names that `Design(kind=...)` uses: how cells are made of axes.

To add one: an object with `label`, `check`, `count` and `cells`, and one entry in `KINDS`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, Protocol

import numpy as np
from scipy.stats import qmc

from rankviz.common.arrays import FloatArray
from rankviz.common.errors import SettingError
from rankviz.common.settings import Setting
from rankviz.sweeps.axes import Axis, Range, Values

Cell = dict[str, Any]
"""Settings of a cell, by name."""


class Asked(Protocol):
    """What a kind needs to know of a design."""

    @property
    def axes(self) -> tuple[Axis, ...]:
        """Settings and their values."""
        ...

    @property
    def points(self) -> int:
        """How many points to draw."""
        ...

    @property
    def draw(self) -> int:
        """The seed they are drawn with."""
        ...

    @property
    def given(self) -> tuple[tuple[tuple[str, Any], ...], ...]:
        """Cells that are listed one by one."""
        ...


class Kind(Protocol):
    """A way to make cells of axes."""

    @property
    def label(self) -> str:
        """What to call it."""
        ...

    @property
    def complete(self) -> bool:
        """Whether every value meets every other, so that effects can be told apart exactly."""
        ...

    def check(self, design: Asked) -> None:
        """Raise `SettingError` for a design that this kind cannot make cells of."""
        ...

    def count(self, design: Asked) -> int:
        """How many cells it makes."""
        ...

    def cells(self, design: Asked, settings: Mapping[str, Setting]) -> list[Cell]:
        """The cells, in their order."""
        ...


@dataclass(frozen=True)
class Grid:
    """Every value with every other; the last axis changes first."""

    label: str = "grid"
    complete: bool = True

    def check(self, design: Asked) -> None:
        """Every axis lists its values."""
        _no_points(self.label, design)
        _not_given(self.label, design)
        _listed(design.axes)

    def count(self, design: Asked) -> int:
        """The product of what the axes list."""
        return math.prod(len(axis.values) for axis in _listed(design.axes))

    def cells(self, design: Asked, settings: Mapping[str, Setting]) -> list[Cell]:
        """All combinations."""
        names = [axis.setting for axis in design.axes]
        values = product(*(axis.values for axis in _listed(design.axes)))
        return [dict(zip(names, point, strict=True)) for point in values]


@dataclass(frozen=True, eq=False)
class Drawn:
    """Points of the unit cube, one coordinate an axis; more points begin with the same ones."""

    label: str
    sample: Callable[[int, int, int], FloatArray]
    """(points, axes, seed) -> (points, axes) in [0, 1)."""
    complete: bool = False

    def check(self, design: Asked) -> None:
        """There is a number of points and a seed."""
        _not_given(self.label, design)
        for name, value, least in (("points", design.points, 1), ("draw", design.draw, 0)):
            if not isinstance(value, int) or isinstance(value, bool) or value < least:
                raise SettingError(f"{name}={value!r} must be a whole number of at least {least}")

    def count(self, design: Asked) -> int:
        """The points."""
        return design.points

    def cells(self, design: Asked, settings: Mapping[str, Setting]) -> list[Cell]:
        """A cell a point."""
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
    """Cells listed one by one, such as those that an adviser added to a design."""

    label: str = "listed cells"
    complete: bool = False

    def check(self, design: Asked) -> None:
        """There is a cell, and each lies on the axes."""
        _no_points(self.label, design)
        axes = {axis.setting: axis for axis in design.axes}
        if not design.given:
            raise SettingError("given has no cells; list one at least")
        for cell in design.given:
            if any(name not in axes or not axes[name].own(value) for name, value in cell):
                raise SettingError(f"the cell {dict(cell)} does not lie on the axes; widen them to hold it")

    def count(self, design: Asked) -> int:
        """As many as are listed."""
        return len(design.given)

    def cells(self, design: Asked, settings: Mapping[str, Setting]) -> list[Cell]:
        """As they are listed."""
        return [dict(cell) for cell in design.given]


def _listed(axes: Sequence[Axis]) -> list[Values]:
    ranges = [axis.setting for axis in axes if isinstance(axis, Range)]
    if ranges:
        raise SettingError(f"a grid lists its values, and {ranges[0]} has a range; list them, or draw points")
    return [axis for axis in axes if isinstance(axis, Values)]


def _no_points(label: str, design: Asked) -> None:
    if design.points or design.draw:
        raise SettingError(f"a design of kind {label} draws no points; leave points and draw out")


def _not_given(label: str, design: Asked) -> None:
    if design.given:
        raise SettingError(f"a design of kind {label} makes its own cells; leave given out")


def _random(points: int, axes: int, seed: int) -> FloatArray:
    return np.random.default_rng(seed).random((points, axes))


def _sobol(points: int, axes: int, seed: int) -> FloatArray:
    """Scrambled Sobol points; any number but a power of two is cut from the next one, and not balanced."""
    found: FloatArray = qmc.Sobol(axes, rng=seed).random_base2(max(points - 1, 0).bit_length())
    return found[:points]


KINDS: dict[str, Kind] = {
    "grid": Grid(),
    "random": Drawn("random points", _random),
    "sobol": Drawn("Sobol points", _sobol),
    "given": Given(),
}
"""Kinds of design by name."""
