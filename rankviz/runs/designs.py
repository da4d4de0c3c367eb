"""Design: which runs a sweep makes, as a frozen value that is also JSON.

See docs/decisions/0014-a-sweep-is-a-value.md.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

from rankviz.common.errors import SettingError
from rankviz.common.json_text import json_object
from rankviz.common.settings import SEED, Setting, every, one_of
from rankviz.runs.axes import Axis, axis_from, axis_setting
from rankviz.runs.kinds import KINDS, Cell
from rankviz.runs.plan import Plan, plan_of
from rankviz.runs.spec import RunSpec

_FIELDS = ("base", "axes", "kind", "folds", "seeds", "points", "draw", "given")
CHOICE = "choice"
"""Where studies keep how they choose, beside the fields of their design (see `rankviz.runs.choice`)."""


@dataclass(frozen=True)
class Design:
    """The runs of a sweep: cells, which are settings of a base run, times folds times seeds.

    `Design(spec, (Values("C", powers(-12, 6)), Range("gamma", 0.1, 1)), kind="sobol", points=16)`: a grid
    lists values on every axis; "random" and "sobol" draw `points` cells, and an axis may be a `Range` there.
    Sobol points are spread evenly where their number is a power of two; any other is allowed and less even.
    Raises `SettingError` for an unknown kind or setting, a value out of its domain, an axis without values.

    Attributes
    ----------
    base : RunSpec
        What all runs have in common.
    axes : tuple of Values or Range
        Over settings that the base's method declares, or that a choice on another axis brings along.
    kind : str
        A name in `rankviz.runs.kinds.KINDS`.
    folds : tuple of str
        Names of the data set's folds; by default the base's own.
    seeds : tuple of int
        By default the base's own. Every cell that reads a seed is made with each.
    points, draw : int
        Cells to draw, and the seed to draw them with; 0 for kinds that draw none.
    given : tuple of cells
        Of the kind "given": the cells themselves (see `extended`), each as (name, value) pairs.
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
        """Check everything that can be without listing the cells."""
        one_of("kind", self.kind, KINDS)
        known = self.settings
        axes = tuple(axis.checked(axis_setting(axis.setting, known)) for axis in self.axes)
        self._keep("axes", axes)
        self._keep("folds", _folds(self.folds or (self.base.fold,)))
        self._keep("seeds", tuple(dict.fromkeys(SEED.checked(seed) for seed in self.seeds)))
        self._keep("given", tuple(self._checked_cell(cell) for cell in self.given))
        _check_names(axes, self.seeds)
        KINDS[self.kind].check(self)

    def _keep(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)

    def _checked_cell(self, cell: Iterable[tuple[str, Any]]) -> tuple[tuple[str, Any], ...]:
        known = self.settings
        return tuple((name, axis_setting(name, known).checked(value)) for name, value in sorted(cell))

    @property
    def settings(self) -> dict[str, Setting]:
        """The settings that an axis may be over, by name."""
        method = self.base.kind
        found = {s.name: s for s in every(method.settings) if s not in method.left_out}
        return found | self.base.declared()  # where choices share a name, that of the base is meant

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the settings that vary, in the order of the axes."""
        return tuple(axis.setting for axis in self.axes)

    def axis(self, name: str) -> Axis:
        """The axis of a setting; `SettingError` where it has none."""
        one_of("setting", name, self.names)
        return next(axis for axis in self.axes if axis.setting == name)

    @cached_property
    def plan(self) -> Plan:
        """Its cells and runs, and what became of other points; `SettingError` where they are too many."""
        return plan_of(self)

    def cells(self) -> list[Cell]:
        """The settings of each cell, by name: those of the axes that are read there."""
        return [dict(cell) for cell in self.plan.cells]

    def specs(self) -> list[RunSpec]:
        """The runs, each once: cell by cell, fold by fold, seed by seed."""
        return [run.spec for run in self.plan.runs]

    def extended(self, cells: Iterable[Mapping[str, Any]]) -> Self:
        """The same design with more cells, listed one by one; axes that list values are given those too."""
        more = list(cells)
        axes = tuple(axis.with_values(cell.get(axis.setting) for cell in more) for axis in self.axes)
        listed = tuple(tuple(cell.items()) for cell in (*self.plan.cells, *more))
        return replace(self, axes=axes, kind="given", points=0, draw=0, given=listed)

    def to_dict(self) -> dict[str, Any]:
        """The design as plain values, for JSON."""
        own = {name: getattr(self, name) for name in ("kind", "points", "draw")}
        lists = {"folds": list(self.folds), "seeds": list(self.seeds), "given": [dict(c) for c in self.given]}
        return {"base": self.base.to_dict(), "axes": [axis.to_dict() for axis in self.axes]} | own | lists

    def to_json(self) -> str:
        """The design as JSON text with sorted keys: the same text for equal designs."""
        return json.dumps(self.to_dict(), sort_keys=True, allow_nan=False)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """Build what `to_dict` gave; ValueError names a field that is missing, unknown or mistyped.

        The choice that a study keeps beside its design is no field, and is left out.
        """
        missing = [name for name in ("base", "axes") if name not in values]
        unknown = sorted(set(values) - {*_FIELDS, CHOICE})
        if missing or unknown:
            raise ValueError(
                f"a design has {', '.join(_FIELDS)}; base and axes are needed: {(missing + unknown)[0]!r}"
            )
        lists = {name: values.get(name, []) for name in ("axes", "folds", "seeds", "given")}
        for name, value in lists.items():
            if not isinstance(value, list | tuple):
                raise ValueError(f"{name} of a design is a list, not {value!r}")
        if not all(isinstance(cell, Mapping) for cell in lists["given"]):
            raise ValueError("given of a design lists JSON objects, settings by name")
        if not isinstance(values["base"], Mapping):
            raise ValueError("the base of a design is a JSON object, a run spec")
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
        """Read what `to_json` wrote; ValueError as `from_dict`."""
        return cls.from_dict(json_object(text, "a design"))

    @property
    def hash(self) -> str:
        """Sixteen hexadecimal digits that name the design."""
        return hashlib.blake2b(self.to_json().encode(), digest_size=8).hexdigest()


def _folds(folds: tuple[Any, ...]) -> tuple[str, ...]:
    for fold in folds:
        if not isinstance(fold, str):
            raise SettingError(f"the fold {fold!r} must be a text, the name of one")
    return tuple(dict.fromkeys(folds))


def _check_names(axes: tuple[Axis, ...], seeds: tuple[int, ...]) -> None:
    """There is an axis, no setting has two, and seeds are said in one place."""
    names = [axis.setting for axis in axes]
    if not names:
        raise SettingError("a design has no axes; give one at least, such as Values('C', powers(-12, 6))")
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise SettingError(f"{twice[0]} has two axes; put all its values on one")
    if SEED.name in names and seeds:
        raise SettingError("seeds are said twice; leave out the axis or seeds")
