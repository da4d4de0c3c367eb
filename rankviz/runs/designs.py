"""Design: the runs of a sweep as a frozen value that is also JSON; its plan and its cost.

See docs/decisions/0014-a-sweep-is-a-value.md.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

from rankviz.common.bounds import bounds
from rankviz.common.errors import SettingError
from rankviz.common.numbers import counted
from rankviz.common.settings import SEED, Setting, every, json_object, one_of
from rankviz.runs.axes import KINDS, Axis, Cell, axis_from, axis_setting
from rankviz.runs.estimate import Rates, Shape, budget_now, estimate, in_words, measured_rates, total_seconds
from rankviz.runs.families import families
from rankviz.runs.spec import RunSpec

_FIELDS = ("base", "axes", "kind", "folds", "seeds", "points", "draw", "given")
CHOICE = "choice"
"""Key of the choice that a study keeps beside its design (see `rankviz.runs.selection.Choice`)."""


@dataclass(frozen=True)
class Design:
    """The runs of a sweep: cells (settings of a base run) × folds × seeds.

    `Design(spec, (Values("C", powers(-12, 6)), Range("gamma", 0.1, 1)), kind="sobol", points=16)`. A grid
    lists values on every axis. "random" and "sobol" draw `points` cells; there an axis may be a `Range`.
    Sobol points are balanced if their number is a power of two. Raises `SettingError` for an unknown kind or
    setting, a value out of its domain, and an axis without values.

    Attributes
    ----------
    base : RunSpec
        The settings that all runs have in common.
    axes : tuple of Values or Range
        Of settings that the base's method declares, or that a choice on another axis adds.
    kind : str
        A name in `rankviz.runs.axes.KINDS`.
    folds : tuple of str
        Names of the data set's folds; by default the base's own.
    seeds : tuple of int
        By default the base's own. Every cell that reads a seed runs with each.
    points, draw : int
        Cells to draw, and the seed to draw them with; 0 for kinds that draw none.
    given : tuple of cells
        For the kind "given": its cells as (name, value) pairs (see `extended`).
    """

    base: RunSpec
    axes: tuple[Axis, ...]
    kind: str = "grid"
    folds: tuple[str, ...] = ()
    seeds: tuple[int, ...] = ()
    points: int = 0
    draw: int = 0
    given: tuple[tuple[tuple[str, Any], ...], ...] = ()

    def __post_init__(self) -> None:
        """Check everything except the cells."""
        one_of("kind", self.kind, KINDS)
        known = self.settings
        axes = tuple(axis.checked(axis_setting(axis.setting, known)) for axis in self.axes)
        checked = {
            "axes": axes,
            "folds": _folds(self.folds or (self.base.fold,)),
            "seeds": tuple(dict.fromkeys(SEED.checked(seed) for seed in self.seeds)),
            "given": tuple(
                tuple((name, axis_setting(name, known).checked(value)) for name, value in sorted(cell))
                for cell in self.given
            ),
        }
        for name, value in checked.items():
            object.__setattr__(self, name, value)
        _check_names(axes, self.seeds)
        KINDS[self.kind].check(self)

    @property
    def settings(self) -> dict[str, Setting]:
        """Settings that an axis can vary, by name."""
        method = self.base.kind
        found = {s.name: s for s in every(method.settings) if s not in method.left_out}
        return {**found, **self.base.declared()}  # the base's setting wins over another of the same name

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the settings that vary, in the order of the axes."""
        return tuple(axis.setting for axis in self.axes)

    def axis(self, name: str) -> Axis:
        """Return the axis of a setting. Raises `SettingError` if it has none."""
        one_of("setting", name, self.names)
        return next(axis for axis in self.axes if axis.setting == name)

    @cached_property
    def plan(self) -> Plan:
        """Cells, runs and notes on other points. Raises `SettingError` if there are too many."""
        return plan_of(self)

    def cells(self) -> list[Cell]:
        """Return each cell's settings by name: those of the axes that the cell reads."""
        return [dict(cell) for cell in self.plan.cells]

    def specs(self) -> list[RunSpec]:
        """Return the runs, each once, by cell, then fold, then seed."""
        return [run.spec for run in self.plan.runs]

    def extended(self, cells: Iterable[Mapping[str, Any]]) -> Self:
        """Return the design with more cells, listed one by one; axes get their values."""
        more = list(cells)
        axes = tuple(axis.with_values(cell.get(axis.setting) for cell in more) for axis in self.axes)
        listed = tuple(tuple(cell.items()) for cell in (*self.plan.cells, *more))
        return replace(self, axes=axes, kind="given", points=0, draw=0, given=listed)

    def to_dict(self) -> dict[str, Any]:
        """Return the design as plain values, for JSON."""
        own = {name: getattr(self, name) for name in ("kind", "points", "draw")}
        lists = {"folds": list(self.folds), "seeds": list(self.seeds), "given": [dict(c) for c in self.given]}
        return {"base": self.base.to_dict(), "axes": [axis.to_dict() for axis in self.axes]} | own | lists

    def to_json(self) -> str:
        """Return the design as JSON text with sorted keys, the same for equal designs."""
        return json.dumps(self.to_dict(), sort_keys=True, allow_nan=False)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """Build a design from `to_dict`; ignore the choice that a study keeps beside it.

        Raises ValueError with the name of a field that is missing, unknown or of a wrong type.
        """
        missing = [name for name in ("base", "axes") if name not in values]
        unknown = sorted(set(values) - {*_FIELDS, CHOICE})
        if missing or unknown:
            raise ValueError(
                f"a design has {', '.join(_FIELDS)}; base and axes are required: {(missing + unknown)[0]!r}"
            )
        lists = {name: values.get(name, []) for name in ("axes", "folds", "seeds", "given")}
        for name, value in lists.items():
            if not isinstance(value, list | tuple):
                raise ValueError(f"{name} of a design is a list, not {value!r}")
        if not all(isinstance(cell, Mapping) for cell in lists["given"]):
            raise ValueError("given must list JSON objects with settings by name")
        if not isinstance(values["base"], Mapping):
            raise ValueError("the base of a design must be a JSON object with a run spec")
        return cls(
            base=RunSpec.from_dict(values["base"]),
            axes=tuple(map(axis_from, lists["axes"])),
            kind=values.get("kind", "grid"),
            folds=tuple(lists["folds"]),
            seeds=tuple(lists["seeds"]),
            points=values.get("points", 0),
            draw=values.get("draw", 0),
            given=tuple(tuple(cell.items()) for cell in lists["given"]),
        )

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read the text of `to_json`. Raises ValueError as `from_dict`."""
        return cls.from_dict(json_object(text, "a design"))

    @property
    def hash(self) -> str:
        """Sixteen hexadecimal digits that name the design."""
        return hashlib.blake2b(self.to_json().encode(), digest_size=8).hexdigest()


def _folds(folds: tuple[Any, ...]) -> tuple[str, ...]:
    for fold in folds:
        if not isinstance(fold, str):
            raise SettingError(f"the fold {fold!r} must be a name")
    return tuple(dict.fromkeys(folds))


def _check_names(axes: tuple[Axis, ...], seeds: tuple[int, ...]) -> None:
    """Raise `SettingError` without axes, for two axes of a setting, and for seeds given twice."""
    names = [axis.setting for axis in axes]
    if not names:
        raise SettingError("a design has no axes; give at least one, such as Values('C', powers(-12, 6))")
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise SettingError(f"{twice[0]} has two axes; put all values on one")
    if SEED.name in names and seeds:
        raise SettingError("seeds are given twice; omit the axis or seeds")


@dataclass(frozen=True)
class PlannedRun:
    """One run: its cell's number, its fold, its seed (None if it reads none), and its spec."""

    cell: int
    fold: str
    seed: int | None
    spec: RunSpec


@dataclass(frozen=True)
class Plan:
    """Distinct cells and runs of a design; `notes` explain the points without their own cell."""

    cells: tuple[Cell, ...]
    runs: tuple[PlannedRun, ...]
    notes: tuple[str, ...]


def plan_of(design: Design) -> Plan:
    """List cells and runs. Raises `SettingError` for too many, or if no cell reads an axis."""
    points = KINDS[design.kind].count(design)
    _check_count(points, design)
    found: dict[RunSpec, Cell] = {}
    refused: list[str] = []
    unread: set[str] = set()
    doubles = 0
    for wanted in KINDS[design.kind].cells(design, design.settings):
        spec = settled(design.base.but(fold=design.folds[0]), wanted)
        unread |= {name for name in wanted if name not in spec}
        try:
            spec.kind.check(spec.values)
        except SettingError as error:
            refused.append(str(error))
            continue
        doubles += spec in found
        found.setdefault(spec, {name: spec.get(name) for name in design.names if name in spec})
    _check_cells(design, list(found.values()), refused)
    runs = [run for cell, spec in enumerate(found) for run in _runs_of(design, cell, spec)]
    unseeded = sum(SEED.name not in spec for spec in found) if len(design.seeds) > 1 else 0
    return Plan(tuple(found.values()), tuple(runs), _notes(points, doubles, unread, refused, unseeded))


def _runs_of(design: Design, cell: int, spec: RunSpec) -> list[PlannedRun]:
    seeded = [spec]
    if SEED.name in spec and design.seeds:
        seeded = [spec.but(**{SEED.name: seed}) for seed in design.seeds]
    return [
        PlannedRun(cell, fold, one.get(SEED.name), one.but(fold=fold))
        for fold in design.folds
        for one in seeded
    ]


def _check_count(points: int, design: Design) -> None:
    most = bounds().sweep_runs
    runs = points * len(design.folds) * max(len(design.seeds), 1)
    if runs > most:
        raise SettingError(
            f"{counted(points, 'cell')} on {counted(len(design.folds), 'fold')} with "
            f"{counted(max(len(design.seeds), 1), 'seed')} are {runs:,} runs, more than the {most:,} of one "
            "sweep here; take fewer values, folds or seeds"
        )


def _check_cells(design: Design, cells: list[Cell], refused: list[str]) -> None:
    if not cells:
        raise SettingError(f"none of the design's cells can be made: {refused[0]}")
    for name in design.names:
        if not any(name in cell for cell in cells):
            raise SettingError(
                f"{name} is not used by any cell; omit the axis, or choose a method that uses it"
            )


def _notes(points: int, doubles: int, unread: set[str], refused: list[str], unseeded: int) -> tuple[str, ...]:
    notes = []
    if doubles:
        why = f" ({', '.join(sorted(unread))} not read there)" if unread else ""
        notes.append(
            f"{doubles:,} of {counted(points, 'point')} would repeat another run{why} and are made once"
        )
    if refused:
        notes.append(
            f"{len(refused):,} of {counted(points, 'point')} cannot be made and are left out: {refused[0]}"
        )
    if unseeded:
        notes.append(f"{counted(unseeded, 'cell')} without a seed run once on each fold")
    return tuple(notes)


def settled(base: RunSpec, wanted: Mapping[str, Any]) -> RunSpec:
    """Return the base with those wanted settings that it reads once all of them are set."""
    before = base.declared()

    def value_of(setting: Setting) -> Any:
        if setting.name in wanted:
            return setting.checked(wanted[setting.name])
        return base.get(setting.name) if before.get(setting.name) is setting else setting.default

    read = {setting.name for setting, _ in base.kind.active(value_of)}
    return base.but(**{name: value for name, value in wanted.items() if name in read})


@dataclass(frozen=True)
class Cost:
    """Cost of a design on data of one shape: runs, families that share features, total seconds."""

    runs: int
    families: int
    seconds: float

    def __str__(self) -> str:
        groups = "1 family" if self.families == 1 else f"{self.families:,} families"
        return f"{counted(self.runs, 'run')} in {groups}, about {in_words(self.seconds)}"


def cost(design: Design, shape: Shape, rates: Rates | None = None) -> Cost:
    """Predict a design's cost if every fold has this shape.

    Seconds are for one process, by default at this machine's measured rates. Raises `SettingError` as
    `Design.plan`.
    """
    specs, rates, budget = design.specs(), measured_rates() if rates is None else rates, budget_now()
    one_fold = [run.spec for run in design.plan.runs if run.fold == design.folds[0]]
    seconds = total_seconds(estimate(spec, shape, rates, budget) for spec in one_fold)
    return Cost(len(specs), len(families(specs)), len(design.folds) * seconds)
