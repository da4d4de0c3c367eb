"""The Low rank page: one query's matrix below its controls, and tabs, with a shared selection of queries."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import streamlit as st

from rankviz.datasets import RankingData
from rankviz.runs.record import RunRecord
from rankviz.runs.spec import RunSpec
from ui.low_rank import choices, every_query, learning, models, numbers, query, sweeps, why, words
from ui.low_rank.query import Query
from ui.low_rank.selecting import PART, count
from ui.low_rank.settings import Records, bare
from ui.low_rank.work import kept_spectra, shown
from ui.shared import selection
from ui.shared.runs import errors_as_sentences
from ui.shared.views import VIEW, tabs

SPECS: dict[str, Callable[[RunSpec], list[RunSpec]]] = {
    "Why so low?": why.specs,
    "Three models": models.specs,
    "Learning curves": learning.specs,
    "Sensitivity": sweeps.specs,
}
"""Specs of the runs of tabs, besides the page's own."""
OTHER_MODELS = ("Three models", "Learning curves", "Sensitivity")
"""Tabs on models with their own dual variables."""
COUNTED = ("One query", "Energy", "Why so low?")
"""Tabs that show the selected queries but do not select any."""


def specs(spec: RunSpec) -> list[RunSpec]:
    """Return the specs of the open tab's runs besides the page's own, before anything is trained."""
    selection.turn_to(PART)
    needed = SPECS.get(str(st.session_state.get(VIEW)))
    return needed(spec) if needed else []


@st.fragment
@errors_as_sentences()
def linked(record: RunRecord, train: RankingData, others: Records) -> None:
    """Draw the page, which shares one selection of queries; `others` are the records of `specs`."""
    if _offered_for_another_tab(record.spec, others):
        st.rerun()
    row = st.container(horizontal=True, vertical_alignment="bottom")
    menu = row.container(width=choices.WIDTH)
    choice = choices.chosen(row)
    found = kept_spectra(record, train, choice.matrix).found
    nothing = words.nothing(found) if len(found.table) == 0 else ""
    if nothing:
        st.info(nothing, icon=":material/info:")
        if not found.n_zero:  # no pairs: no model has any α
            return
    what = shown(record, train, choice, partial(selection.picked, part=PART))
    one = Query(what)
    if not nothing:
        choices.query(menu, what)
        query.matrices(one)
    tabs({name: partial(_view, name, one, others, nothing) for name in VIEWS})


def _offered_for_another_tab(spec: RunSpec, others: Records) -> bool:
    """Return True if the end of the page offers runs that the open tab does not need.

    A change of tab redraws this fragment only; training is offered outside of it.
    """
    missing = {one for one, record in others.items() if record is None}
    return bool(missing) and not missing <= set(specs(bare(spec)))


def _view(name: str, one: Query, others: Records, nothing: str) -> None:
    """Draw a tab of the page; a sentence if it needs α of a model without α."""
    if nothing and name not in OTHER_MODELS:
        st.markdown(words.NOTHING_HERE)
        return
    if name in COUNTED:
        count(one.what)
    VIEWS[name](one, others)


VIEWS: dict[str, Callable[[Query, Records], None]] = {
    "All queries": lambda one, _: every_query.show(one.what),
    "One query": lambda one, _: query.show(one),
    "Energy": lambda one, _: every_query.energy(one.what),
    "Why so low?": lambda one, others: why.show(one.what, others),
    "Three models": lambda one, others: models.show(one.what, others),
    "Learning curves": lambda one, others: learning.show(one.what, others),
    "Sensitivity": lambda one, others: sweeps.show(one.what, others),
    "Numbers": lambda one, _: numbers.show(one.what),
}
"""Functions that draw the tabs, from the chosen query and the records of `specs`."""
