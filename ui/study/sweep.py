"""The Sweep page: a design before it starts, or a live or finished sweep."""

from __future__ import annotations

from functools import partial

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from rankviz.common.errors import DataError
from rankviz.metrics.formulas import direction
from rankviz.plots import sweep_map, sweep_settings
from rankviz.plots.sweep_settings import setting_name
from rankviz.runs.designs import Design
from rankviz.runs.selection import RULES, Choice
from rankviz.runs.spec import RunSpec
from rankviz.store import NoSuchStudy
from rankviz.store.study import HERE, TASKS
from ui.controls.navigation import experiment
from ui.controls.widgets import Bound, own_field
from ui.shell.errors import errors_as_sentences
from ui.shell.figures import show_figure
from ui.shell.page import ALONE, KEPT_ALONE, head, is_on, show_subject
from ui.shell.texts import escaped
from ui.shell.visitors import keep_visitor, visitor
from ui.shell.words import LESS_IS_BETTER
from ui.study import sweep_studies as studies
from ui.study import sweep_words as words
from ui.study.sweep_design import STUDY, Prospect, design_controls, prospect_of, start_sweep
from ui.study.sweep_results import click, clicked, one_cell, tabs_below
from ui.study.sweep_studies import (
    CLICKED,
    Sweep,
    clear_action_error,
    opened,
    report_errors,
    show_action_error,
    show_sweeps,
)
from ui.study.sweep_words import answer, band, fixed_settings, over, prospect_words
from ui.work import metrics
from ui.work.metrics import MENU, METRICS, OWN
from ui.work.place import choose_place, show_cluster, threads_of
from ui.work.run_store import show_store_notice, workers

TITLE = "Sweep"
NOTHING = pd.Series(dtype=float)


def page() -> None:
    """Draw the sweep in the address, else a design to start one."""
    show_store_notice()
    study = named()
    if not study:
        a_design(experiment())
        return
    with errors_as_sentences():
        try:
            sweep = opened(study, *_how_chosen())
        except (NoSuchStudy, DataError) as error:
            no_sweep(error)
        else:
            one_sweep(sweep)


def named() -> str:
    """Return the shown sweep: that of the address, or the one started in this session."""
    state = st.session_state
    if STUDY not in state:
        state[STUDY] = st.query_params.get(STUDY, "")
    if state[STUDY]:
        st.query_params[STUDY] = state[STUDY]
    else:
        st.query_params.pop(STUDY, None)
    return str(state[STUDY])


def leave() -> None:
    """Show a design instead of a sweep (a callback)."""
    st.session_state[STUDY] = ""
    st.session_state.pop(CLICKED, None)
    clear_action_error()


def a_design(base: RunSpec) -> None:
    """Draw the controls of a design, its cost, and its start button."""
    about = head(TITLE)
    with st.container(key="sweep-parts"):  # the figure comes first on a phone: page.css
        left, right = st.columns([2, 3], gap="medium")
    if is_on(ALONE):  # the figure leaves no space below
        start, figure = left.container(key=f"{KEPT_ALONE}-on"), right.container()
    else:
        figure, start = right.container(), right.container()
    with errors_as_sentences():  # before the design, which may be invalid
        show_sweeps("Your sweeps")
    with errors_as_sentences():
        with left.container(key=KEPT_ALONE):
            found = design_controls(base)
            show_subject(about, f"Sidebar's model: {fixed_settings(found.design)}")
        with start:
            prospect = prospect_of(found.design)
            row = st.container(horizontal=True, vertical_alignment="bottom", gap="small")
            place = choose_place(row, TASKS)
        for note in found.design.plan.notes:
            start.caption(escaped(note[0].upper() + note[1:] + "."))
        row.button(
            "Start the sweep",
            type="primary",
            icon=":material/play_arrow:",
            key="start-sweep",
            on_click=report_errors(start_sweep),
            args=(found.design, found.title, prospect.specs, place, found.choice),
        )
        with start:
            show_action_error()
            if place != HERE:
                show_cluster(place)
        with figure:  # last, because the page ends there if only the first figure is wanted
            show_design(found.design, found.metric, _prospect_words(prospect, place))


def _prospect_words(prospect: Prospect, place: str) -> str:
    """Describe the cost of a design at its place; on this machine until the cluster has answered."""
    threads = 0 if place == HERE else threads_of(place)
    if threads:
        return prospect_words(prospect, threads, "one cluster thread", "cluster threads")
    return prospect_words(prospect, workers().workers)


def show_design(design: Design, metric: str, answer: str) -> None:
    """Draw the planned cells."""
    x, y = places(design)
    if y:
        table = sweep_map.planned_cells(design, x, y)
        figure = sweep_map.map_figure(table, design, metric, x, y)
        sweep_map.add_unfinished(figure, table, NOTHING, design, metric, (x, y))
    else:
        table, figure = sweep_settings.planned_curve(design, metric, x)
    caption = words.DESIGN
    show_figure(figure, table, key="sweep-design", caption=caption, answer=f"{answer}.")


def places(design: Design) -> tuple[str, str]:
    """Return the settings along x and y: C and another one if it varies; "" for y if only one varies."""
    names = sorted(design.names, key=lambda name: name != "C")
    return (names[0], names[1]) if len(names) > 1 else (names[0], "")


def no_sweep(why: Exception) -> None:
    """Explain why the sweep in the address is not shown, and list others."""
    head(TITLE)
    with st.container(key=KEPT_ALONE):
        st.warning(escaped(why), icon=":material/link_off:")
        _new_sweep(st.container())
    show_sweeps("Your sweeps")


def _new_sweep(row: DeltaGenerator) -> None:
    row.button("New sweep", icon=":material/add:", type="tertiary", key="new-sweep", on_click=leave)


def one_sweep(sweep: Sweep) -> None:
    """Draw a sweep: progress, map, and results."""
    if sweep.status.study.owner == visitor():
        keep_visitor()
    title = sweep.status.study.title
    row = head(TITLE, f"{escaped(title)} · {fixed_settings(sweep.design, title)}")
    _new_sweep(row)
    studies.progress(sweep)
    show_action_error()
    x, y = _controls(sweep)
    show_map(sweep, x, y)
    one_cell(sweep)
    tabs_below(sweep, x, y)


def _how_chosen() -> tuple[str, str, bool | None]:
    """Return the values of controls drawn later, below the progress; empty if not set."""
    state = st.session_state
    labels = {rule.label: name for name, rule in RULES.items()}
    metric = state.get(MENU, st.query_params.get(MENU, ""))
    rule = labels.get(state.get("rule", st.query_params.get("rule", "")), "")
    each = state.get("each", st.query_params["each"] == "true" if "each" in st.query_params else None)
    own = metrics.read_own()[0] if metric == OWN else ""
    return (metric if metric in METRICS else own), rule, each


def _controls(sweep: Sweep) -> tuple[str, str]:
    """Draw the controls of metric and choice; return the settings along x and y.

    Their defaults are the study's stored choice.
    """
    design, kept = sweep.design, Choice.of_study(sweep.status.study.design) or Choice()
    row = st.container(horizontal=True, vertical_alignment="bottom", gap="small")
    bound, labels = Bound(row), [rule.label for rule in RULES.values()]
    own = "" if kept.metric in METRICS else kept.metric
    asked = any(MENU in where for where in (st.session_state, st.query_params))
    offered = [*METRICS, OWN]
    chosen = bound.menu(
        MENU, "Metric", offered, OWN if own else kept.metric, width=130, help=words.METRIC_HELP
    )
    if chosen == OWN:
        own_field(bound, metrics.chosen(metrics.FIELD) if asked or not own else own)
        if why := metrics.read_own()[1]:
            row.caption(escaped(why), width="content")
    if direction(sweep.metric) < 0:
        row.caption(LESS_IS_BETTER.format(metric=escaped(sweep.metric)), width="content")
    metrics.settle()
    about_rules = " ".join(f"{rule.label}: {rule.help}" for rule in RULES.values())
    bound.menu("rule", "Take", labels, RULES[kept.rule].label, width=240, help=about_rules)
    if len(design.folds) > 1:
        bound.switch("each", "for each fold", kept.per_fold, help=words.EACH_HELP)
    x, y = places(design)
    if len(design.names) > 2:
        names = {setting_name(design.settings[name]): name for name in design.names}
        offered = list(names)
        at = offered.index(setting_name(design.settings[x]))
        x = names[row.selectbox("Across", offered, at, key="across", width=120)]
        others = [word for word in offered if names[word] != x]
        y = names[row.selectbox("Up", others, key="up", width=120)]
    return x, y


def show_map(sweep: Sweep, x: str, y: str) -> None:
    """Draw the first figure: the metric over two settings, cell by cell."""
    design, metric, told = sweep.design, sweep.metric, words.CURVE
    if not y and len(sweep.folds):
        table = sweep_settings.curves_data(design, sweep.done, metric, x)
        figure = sweep_settings.curves_figure(table, design, metric, x)
    elif not y:
        table, figure = sweep_settings.planned_curve(design, metric, x)
        told = words.DESIGN
    else:
        told = words.MAP
        table, begun = sweep_map.planned_cells(design, x, y), NOTHING
        if sweep.column in sweep.done:
            table = sweep_map.map_data(design, sweep.done, metric, x, y)
            begun = sweep_map.partial_means(design, sweep.done, metric)
        figure = sweep_map.map_figure(table, design, metric, x, y)
        sweep_map.add_unfinished(figure, table, begun, design, metric, (x, y))
        if (cell := clicked(sweep)) is not None:
            sweep_map.mark_cell(figure, table, design, (x, y), cell)
        sweep_map.add_click_targets(figure, table, design, metric, (x, y))
    text = answer(sweep)
    caption = told.format(metric=metric, over=over(design), band=band(design))
    key = f"sweep-map-{sweep.status.id}"
    take = partial(click, sweep.status.id, key)
    show_figure(figure, table, key=key, caption=caption, answer=f"{text}.", on_select=take)
