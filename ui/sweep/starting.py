"""Before a sweep starts: its cost, runs that exist, and limits of this machine."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import streamlit as st

from rankviz.common.bounds import bounds
from rankviz.common.errors import SettingError
from rankviz.common.numbers import counted
from rankviz.common.threads import cores
from rankviz.runs.designs import Cost, Design, cost
from rankviz.runs.selection import Choice
from rankviz.runs.spec import RunSpec
from rankviz.store import Study
from rankviz.store.study import HERE
from ui.shell.visitors import visitor
from ui.sweep.words import TOO_MANY
from ui.work.folds import data_roots_of_visitor, digest_of
from ui.work.jobs import shape_of
from ui.work.run_store import run_store, workers

STUDY = "study"
"""Query parameter and session key of the shown sweep."""
KIND = "sweep"


@dataclass(frozen=True)
class Prospect:
    """Cost of a design on this machine, and its runs, with digests of their data."""

    cost: Cost
    specs: tuple[RunSpec, ...]
    made: int

    @property
    def left(self) -> int:
        """Number of runs still to be made."""
        return len(self.specs) - self.made


def prospect(design: Design) -> Prospect:
    """Return the cost of a design; this opens its folds. `SettingError` if it has too many runs."""
    specs = specs_of(design)
    first = design.base.but(fold=design.folds[0])
    made = len(run_store().records.made([spec.hash for spec in specs]))
    return Prospect(_cost(design.to_json(), digest_of(first), first), specs, made)


def specs_of(design: Design) -> tuple[RunSpec, ...]:
    """Return the runs of a design with the digests of their data; this opens its folds."""
    _ = design.plan.runs  # raises an error before anything is read
    folds = ((fold, digest_of(design.base.but(fold=fold))) for fold in design.folds)
    return _with_digests(design, tuple(folds))


@lru_cache(maxsize=16)
def _with_digests(design: Design, digests: tuple[tuple[str, str], ...]) -> tuple[RunSpec, ...]:
    known = dict(digests)
    return tuple(run.spec.but(digest=known[run.fold]) for run in design.plan.runs)


@st.cache_resource(max_entries=64, ttl=300, show_spinner="Estimating cost …")
def _cost(design: str, digest: str, _first: RunSpec) -> Cost:
    return cost(design_from(design), shape_of(_first))


@lru_cache(maxsize=64)
def design_from(text: str) -> Design:
    """Return the design from a JSON text; ValueError or `SettingError` for an invalid one."""
    return Design.from_json(text)


def start(
    design: Design,
    title: str,
    specs: tuple[RunSpec, ...],
    place: str = HERE,
    choice: Choice | None = None,
) -> None:
    """Submit runs, and show them; the study stores the choice, if any.

    Raises `SettingError` if this visitor has too many unfinished runs.
    """
    _check_room(len(specs))
    execution = workers()
    st.session_state[STUDY] = execution.submit(
        Study(
            owner=visitor(),
            title=title,
            kind=KIND,
            design=design.to_dict() if choice is None else choice.beside(design),
            roots=tuple(map(str, data_roots_of_visitor())),
            threads=max(1, cores() // execution.workers),
            place=place,
        ),
        specs,
    )


def _check_room(runs: int) -> None:
    """Limit a visitor's unfinished runs, because sweeps of all visitors take turns."""
    under_way = sum(one.left for one in run_store().studies.running() if one.study.owner == visitor())
    most = bounds().live_runs_each
    if under_way + runs > most:
        raise SettingError(TOO_MANY.format(runs=counted(runs, "run"), all=under_way + runs, most=most))
