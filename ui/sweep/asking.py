"""Design of a sweep as controls, on the sidebar's data and settings."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from rankviz.runs.axes import KINDS
from rankviz.runs.designs import Design
from rankviz.runs.presets import PRESETS
from rankviz.runs.selection import Choice
from rankviz.runs.spec import RunSpec
from ui.sweep import words
from ui.sweep.axes import axes
from ui.sweep.told import axes_in_words, title_of
from ui.work.folds import datasets

OWN = "custom axes"
KIND, POINTS, LONGEST_TITLE = "grid", (8, 16, 32, 64, 128, 256), 120
MOST_SEEDS = 10


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


def asked(base: RunSpec) -> Asked:
    """Draw the controls of a design; `SettingError` for an invalid one."""
    labels = {f"{preset.label} ({preset.source})": name for name, preset in PRESETS.items()}
    chosen = st.selectbox(
        "Design",
        [OWN, *labels],
        key="design",
        bind="query-params",
        help=words.DESIGN_HELP,
    )
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
        max_chars=LONGEST_TITLE,
        key="sweep-title",
        help=words.TITLE_HELP,
    )
    return Asked(design, title.strip() or title_of(design), labels.get(chosen, ""))


def _folds(base: RunSpec) -> tuple[str, ...]:
    there = list(datasets()[base.dataset].folds)
    if len(there) == 1:
        return tuple(there)
    if "folds" in st.session_state:
        st.session_state["folds"] = [fold for fold in st.session_state["folds"] if fold in there] or there
    chosen = st.multiselect(
        "Folds",
        there,
        there,
        key="folds",
        bind="query-params",
        help=words.FOLDS_HELP,
    )
    return tuple(chosen) or (base.fold,)


def _own(base: RunSpec, folds: tuple[str, ...]) -> Design:
    kinds = {kind.label: name for name, kind in KINDS.items() if name != "given"}
    row = st.container(horizontal=True, vertical_alignment="bottom")
    kind = kinds[
        row.selectbox(
            "Cells",
            list(kinds),
            key="kind",
            bind="query-params",
            width=150,
            help=words.CELLS_HELP,
        )
    ]
    drawn = kind != KIND
    points = draw = 0
    if drawn:
        points = row.selectbox(
            "Points", POINTS, 1, key="points", bind="query-params", width=90, help=words.POINTS_HELP
        )
        draw = row.number_input(
            "Draw", 0, 9999, key="draw", bind="query-params", width=110, help=words.DRAW_HELP
        )
    seeds = row.number_input(
        "Seeds",
        1,
        MOST_SEEDS,
        key="seeds",
        bind="query-params",
        width=110,
        help=words.SEEDS_HELP,
    )
    first = base.get("seed")
    several = tuple(range(first, first + seeds)) if seeds > 1 and first is not None else ()
    return Design(base, axes(base, drawn), kind, folds, several, points, int(draw))
