"""Slices of queries: by length, grades, difficulty, or chosen by their ids."""

from __future__ import annotations

import re

import pandas as pd
import streamlit as st

from rankviz.analysis.comparison import Comparison
from rankviz.analysis.slices import Slicing, by_choice, by_difficulty, by_length, by_relevant, query_facts
from rankviz.common.errors import SettingError
from rankviz.plots import model_comparison
from rankviz.runs.spec import RunSpec
from ui.compare import words
from ui.compare.controls import Asked
from ui.shell.figures import show_figure, show_table
from ui.shell.texts import escaped
from ui.work.folds import fold_of

LENGTH, RELEVANT, DIFFICULTY, OWN = "number of documents", "share of relevant documents", "difficulty", "own"
LABELS = {OWN: "own selection of queries"}


def show(found: Comparison, asked: Asked, part: str) -> None:
    """Draw every model's difference to the baseline in each slice."""
    row = st.container(horizontal=True, vertical_alignment="bottom")
    kind = row.container(width=260).selectbox(
        "Slices by",
        (LENGTH, RELEVANT, DIFFICULTY, OWN),
        format_func=lambda one: LABELS.get(one, one),
        key="slices",
        bind="query-params",
        help=words.SLICES_HELP,
    )
    text = ""
    if kind == OWN:
        text = row.text_input(
            "Queries",
            key="ids",
            bind="query-params",
            placeholder="12, 40, 57",
            help=words.IDS_HELP,
        )
        if not text.strip():
            st.info(words.NAME_QUERIES)
            return
    slicing = _slicing(found, asked, part, str(kind), str(text))
    table = model_comparison.slices_data(found.matched, asked.metric, asked.baseline, slicing)
    show_figure(
        model_comparison.slices_figure(table, asked.metric),
        table,
        key="compared-slices",
        alt=words.SLICES_ALT.format(metric=asked.metric),
        caption=words.SLICES.format(
            baseline=escaped(asked.baseline), about=words.about(found.matched.contestants, part)
        ),
    )
    if slicing.caveat:
        st.markdown(escaped(slicing.caveat))
    number = st.column_config.NumberColumn
    show_table(
        table.drop(columns="method"),
        hide_index=True,
        column_config={
            "label": "model",
            **{name: number(format="%.4f") for name in ("mean", "baseline")},
            **{name: number(format="%+.4f") for name in ("difference", "low", "high")},
        },
        alt="Slices by model.",
    )


def _slicing(found: Comparison, asked: Asked, part: str, kind: str, text: str) -> Slicing:
    if kind == DIFFICULTY:
        return by_difficulty(found.matched, asked.metric)
    if kind == OWN:
        return _own(found, text)
    facts = _facts(found, part)
    return by_length(facts) if kind == LENGTH else by_relevant(facts)


def _own(found: Comparison, text: str) -> Slicing:
    """Return the named queries and all others; `SettingError` for one that is not compared."""
    known = {str(query): query for query in found.matched.queries}
    named = [word for word in re.split(r"[\s,;]+", text) if word]
    strange = [word for word in named if word not in known]
    if strange:
        raise SettingError(words.UNKNOWN_QUERY.format(query=strange[0], known=len(known)))
    chosen = [known[word] for word in named]
    others = [query for query in found.matched.queries if query not in set(chosen)]
    return by_choice({"chosen queries": chosen} | ({"all others": others} if others else {}))


def _facts(found: Comparison, part: str) -> pd.DataFrame:
    """Return known facts about the compared queries."""
    runs = found.matched.contestants[0].runs
    specs = {run.spec.fold: run.spec for run in runs}
    facts = _facts_of(tuple(spec.digest for spec in specs.values()), part, list(specs.values()))
    return facts[facts.index.isin(found.matched.queries)]


@st.cache_resource(max_entries=16, show_spinner=words.READING)
def _facts_of(digests: tuple[str, ...], part: str, _specs: list[RunSpec]) -> pd.DataFrame:
    folds = [(spec, fold_of(spec)) for spec in _specs]
    for spec, fold in folds:
        if spec.digest and fold.digest != spec.digest:
            raise SettingError(words.DATA_CHANGED.format(fold=spec.fold, dataset=spec.dataset))
    return query_facts(fold.parts[part] for _, fold in folds)
