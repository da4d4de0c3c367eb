"""The Low rank page: one query's matrix below its controls, and tabs, with a shared selection of queries."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from rankviz.analysis.spectra import MATRICES, RANK_TOLERANCE
from rankviz.common.numbers import as_csv, small
from rankviz.datasets import RankingData
from rankviz.plots import dual_energy
from rankviz.runs.record import RunRecord
from rankviz.runs.spec import RunSpec
from ui.controls import selection
from ui.controls.widgets import Bound
from ui.shell.errors import errors_as_sentences
from ui.shell.figures import Figures, show_answer, show_figure, show_table
from ui.shell.page import VIEW, tabs
from ui.shell.texts import describe
from ui.study import low_rank_models as models
from ui.study import low_rank_query as query
from ui.study import low_rank_sweeps as sweeps
from ui.study import low_rank_why as why
from ui.study import low_rank_words as words
from ui.study.low_rank_computations import (
    BLOCK,
    RANKS,
    SELECTED_PART,
    SHARES,
    ZEROS,
    Choice,
    Shown,
    count,
    kept_spectra,
    shown,
    toolbar,
)
from ui.study.low_rank_models import Records, bare
from ui.study.low_rank_query import Query

FIGURES = Figures(captions=words.CAPTIONS)
ORDERS = {"grade": "grade, then score", "score": "score"}
BESIDE = {"cut": "cut to rank k", "rest": "what that leaves out"}
WIDTH = 175
"""Width in pixels: three controls and a button fit in one row on a laptop, two controls on a phone."""
SPECS: dict[str, Callable[[RunSpec], list[RunSpec]]] = {
    "Why so low?": why.specs,
    "Three models": models.specs,
    "Learning curves": sweeps.curve_specs,
    "Sensitivity": sweeps.sweep_specs,
}
"""Specs of the runs of tabs, besides the page's own."""
OTHER_MODELS = ("Three models", "Learning curves", "Sensitivity")
"""Tabs on models with their own dual variables."""
COUNTED = ("One query", "Energy", "Why so low?")
"""Tabs that show the selected queries but do not select any."""


def all_queries(what: Shown) -> None:
    """Draw the dimensions for the share of the energy and for all of it, with references."""
    dragmode = toolbar(what)
    share = words.percent(what.choice.share)
    of = "selected " if what.selected else ""
    needs = what.only_selected(what.needs)
    show_answer(words.reading(needs, what.choice.share, of))
    left, right = st.columns(2, gap="medium")
    with left:
        _histogram(what, dragmode, "k", f"k for {share} of the energy")
    with right:
        _histogram(what, dragmode, "rank", "numerical rank")
    shuffled = words.shuffled_reading(needs, what.choice.share)
    ranks = words.rank_reading(needs, what.choice.tolerance)
    st.markdown(f"{shuffled} {words.in_order(needs)} {ranks}")


def _histogram(what: Shown, dragmode: str, measure: str, name: str) -> None:
    choice, needs = what.choice, what.needs
    table = dual_energy.histogram_data(needs, measure, choice.scale, what.selected)
    key = selection.chart_key(f"dim-{measure}")
    figure = dual_energy.histogram_figure(table, what.look, choice.scale, name)
    figure.update_layout(dragmode=dragmode)
    said = {
        "k": words.CAPTIONS["k"].format(share=words.percent(choice.share)),
        "rank": words.CAPTIONS["rank"].format(zero=words.power_of_ten(choice.tolerance)),
    }[measure]
    show_figure(
        figure,
        table,
        key=key,
        caption=f"{said}. {words.queries(len(needs))}; {words.left_out(what.found)}. "
        f"{describe(what.spec, 'train')}.",
        on_select=selection.on_bars(
            key, lambda bins: dual_energy.queries_in_bins(needs, measure, choice.scale, bins)
        ),
    )


def energy(what: Shown) -> None:
    """Draw the energy of the first k singular values, for the selected queries and for shuffled ones."""
    inside = what.needs["query"].isin(what.only_selected(what.needs)["query"]).to_numpy()
    model, shuffled = (dual_energy.energy_data(found, inside) for found in (what.found, what.shuffled))
    table = dual_energy.with_shuffled(model, shuffled)
    of = f"the {len(what.selected)} selected of " if what.selected else ""
    FIGURES.show(
        "energy",
        dual_energy.energy_figure(table, what.look, what.choice.share),
        table,
        words.energy_reading(model, shuffled),
        queries=f"{of}{words.queries(len(what.needs))}",
        about=describe(what.spec, "train"),
    )


def table_of(what: Shown) -> pd.DataFrame:
    """Return the numbers of every query, in the order of the columns shown."""
    needs, more = what.needs, what.found.table.reset_index(drop=True)
    documents = needs["documents"]
    return pd.DataFrame(
        {
            "query": needs["query"],
            "documents": documents,
            "grades": more["grades"],
            "pairs": needs["pairs"],
            "active": needs["active"] / needs["pairs"],
            "k": needs["k"],
            "k_shuffled": needs["k_shuffled"],
            "rank": needs["rank"],
            "rank_shuffled": needs["rank_shuffled"],
            "largest_rank": needs["largest_rank"],
            "law": more["law"],
            "Dim_share": needs["k"] / documents,
            "Dim_100": needs["rank"] / documents,
            "stable_rank": more["stable_rank"],
            "nuclear": more["nuclear"],
        }
    )


def numbers(what: Shown) -> None:
    """Draw the table; its ticked rows are the selected queries of the whole page."""
    every = table_of(what)
    row = st.container(horizontal=True, vertical_alignment="center")
    only = Bound(row, words.HELP).switch("onlypicked", "Selected queries only")
    if what.selected:
        selection.count(row, len(what.selected), len(every))
    table = what.only_selected(every) if only else every
    queries = [int(query) for query in table["query"]]
    # rows that disappear when unticked would make a new table each time
    key = (selection.chart_key if only else selection.table_key)("low-rank-queries")
    ticked = [place for place, query in enumerate(queries) if query in set(what.selected)]
    show_table(
        table,
        hide_index=True,
        key=key,
        on_select=selection.on_rows(key, queries, selection.mark),
        selection_mode="multi-row",
        selection_default={"selection": {"rows": ticked}},
        column_config=_columns(what),
        alt="One row for each query.",
    )
    row.download_button(
        "Numbers (CSV)",
        lambda: as_csv(table),
        "low-rank.csv",
        "text/csv",
        key="low-rank-csv",
        on_click="ignore",
        icon=":material/download:",
    )
    which = f"{len(table)} of " if len(table) < len(every) else ""
    st.caption(
        words.CAPTIONS["numbers"].format(
            queries=f"{which}{words.queries(len(every))}",
            left_out=words.left_out(what.found),
            accuracy=accuracy(what),
        )
    )


def accuracy(what: Shown) -> str:
    """Give the final status of training, and the gap of its α."""
    gap = what.found.gap
    certified = "" if math.isnan(gap) else f"; duality gap {small(max(gap, 0.0))} of the objective"
    return f"Training: {what.record.status.rstrip('.')}{certified}."


def _columns(what: Shown) -> dict[str, Any]:
    number, share, told = st.column_config.NumberColumn, words.percent(what.choice.share), words.COLUMN_HELP
    zero = words.power_of_ten(what.choice.tolerance)
    return {
        "query": number("query", format="%d", help=told["query"]),
        "documents": number("documents", help=told["documents"]),
        "grades": number("grades", help=told["grades"]),
        "pairs": number("pairs", help=told["pairs"]),
        "active": number("active", format="percent", help=told["active"]),
        "k": number(f"k, {share}", help=told["k"].format(share=share)),
        "k_shuffled": number("k, shuffled", help=told["k_shuffled"]),
        "rank": number("rank", help=told["rank"].format(zero=zero)),
        "rank_shuffled": number("rank, shuffled", help=told["k_shuffled"]),
        "largest_rank": number("largest rank", help=told["largest_rank"]),
        "law": number("rank if all active", help=told["law"]),
        "Dim_share": number(f"Dim, {share}", format="percent", help=told["dim"]),
        "Dim_100": number("Dim, 100 %", format="percent", help=told["dim_100"]),
        "stable_rank": number("stable rank", format="%.2f", help=told["stable_rank"]),
        "nuclear": number("nuclear norm", format="%.4g", help=told["nuclear"]),
    }


def chosen(row: DeltaGenerator) -> Choice:
    """Draw the row and return its choices; the menu of queries comes later, once they are known."""
    first = Bound(row, words.HELP)
    k = first.steps("k", "Keep rank k", RANKS, 1, width=WIDTH)
    shares = {share: f"{share} %" for share in SHARES}
    share = first.steps("t", "Share of the energy", shares, 90, width=WIDTH)
    more = first.at(row.expander("More", type="compact"))
    matrices = {name: kind.label for name, kind in MATRICES.items()}
    matrix = more.buttons("matrix", "Matrix of α", matrices, "block")
    order = more.buttons("order", "Documents sorted by", ORDERS)
    beside = more.buttons("beside", "Beside it", BESIDE)
    zeros = {zero: words.power_of_ten(zero) for zero in ZEROS}
    zero = more.buttons("zero", "Zero: σ up to … of the largest", zeros, RANK_TOLERANCE)
    scales = {name: scale.label for name, scale in dual_energy.SCALES.items()}
    scale = more.buttons("counted", "Dimensions counted as", scales, "documents")
    return Choice(matrix, share / 100, zero, scale, k, order, beside)


def query_menu(place: DeltaGenerator, what: Shown) -> None:
    """Draw the menu of queries, of the selected ones if any; its value is `what.query`."""
    queries = [int(query) for query in what.only_selected(what.needs)["query"]]
    if st.session_state.get(BLOCK) not in queries:
        st.session_state[BLOCK] = what.query
    of = f"the {len(queries)} selected" if what.selected else f"{len(queries)}"
    Bound(place, words.HELP).menu(BLOCK, f"Query, of {of}", queries)


def specs(spec: RunSpec) -> list[RunSpec]:
    """Return the specs of the open tab's runs besides the page's own, before anything is trained."""
    selection.switch_to(SELECTED_PART)
    needed = SPECS.get(str(st.session_state.get(VIEW)))
    return needed(spec) if needed else []


@st.fragment
@errors_as_sentences()
def linked(record: RunRecord, train: RankingData, others: Records) -> None:
    """Draw the page, which shares one selection of queries; `others` are the records of `specs`."""
    if _offered_for_another_tab(record.spec, others):
        st.rerun()
    row = st.container(horizontal=True, vertical_alignment="bottom")
    menu = row.container(width=WIDTH)
    choice = chosen(row)
    found = kept_spectra(record, train, choice.matrix)[0]
    nothing = words.nothing(found) if len(found.table) == 0 else ""
    if nothing:
        st.info(nothing, icon=":material/info:")
        if not found.n_zero:  # no pairs: no model has any α
            return
    what = shown(record, train, choice, partial(selection.selected, part=SELECTED_PART))
    one = Query(what)
    if not nothing:
        query_menu(menu, what)
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
    "All queries": lambda one, _: all_queries(one.what),
    "One query": lambda one, _: query.show(one),
    "Energy": lambda one, _: energy(one.what),
    "Why so low?": lambda one, others: why.show(one.what, others),
    "Three models": lambda one, others: models.show(one.what, others),
    "Learning curves": lambda one, others: sweeps.learning_curves(one.what, others),
    "Sensitivity": lambda one, others: sweeps.sensitivity(one.what, others),
    "Numbers": lambda one, _: numbers(one.what),
}
"""Functions that draw the tabs, from the chosen query and the records of `specs`."""
