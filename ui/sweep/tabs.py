"""The tabs below the map of a sweep."""

from __future__ import annotations

from functools import partial

import streamlit as st

from rankviz.plots import sweep_curves, sweep_parallel, sweep_worth
from rankviz.plots.setting_words import setting_words
from ui.shared.show import show_figure
from ui.shared.views import tabs
from ui.sweep import cells, more
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
        st.info("This begins with the first cell that is complete: all its runs made.")
    elif callable(draw):
        draw(sweep)


def parallel(sweep: Sweep) -> None:
    """Draw one line per cell through its settings."""
    table = sweep_parallel.data(sweep.design, sweep.done, sweep.metric)
    told = parallel_answer(sweep, table)
    show_figure(
        sweep_parallel.figure(table, sweep.design, sweep.metric),
        table,
        key="sweep-parallel",
        alt=told,
        caption=f"A line is a complete cell, in the colour of its {sweep.metric} on validation, "
        f"{over(sweep.design)}; the best is thick. Settings stand on the scales on which they are swept.",
        answer=f"{told}.",
    )


def curves(sweep: Sweep) -> None:
    """Draw the metric against one setting, one line per value of another."""
    design = sweep.design
    words = {setting_words(design.settings[name]): name for name in design.names}
    row = st.container(horizontal=True)
    along = words[row.selectbox("Against", list(words), key="along", width=150)]
    lines = None
    if len(words) > 1:
        others = [word for word in words if words[word] != along]
        lines = words[row.selectbox("A line for each", others, key="lines", width=150)]
    table = sweep_curves.data(design, sweep.done, sweep.metric, along, lines)
    told = curve_answer(sweep, table, along)
    show_figure(
        sweep_curves.figure(table, design, sweep.metric, along, lines),
        table,
        key="sweep-curves",
        alt=told,
        caption=f"{sweep.metric} on validation, {over(design)}; all other settings at their best. The band "
        "is the spread over folds of the best line, each fold moved to one level.",
        answer=f"{told}.",
    )


def worth(sweep: Sweep) -> None:
    """Draw the importance of each setting."""
    table = sweep_worth.data(sweep.design, sweep.done, sweep.metric)
    told = worth_answer(sweep, table)
    show_figure(
        sweep_worth.figure(table, sweep.design, sweep.metric),
        table,
        key="sweep-worth",
        alt=told,
        caption="Best and mean of the cells at each value of a setting, and the share of the variance of all "
        "cells that the setting accounts for by itself. It depends on the range that was swept.",
        answer=f"{told}.",
    )
