"""The plan of a design: its cells, its runs, notes on the other points, and the cost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rankviz.common.bounds import bounds
from rankviz.common.errors import SettingError
from rankviz.common.numbers import counted
from rankviz.common.settings import SEED, Setting
from rankviz.runs.estimate import budget_now, estimate, in_words, total_seconds
from rankviz.runs.families import families
from rankviz.runs.kinds import KINDS, Cell
from rankviz.runs.rates import Rates, measured_rates
from rankviz.runs.shape import Shape
from rankviz.runs.spec import RunSpec

if TYPE_CHECKING:
    from rankviz.runs.designs import Design


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


def settled(base: RunSpec, wanted: Mapping[str, Any]) -> RunSpec:
    """Return the base with those wanted settings that it reads once all of them are set."""
    before = base.declared()

    def value_of(setting: Setting) -> Any:
        if setting.name in wanted:
            return setting.checked(wanted[setting.name])
        return base.get(setting.name) if before.get(setting.name) is setting else setting.default

    read = {setting.name for setting, _ in base.kind.active(value_of)}
    return base.but(**{name: value for name, value in wanted.items() if name in read})


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
                f"{name} is read by none of the cells; leave the axis out, or choose what reads it"
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
