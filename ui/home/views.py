"""The views of the Home page: the live figure, what is true of real sets, and where to go."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import streamlit as st

from rankviz.datasets import RankingData
from rankviz.experiments.description import in_a_sentence
from rankviz.experiments.record import RunRecord
from rankviz.experiments.spec import RunSpec
from rankviz.metrics.significance import compare
from rankviz.plots import metric_vs_m
from rankviz.plots.style import look_of, style_of
from ui.home import words
from ui.ndcg_vs_m.enough import enough
from ui.shared.approximations import approximate_specs, say_what_is_left_out
from ui.shared.curves import choices, is_curve, kernels, names
from ui.shared.foreign import describe
from ui.shared.jobs import run_or_submit
from ui.shared.navigation import ENTRIES
from ui.shared.offers import COMPONENTS
from ui.shared.settings import baseline, spec_from_state
from ui.shared.show import definition_caption, say_if_nothing_was_learned, sentence, show_figure

METRIC = "NDCG@10"
GRID = tuple(m for m in COMPONENTS if m <= 500)


def headline(state: Any, data: RankingData) -> None:
    """NDCG@10 against m, all approximations over the linear level, with the sidebar's m or model marked."""
    spec, linear, curves = spec_from_state(state), baseline(state), kernels(state)
    own = None if spec in (linear, *curves) else spec
    place, training = st.container(), st.container()  # so that the figure stays where it is
    with training:
        found = _trained(linear, curves, own)
    if found:
        with place:
            _curves(state, data, found, own)


def _curves(state: Any, data: RankingData, found: list[RunRecord], own: RunSpec | None) -> None:
    """The figure of the records that are there, and what may be said of them."""
    spec, curves = spec_from_state(state), kernels(state)
    say_if_nothing_was_learned(found[0])
    say_what_is_left_out(approximate_specs(state)[1])
    table = metric_vs_m.data(found, "vali", [METRIC])
    beside_linear = _reading(found[0], found[1:], own or curves[0])
    answer = enough(found, "vali", METRIC, [look_of(curve) for curve in curves])
    show_figure(
        metric_vs_m.figure(table, spec.n_components if is_curve(spec) else None),
        table,
        answer=sentence(answer) if answer else beside_linear,
        key="ndcg-against-m",
        alt=words.alt(names(curves)),
        caption=f"{_about(curves)}. Mean over queries; {definition_caption(data)}.",
    )
    if answer and beside_linear:
        st.markdown(beside_linear)
    if own:
        st.caption(f"Level: {describe(own, 'vali')}.")


def _trained(linear: RunSpec, curves: list[RunSpec], own: RunSpec | None) -> list[RunRecord]:
    """The records that are there, the linear one first; none without that and one other."""
    grid = sorted({*GRID, *(curve.n_components for curve in curves)})
    wanted = [linear, *(curve.but(n_components=m) for curve in curves for m in grid)]
    wanted += [own] if own else []
    first, *others = run_or_submit(wanted, title=f"NDCG against m, {linear.dataset}")
    there = [record for record in others if record is not None]
    return [first, *there] if first is not None and there else []


def _about(curves: list[RunSpec]) -> str:
    """The first curve in words, and what differs with the others."""
    told = [str(describe(curves[0], "vali"))]
    for curve in curves[1:]:
        differing = [text for text in choices(curve) if text not in choices(curves[0])]
        told.append(", ".join([f"{style_of(look_of(curve)).name} alike", *differing]))
    return "; ".join(told)


def _reading(baseline: RunRecord, others: list[RunRecord], spec: RunSpec) -> str:
    """What the queries say about one model, if it is there, beside the linear one."""
    model = next((r for r in others if r.spec.but(digest="") == spec), None)
    if model is None:
        return ""
    name = in_a_sentence(spec)
    name += f" with m = {spec.n_components}" if is_curve(spec) else ""
    found = compare(model.metrics["vali"][METRIC], baseline.metrics["vali"][METRIC])
    return sentence(found.sentence(name, "the linear model", METRIC))


def what_it_is_about() -> None:
    """What is learned here, for those who have not met it."""
    st.markdown(words.ABOUT)


def what_is_true(dataset: str) -> None:
    """Says what the figure does and does not tell about real data."""
    st.info(words.results(dataset), icon=":material/info:")


DOCUMENTATION = Path(__file__).parents[2] / "static" / "docs" / "index.html"
"""Made by `make docs`; Streamlit serves the folder static as app/static."""


def where_to_go() -> None:
    """Links to the other pages, to which settings go along; to the documentation where it is."""
    st.header("Pages", anchor=False)
    for entry in ENTRIES[1:]:  # Streamlit takes bound parameters along: named here, each would be there twice
        st.page_link(entry.script, label=entry.sentence, icon=entry.material)
    if DOCUMENTATION.is_file():
        st.markdown(words.DOCUMENTATION)
