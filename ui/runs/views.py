"""The views of the Runs page: the best run and all others in a figure, the table, and actions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from rankviz.common.numbers import counted
from rankviz.plots import metric_vs_setting
from rankviz.runs.record import NOT_MADE_HERE
from ui.controls import imported
from ui.controls.sidebar import own_place
from ui.controls.widgets import note_looks, start_index
from ui.runs import actions, filters, table, travel, words
from ui.runs.columns import PARTS, Columns, metrics, of_parts
from ui.runs.words import FIRST_LISTED, NONE_MATCHES, POINTS_ALT, best_of, made_here
from ui.shell.figures import show_answer, show_figure
from ui.shell.texts import escaped
from ui.shell.visitors import keep_visitor, visitor
from ui.work.run_store import run_store, show_store_notice

AGAINST, EVERYTHING, SHOWN_METRICS, SHOWN_PARTS, FIRST = "against", "everything", "metrics", "parts", "first"
MADE, SECONDS = "when it was made", "seconds of training"
LATEST, BEST, QUICKEST = "latest", "best", "quickest"
MOST_LISTED = 2000
"""Largest number of rows sent to the browser; figure, search and actions on all runs use the others too."""


@dataclass(frozen=True)
class What:
    """Display options: axis of the figure, order, parts and metrics, all settings or differing ones."""

    against: str
    first: str
    parts: tuple[str, ...]
    metrics: tuple[str, ...]
    everything: bool


def runs_of_visitor() -> pd.DataFrame:
    """Return the runs before filters: all, those of a study, or deleted ones."""
    store, owner = run_store(), visitor()
    show_store_notice()
    imported.compare()
    found = store.listing.seen_by(owner)
    if bool(found["own"].any()):
        keep_visitor()
    titles, asked = store.studies.titles(owner), st.query_params.get(filters.STUDY, "")
    if asked and asked not in titles:
        st.warning(words.NO_STUDY)
    with own_place():
        study = _study(titles) if titles else ""
        if st.toggle("Deleted", key=filters.DELETED, bind="query-params", help="Your deleted runs."):
            return store.listing.deleted_by(owner)
    if not study:
        return found
    of_study = store.listing.of_study(study, owner)
    return of_study.drop(store.listing.deleted_by(owner).index, errors="ignore")


def _study(titles: dict[str, str]) -> str:
    """Draw the menu of studies; return the chosen one, "" for none."""
    options = ["", *titles]
    at = start_index(filters.STUDY, options, "")
    return str(
        st.selectbox(
            "Study",
            options,
            at,
            key=filters.STUDY,
            bind="query-params",
            format_func=lambda one: f"{titles[one]} · {one[:6]}" if one else "all",
            help="Runs requested together.",
        )
    )


def nothing_yet() -> None:
    """Explain what to do without runs."""
    if st.session_state.get(filters.DELETED):
        show_answer("No deleted runs.")
    else:
        show_answer("No runs yet.")
        st.info(words.RUNS_KEPT, icon=":material/info:")
        st.page_link("pages/train.py", label="Train one", icon=":material/model_training:")
    actions.say_what_is_gone()
    travel.bring()


def filtered(columns: Columns) -> filters.Shown:
    """Draw the filters; return the matching runs."""
    known = columns.table
    with own_place():
        metric = filters.metric_chosen(known)
        found = filters.draw(known, columns, metric)
    return filters.Shown(found, len(known), metric, columns.differing(found))


def answer_and_list(shown: filters.Shown, columns: Columns) -> None:
    """Draw the best run and all others in a figure, and the table with its actions."""
    if shown.table.empty:
        show_answer(NONE_MATCHES.format(runs=counted(shown.total, "run")))
        st.button("Show all", on_click=filters.reset, key="show-all-again")
        actions.say_what_is_gone()
        travel.bring()
        return
    imported.say()
    top, row, told = st.container(), st.container(horizontal=True, gap="xsmall"), st.container()
    with row:
        what = _what_is_listed(shown, columns)
    with top:
        _headline(shown, columns, what)
    _table(shown, columns, what, row, told)


def _headline(shown: filters.Shown, columns: Columns, what: What) -> None:
    """Name the best run, and draw all runs against a chosen quantity."""
    found, column = made_here(shown.table), f"vali:{shown.metric}"
    answer, best = best_of(shown, columns)
    if column not in found or found[column].notna().sum() < 2:
        show_answer(answer)
        return
    x, title, kind = _axis(_axes(shown, columns)[what.against], found, columns)
    data = metric_vs_setting.runs_data(found, x, column, best)
    drawn = metric_vs_setting.thinned_runs(data)
    some = f" {len(drawn):,} of {len(data):,} drawn." if len(drawn) < len(data) else ""
    if len(found) < len(shown.table):
        some += f" Runs {NOT_MADE_HERE}, are not drawn."
    show_figure(
        metric_vs_setting.runs_figure(drawn, title, f"{shown.metric}, validation", kind=kind),
        data,
        answer=answer,
        key="many-runs",
        alt=POINTS_ALT.format(metric=shown.metric, title=escaped(title)),
        caption=words.POINTS.format(metric=shown.metric, some=some),
    )


def _axes(shown: filters.Shown, columns: Columns) -> dict[str, str]:
    """Return the possible axes of the figure: columns by their words in the menu."""
    settings = {columns.setting(name).label: name for name in shown.differing}
    return {MADE: "ended", SECONDS: "seconds"} | settings


def _axis(name: str, found: pd.DataFrame, columns: Columns) -> tuple[pd.Series[Any], str, str]:
    """Return values, title and type of a column's axis."""
    if name == "ended":
        return table.times(found).dt.tz_localize(None), MADE, "date"
    if name == "seconds":
        return found["seconds"], f"{SECONDS} (log)", "log"
    setting = columns.setting(name)
    if columns.by_powers(name, found):
        title = f"log{_SUB.get(columns.base(name), '')} {setting.symbol}"
        return columns.exponents(name, found), title, "linear"
    if pd.api.types.is_numeric_dtype(found[name]):
        return found[name], setting.symbol, "linear"
    return columns.in_words(name, found), setting.label, "category"


_SUB = {2: "₂", 10: "₁₀"}


def _table(
    shown: filters.Shown, columns: Columns, what: What, row: DeltaGenerator, told: DeltaGenerator
) -> None:
    """Draw the table, with buttons for its chosen runs in its row."""
    found = shown.table
    same = "" if what.everything else columns.common(found)
    rows = _in_order(found, shown.metric, what.first)
    words = f"All: {same}." if same else ""
    if len(rows) > MOST_LISTED:
        words += FIRST_LISTED.format(MOST_LISTED=MOST_LISTED, first=what.first)
    if words:
        told.caption(words)
    wanted = columns.names if what.everything else shown.differing
    table.show(rows.head(MOST_LISTED), columns, wanted, of_parts(what.metrics, what.parts, rows))
    with row:
        _actions(found, table.chosen_of(found))
    with told:
        actions.say_what_is_gone()


def _actions(found: pd.DataFrame, chosen: Sequence[str]) -> None:
    if st.session_state.get(filters.DELETED):
        label = f"Restore {counted(len(chosen), 'run')}"
        st.button(label, key="runs-restore", on_click=actions.restore, args=(chosen,), disabled=not chosen)
        return
    actions.marks(found, chosen)
    travel.take_along(found, chosen)
    travel.bring()
    actions.onward(found, chosen)


def _what_is_listed(shown: filters.Shown, columns: Columns) -> What:
    """Draw the controls of the figure's axis, the order and the columns."""
    found = shown.table
    with st.popover("Show", icon=":material/view_column:", help="Columns, order, axis."):
        axes, known = list(_axes(shown, columns)), metrics(found.columns)
        orders = [LATEST, BEST, QUICKEST]
        bound = {"bind": "query-params"}
        against = st.selectbox("Figure against", axes, start_index(AGAINST, axes, MADE), key=AGAINST, **bound)
        first = st.selectbox("First", orders, start_index(FIRST, orders, LATEST), key=FIRST, **bound)
        parts = st.pills(
            "Parts",
            list(PARTS),
            selection_mode="multi",
            default=["vali"],
            format_func=PARTS.__getitem__,
            key=SHOWN_PARTS,
            help=words.PARTS_HELP,
            **bound,
        )
        others = [name for name in known if name != shown.metric]
        names = st.multiselect("Further metrics", others, key=SHOWN_METRICS, **bound)
        everything = st.toggle("All settings", key=EVERYTHING, help="Includes equal settings.", **bound)
    if "test" in parts:
        note_looks(found.index)
    named = [*filter(None, [shown.metric]), *names]
    return What(str(against), str(first), tuple(parts), tuple(named), bool(everything))


def _in_order(found: pd.DataFrame, metric: str, first: str) -> pd.DataFrame:
    column = f"vali:{metric}"
    if first == BEST and column in found:
        return found.sort_values(column, ascending=False, kind="stable", na_position="last")
    if first == QUICKEST:
        return found.sort_values("seconds", kind="stable", na_position="last")
    return found
