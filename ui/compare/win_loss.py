"""Wins and losses per query, their tests, and links from a query to Why and What if."""

from __future__ import annotations

from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from rankviz.analysis.comparison import TESTS, Comparison
from rankviz.analysis.contestants import Contestant
from rankviz.common.numbers import with_minus
from rankviz.plots import per_query
from rankviz.plots.style import style_of
from rankviz.runs.spec import RunSpec
from ui.compare import words
from ui.compare.controls import Asked
from ui.controls.models import Option, menu
from ui.controls.selection import QUERY
from ui.controls.settings import SET_FOR, go_to, state_of
from ui.shell.errors import errors_as_sentences
from ui.shell.figures import capital, sentence, show_figure, show_table
from ui.shell.texts import escaped

OTHER = "model-beside"
ABOUT_P = words.ABOUT_P
HELP = {
    "label": "model",
    "difference": ("difference", "Model minus baseline."),
    "low": ("low, 95 %", "Lower end."),
    "high": ("high, 95 %", "Upper end."),
    "better": ("better", "Queries won."),
    "worse": ("worse", "Queries lost."),
    "even": ("even", "Equal queries."),
    "randomisation": (
        "p, randomisation",
        f"{words.ABOUT_P} {capital(TESTS['randomisation'])}.",
    ),
    "wilcoxon": ("p, Wilcoxon", f"{words.ABOUT_P} {capital(TESTS['wilcoxon'])}."),
    "t": ("p, t", f"{words.ABOUT_P} {capital(TESTS['t'])}."),
    "effect": ("effect", words.EFFECT_HELP),
    "holm": (
        "p, Holm",
        words.HOLM_HELP,
    ),
    "benjamini_hochberg": (
        "p, Benjamini–Hochberg",
        words.BH_HELP,
    ),
}
"""Columns of the table of tests: name and help."""


def show(found: Comparison, asked: Asked, part: str) -> None:
    """Draw the differences of one model by query, the tests of all, and the queries."""
    other = _other(found, asked)
    pair = found.matched.pair(asked.metric, other.label, asked.baseline)
    table = per_query.difference_data({part: pair})
    colour = style_of(found.matched.looks[other.label]).colour
    show_figure(
        per_query.difference_figure(table, asked.metric, colour),
        table,
        key="compared-queries",
        alt=f"{asked.metric} differences, sorted.",
        caption=words.QUERY_BARS.format(
            metric=asked.metric,
            other=escaped(other.label),
            baseline=escaped(asked.baseline),
            about=words.about(found.matched.contestants, part),
        ),
        answer=sentence(escaped(found.sentence(other.label, asked.metric))),
    )
    _tests(found)
    _queries(found, asked, other, table)


def _other(found: Comparison, asked: Asked) -> Contestant:
    """Draw a menu of models; return the one whose wins and losses are drawn."""
    others = found.matched.others(asked.baseline)
    options = {one.key: Option(one.label, partial(_spec_of, one)) for one in others}
    best = next(one for one in others if one.label == words.best(found, asked.metric))
    place = st.container(width=300)
    label = menu(place, "Model", options, best.key, OTHER, words.OTHER_HELP).label
    return next(one for one in others if one.label == label)


def _spec_of(one: Contestant) -> RunSpec:
    return one.spec


def _tests(found: Comparison) -> None:
    """Draw all tests of all models by all metrics."""
    columns: dict[str, Any] = {"label": "model"}
    for name, (label, told) in ((name, said) for name, said in HELP.items() if isinstance(said, tuple)):
        whole = name in ("better", "worse", "even")
        columns[name] = st.column_config.NumberColumn(label, help=told, format="%d" if whole else "%.4f")
    show_table(found.deltas, hide_index=True, column_config=columns, alt="Models by metric.")
    if found.family > 1:
        st.caption(words.CORRECTED.format(family=found.family))


def _queries(found: Comparison, asked: Asked, other: Contestant, table: pd.DataFrame) -> None:
    """Draw the queries, largest difference first; a ticked one links to Why and What if."""
    ranked = table.loc[table["difference"].abs().sort_values(ascending=False, kind="stable").index]
    st.markdown(words.TICK_QUERY)
    number = st.column_config.NumberColumn
    event = show_table(
        ranked[["query", "old", "new", "difference"]],
        hide_index=True,
        height=280,
        key=f"compared-queries-{other.key}-{asked.metric}",
        on_select="rerun",
        selection_mode="single-row",
        column_config={
            "old": number(f"{asked.metric}, {asked.baseline}", format="%.4f"),
            "new": number(f"{asked.metric}, {other.label}", format="%.4f"),
            "difference": number(format="%+.4f"),
        },
        alt="Metric by query.",
    )
    rows = event["selection"]["rows"]
    query = ranked["query"].iloc[rows[0] if rows else 0]
    told = with_minus(float(ranked["difference"].iloc[rows[0] if rows else 0]), "+.3f")
    row = st.container(horizontal=True, vertical_alignment="center")
    row.markdown(f"Query {escaped(query)} ({told} {asked.metric}), with", width="content")
    for name, one in (("other", other), ("baseline", found.matched.named(asked.baseline))):
        for title, page in (("Why", "why"), ("What if", "what_if")):
            row.button(
                f"{title}: {escaped(one.label)}",
                key=f"{page}-{name}",
                on_click=_ask,
                args=(page, _of_query(one, query), query),
                help=words.GO_HELP.format(title=title),
            )


def _of_query(one: Contestant, query: object) -> RunSpec:
    """Return the first run of a model with this query."""
    return next(run.spec for run in one.runs if query in run.per_query.index)


@errors_as_sentences()
def _ask(page: str, spec: RunSpec, query: Any) -> None:
    """Set the sidebar to a run and open a page with one of its queries (a callback)."""
    for key, value in state_of(spec).items():
        st.session_state[key] = value
    st.session_state[SET_FOR] = spec.dataset
    st.session_state[QUERY] = int(query)
    go_to(page)
