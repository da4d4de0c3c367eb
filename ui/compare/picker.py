"""A dialog to add models to a comparison: the visitor's runs, one row per model, and studies."""

from __future__ import annotations

from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from rankviz.common.numbers import counted
from rankviz.common.settings import Setting, every
from rankviz.models.methods import METHODS
from rankviz.store.study import DONE
from ui.compare import words
from ui.controls.compared import RUNS, STUDIES, add, chosen
from ui.shell.errors import errors_as_sentences
from ui.shell.figures import show_table
from ui.shell.visitors import visitor
from ui.work.run_store import run_store

METRIC = "NDCG@10"
"""Mean over runs on the validation part, to tell models apart in the dialog."""
MOST_ROWS = 200
"""Number of models in the dialog, the latest first; a search finds older ones."""
_ABOUT = ("state", "reason", "created", "ended", "own", "star", "note", "shared", "tags", "seconds")


def button() -> None:
    """Draw a button that opens the dialog."""
    if st.button("Add models", key="add-models", icon=":material/add:", help="From your runs and studies."):
        _dialog()


@st.dialog("Add models", width="large")
@errors_as_sentences()
def _dialog() -> None:
    table = run_store().listing.seen_by(visitor())
    table = table[table["state"] == DONE]
    if table.empty:
        st.markdown(words.NO_RUNS)
    else:
        _runs(table)
    _studies()


def _runs(table: pd.DataFrame) -> None:
    row = st.container(horizontal=True, vertical_alignment="bottom")
    names = list(dict.fromkeys(table["dataset"]))
    there = table.index.intersection(pd.Index(chosen(RUNS), dtype=object))
    first = names.index(table["dataset"][there[0]]) if len(there) else 0
    data = row.container(width=220).selectbox("Data set", names, first, key="pick-data")
    text = row.text_input(
        "Search", key="pick-text", placeholder="linear, 500, hinge …", help=words.SEARCH_HELP
    )
    models = grouped(table[table["dataset"] == data])
    found = models[matching(models, text)] if text else models
    shown = found.head(MOST_ROWS)
    if len(shown) < len(found):
        st.caption(words.LATEST.format(shown=len(shown), found=len(found)))
    event = show_table(
        shown.drop(columns="digests"),
        hide_index=True,
        height=320,
        key=f"pick-{data}-{text}",
        on_select="rerun",
        selection_mode="multi-row",
        alt="One row for each model.",
    )
    picked = shown["digests"].iloc[event["selection"]["rows"]]
    digests = [digest for own in picked for digest in own]
    label = f"Add {counted(len(picked), 'model')}" if len(picked) else "Tick rows to add"
    if st.button(label, key="pick-add", type="primary", disabled=not digests):
        add(RUNS, digests)
        st.rerun()


def grouped(table: pd.DataFrame) -> pd.DataFrame:
    """Return one row per model, the latest first: differing settings, metric, folds, runs, `digests` of runs.

    Runs of one model differ only in the fold and in seeds or draws.
    """
    declared = {s.name: s for method in METHODS.values() for s in every(method.settings)}
    drawn = {name for name, setting in declared.items() if setting.draws}
    metrics = [name for name in table.columns if ":" in str(name)]
    apart = {*_ABOUT, *metrics, *drawn, "fold", "draw", "digest"}
    settings = [name for name in table.columns if name not in apart]
    told = table[settings].map(_plain)
    number = told.groupby(settings, sort=False, dropna=False).ngroup()
    runs = table.index.to_series().groupby(number, sort=False).agg(list)
    found = told[~number.duplicated()].set_axis(runs.index)
    differ = [name for name in settings if name == "method" or len(found[name].unique()) > 1]
    folds = table["fold"].groupby(number, sort=False).nunique()
    shown = {_label(declared, name): found[name].map(partial(_told, declared, name)) for name in differ}
    if (validated := f"vali:{METRIC}") in metrics:
        shown[f"{METRIC}, validation"] = table[validated].groupby(number, sort=False).mean().round(4)
    return pd.DataFrame(shown).assign(folds=folds, runs=runs.map(len), digests=runs)


def _label(declared: dict[str, Setting], name: str) -> str:
    return declared[name].label if name in declared else name


def _told(declared: dict[str, Setting], name: str, value: Any) -> Any:
    """Return the text for a setting: the label of a choice, numbers unchanged."""
    options = METHODS if name == "method" else declared[name].options if name in declared else {}
    return options[value].label if value in options else value


def _plain(value: Any) -> Any:
    return str(value) if isinstance(value, list | tuple | dict) else value


def matching(models: pd.DataFrame, text: str) -> pd.Series[bool]:
    """Return True for each row that has all words of a text, in any column."""
    rows = models.drop(columns="digests").itertuples(index=False)
    said = pd.Series([" ".join(map(str, row)).lower() for row in rows], models.index)
    found = pd.Series(True, models.index)
    for word in text.lower().split():
        found &= said.str.contains(word, regex=False)
    return found


def _studies() -> None:
    """Draw a menu of the studies; each adds the cell that it chooses."""
    known = {status.id: status for status in run_store().studies.of(visitor()) if status.done}
    if not known:
        return
    row = st.container(horizontal=True, vertical_alignment="bottom")
    study = row.selectbox(
        "Study",
        list(known),
        format_func=lambda one: f"{known[one].study.title} ({known[one].done:,} runs)",
        key="pick-study",
        help=words.STUDY_HELP,
    )
    if row.button("Add study", key="pick-add-study"):
        add(STUDIES, [study])
        st.rerun()
