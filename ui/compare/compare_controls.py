"""Controls of the Compare page: baseline, metrics, test, and list of models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from rankviz.analysis.comparison import TESTS
from rankviz.analysis.contestants import Contestant
from rankviz.common.numbers import counted
from rankviz.common.settings import Setting, every
from rankviz.features import LINEAR
from rankviz.metrics.evaluation import COLUMNS
from rankviz.models.given import SYSTEM
from rankviz.models.methods import METHODS
from rankviz.runs.description import look_of, short_labels
from rankviz.store import StoreError
from rankviz.store.study import DONE
from ui.compare import compare_words as words
from ui.compare.chosen_runs import ChosenRuns
from ui.controls.compared import (
    RUNS,
    STUDIES,
    add,
    choose,
    chosen,
    send_all,
    send_with_linear,
    wait_for,
    waited_for,
)
from ui.controls.models import Option, menu
from ui.controls.navigation import ENTRIES
from ui.controls.settings import data_from_state, spec_from_state
from ui.controls.trail import latest_models
from ui.controls.widgets import ALL, Bound, chosen_folds, metric_menu
from ui.shell.errors import errors_as_sentences
from ui.shell.figures import show_table
from ui.shell.page import KEPT_ALONE, go_to
from ui.shell.texts import describe, escaped
from ui.shell.visitors import visitor
from ui.work.jobs import run_or_submit
from ui.work.metrics import METRICS, metric_now
from ui.work.run_store import keeper, run_store, show_store_notice

_SHOWN_METRIC = "NDCG@10"
"""Mean over runs on the validation part, to tell models apart in the dialog."""
MOST_ROWS = 200
"""Number of models in the dialog, the latest first; a search finds older ones."""
MOST_SEEDS = 10
_ABOUT = ("state", "reason", "created", "ended", "own", "star", "note", "shared", "tags", "seconds")
BASELINE, FURTHER, TEST = "baseline", "further", "tested"


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
    listed = table[settings].map(_plain)
    number = listed.groupby(settings, sort=False, dropna=False).ngroup()
    runs = table.index.to_series().groupby(number, sort=False).agg(list)
    found = listed[~number.duplicated()].set_axis(runs.index)
    differ = [name for name in settings if name == "method" or len(found[name].unique()) > 1]
    differ.sort(key=lambda name: (name != "method", name != SYSTEM.name))
    folds = table["fold"].groupby(number, sort=False).nunique()
    shown = {
        _label(declared, name): found[name].map(partial(_setting_text, declared, name)) for name in differ
    }
    if (validated := f"vali:{_SHOWN_METRIC}") in metrics:
        shown[f"{_SHOWN_METRIC}, validation"] = table[validated].groupby(number, sort=False).mean().round(4)
    return pd.DataFrame(shown).assign(folds=folds, runs=runs.map(len), digests=runs)


def _label(declared: dict[str, Setting], name: str) -> str:
    return declared[name].label if name in declared else name


def _setting_text(declared: dict[str, Setting], name: str, value: Any) -> Any:
    """Return the text for a setting: the label of a choice or a name, numbers unchanged."""
    options = METHODS if name == "method" else declared[name].options if name in declared else {}
    if name == SYSTEM.name and isinstance(value, str):
        return SYSTEM.format(value)
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


@dataclass(frozen=True)
class Asked:
    """Values of the controls: label of the baseline, metrics with the leading one first, and the test."""

    baseline: str
    metrics: tuple[str, ...]
    test: str

    @property
    def metric(self) -> str:
        """The leading metric, of the first figure and of the answers."""
        return self.metrics[0]


def controls(models: Sequence[Contestant], what: ChosenRuns) -> Asked:
    """Draw the controls in a row."""
    row = st.container(horizontal=True, vertical_alignment="bottom")
    baseline, bound = _baseline(row, models, what.baseline), Bound(row)
    metric = metric_menu(row, help=words.METRIC_HELP)
    others = [name for name in METRICS if name != metric]
    further = bound.several(
        FURTHER, "Further metrics", others, [], placeholder="none", width=165, help=words.FURTHER_HELP
    )
    test = bound.menu(TEST, "Test", list(TESTS), width=140, help=words.TEST_HELP)
    _models(row, models)
    return Asked(baseline, (metric, *further), test)


def more_columns() -> tuple[str, ...]:
    """Return the chosen metrics that runs do not have, before their menus are drawn."""
    further = st.session_state.get(FURTHER, st.query_params.get_all(FURTHER))
    asked = (metric_now(), *(name for name in further if name in METRICS))
    return tuple(name for name in dict.fromkeys(asked) if name not in COLUMNS)


def _baseline(row: DeltaGenerator, models: Sequence[Contestant], pinned: str) -> str:
    """Draw the menu of models for the baseline."""
    texts = {run.key: one.key for one in models for run in one.runs}
    state, kept = st.session_state, f"chosen-{BASELINE}"
    asked = state.get(kept, st.query_params.get(BASELINE, ""))
    if asked in texts:
        state[kept] = texts[asked]  # any run of a model represents it
    elif kept in state:
        del state[kept]  # its model was removed
    options = {one.key: Option(one.label, lambda one=one: one.spec) for one in models}
    linear = next((one for one in models if look_of(one.spec) == LINEAR), models[0])
    first = texts.get(pinned, linear.key)
    hint = words.BASELINE_HELP
    return menu(row.container(width=215), "Baseline", options, first, BASELINE, hint).label


def _models(row: DeltaGenerator, models: Sequence[Contestant]) -> None:
    """Draw the list of compared models, to remove some, and a button to add more."""
    with row.popover(f"{len(models)} models" if len(models) > 1 else "1 model", icon=":material/list:"):
        for one in models:
            digests = {run.key for run in one.runs}
            line = st.container(horizontal=True, vertical_alignment="center")
            line.markdown(_with_runs(one), width="stretch")
            line.button(
                "Remove",
                key=f"remove-{one.key}",
                on_click=_remove,
                args=(digests,),
                disabled=not digests & set(chosen(RUNS)),
                help=words.REMOVE_HELP,
            )
        if len(models) > 1:
            with_linear(st.container())
        for study in chosen(STUDIES):
            st.button(
                f"Remove study {study[:8]}",
                key=f"remove-{study}",
                on_click=choose,
                args=(STUDIES, [one for one in chosen(STUDIES) if one != study]),
            )
    with row:
        button()


def _with_runs(one: Contestant) -> str:
    runs = len(one.runs)
    return f"{escaped(one.label)} :gray[({runs} run{'s' if runs > 1 else ''})]"


def _remove(digests: set[str]) -> None:
    choose(RUNS, [one for one in chosen(RUNS) if one not in digests])


def clear_button() -> None:
    """Draw a button that removes all models, also if they cannot be compared."""
    if chosen(RUNS) or chosen(STUDIES) or waited_for():
        st.button(
            "Clear comparison",
            key="remove-all",
            type="tertiary",
            icon=":material/close:",
            on_click=_remove_all,
            help=words.CLEAR_HELP,
        )


def _remove_all() -> None:
    choose(RUNS, [])
    choose(STUDIES, [])
    wait_for([])


def with_linear(place: DeltaGenerator) -> None:
    """Draw the sidebar's model, and the folds and seeds on which to compare it with its linear model."""
    spec = spec_from_state(st.session_state)
    model = " · ".join(describe(spec).names)
    place.markdown(words.SEND_TWO.format(model=model, data=escaped(spec.dataset)))
    row = place.container(horizontal=True, vertical_alignment="bottom")
    folds = chosen_folds(Bound(row), data_from_state(st.session_state), "folds", ALL)
    about = {"width": 120, "help": words.SEEDS_HELP, "persist_state": "page"}
    seeds = Bound(row).number("seeds", "Seeds", 1, MOST_SEEDS, **about)
    row.button(
        "Train and compare with the linear model",
        key="send-two",
        icon=":material/rule:",
        type="primary",
        on_click=send_with_linear,
        args=(folds, seeds),
        help=words.SEND_TWO_HELP,
    )


def make_sent() -> bool:
    """Make the sent runs that do not exist, or offer to; return True while some are missing."""
    wanted = waited_for()
    if wanted:
        found = run_or_submit(wanted, title=f"Compare, {wanted[0].dataset}")
        keeper().wait()  # the comparison reads them from the store
        wait_for(spec for spec, record in zip(wanted, found, strict=True) if record is None)
    return bool(waited_for())


def no_models(lost: bool) -> None:
    """Explain how to add models, with links; `lost` if none of the chosen ones can be shown."""
    try:
        run_store().studies.titles(visitor())
        show_store_notice()
    except StoreError as error:
        st.header(words.NO_STORE, anchor=False)
        st.error(escaped(error), icon=":material/error:")
        return
    st.header(words.NOTHING_LEFT if lost else words.NO_MODELS, anchor=False)
    ways = st.container(key=KEPT_ALONE)
    if len(latest := latest_models(spec_from_state(st.session_state))) > 1:
        ways.button(
            words.COMPARE_LATEST.format(n=len(latest)),
            key="send-latest",
            icon=":material/rule:",
            type="primary",
            on_click=send_all,
            args=(latest,),
            help="; ".join(map(escaped, short_labels(latest))) + ".",
        )
    ways.info(words.HOW_TO_FILL)
    with_linear(ways)
    row = ways.container(horizontal=True)
    with row:
        button()
    for entry in ENTRIES:
        if entry.file in ("runs", "sweep", "train"):
            row.button(
                entry.title, key=f"go-{entry.file}", icon=entry.material, on_click=go_to, args=(entry.file,)
            )
