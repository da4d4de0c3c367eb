"""The tabs below the map of a sweep."""

from __future__ import annotations

from functools import partial

import streamlit as st

from rankviz.plots import sweep_settings
from rankviz.plots.sweep_settings import setting_name
from ui.shell.figures import show_figure
from ui.shell.page import tabs
from ui.sweep import cells, more, words
from ui.sweep.beside import beside
from ui.sweep.found import Sweep
from ui.sweep.mine import show_sweeps
from ui.sweep.told import over
from ui.sweep.words import curve_answer, parallel_answer, worth_answer


def below(sweep: Sweep, x: str, y: str) -> None:
    """Draw everything below the map, in tabs."""
    drawn = {
        "Cells": cells.all_cells,
        "Parallel coordinates": parallel,
        "Validation curves": curves,
        "What settings are worth": worth,
        "Test part": cells.test_part,
        "More cells": more.offers,
    }
    found = {name: partial(_where_there_is_something, draw, sweep) for name, draw in drawn.items()}
    others = {"Beside others": partial(beside, sweep, x, y), "Your sweeps": show_sweeps}
    tabs(found | others)


def _where_there_is_something(draw: object, sweep: Sweep) -> None:
    if not len(sweep.folds):
        st.info(words.WAIT_FOR_CELL)
    elif callable(draw):
        draw(sweep)


def parallel(sweep: Sweep) -> None:
    """Draw one line per cell through its settings."""
    table = sweep_settings.parallel_data(sweep.design, sweep.done, sweep.metric)
    told = parallel_answer(sweep, table)
    show_figure(
        sweep_settings.parallel_figure(table, sweep.design, sweep.metric),
        table,
        key="sweep-parallel",
        alt=told,
        caption=words.PARALLEL.format(metric=sweep.metric, over=over(sweep.design)),
        answer=f"{told}.",
    )


def curves(sweep: Sweep) -> None:
    """Draw the metric against one setting, one line per value of another."""
    design = sweep.design
    names = {setting_name(design.settings[name]): name for name in design.names}
    row = st.container(horizontal=True)
    along = names[row.selectbox("Against", list(names), key="along", width=150)]
    lines = None
    if len(names) > 1:
        others = [word for word in names if names[word] != along]
        lines = names[row.selectbox("A line for each", others, key="lines", width=150)]
    table = sweep_settings.curves_data(design, sweep.done, sweep.metric, along, lines)
    told = curve_answer(sweep, table, along)
    show_figure(
        sweep_settings.curves_figure(table, design, sweep.metric, along, lines),
        table,
        key="sweep-curves",
        alt=told,
        caption=words.CURVES.format(metric=sweep.metric, over=over(design)),
        answer=f"{told}.",
    )


def worth(sweep: Sweep) -> None:
    """Draw the importance of each setting."""
    table = sweep_settings.worth_data(sweep.design, sweep.done, sweep.metric)
    told = worth_answer(sweep, table)
    show_figure(
        sweep_settings.worth_figure(table, sweep.design, sweep.metric),
        table,
        key="sweep-worth",
        alt=told,
        caption=words.WORTH,
        answer=f"{told}.",
    )
