"""The views of the Home page: live figure, facts about real sets, and links."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from rankviz.datasets import RankingData
from rankviz.metrics.significance import compare
from rankviz.plots import metric_vs_m
from rankviz.plots.style import approximations, style_of
from rankviz.runs.description import in_a_sentence, look_of
from rankviz.runs.record import RunRecord
from rankviz.runs.spec import RunSpec
from ui.controls.curves import approximate_specs, choices, is_curve, kernels, report_left_out
from ui.controls.navigation import links
from ui.controls.settings import baseline, spec_from_state
from ui.controls.widgets import COMPONENTS
from ui.learn import home_words as words
from ui.shell.components import SCRIPTS, mount
from ui.shell.figures import definition_caption, report_ties, report_untrained, sentence, show_figure
from ui.shell.locks import locked
from ui.shell.texts import describe
from ui.shell.words import SO_FAR
from ui.study.ndcg_vs_m_words import enough
from ui.work.jobs import run_or_submit

METRIC = "NDCG@10"
GRID = tuple(m for m in COMPONENTS if m <= 500)


def headline(state: Any, data: RankingData) -> None:
    """Draw NDCG@10 against m for all approximations and the linear model; mark the sidebar's m or model."""
    spec, linear, curves = spec_from_state(state), baseline(state), kernels(state)
    own = None if spec in (linear, *curves) else spec
    place, training = st.container(), st.container()  # the figure keeps its place
    with training:
        found, whole = _trained(linear, curves, own)
    if found:
        with place:
            report_untrained(found[0])
            if len(curves) < len(approximations()):
                report_left_out(approximate_specs(state)[1])
            _curves(spec, curves, data, found, own, whole)


def _curves(
    spec: RunSpec,
    curves: list[RunSpec],
    data: RankingData,
    found: list[RunRecord],
    own: RunSpec | None,
    whole: bool,
) -> None:
    """Draw the figure of the existing records, and a sentence about them, which says if some are missing."""
    runs = tuple((record.spec.hash, *record.seconds.items()) for record in found)
    looks, marked = tuple(map(look_of, curves)), spec.n_components if is_curve(spec) else None
    told = _told(runs, looks, (own or curves[0]).hash, marked, whole, found, own or curves[0])
    show_figure(
        told.figure,
        told.table,
        answer=told.answer or told.beside_linear,
        key="ndcg-against-m",
        caption=f"{_about(curves)}. Mean over queries; {definition_caption(data)}.",
    )
    if told.answer and told.beside_linear:
        st.markdown(told.beside_linear)
    report_ties({"vali": found}, [METRIC])
    if own:
        st.caption(f"Horizontal line: {describe(own, 'vali')}.")


@dataclass(frozen=True)
class _Told:
    """The figure of runs, its table, and its two sentences."""

    figure: go.Figure
    table: pd.DataFrame
    answer: str
    beside_linear: str


@st.cache_resource(max_entries=16, show_spinner=False)
def _told(
    runs: tuple[object, ...],
    looks: tuple[str, ...],
    own: str,
    marked: int | None,
    whole: bool,
    _found: list[RunRecord],
    _own: RunSpec,
) -> _Told:
    """Make figure and answers once: a class opens this page at the same time, with the same settings."""
    table = metric_vs_m.metric_data(_found, "vali", [METRIC])
    answer = enough(_found, "vali", METRIC, looks)
    figure = metric_vs_m.metric_figure(table, marked)
    beside_linear = _reading(_found[0], _found[1:], _own)
    so_far = "" if whole else SO_FAR
    return _Told(figure, table, sentence(so_far + answer) if answer else "", beside_linear)


def _trained(linear: RunSpec, curves: list[RunSpec], own: RunSpec | None) -> tuple[list[RunRecord], bool]:
    """Return the existing records, the linear one first, and True if none is missing.

    There are no records without the linear one and at least one other.
    """
    grid = sorted({*GRID, *(curve.n_components for curve in curves)})
    wanted = [linear, *(curve.but(n_components=m) for curve in curves for m in grid)]
    wanted += [own] if own else []
    first, *others = run_or_submit(wanted, title=f"NDCG against m, {linear.dataset}")
    there = [record for record in others if record is not None]
    return [first, *there] if first is not None and there else [], len(there) == len(others)


def _about(curves: list[RunSpec]) -> str:
    """Describe the first curve, and the differences of the others."""
    parts = [str(describe(curves[0], "vali"))]
    for curve in curves[1:]:
        differing = [text for text in choices(curve) if text not in choices(curves[0])]
        parts.append(", ".join([f"{style_of(look_of(curve)).name} alike", *differing]))
    return "; ".join(parts)


def _reading(baseline: RunRecord, others: list[RunRecord], spec: RunSpec) -> str:
    """Compare one model, if it exists, with the linear one."""
    model = next((r for r in others if r.spec.but(digest="") == spec), None)
    if model is None:
        return ""
    name = in_a_sentence(spec)
    name += f" with m = {spec.n_components}" if is_curve(spec) else ""
    found = compare(model.metrics["vali"][METRIC], baseline.metrics["vali"][METRIC])
    return sentence(found.sentence(name, "the linear model", METRIC))


def welcome() -> None:
    """Draw one query whose list a slider orders, and links for students, lecturers and researchers."""
    picture, doors = st.container(key="welcome").columns([3, 2], gap="large")
    with picture:
        mount(
            SCRIPTS / "home" / "list.js",
            "welcome-list",
            {"words": words.LIST, "dark": st.context.theme.type == "dark", "locked": locked()},
        )
    with doors:
        st.markdown(words.LEARNS)
        for page, icon, label in words.DOORS:
            st.page_link(f"pages/{page}.py", label=label, icon=icon)


def show_task() -> None:
    """Explain the task to newcomers."""
    st.markdown(words.ABOUT)


def show_limits(dataset: str) -> None:
    """Explain the limits of the figure for real data."""
    st.info(words.results(dataset), icon=":material/info:")


DOCUMENTATION = Path(__file__).parents[2] / "static" / "docs" / "index.html"
"""Built by `make docs`; Streamlit serves the folder static as app/static."""


def show_pages() -> None:
    """Draw links to the other pages, and to the documentation if built."""
    with st.expander(words.PAGES):
        links()
    if DOCUMENTATION.is_file():
        st.markdown(words.DOCUMENTATION)
