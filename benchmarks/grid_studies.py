"""chen2017's grids as studies of a run store, made by worker processes; another start makes what lacks."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from rankviz import RunSpec
from rankviz.datasets import find_datasets, open_fold
from rankviz.features import FEATURE_MAPS
from rankviz.store import RunStore, Study
from rankviz.store.execution import LocalWorkers
from rankviz.store.roster import at_work
from rankviz.sweeps import Design, Values, powers
from rankviz.sweeps.presets import PRESETS

SETS = ("OHSUMED", "MQ2008")
LINEAR, KERNELS = "linear", ("nystroem", "fourier")
SMALLER = -20
"""The linear model has features of another size, and is tried from this power of two on as well."""
OWNER = "benchmarks"
LOOK_SECONDS, TELL_SECONDS = 0.2, 20.0


@dataclass(frozen=True)
class Grid:
    """The runs of one model on all folds of one set.

    Attributes
    ----------
    label : str
        The model.
    design : Design
    digests : mapping
        Fold -> the digest of its data.
    """

    label: str
    design: Design
    digests: Mapping[str, str]

    @property
    def dataset(self) -> str:
        """The set."""
        return self.design.base.dataset

    @property
    def kernel(self) -> bool:
        """Whether it is of a kernel."""
        return self.design.base.feature_map != LINEAR

    @property
    def title(self) -> str:
        """What the study is called."""
        return f"chen2017's grid: {self.label} on {self.dataset}"

    def specs(self) -> list[RunSpec]:
        """Its runs, which say by digests which data they are of."""
        return [spec.but(digest=self.digests[spec.fold]) for spec in self.design.specs()]


def grids(root: Path, sets: Sequence[str] = SETS) -> list[Grid]:
    """Each model on each set."""
    found, out = find_datasets([root]), []
    for name in sets:
        folds = tuple(found[name].folds)
        digests = {fold: open_fold(found[name], fold).digest for fold in folds}
        designs = designs_of(RunSpec(name, folds[0]), folds)
        out += [Grid(label, design, digests) for label, design in designs.items()]
    return out


def designs_of(base: RunSpec, folds: Sequence[str]) -> dict[str, Design]:
    """By model: the linear one with chen2017's C, and with smaller ones too; then chen2017's C and γ."""
    kernels = {
        FEATURE_MAPS[kind].label: PRESETS["chen2017"].design(base.but(feature_map=kind), folds)
        for kind in KERNELS
    }
    one = next(iter(kernels.values()))
    wider = Values("C", (*powers(SMALLER, -13), *one.axis("C").ordered))
    linear = {"linear": one.axis("C"), "linear, smaller C too": wider}
    return {
        label: Design(one.base.linear(1.0), (axis,), folds=tuple(folds)) for label, axis in linear.items()
    } | kernels


@dataclass(frozen=True)
class Made:
    """What one start of the measurement made."""

    runs: int
    wall_seconds: float
    cpu_seconds: float
    load_before: float
    load_after: float


def make(store: RunStore, wanted: Sequence[Grid], root: Path, workers: int) -> Made:
    """Have the runs made that are not there yet; workers end with this, and leave what they have not made."""
    load, began, spent = os.getloadavg()[0], time.perf_counter(), _cpu_of_children()
    execution, before = LocalWorkers(store, workers), _made(store, wanted)
    try:
        studies = [_study(store, grid, root) for grid in wanted]
        _wait(execution, studies)
    finally:
        for process in at_work(store):
            process.terminate()
            process.wait(10.0)
    for status in map(store.studies.status, studies):
        if status.done < status.total:
            raise RuntimeError(f"{status.study.title}: {status.in_words}")
    runs, seconds = _made(store, wanted) - before, time.perf_counter() - began
    return Made(runs, seconds, _cpu_of_children() - spent, load, os.getloadavg()[0])


def _made(store: RunStore, wanted: Sequence[Grid]) -> int:
    """How many runs are there; a run of two grids is one."""
    return len(store.records.made(list({spec.hash for grid in wanted for spec in grid.specs()})))


def study_of(store: RunStore, grid: Grid) -> str | None:
    """The study of a grid that an earlier start asked for, None where there is none."""
    own = (one for one in store.studies.every() if one.study.owner == OWNER)
    return next((one.id for one in own if dict(one.study.design) == grid.design.to_dict()), None)


def _study(store: RunStore, grid: Grid, root: Path) -> str:
    """The study of a grid, which goes on where there is one."""
    found = study_of(store, grid)
    if found is None:
        study = Study(OWNER, grid.title, design=grid.design.to_dict(), roots=(str(root),), shared=True)
        return store.studies.submit(study, grid.specs())
    store.studies.resume(found, OWNER)
    return found


def _wait(execution: LocalWorkers, studies: Sequence[str]) -> None:
    """Wait until no run is left, telling how far it is."""
    began = told = time.monotonic()
    while True:
        statuses = [execution.watch(study) for study in studies]
        waiting = [one.study.title for one in statuses if one.left]
        if not waiting:
            return
        if time.monotonic() - told > TELL_SECONDS:
            told = time.monotonic()
            done, total = sum(one.done for one in statuses), sum(one.total for one in statuses)
            print(f"# {done:,} of {total:,} runs, {told - began:.0f} s; {waiting[0]}", flush=True)
        time.sleep(LOOK_SECONDS)


def _cpu_of_children() -> float:
    """Seconds of processors that ended children of this process have taken."""
    times = os.times()
    return times.children_user + times.children_system


def note_start(path: Path, made: Made) -> pd.DataFrame:
    """Add a start to those that are noted beside the store, unless it made nothing; all of them."""
    known = pd.read_csv(path) if path.exists() else pd.DataFrame()
    if made.runs:
        known = pd.concat([known, pd.DataFrame([vars(made)])], ignore_index=True)
        known.to_csv(path, index=False)
    return known
