"""The views of the Side by side page: choice of models, their queries, suggestions, and a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from rankviz.analysis.reference_runs import TOP, ranking_errors
from rankviz.common.numbers import metric_in_words, with_minus
from rankviz.datasets import RankingData
from rankviz.plots import per_query, ranked_list
from rankviz.runs.spec import RunSpec
from ui.compare import side_by_side_words as words
from ui.controls import selection
from ui.controls.curves import approximate_specs, report_left_out
from ui.controls.models import Option, Two, default_two, menu, pin_buttons, pinned_models, sidebar_models
from ui.controls.widgets import Bound, metric_menu
from ui.model.why_choices import CURRENT
from ui.model.why_choices import offer as offer_why
from ui.shell.errors import end_page, errors_as_sentences
from ui.shell.figures import (
    definition_caption,
    folded,
    report_ties,
    report_untrained,
    show_answer,
    show_figure,
    show_table,
    zero_by_definition,
)
from ui.shell.page import ALONE, VIEW, close_other_tab, is_on, show_subject
from ui.work.jobs import run_or_wait

LENGTHS = (10, 20)
SHORTEST = 420  # pixels of the score scatter next to a short list
MOST_MOVED = 8
MOST = 5


def one_query(what: words.Compared) -> int:
    """Draw one query and return it."""
    row = st.container(horizontal=True, vertical_alignment="bottom", gap="large")
    with row:
        chosen = selection.query(what.table)
        length, scale = _settings()
    position = int((what.table["query"] == chosen).argmax())
    row = what.table.iloc[position]
    scores = what.pair.left.scores[what.part], what.pair.right.scores[what.part]
    documents = ranked_list.scatter_data(*scores, what.data, position, scale)
    moved = ranked_list.largest_moves(documents, MOST_MOVED)
    why = zero_by_definition(what.metric, len(documents))
    st.markdown(f"{words.query_reading(row, moved, what.pair)} {why}".strip())
    chosen_documents = selection.marked_documents(set(documents["document"]))
    k = min(length, len(documents))
    lists, points = st.columns(2, gap="medium")
    with lists:
        _lists(what, row, documents, k, chosen_documents)
        _why(what.pair, chosen, documents, chosen_documents)
    with points:
        _points(what, row, documents, scale, max(SHORTEST, ranked_list.list_height(k)), chosen_documents)
    for name in chosen_documents:
        st.markdown(words.marked_document(documents[documents["document"] == name].iloc[0], what.pair))
    _documents(what.pair, documents, moved, chosen_documents)
    return chosen


def _settings() -> tuple[int, str]:
    length = Bound().buttons("first", "First documents", LENGTHS, help=words.FIRST_HELP)
    scales = list(ranked_list.SCALES)
    return length, Bound().buttons("scores", "Scores", scales, "centred", help=words.SCORES_HELP)


def _lists(
    what: words.Compared, row: pd.Series, documents: pd.DataFrame, k: int, chosen: Sequence[str]
) -> None:
    key, query, names = selection.document_chart_key("ranked-lists"), f"{row['query']:.0f}", what.pair.names
    left, right = metric_in_words(row["left"]), metric_in_words(row["right"])
    values = f"{what.metric}: {names[0]} {left}, {names[1]} {right}"
    show_figure(
        ranked_list.list_figure(documents, *what.pair.labels, k, chosen),
        documents,
        key=key,
        caption=words.LISTS.format(query=query, k=k, n=len(documents), values=values, about=what.about),
        on_select=selection.on_document_click(key),
    )


def _why(pair: words.Pair, query: int, documents: pd.DataFrame, chosen: Sequence[str]) -> None:
    """Draw links to the Why page for either list."""
    row = st.container(horizontal=True)
    for side, name in zip(("left", "right"), pair.names, strict=True):
        ranked = documents.sort_values(f"{side}_rank")["document"].tolist()
        of = st.session_state.get(side, CURRENT)  # the menus above have the Why page's names of models
        with row:
            offer_why(query, ranked, key=f"why-{side}", of=of, whose=name, marked=chosen)


def _points(
    what: words.Compared,
    row: pd.Series,
    documents: pd.DataFrame,
    scale: str,
    height: int,
    chosen: Sequence[str],
) -> None:
    key, query, names = (
        selection.document_chart_key("score-against-score"),
        f"{row['query']:.0f}",
        what.pair.names,
    )
    said = {
        "centred": "scores minus their mean",
        "standardised": words.STANDARDISED,
    }[scale]
    show_figure(
        ranked_list.scatter_figure(documents, *names, scale, chosen, height),
        documents,
        key=key,
        caption=words.SCORES.format(documents=len(documents), query=query, said=said, about=what.about),
        on_select=selection.on_document_click(key),
    )


def _documents(pair: words.Pair, documents: pd.DataFrame, moved: pd.DataFrame, chosen: Sequence[str]) -> None:
    """Draw the documents with the largest changes of rank, or all of them if chosen."""
    names = dict(zip(("left_rank", "right_rank"), (f"{name} rank" for name in pair.names), strict=True))
    if len(moved):
        st.markdown(words.LARGEST)
        key, listed = selection.document_chart_key("moved"), moved["document"].tolist()
        show_table(
            moved.rename(columns=names),
            hide_index=True,
            width="content",
            key=key,
            on_select=selection.on_document_tick(key, listed),
            selection_mode="single-row",
            selection_default={
                "selection": {"rows": [n for n, name in enumerate(listed) if name in chosen[:1]]},
            },
            column_config={"change": st.column_config.NumberColumn(format="%+d")},
        )
    names |= {"left_score": f"{pair.names[0]} score", "right_score": f"{pair.names[1]} score"}
    drawn = documents.drop(columns=["left_value", "right_value"]).rename(columns=names)
    folded(f"All {len(drawn)} documents", "two-models-table", lambda: show_table(drawn, hide_index=True))


@dataclass(frozen=True)
class Choice:
    """Controls that this page adds to the sidebar."""

    left: Option
    right: Option
    metric: str


def controls(spec: RunSpec) -> Choice:
    """Draw the page's own controls."""
    options = sidebar_models(st.session_state)
    first, second = default_two(st.session_state)
    options |= pinned_models(spec)
    row = st.container(horizontal=True, vertical_alignment="bottom")
    left = menu(row.container(width=240), "Left", options, first, "left", words.WHICH)
    right = menu(row.container(width=240), "Right", options, second, "right", words.WHICH)
    metric = metric_menu(row, help=words.METRIC_HELP)
    with row:
        pin_buttons(spec)
    return Choice(left, right, metric)


def trained(choice: Choice, part: str, place: DeltaGenerator) -> words.Pair:
    """Describe the comparison in `place`, and train both models; the page ends here if they are the same."""
    report_left_out(approximate_specs(st.session_state)[1])
    two = Two(choice.left.spec(), choice.right.spec())
    if two.same:
        st.info(words.SAME.format(model=two.names[0]))
        end_page()
    show_subject(place, words.about(two.left, two.right, part))
    return words.Pair(*run_or_wait([two.left, two.right], title=f"Side by side, {two.left.dataset}"))


@st.fragment
@errors_as_sentences()
def linked(pair: words.Pair, data: RankingData, part: str, metric: str) -> None:
    """Draw all views of the page, with a shared selection of queries and a shown query."""
    report_untrained(pair.learned)
    report_ties({part: [pair.left, pair.right]}, [metric])
    errors = _errors(pair.left.spec, pair.right.spec, part, pair, data)
    table = per_query.query_data(pair.left, pair.right, data, part, metric, errors)
    what = words.Compared(pair, data, part, metric, table)
    selected = selection.selected(table)
    answer, note = _reading(pair.left.spec, pair.right.spec, part, metric, tuple(selected), pair)
    show_answer(answer)
    charts = st.container()  # drawn last, because they mark the query chosen below
    if is_on(ALONE):
        widest = int(table.loc[table["difference"].abs().fillna(0.0).idxmax(), "query"])
        _against(what, selected, selected[0] if selected else widest, selection.CLICK)
    if note:
        st.markdown(note)
    tool = selection.toolbar(len(selected), len(table), list(selection.TOOLS), words.HOW)
    _where_to_look(table, metric)
    close_other_tab()
    one, every = st.tabs(["One query", "All queries"], key=VIEW, bind="query-params")
    with one:
        chosen = one_query(what)
    with every:
        _all_queries(what, selected)
    against, ordered = charts.columns([3, 2], gap="medium")
    with against:
        _against(what, selected, chosen, tool)
    with ordered:
        _in_order(what, selected, chosen, tool)


def _against(what: words.Compared, selected: list[int], chosen: int, tool: str) -> None:
    """Draw one model's metric against the other's."""
    table = what.table
    even = int((table["difference"] == 0).sum())
    _chart(
        what,
        per_query.scatter_figure(table, what.pair.sides, what.metric, selected, chosen),
        tool,
        name="ndcg-per-query",
        caption=words.AGAINST.format(
            even=even,
            all=len(table),
            chosen=chosen,
            about=what.about,
            definition=definition_caption(what.data),
        ),
    )


def _in_order(what: words.Compared, selected: list[int], chosen: int, tool: str) -> None:
    """Draw the differences in order, and the agreement of rankings."""
    _chart(
        what,
        per_query.strip_figure(what.table, what.pair.sides, what.metric, selected, chosen),
        tool,
        name="ndcg-differences",
        caption=words.IN_ORDER.format(without=_no_tau(what.table), about=what.about),
    )


def _chart(what: words.Compared, figure: Any, tool: str, *, name: str, caption: str) -> None:
    figure.update_layout(dragmode="pan" if tool == "click" else tool)
    key = selection.chart_key(name)
    take = selection.on_chart(key, what.table)
    show_figure(figure, what.table, key=key, caption=caption, on_select=take)


def _no_tau(table: pd.DataFrame) -> str:
    n = int(table["tau"].isna().sum())
    if n == 0:
        return ""
    noun = "query has" if n == 1 else "queries have"
    return f" ({n} {noun} none)"


def _where_to_look(table: pd.DataFrame, metric: str) -> None:
    """Draw buttons for the queries on which both models differ most, by metric and by order."""
    different = table[table["difference"].abs() > 0]
    widest = different.loc[different["difference"].abs().sort_values(ascending=False).index].head(MOST)
    unlike = table[table["tau"] < 1].sort_values("tau").head(MOST)
    left, right = st.columns(2, gap="medium")
    for column, rows, title, value, text in (
        (left, widest, f"Largest difference in {metric}", "difference", lambda d: with_minus(d, "+.3f")),
        (right, unlike, "Lowest Kendall's τ", "tau", words.tau_text),
    ):
        column.caption(title if len(rows) else f"{title}: none")
        row = column.container(horizontal=True, gap="small")
        for query, number in zip(rows["query"], rows[value], strict=True):
            row.button(
                f"**{query}**  {text(number)}",
                key=f"look-{value}-{query}",
                on_click=selection.select,
                args=([int(query)], table),
                help=f"Show query {query}.",
            )


def _all_queries(what: words.Compared, selected: list[int]) -> None:
    """Draw the table of queries; ticked rows are the selected ones."""
    ranked = what.table.assign(size=what.table["difference"].abs()).sort_values(
        ["size", "tau"], ascending=[False, True], ignore_index=True
    )
    only = Bound().switch("onlypicked", "Selected queries only", help="Hides other queries.")
    shown = ranked[ranked["query"].isin(selected)] if only and selected else ranked
    queries = [int(query) for query in shown["query"]]
    # rows that disappear when unticked would make a new table each time
    key = (selection.chart_key if only else selection.table_key)(f"queries-{what.metric}")
    ticked = [row for row, query in enumerate(queries) if query in set(selected)]
    show_table(
        shown.drop(columns="size"),
        hide_index=True,
        key=key,
        on_select=selection.on_rows(key, queries, lambda chosen: selection.select(chosen, what.table)),
        selection_mode="multi-row",
        selection_default={"selection": {"rows": ticked}},
        column_config=_columns(what.pair, what.metric),
        alt="Metrics by query.",
    )
    tau = what.table["tau"].median()
    middle = "" if pd.isna(tau) else words.MIDDLE.format(tau=words.tau_text(tau))
    which = f"The {len(shown)} selected of" if len(shown) < len(ranked) else "All"
    st.caption(
        words.ALL.format(which=which, all=len(ranked), metric=what.metric, middle=middle, about=what.about)
    )


def _columns(pair: words.Pair, metric: str) -> dict[str, Any]:
    number = st.column_config.NumberColumn
    return {
        "query": number(format="%d"),
        "left": number(f"{metric}, {pair.names[0]}", format="%.3f"),
        "right": number(f"{metric}, {pair.names[1]}", format="%.3f"),
        "difference": number("difference", format="%+.3f"),
        "tau": number("Kendall's τ", format="%.3f", help=words.TAU_HELP),
        "overlap": number(f"first {TOP} in both", format="percent", help="Common share."),
    }


@st.cache_resource(max_entries=64, show_spinner="Comparing …")
def _errors(left: RunSpec, right: RunSpec, part: str, _pair: words.Pair, _data: RankingData) -> pd.DataFrame:
    return ranking_errors(_pair.left, _pair.right, _data, part)


@st.cache_resource(max_entries=256, show_spinner=False)
def _reading(
    left: RunSpec, right: RunSpec, part: str, metric: str, selected: tuple[int, ...], _pair: words.Pair
) -> tuple[str, str]:
    return words.reading(_pair, part, metric, selected)
