"""The What if page below its head, redrawn at each change: the list, the changes, and their effects."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from rankviz.common.arrays import FloatArray, IntArray
from rankviz.common.numbers import metric_in_words, with_minus
from rankviz.datasets import Fold
from rankviz.metrics.evaluation import compared, moved_in_words, ties_in_words
from rankviz.models.methods import METHODS, USUAL
from rankviz.plots import per_query
from rankviz.plots.style import style_of
from rankviz.runs.description import PART_NAMES, in_a_sentence, look_of, method_label
from rankviz.runs.record import RunRecord
from rankviz.runs.spec import RunSpec
from rankviz.whatif.changes import GRADE_RULE, Change, QueryWeighed
from rankviz.whatif.lookup import index_of_query
from rankviz.whatif.outcomes import (
    PARTS,
    ChangedPairs,
    Outcome,
    by_query,
    changed_pairs,
    count_changed_pairs,
    count_changed_pairs_of_query,
)
from ui.controls.feature_names import with_names
from ui.controls.widgets import Bound, metric_menu
from ui.model import what_if_change_list as change_list
from ui.model import what_if_editors as editors
from ui.model import what_if_words as words
from ui.model.what_if_change_list import Line, applied, plain_label
from ui.model.what_if_drops import MOST_FROM_SCRATCH, explained, heavier
from ui.model.what_if_lists import Lists, component_data, lists, names_by_number
from ui.model.what_if_models import SharedModel, shared_model
from ui.model.what_if_words import OF_THE_PART, OfQuery, Step, answer
from ui.shell.components import SCRIPTS, mount
from ui.shell.errors import errors_as_sentences
from ui.shell.figures import capital, link_to_definitions, show_figure, show_table, zero_by_definition
from ui.shell.locks import locked
from ui.shell.page import ALONE, is_on
from ui.shell.texts import describe, escaped, plain
from ui.work.folds import fold_of, normalised
from ui.work.jobs import LIVE_BYTES, predicted
from ui.work.metrics import USUAL_METRIC
from ui.work.runs import recall, take_turns

MOST_PAIRS = 2e8
"""Largest number of document pairs searched for changed order: about a second."""
MOST_LISTED = 1000
"""Largest number of changed pairs in the table."""
_NAMES = {"train": "training", "vali": "validation"}
LIST = "ranked"
MOST_SECONDS = 20.0
"""Most seconds of training for a page that reacts at once; RankSVM retrains in a fraction of them."""
STYLE = Path(__file__).with_suffix(".css").read_text(encoding="utf-8")
"""Answers of one and of two lines have the same height, so that the list keeps its place."""
_DRAWN, _JUDGED = "what-if-drawn", "what-if-judged-by"


def of_query(outcome: Outcome, fold: Fold, before: FloatArray, part: str, query: Any, metric: str) -> OfQuery:
    """Return the metric of a query: with the scores `before`, and for both orders now."""
    data = fold.parts[part]
    as_was = by_query(before, data, metric).iloc[index_of_query(data, query)]
    return OfQuery(float(as_was), *_orders(outcome, part, query, metric))


def _orders(outcome: Outcome, part: str, query: Any, metric: str) -> tuple[float, float]:
    row = outcome.per_query(part, metric).iloc[index_of_query(outcome.fold.parts[part], query)]
    return float(row["old"]), float(row["new"])


def effects_table(outcome: Outcome, part: str, query: Any, metric: str) -> str:
    """Return a Markdown table: the metric and its change with the interval, and pairs with changed order."""
    data = outcome.fold.parts[part]
    own = data.query_slice(index_of_query(data, query))
    row = outcome.per_query(part, metric).iloc[index_of_query(data, query)]
    old, new = float(row["old"]), float(row["new"])
    turned = words.NOT_COUNTED
    if _few_pairs(np.diff([own.start, own.stop])):
        turned = _turned(
            count_changed_pairs_of_query(outcome.old[part][own], outcome.new[part][own], data.y[own])
        )
    change = with_minus(new - old, "+.3f") if abs(row["difference"]) > 0 else "none"
    rows = [("this query", metric_in_words(new), change, turned)]
    rows += [_row(outcome, name, metric) for name in PARTS]
    head = f"| queries | {metric} | change [95 %] | pairs |\n|:--|:--|:--|:--|"
    return "\n".join([head, *("| " + " | ".join(row) + " |" for row in rows)])


def turned_in_words(outcome: Outcome, part: str, query: Any) -> pd.DataFrame:
    """Return a query's pairs with changed order: the preferred document, the other, and the new state."""
    data = outcome.fold.parts[part]
    own = data.query_slice(index_of_query(data, query))
    found = changed_pairs(outcome.old[part][own], outcome.new[part][own], data.y[own], MOST_LISTED)
    names, numbers = names_by_number(data, query), data.rows[own].tolist()
    called = [
        f"{names[number]} ({grade})" for number, grade in zip(numbers, data.y[own].tolist(), strict=True)
    ]
    return pd.DataFrame(
        {
            "preferred (grade)": [called[i] for i in found["winner"]],
            "over (grade)": [called[i] for i in found["loser"]],
            "margin before": found["before"].round(3),
            "margin now": found["after"].round(3),
            "now": np.where(found["right"], "right", "wrong"),
        }
    )


def _row(outcome: Outcome, part: str, metric: str) -> tuple[str, str, str, str]:
    found = outcome.comparison(part, metric)
    change = with_minus(found.difference, "+.3f")
    if found.n_uneven == 0:
        change = "none"
    elif found.interval.known:
        ends = f"{with_minus(found.interval.low, '+.3f')}, {with_minus(found.interval.high, '+.3f')}"
        change = f"{change} [{ends}]"
    data = outcome.fold.parts[part]
    turned = words.NOT_COUNTED
    if _few_pairs(np.diff(data.ptr)):
        turned = _turned(count_changed_pairs(outcome.old[part], outcome.new[part], data))
    return _NAMES[part], f"{outcome.per_query(part, metric)['new'].mean():.3f}", change, turned


def _few_pairs(sizes: IntArray) -> bool:
    """Return True if the pairs of queries of these sizes can be compared at once."""
    return float((sizes.astype(float) ** 2).sum()) <= MOST_PAIRS


def _turned(found: ChangedPairs) -> str:
    return f"{found.right:,} fixed · {found.wrong:,} broken" if found.right or found.wrong else "none"


SCRIPT = SCRIPTS / "what_if" / "list.js"


@dataclass(frozen=True)
class Page:
    """Subject of a run of the page."""

    spec: RunSpec
    record: RunRecord
    fold: Fold
    model: SharedModel
    part: str
    query: Any
    lines: list[Line]
    metric: str = USUAL_METRIC

    @property
    def changes(self) -> tuple[Change, ...]:
        """The active changes."""
        return applied(self.lines, self.fold)


def answers_at_once(spec: RunSpec) -> bool:
    """Return True if the model retrains fast enough to wait; otherwise explain why not."""
    if not spec.kind.trains:
        model = escaped(in_a_sentence(spec))
        st.info(words.SCORES_ONLY.format(model=model), icon=":material/info:")
        return False
    cost, seconds = predicted(spec), MOST_SECONDS if spec.offers.refits else MOST_FROM_SCRATCH
    if cost.seconds <= seconds and cost.bytes <= LIVE_BYTES:
        return True
    ways = [way for name, way in words.FEWER.items() if name in spec]
    ways += [METHODS[USUAL].label] if spec.method != USUAL else ["fewer queries"]
    model = capital(in_a_sentence(spec))
    st.info(words.TOO_SLOW.format(model=model, cost=cost, choice=", or ".join(ways)), icon=":material/info:")
    return False


def page_of(spec: RunSpec, part: str, query: Any, metric: str = USUAL_METRIC) -> Page:
    """Return the present state of the page for a query."""
    fold = with_names(spec, normalised(spec))
    record = recall(spec.but(digest=fold_of(spec).digest))
    if record is None:  # no longer in memory: the whole page makes it again
        st.rerun()
    # models are shared by all visitors, so they do not have the visitor's names of features
    model = shared_model(record, normalised(spec))
    return Page(spec, record, fold, model, part, query, change_list.lines(fold), metric)


@st.fragment
@errors_as_sentences()
def show(spec: RunSpec, explain: Callable[..., None], told: str) -> None:
    """Draw everything below the head; it reruns by itself, unless the metric is not the `told` one.

    `explain` draws why A is above B.
    """
    st.html(f"<style>{STYLE}</style>")
    fold = with_names(spec, normalised(spec))
    row = st.container(horizontal=True, vertical_alignment="bottom", gap="small")
    part, query = _chosen(row, fold)
    metric = metric_menu(row, help=words.METRIC_HELP)
    if metric != told:  # the line below the head tells the effect by it
        st.rerun()
    page, top = page_of(spec, part, query, metric), st.container(key="what-if-answer")
    editors.weight(row, spec, part, query, page.lines)
    beside_weight = row.container(width="content", key="what-if-next")
    alone = is_on(ALONE)
    left, right = [st.container()] * 2 if alone else st.columns([11, 9], gap="medium")
    if not alone:
        with right:
            tools = st.container(horizontal=True, gap="small", key="what-if-edits")
            editors.training(spec, page.lines)
            editors.listed(spec, page.lines, fold)
            beside = st.container()
    with left, errors_as_sentences():
        outcome = _outcome(page)
        found = lists(fold, page.model.before()[part], outcome, part, query)
        marked = _marked(page)
        text, step = _answer(page, found, outcome, marked)
        if note := editors.note():
            text, step = note, heavier(page)
        else:
            text += _of_other_metric(page, outcome)
        _list(page, found, marked, text)
        why = zero_by_definition(metric, len(found.now))
        st.caption(f"{OF_THE_PART[part]} {why}".strip(), help=GRADE_RULE)
        _report_ties(page, outcome)
    top.header(text, anchor=False)
    if step is not None:
        editors.offer(beside_weight, spec, query, step, marked)
    if not alone:
        editors.tools(tools, page.spec, fold, outcome.fold, found)
        with beside:
            _effects_on_all(page, outcome, query)
            explain(page.model, page.record, outcome, page.changes, found, marked)
            editors.share(page.spec, fold, page.lines, page.metric)
    page.model.prepare()


def _report_ties(page: Page, outcome: Outcome) -> None:
    """Say how equal scores change the metric now."""
    table, by_order = compared(outcome.new[page.part], outcome.fold.parts[page.part], [page.metric])
    moved = {method_label(page.spec): moved_in_words(dict(table.mean()), by_order)}
    if text := ties_in_words(moved):
        st.caption(escaped(text))


def _chosen(row: DeltaGenerator, fold: Fold) -> tuple[str, Any]:
    """Draw the menus of part and query; return the chosen ones."""
    bound = Bound(row)
    parts = {part: PART_NAMES[part] for part in PARTS}
    part = bound.buttons("part", "Part", parts, help=words.PART_HELP)
    data = fold.parts[part]
    queries = [int(one) for one in data.query_ids]
    chosen = bound.menu_of_data("query", "Query", queries, _first(fold, part), width=130)
    return part, plain_label(data.query_labels[queries.index(chosen)])


def _first(fold: Fold, part: str) -> int:
    """Return the first query with documents of different grades; the first one if there is none."""
    data = fold.parts[part]
    low, high = (ends.reduceat(data.y, data.ptr[:-1]) for ends in (np.minimum, np.maximum))
    return int(np.argmax(high > low))


def _outcome(page: Page) -> Outcome:
    if page.model.knows(page.changes):
        return page.model.outcome(page.changes)
    with take_turns(st.empty()), st.spinner("Training again …"):
        return page.model.outcome(page.changes)


def _marked(page: Page) -> int | None:
    """Return the document of the shown query that was dragged or changed last."""
    dragged = editors.dragged(page.query)
    if dragged is not None:
        return dragged
    about = [c for c in page.changes if getattr(c, "query", None) == page.query and hasattr(c, "document")]
    last = [line.change for line in page.lines if line.change in about]
    return int(getattr(last[-1], "document")) if last else None  # noqa: B009 - not every change has one


def _of_other_metric(page: Page, outcome: Outcome) -> str:
    """Say what the metric chosen last makes of the same rankings; "" if something else was changed since."""
    state = st.session_state
    metric, before, changes = state.get(_JUDGED, (page.metric, "", page.changes))
    if changes != page.changes:
        before = ""
    elif metric != page.metric:
        before = metric
    state[_JUDGED] = page.metric, before, page.changes
    if before in ("", page.metric):
        return ""
    tables = {name: outcome.per_query("vali", name) for name in (page.metric, before)}
    means = {name: float(table["new"].mean()) for name, table in tables.items()}
    by_before = outcome.comparison("vali", before)
    return words.other_metric(page.metric, before, means, by_before, changed=bool(page.changes))


def _answer(page: Page, found: Lists, outcome: Outcome, marked: int | None) -> tuple[str, Step | None]:
    """Return the answer in words, and what to do if a drop missed its rank."""
    before = page.model.before()[page.part]
    on = [line for line in page.lines if line.change in page.changes]
    last = next((line for line in reversed(on) if not isinstance(line.change, QueryWeighed)), None)
    document = getattr(last.change, "document", None) if last and editors.is_of(last, page.query) else None
    own = document if document == marked else editors.dragged(page.query)
    asked, step = explained(page, found, own, on)
    text = answer(
        found,
        words.head_of([line.change for line in on], page.fold, editors.drawn(page.spec), own),
        own,
        of_query(outcome, page.fold, before, page.part, page.query, page.metric),
        *(outcome.comparison(part, page.metric) for part in PARTS),
        metric=page.metric,
        trained=outcome.trained,
        asked=asked,
    )
    return text, step


def _list(page: Page, found: Lists, marked: int | None, text: str) -> None:
    drawn = st.session_state[_DRAWN] = st.session_state.get(_DRAWN, 0) + 1
    dark = st.context.theme.type == "dark"
    data = component_data(found, editors.grades(page.fold), marked, dark)
    said = plain(text) if page.lines else ""
    mount(
        SCRIPT,
        key=LIST,
        data=data | {"tick": drawn, "said": said, "locked": locked()},
        handlers={"gesture": (editors.SHAPE, partial(_take, page.spec, page.part, page.query))},
    )


@errors_as_sentences()
def _take(spec: RunSpec, part: str, query: Any, gesture: dict[str, Any]) -> None:
    """Turn a message of the list into changes (a callback)."""
    page = page_of(spec, part, query)
    outcome = page.model.outcome(page.changes)
    shown = lists(page.fold, page.model.before()[part], outcome, part, query)
    editors.take_message(gesture, outcome.fold, page.fold, shown)


def _effects_on_all(page: Page, outcome: Outcome, query: Any) -> None:
    """Draw the effects of the changes on all queries."""
    st.container(key="what-if-table").markdown(effects_table(outcome, page.part, query, page.metric))
    if not page.changes:  # then a figure links to it
        link_to_definitions(st.container(), "what-if")
        return
    tables = {part: outcome.per_query(part, page.metric) for part in PARTS}
    table = per_query.difference_data(tables)
    data = page.fold.parts[page.part]
    own = next(i for i, label in enumerate(data.query_labels) if label == query)
    colour = style_of(look_of(page.spec)).colour
    show_figure(
        per_query.difference_figure(table, page.metric, colour, (page.part, int(data.query_ids[own]))),
        table,
        key="what-if-queries",
        caption=words.QUERIES.format(metric=page.metric, about=describe(page.spec)),
    )
    _pairs(page, outcome)


def _pairs(page: Page, outcome: Outcome) -> None:
    box = st.expander("Changed pairs of this query", key="what-if-turned", on_change="rerun")
    if box.open:
        with box:
            data = outcome.fold.parts[page.part]
            own = index_of_query(data, page.query)
            if not _few_pairs(np.diff(data.ptr)[own : own + 1]):
                st.markdown(words.TOO_MANY_PAIRS)
                return
            table = turned_in_words(outcome, page.part, page.query)
            show_table(table, hide_index=True)
            if len(table) == MOST_LISTED:
                st.caption(words.LARGEST_PAIRS.format(most=MOST_LISTED))
