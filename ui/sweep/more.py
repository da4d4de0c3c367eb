"""More cells for a sweep: an adviser's proposals, or the second stage of a paper's design."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import streamlit as st

from rankviz.common.errors import SettingError
from rankviz.common.numbers import counted
from rankviz.runs.adviser import advise
from rankviz.runs.choice import Choice
from rankviz.runs.designs import Design
from rankviz.runs.presets import PRESETS, Preset
from ui.shared.foreign import escaped
from ui.sweep import starting, words
from ui.sweep.found import Sweep
from ui.sweep.told import cell_words
from ui.sweep.trying import trying

NUMBERS = (1, 3, 5, 10, 20)


def offers(sweep: Sweep) -> None:
    """Draw possible additions; the result is a new sweep whose first cells are already made."""
    _second_stage(sweep)
    st.markdown(words.ADVISER)
    row = st.container(horizontal=True, vertical_alignment="bottom")
    number = row.selectbox("Cells to add", NUMBERS, 2, key="advised", width=130)
    with row:
        _button("Ask for more", "ask-for-more", ":material/add:", partial(_advised, sweep, number))


def _button(label: str, key: str, icon: str, act: Callable[[], None]) -> None:
    st.button(label, key=key, icon=icon, on_click=trying(act))


def _advised(sweep: Sweep, number: int) -> None:
    cells = advise(sweep.design, sweep.done, sweep.metric, number, seed=len(sweep.folds))
    if not cells:
        raise SettingError(words.ALL_MADE)
    title = f"{sweep.status.study.title}, {counted(len(cells), 'cell')} more"
    _start(sweep.design.extended(cells), title, Choice.of_study(sweep.status.study.design))


def _start(design: Design, title: str, choice: Choice | None) -> None:
    starting.start(design, title, starting.specs_of(design), choice=choice)


def preset_of(design: Design) -> Preset | None:
    """Return the preset with this first design."""
    for preset in PRESETS.values():
        try:
            if preset.design(design.base, design.folds, design.seeds) == design:
                return preset
        except SettingError:
            continue
    return None


def _second_stage(sweep: Sweep) -> None:
    preset = preset_of(sweep.design)
    if preset is None or sweep.status.left:
        return
    designs = preset.next_stage(sweep.design, sweep.done)
    if not designs:
        return
    st.markdown(words.SECOND_STAGE.format(label=preset.label, source=preset.source))
    for design in designs:
        new = design.plan.cells[sweep.cells :]
        cells = "; ".join(cell_words(design, cell) for cell in new)
        label = f"{escaped(design.folds[0])}: {cells}"
        title = f"{sweep.status.study.title}, second stage, {design.folds[0]}"
        act = partial(_start, design, title, preset.choice)
        _button(label, f"stage-{design.folds[0]}", ":material/add:", act)
