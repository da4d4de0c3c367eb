"""The kinds of design, by their names in `Design(kind=...)`: ways to make cells from axes.

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
from rankviz.runs.axes import Axis, Range, Values

Cell = dict[str, Any]
"""Settings of a cell, by name."""


class Asked(Protocol):
    """The properties of a design that a kind reads."""

    @property
    def axes(self) -> tuple[Axis, ...]:
        """Settings and their values."""
        ...

    @property
    def points(self) -> int:
        """Number of points to draw."""
        ...

    @property
    def draw(self) -> int:
        """Seed of the draw."""
        ...

    @property
    def given(self) -> tuple[tuple[tuple[str, Any], ...], ...]:
        """Cells listed one by one."""
        ...


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

    def check(self, design: Asked) -> None:
        """Raise `SettingError` for a design that this kind does not support."""
        ...

    def count(self, design: Asked) -> int:
        """Return the number of cells."""
        ...

    def cells(self, design: Asked, settings: Mapping[str, Setting]) -> list[Cell]:
        """Return the cells, in their order."""
        ...


@dataclass(frozen=True)
class Grid:
    """All combinations of values; the last axis changes first."""

    label: str = "grid"
    complete: bool = True

    def check(self, design: Asked) -> None:
        """Raise `SettingError` unless every axis lists its values, without points or given cells."""
        _no_points(self.label, design)
        _not_given(self.label, design)
        _listed(design.axes)

    def count(self, design: Asked) -> int:
        """Return the product of the axes' lengths."""
        return math.prod(len(axis.values) for axis in _listed(design.axes))

    def cells(self, design: Asked, settings: Mapping[str, Setting]) -> list[Cell]:
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

    def check(self, design: Asked) -> None:
        """Raise `SettingError` unless `points` is at least 1 and `draw` at least 0."""
        _not_given(self.label, design)
        for name, value, least in (("points", design.points, 1), ("draw", design.draw, 0)):
            if not isinstance(value, int) or isinstance(value, bool) or value < least:
                raise SettingError(f"{name}={value!r} must be a whole number of at least {least}")

    def count(self, design: Asked) -> int:
        """Return the number of points."""
        return design.points

    def cells(self, design: Asked, settings: Mapping[str, Setting]) -> list[Cell]:
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

    def check(self, design: Asked) -> None:
        """Raise `SettingError` unless there is a cell and each lies on the axes."""
        _no_points(self.label, design)
        axes = {axis.setting: axis for axis in design.axes}
        if not design.given:
            raise SettingError("given has no cells; list one at least")
        for cell in design.given:
            if any(name not in axes or not axes[name].own(value) for name, value in cell):
                raise SettingError(f"the cell {dict(cell)} does not lie on the axes; widen them to hold it")

    def count(self, design: Asked) -> int:
        """Return the number of listed cells."""
        return len(design.given)

    def cells(self, design: Asked, settings: Mapping[str, Setting]) -> list[Cell]:
        """Return the cells as listed."""
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
    """Draw scrambled Sobol points; a number that is not a power of two cuts the next one, unbalanced."""
    found: FloatArray = qmc.Sobol(axes, rng=seed).random_base2(max(points - 1, 0).bit_length())
    return found[:points]


KINDS: dict[str, Kind] = {
    "grid": Grid(),
    "random": Drawn("random points", _random),
    "sobol": Drawn("Sobol points", _sobol),
    "given": Given(),
}
"""Kinds of design by name."""
