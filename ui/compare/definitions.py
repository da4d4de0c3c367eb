"""The views of the Definitions page: one list, or a part, under every definition of metrics."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from rankviz.analysis import definitions as tables
from rankviz.common.arrays import FloatArray
from rankviz.common.numbers import counted, with_minus
from rankviz.datasets import RankingData
from rankviz.datasets.parts import take_queries
from rankviz.datasets.pasted import parse_list
from rankviz.metrics import DEFINITIONS, Definition, evaluate
from rankviz.metrics.significance import queries_in_words
from rankviz.plots import definitions as plot
from rankviz.runs.spec import RunSpec
from ui.compare import definitions_words as words
from ui.controls.curves import listed
from ui.controls.link import report_invalid
from ui.controls.selection import QUERY
from ui.controls.widgets import Bound, write_address
from ui.shell.figures import CUT, show_figure, show_table
from ui.shell.page import show_subject
from ui.shell.texts import describe
from ui.work.folds import normalised
from ui.work.jobs import run_or_wait

LARGEST_K, USUAL_K = 20, 10
OURS = "rankviz"
"""The definition of the figures on other pages, whose links lead here."""


@dataclass(frozen=True, eq=False)
class Shown:
    """What the page shows: one list, and the part that it belongs to, by a definition at k.

    Attributes
    ----------
    scores, data
        Of the part; of the pasted list alone.
    position : int
        Of the list's query.
    name, about : str
        The list, and the subject in captions.
    definition : Definition
    k : int
    pasted : bool
    """

    scores: FloatArray
    data: RankingData
    position: int
    name: str
    about: str
    definition: Definition
    k: int
    pasted: bool

    @cached_property
    def own(self) -> tuple[FloatArray, RankingData]:
        """Scores and documents of the list, in file order."""
        return self.scores[self.data.query_slice(self.position)], take_queries(self.data, [self.position])

    @cached_property
    def groups(self) -> list[tables.Agreeing]:
        """The definitions with equal terms, the chosen one's first."""
        scores, data = self.own
        return tables.same_terms(scores, data, tables.in_order(self.definition), self.k)


def chosen(spec: RunSpec, part: str, about: DeltaGenerator, training: DeltaGenerator) -> Shown:
    """Draw the controls; return what the page shows. `about` shows the subject, `training` the progress."""
    row = st.container(horizontal=True, vertical_alignment="bottom", gap="medium", key="wrapped-controls")
    kind = Bound(row).buttons("list", "List", words.LISTS, words.QUERY, help=words.LIST_HELP)
    place = row.container(width=260) if kind == words.QUERY else row
    labels = {name: one.label for name, one in DEFINITIONS.items()}
    choose = Bound(row.container(width=180)).menu
    definition = DEFINITIONS[choose("by", "Definition", labels, OURS, help=words.CHOSEN_HELP)]
    largest = definition.largest_k or LARGEST_K
    k = _cut(row.container(width=90))
    if k > largest:
        st.info(words.TOO_LARGE.format(k=k, largest=largest, definition=definition.label))
        k = largest
    if kind == words.PASTE:
        text = Bound(st).lines("pasted", words.PASTED_LABEL, words.EXAMPLE, help=words.PASTED_HELP)
        scores, data = parse_list(text)
        n = counted(data.n_documents, "document")
        return Shown(scores, data, 0, words.OWN_LIST, f"{words.OWN_LIST}, {n}", definition, k, True)
    show_subject(about, str(describe(spec, part)))
    with training:
        (record,) = run_or_wait([spec], title=f"Definitions, {spec.dataset}")
    scores, data = record.scores[part], normalised(spec).parts[part]
    position = _query(place, scores, data, k)
    name = f"query {data.query_ids[position]}"
    return Shown(scores, data, position, name, str(describe(spec, part)), definition, k, False)


def _cut(place: Any) -> int:
    """Draw the menu of k. It is not bound to the address: that would lose a value that a callback set."""
    cuts, state, asked = range(1, LARGEST_K + 1), st.session_state, st.query_params.get(CUT, "")
    if CUT not in state:
        state[CUT] = next((k for k in cuts if str(k) == asked), USUAL_K)
        if asked not in ("", str(state[CUT])):
            report_invalid(CUT, asked)
    state[CUT] = max(1, min(state[CUT], LARGEST_K))  # a link from a page with another cut-off
    k = int(place.selectbox("k", cuts, key=CUT, help=words.K_HELP))
    write_address(CUT, "" if k == USUAL_K else str(k))
    return k


def _query(place: Any, scores: FloatArray, data: RankingData, k: int) -> int:
    """Draw the menu of queries; return the position of the chosen one.

    The default is one on whose terms definitions differ most, if possible with gain and k documents.
    """
    columns = [
        evaluate(scores, data, one, at=[k]).per_query[f"NDCG@{k}"].to_numpy()
        for one in DEFINITIONS.values()
        if one.largest_k is None or k <= one.largest_k
    ]
    known = np.nan_to_num(np.array(columns))
    usual = np.diff(data.ptr) >= k
    usual &= np.maximum.reduceat(data.y, data.ptr[:-1]) > 0
    widest = int(np.argmax(np.ptp(known, axis=0) + usual))
    queries = [int(query) for query in data.query_ids]
    shown = f"{queries[widest]} (definitions differ most)"
    asked = Bound(place).optional_menu(QUERY, "Query", queries, shown, help=words.QUERY_HELP)
    return widest if asked is None else queries.index(int(asked))


def headline(shown: Shown) -> None:
    """Draw the terms of NDCG@k by rank, below the values by each definition."""
    scores, data = shown.own
    values = {
        one.label: tables.value(scores, data, one, f"NDCG@{shown.k}", shown.k)
        for one in tables.in_order(shown.definition)
    }
    show_figure(
        plot.terms_figure(shown.groups, shown.k),
        pd.concat([one.table.assign(definition=one.members[0].label) for one in shown.groups]),
        answer=words.answer(values, shown.definition.label, shown.name, shown.k),
        key="terms",
        caption=words.TERMS.format(name=shown.name.capitalize(), about=f"{shown.about}."),
    )
    _say_rules(shown)


def _say_rules(shown: Shown) -> None:
    """Say for the definitions with another value which of their rules gives it."""
    own, lines = shown.groups[0].value, dict[str, list[str]]()
    for group in shown.groups[1:]:
        if not np.isclose(group.value, own, rtol=0, atol=tables.ROUNDING, equal_nan=True):
            for one in group.members:
                rules = tables.deciding_rules(*shown.own, shown.definition, one, shown.k)
                said = words.because([(rule.name, rule.in_words(one)) for rule in rules], group.value)
                lines.setdefault(said, []).append(one.label)
    st.markdown("\n".join(f"- **{listed(labels)}**: {said}" for said, labels in lines.items()))


def rules(shown: Shown) -> None:
    """Draw the rules of every definition beside its value for the list."""
    values = tables.means_data(*shown.own, shown.k, shown.definition)[[f"NDCG@{shown.k}"]]
    _table(values.join(tables.rules_data(shown.definition)))
    st.caption(words.RULES.format(chosen=shown.definition.label, k=shown.k))


def products(shown: Shown) -> None:
    """Draw the terms in numbers, with those of the ideal order."""
    show_table(tables.terms_data(shown.groups), hide_index=True, height="content")
    st.caption(words.PRODUCTS.format(chosen=shown.definition.label, k=shown.k))


def measures(shown: Shown) -> None:
    """Draw all measures of the list, and their means over the part, by each definition."""
    st.markdown(f"**{shown.name.capitalize()}**")
    _table(tables.means_data(*shown.own, shown.k, shown.definition))
    if not shown.pasted:
        st.markdown(words.MEANS.format(queries=queries_in_words(shown.data.n_queries)))
        _table(tables.means_data(shown.scores, shown.data, shown.k, shown.definition))


def effects(shown: Shown) -> None:
    """Draw how each rule of the chosen definition moves the mean over the part."""
    table = tables.effects_data(shown.scores, shown.data, shown.definition, shown.k)
    largest = table.iloc[0]
    moved = with_minus(largest["difference"], "+.3f")
    st.markdown(f"**{words.largest_effect(largest['rule'], largest['then'], moved, shown.k)}.**")
    digits = st.column_config.NumberColumn
    config = {"mean": digits(format="%.4f"), "difference": digits(format="%+.4f"), "instead_of": "instead of"}
    show_table(table, hide_index=True, height="content", column_config=config)
    st.caption(words.EFFECTS.format(about=shown.about, chosen=shown.definition.label, k=shown.k))


def _table(table: pd.DataFrame) -> None:
    config = {name: st.column_config.NumberColumn(format="%.3f") for name in table.select_dtypes("number")}
    show_table(table, height="content", column_config=config)
