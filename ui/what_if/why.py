"""Reasons why one document of the list ranks above another: exact shares of features in the current model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd
import streamlit as st

from rankviz.common.numbers import counted
from rankviz.datasets import Fold
from rankviz.plots import margin_explanation
from rankviz.runs.record import RunRecord
from rankviz.whatif.changes import Change
from rankviz.whatif.explanations import explain_margin
from rankviz.whatif.lookup import index_of_document, index_of_query
from rankviz.whatif.outcomes import Outcome
from ui.controls.feature_names import names_of
from ui.controls.models import offered
from ui.shell.errors import end_page, errors_as_sentences
from ui.shell.figures import sentence, show_figure
from ui.shell.texts import describe, escaped
from ui.what_if import words
from ui.what_if.fitted import Asked
from ui.what_if.lists import Lists
from ui.why.choices import Pair
from ui.why.words import NEEDS, WHAT_IT_IS, answer


def expander(
    asked: Asked,
    record: RunRecord,
    outcome: Outcome,
    changes: Sequence[Change],
    found: Lists,
    marked: int | None,
) -> None:
    """Draw an expander with two documents of the current list, and the shares of their margin."""
    box = st.expander("Why is A above B?", key="what-if-why", on_change="rerun")
    if box.open:
        with box, errors_as_sentences():
            if not offered(record.spec, "form"):
                st.caption(NEEDS)
                return
            _shares(asked, changes, _pair(record, outcome.fold, found, marked))


def _pair(record: RunRecord, fold: Fold, found: Lists, marked: int | None) -> Pair:
    """Return the chosen two: by default the last changed one and its neighbour above, or the top two."""
    data = fold.parts[found.part]
    rows = [index_of_document(data, found.query, one.number) for one in found.now]
    listed = pd.DataFrame(
        {
            "document": [one.name for one in found.now],
            "grade": [one.grade for one in found.now],
            "rank": range(1, len(found.now) + 1),
            "score": [one.score for one in found.now],
            "row": rows,
        }
    )
    if len(listed) < 2:
        st.info(words.ONE_DOCUMENT)
        end_page()
    at = None if marked is None else found.rank(marked)
    below = 1 if at is None else max(at, 1)
    told = {row.document: f"{row.rank}. {row.document}" for row in listed.itertuples(index=False)}
    a, b = st.columns(2)
    query = int(data.query_ids[index_of_query(data, found.query)])
    above, other = _menu(a, "A", told, below - 1), _menu(b, "B", told, below)
    return Pair(record, found.part, data, query, listed, above, other)


def _menu(place: Any, label: str, told: dict[str, str], first: int) -> str:
    names = list(told)
    key = f"what-if-why-{label}-{names[first]}"  # restarts when another document was changed
    return str(place.selectbox(label, names, first, format_func=told.__getitem__, key=key))


def _shares(asked: Asked, changes: Sequence[Change], pair: Pair) -> None:
    if pair.above == pair.below:
        st.info(words.SAME)
        return
    found = explain_margin(asked.model(changes), pair.a, pair.b)
    table = margin_explanation.waterfall_data(
        found.values, names_of(pair.record.spec, pair.data), pair.a, pair.b
    )
    with_changes = f"with {counted(len(changes), 'change')}" if changes else "without changes"
    show_figure(
        margin_explanation.waterfall_figure(table, float(found.margin)),
        table,
        answer=sentence(answer(pair, table, float(found.margin))),
        key="what-if-why-shares",
        alt=words.SHARES_ALT.format(above=pair.above, below=pair.below),
        caption=f"Query {pair.query}, A {escaped(pair.above)}, B {escaped(pair.below)}; model trained "
        f"{with_changes}. {WHAT_IT_IS} {describe(pair.record.spec, pair.part)}.",
    )
