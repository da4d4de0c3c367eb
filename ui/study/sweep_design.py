"""Design of a sweep as controls, on the sidebar's data and settings."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import streamlit as st

from rankviz.common.bounds import bounds
from rankviz.common.errors import SettingError
from rankviz.common.numbers import counted, exact
from rankviz.common.parallel import cores
from rankviz.common.settings import Powers, Setting, Steps
from rankviz.learning.pairs import COSTS
from rankviz.plots.sweep_settings import setting_name
from rankviz.runs.axes import KINDS, Axis, Range, Values, powers, usual_axes
from rankviz.runs.description import fold_title, in_a_sentence
from rankviz.runs.designs import Cost, Design, cost
from rankviz.runs.presets import PRESETS
from rankviz.runs.selection import Choice
from rankviz.runs.spec import RunSpec
from rankviz.store import Study
from rankviz.store.studies import TITLE_LENGTH
from rankviz.store.study import HERE
from ui.controls.widgets import Bound
from ui.shell.errors import end_page
from ui.shell.texts import escaped
from ui.shell.visitors import address, visitor
from ui.study import sweep_words as words
from ui.study.sweep_words import ALL_VISITORS, ONE_ADDRESS, ONE_VISITOR, TOO_MANY, axes_in_words, title_of
from ui.work.folds import data_roots_of_visitor, datasets, digest_of
from ui.work.jobs import shape_of
from ui.work.run_store import run_store, workers

BOUND = Bound()
AXES = "axes"
"""Key of the menu of settings that vary."""
USUAL_EXPONENTS, USUAL_STEP, USUAL_TYPED = (-8, 0), 2, "1, 2, 4"
LARGE_DEFAULT = 20
EVERY = (1, 2, 3, 4)
OWN = "custom axes"
GRID, POINTS = "grid", (8, 16, 32, 64, 128, 256)
MOST_SEEDS = 10
STUDY = "study"
"""Query parameter and session key of the shown sweep."""
KIND = "sweep"


def may_vary(base: RunSpec) -> dict[str, Setting]:
    """Return the settings of a run that may be on an axis, by label: those with a control.

    Seeds have their own control, and tables of costs have no line of values.
    """
    found = base.declared().values()
    left_out = (COSTS, base.kind.named_by)
    return {setting_name(one): one for one in found if one.key and not one.draws and one not in left_out}


def axes(base: RunSpec, drawn: bool) -> tuple[Axis, ...]:
    """Draw the controls of axes; if points are drawn at random, powers are a range."""
    offered = may_vary(base)
    if not offered:
        st.info(
            words.NO_SETTING.format(method=escaped(in_a_sentence(base))),
            icon=":material/info:",
        )
        end_page()
    begun = usual_axes(offered.values())
    usual = [name for name, one in offered.items() if one in begun]
    if AXES in st.session_state:  # this model may lack axes of another one
        st.session_state[AXES] = [name for name in st.session_state[AXES] if name in offered] or usual
    chosen = BOUND.several(AXES, "Settings that vary", list(offered), usual, help=words.AXES_HELP)
    if not chosen:
        raise SettingError(words.NO_AXIS)
    return tuple(_axis(offered[name], drawn) for name in chosen)


def _axis(setting: Setting, drawn: bool) -> Axis:
    key = f"x{setting.key}"
    if isinstance(setting.offer, Powers):
        return _of_powers(setting, setting.offer, key, drawn)
    if setting.options:
        names = {str(option.label): name for name, option in setting.options.items()}
        return Values(setting.name, tuple(names[one] for one in _some(setting, list(names), key)))
    if isinstance(setting.offer, Steps):
        values = {exact(value): value for value in setting.offer.values}
        return Values(setting.name, tuple(values[one] for one in _some(setting, list(values), key)))
    return Values(setting.name, _typed(setting, key))


def _of_powers(setting: Setting, offer: Powers, key: str, drawn: bool) -> Axis:
    low, high = (min(max(end, offer.low), offer.high) for end in USUAL_EXPONENTS)
    place, by = (st.container(), None) if drawn else st.columns([3, 1], vertical_alignment="bottom")
    about = {"format": f"${offer.base}^{{%d}}$", "help": setting.help}
    label = f"{setting.symbol} from, to"
    first, last = Bound(place).slider(key, label, offer.low, offer.high, (low, high), **about)
    if drawn or by is None:
        if first == last:
            raise SettingError(words.ONE_VALUE.format(symbol=setting.symbol))
        return Range(setting.name, float(offer.base) ** first, float(offer.base) ** last)
    about_step = words.STEP_HELP.format(base=offer.base)
    step = Bound(by).menu(f"{key}by", "every", EVERY, USUAL_STEP, help=about_step)
    return Values(setting.name, powers(first, last, offer.base)[::step])


def _some(setting: Setting, values: list[str], key: str) -> list[str]:
    """Draw a menu of several values; the middle ones are the default."""
    middle = max(len(values) // 2 - 1, 0)
    chosen = BOUND.several(key, setting.label, values, values[middle : middle + 3], help=setting.help)
    if not chosen:
        raise SettingError(words.NO_VALUES.format(symbol=setting.symbol))
    return chosen


def _typed(setting: Setting, key: str) -> tuple[Any, ...]:
    usual = _usual_typed(setting)
    about = {"max_chars": 200, "help": words.TYPED_HELP.format(help=setting.help)}
    text = BOUND.text(key, f"{setting.symbol}, values", usual, **about)
    try:
        return _numbers(text)
    except ValueError as error:
        raise SettingError(words.NOT_NUMBERS.format(symbol=setting.symbol, text=text)) from error


def _usual_typed(setting: Setting) -> str:
    """Return a quarter, half and all of a large whole default, such as that of rounds; else small numbers."""
    first = setting.first
    if isinstance(first, int) and first >= LARGE_DEFAULT:
        return ", ".join(str(first // part) for part in (4, 2, 1))
    return USUAL_TYPED if _allowed(setting, USUAL_TYPED) else exact(first)


def _numbers(text: str) -> tuple[float | int, ...]:
    return tuple(int(word) if word.isdecimal() else float(word) for word in text.replace(",", " ").split())


def _allowed(setting: Setting, text: str) -> bool:
    """Return True if a setting allows each of the numbers."""
    try:
        Values(setting.name, _numbers(text)).checked(setting)
    except SettingError:
        return False
    return True


@dataclass(frozen=True)
class Asked:
    """A design, its title, and its preset if it is a paper's."""

    design: Design
    title: str
    preset: str = ""

    @property
    def metric(self) -> str:
        """The initial metric of its cells."""
        return (self.choice or Choice()).metric

    @property
    def choice(self) -> Choice | None:
        """The paper's choice of a cell, for a paper's design."""
        return PRESETS[self.preset].choice if self.preset else None


def design_controls(base: RunSpec) -> Asked:
    """Draw the controls of a design; `SettingError` for an invalid one."""
    labels = {f"{preset.label} ({preset.source})": name for name, preset in PRESETS.items()}
    chosen = BOUND.menu("design", "Design", [OWN, *labels], help=words.DESIGN_HELP)
    folds, seeds = _folds(base), ()
    if chosen in labels:
        preset = PRESETS[labels[chosen]]
        design = preset.design(base, folds, seeds)
        st.markdown(f"{axes_in_words(design)}. {preset.note}")
    else:
        design = _own(base, folds)
    title = st.text_input(
        "Title",
        placeholder=title_of(design),
        max_chars=TITLE_LENGTH,
        key="sweep-title",
        help=words.TITLE_HELP,
    )
    return Asked(design, title.strip()[:TITLE_LENGTH] or title_of(design), labels.get(chosen, ""))


def _folds(base: RunSpec) -> tuple[str, ...]:
    there = list(datasets()[base.dataset].folds)
    if len(there) == 1:
        return tuple(there)
    if "folds" in st.session_state:
        st.session_state["folds"] = [fold for fold in st.session_state["folds"] if fold in there] or there
    titles = {fold: fold_title(fold) for fold in there}
    found = BOUND.named(BOUND.several, "folds", "Folds", titles, there, help=words.FOLDS_HELP)
    return tuple(found) or (base.fold,)


def _own(base: RunSpec, folds: tuple[str, ...]) -> Design:
    kinds = {kind.label: name for name, kind in KINDS.items() if name != "given"}
    row = Bound(st.container(horizontal=True, vertical_alignment="bottom"))
    kind = kinds[row.menu("kind", "Cells", list(kinds), width=150, help=words.CELLS_HELP)]
    drawn = kind != GRID
    points = draw = 0
    if drawn:
        points = row.menu("points", "Points", POINTS, POINTS[1], width=90, help=words.POINTS_HELP)
        draw = row.number("draw", "Draw", 0, 9999, width=110, help=words.DRAW_HELP)
    seeds = row.number("seeds", "Seeds", 1, MOST_SEEDS, width=110, help=words.SEEDS_HELP)
    first = base.get("seed")
    several = tuple(range(first, first + seeds)) if seeds > 1 and first is not None else ()
    return Design(base, axes(base, drawn), kind, folds, several, points, draw)


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


def prospect_of(design: Design) -> Prospect:
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


@st.cache_resource(max_entries=64, ttl=300, show_spinner="Estimating …")
def _cost(design: str, digest: str, _first: RunSpec) -> Cost:
    return cost(design_from(design), shape_of(_first))


@lru_cache(maxsize=64)
def design_from(text: str) -> Design:
    """Return the design from a JSON text; ValueError or `SettingError` for an invalid one."""
    return Design.from_json(text)


def start_sweep(
    design: Design,
    title: str,
    specs: tuple[RunSpec, ...],
    place: str = HERE,
    choice: Choice | None = None,
) -> None:
    """Submit runs, and show them; the study stores the choice, if any.

    Raises `SettingError` if this visitor has too many unfinished runs.
    """
    execution = workers()
    study = Study(
        owner=visitor(),
        address=address(),
        title=title,
        kind=KIND,
        design=design.to_dict() if choice is None else choice.beside(design),
        roots=tuple(map(str, data_roots_of_visitor())),
        threads=max(1, cores() // execution.workers),
        place=place,
    )
    with room_for_runs(len(specs)):
        st.session_state[STUDY] = execution.submit(study, specs)


_COUNTED = threading.Lock()
"""Held from a count of unfinished runs until the new ones are counted too."""


@contextmanager
def room_for_runs(runs: int) -> Iterator[None]:
    """Limit unfinished runs of a visitor, of an address and of all, because sweeps of all take turns.

    The last tenth is for those who have none. Add the runs within the context: others wait meanwhile.
    """
    with _COUNTED:
        _check_room(runs)
        yield


def _check_room(runs: int) -> None:
    most, me, here = bounds(), visitor(), address()
    found = run_store().studies.unfinished()
    own = sum(number for owner, _, number in found if owner == me)
    near = sum(number for _, place, number in found if here and place == here)
    kept = most.live_runs // 10 if own or near else 0
    for whose, has, may in (
        (ONE_VISITOR, own, most.live_runs_each),
        (ONE_ADDRESS, near, most.live_runs_address),
        (ALL_VISITORS, sum(number for *_, number in found), most.live_runs - kept),
    ):
        if has + runs > may:
            raise SettingError(
                TOO_MANY.format(runs=counted(runs, "run"), all=has + runs, whose=whose, most=may)
            )
