"""The views of the Why page: shares of features, values, one moved feature, landmarks, and the list."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from rankviz.common.arrays import BoolArray, FloatArray
from rankviz.common.errors import SettingError
from rankviz.common.numbers import counted, small, with_minus
from rankviz.datasets import Fold, RankingData
from rankviz.features import FEATURE_MAPS
from rankviz.features.registry import FEATURE_MAP
from rankviz.plots import margin_explanation
from rankviz.plots.style import shown_documents
from rankviz.runs.description import look_of
from rankviz.runs.record import RunRecord
from rankviz.runs.spec import RunSpec
from rankviz.whatif.changes import Change, QueryOut
from rankviz.whatif.explanations import alike_together, explain_margin
from rankviz.whatif.lookup import index_of_document, index_of_query
from rankviz.whatif.outcomes import Outcome
from ui.controls.feature_names import names_of
from ui.controls.models import supports
from ui.model import what_if_change_list as change_list
from ui.model import why_computations as computations
from ui.model import why_words as words
from ui.model.what_if_change_list import plain_label
from ui.model.what_if_lists import Lists
from ui.model.what_if_models import SharedModel
from ui.model.what_if_words import ONE_DOCUMENT, SAME
from ui.model.why_choices import Pair, choose, explainable, in_address
from ui.model.why_words import answer
from ui.shell.errors import end_page, errors_as_sentences
from ui.shell.figures import folded, sentence, show_figure, show_table
from ui.shell.page import go_to
from ui.shell.texts import describe, escaped
from ui.work.folds import normalised

FEATURE = "move"
"""Query parameter with the number of the moved feature."""
LISTED = 10
"""Number of neighbouring pairs of the list to explain."""
_TIMES = "why-list-changes"


def shares(pair: Pair, names: Sequence[str]) -> pd.DataFrame:
    """Draw the sentence and the waterfall; return its table."""
    found = computations.explained(pair)
    table = margin_explanation.waterfall_data(found.values, names, pair.a, pair.b)
    if found.error is not None:
        table["standard error"] = found.error[table["number"].to_numpy() - 1]
    margin = float(found.margin)
    a, b = escaped(pair.above), escaped(pair.below)
    bars = words.BARS.format(query=pair.query, a=a, b=b, rest=small(abs(float(found.rest))))
    show_figure(
        margin_explanation.waterfall_figure(table, margin),
        table,
        answer=words.answer(pair, table, margin),
        key="why-shares",
        caption=f"{bars} {words.what_it_is(found)} {_about(pair)}",
    )
    st.caption(f"{words.balance(table, margin)} {words.what_it_is(found)}")
    return table


def values(pair: Pair, table: pd.DataFrame) -> None:
    """Draw both documents' values and the distribution of each feature."""
    train = normalised(pair.record.spec).train
    shown = margin_explanation.features_data(
        table[table["share"] != 0].head(margin_explanation.MOST), train.X
    )
    if len(shown) == 0:
        st.info(words.NO_SHARE)
        return
    show_figure(
        margin_explanation.features_figure(shown, (pair.above, pair.below)),
        shown,
        key="why-values",
        caption=f"{words.DISTRIBUTIONS.format(documents=len(train.X))} {_about(pair)}",
    )
    folded(
        "Numbers of all features",
        "why-features-table",
        lambda: show_table(margin_explanation.features_data(table, train.X), hide_index=True),
    )


def moved(pair: Pair, names: Sequence[str], table: pd.DataFrame) -> None:
    """Draw the margin as one feature of A moves, and the smallest change that swaps the two."""
    found = computations.nearest(pair)
    nearest = found.found
    best = nearest[0].feature if nearest else int(table.iloc[0]["number"]) - 1
    feature = _feature(names, best)
    grid, margin, crossings = computations.curve(pair, feature)
    now = float(pair.a[feature])
    show_figure(
        margin_explanation.curve_figure(
            margin_explanation.curve_data(grid, margin),
            look_of(pair.record.spec),
            names[feature],
            (now, float(computations.explained(pair).margin)),
            float(pair.b[feature]),
            crossings.values,
        ),
        margin_explanation.curve_data(grid, margin),
        answer=words.along(names[feature], crossings, now),
        key="why-curve",
        caption=f"{words.MOVING.format(values=len(grid))} {words.looked(crossings.step)} {_about(pair)}",
    )
    st.markdown(f"{words.smallest(found, names, pair)}.")
    if nearest:
        rows = [(names[one.feature], pair.a[one.feature], one.value, one.spreads) for one in nearest]
        swaps = pd.DataFrame(rows, columns=["feature", "A has", "they swap at", "standard deviations"])
        label = words.SWAPS.format(n=len(nearest), of=len(names))
        folded(label, "why-swaps-table", lambda: show_table(swaps, hide_index=True))


def _feature(names: Sequence[str], best: int) -> int:
    """Return the moved feature: by default the one that swaps them with the smallest change."""
    labels = {str(number): f"{number}. {name}" for number, name in enumerate(names, 1)}
    return int(in_address(st, "Move a feature of A", labels, str(best + 1), FEATURE, words.FEATURE)) - 1


def landmarks(pair: Pair) -> None:
    """Draw the landmarks for and against."""
    spec = pair.record.spec
    if not supports(spec, "expansion"):
        return
    table, train = alike_together(computations.landmarks(pair)), normalised(spec).train
    exact = FEATURE_MAPS[spec.get(FEATURE_MAP.name)].is_exact
    rows = _named(margin_explanation.strongest_landmarks(table), train)
    if len(rows) == 0:
        st.info(words.NO_LANDMARK)
        return
    show_figure(
        margin_explanation.landmarks_figure(rows, rows["name"].tolist()),
        table,
        answer=words.landmarks(table, _named(table.head(1), train).iloc[0], exact),
        key="why-landmarks",
        caption=f"{words.LANDMARKS_CAPTION.format(each=margin_explanation.LANDMARKS_EACH)} {_about(pair)}",
    )
    st.caption(words.LANDMARKS)


def _named(rows: pd.DataFrame, train: RankingData) -> pd.DataFrame:
    """Add a `name` to landmarks: document, query and grade, and the number of equal documents."""
    return rows.assign(name=[_name(row, train) for row in rows.itertuples(index=False)])


def _name(row: Any, train: RankingData) -> str:
    if row.document < 0:
        return f"landmark {row.landmark + 1}"
    position = int(np.searchsorted(train.ptr, row.document, side="right")) - 1
    document = shown_documents(train, position)[row.document - int(train.ptr[position])]
    alike = f", and {row.alike - 1} alike" if row.alike > 1 else ""
    return f"{document}, query {row.query}, grade {row.grade}{alike}"


def listed(pair: Pair, names: Sequence[str]) -> None:
    """Draw the first documents with reasons why each ranks above the next; a row can be chosen."""
    n = min(LISTED, len(pair.listed) - 1)
    found = computations.neighbours(pair, n)
    rows = []
    for i in range(n):
        above, below = pair.listed.iloc[i], pair.listed.iloc[i + 1]
        rows.append(
            {
                "rank": i + 1,
                "A": above["document"],
                "grade": above["grade"],
                "B": below["document"],
                "its grade": below["grade"],
                "margin": found.margin[i],
                "most for A": _strongest(found.values[i], names),
                "most for B": _strongest(found.values[i], names, -1),
            }
        )
    st.markdown(words.LIST_TITLE.format(n=n))
    key = f"why-list-{st.session_state.get(_TIMES, 0)}"  # another table, with no row ticked
    pairs = [(str(row["A"]), str(row["B"])) for row in rows]
    show_table(
        pd.DataFrame(rows),
        hide_index=True,
        key=key,
        on_select=_ticked(key, pairs),
        selection_mode="single-row",
        column_config={"margin": st.column_config.NumberColumn(format="%.4g")},
    )


def _strongest(values: FloatArray, names: Sequence[str], sign: int = 1) -> str:
    """Name the feature with the largest share of a sign, with the share; "" without any."""
    best = int((sign * values).argmax())
    return f"{names[best]} ({words.signed(float(values[best]))})" if sign * values[best] > 0 else ""


def _ticked(key: str, pairs: Sequence[tuple[str, str]]) -> Callable[[], None]:
    def take() -> None:
        rows = st.session_state[key]["selection"]["rows"]
        if rows:
            choose(*pairs[rows[0]])
            st.session_state[_TIMES] = st.session_state.get(_TIMES, 0) + 1

    return take


def _about(pair: Pair) -> str:
    return f"{describe(pair.record.spec, pair.part)}."


def training_queries(pair: Pair, current: RunSpec) -> None:
    """Draw the margin without each training query: by refits of some, estimates of all.

    What if has the current model; for a pair of that model, a button leads there.
    """
    spec = pair.record.spec
    if not supports(spec, "refits"):
        return
    if normalised(spec).train.n_queries < 2:
        st.info(words.ONE_QUERY)
        return
    try:
        table = computations.without_queries(pair)
    except SettingError as error:
        st.info(f"{sentence(escaped(error))} {words.TOO_LARGE}")
        return
    trained = int(table["refit"].notna().sum())
    far = bool(table["margin"].iloc[0]) and not margin_explanation.reversal_is_near(table)
    show_figure(
        margin_explanation.left_out_figure(table),
        table,
        answer=queries_answer(table),
        key="why-queries",
        caption=f"{words.refits(trained, far)} {describe(spec, pair.part)}.",
    )
    st.caption(estimates_quality(table))
    if current.but(digest=spec.digest) == spec:
        query = plain_label(table["query"].iloc[leading(table)])
        st.button(
            f"Leave out query {escaped(str(query))} on What if",
            key="why-leave-out",
            icon=":material/swap_vert:",
            on_click=_leave_out,
            args=(spec, query),
            help=words.LEAVE_OUT,
        )
    shown = table.drop(columns="margin").rename(columns={"after": "margin after"})
    folded("Numbers of all queries", "why-queries-table", lambda: show_table(shown, hide_index=True))


def _leave_out(spec: RunSpec, query: object) -> None:
    """Add it to the changes of What if and open that page (a callback)."""
    fold = normalised(spec)
    change_list.lines(fold)
    change_list.add([QueryOut(query)], fold)
    go_to("what_if")


def turned(table: pd.DataFrame) -> BoolArray:
    """Return True for queries without which the order changes; by the estimate where there is no refit."""
    found: BoolArray = (table["after"] * table["margin"] < 0.0).to_numpy()
    return found


def queries_answer(table: pd.DataFrame) -> str:
    """Name the query that turns the pair, and count them; else name the one with the largest change."""
    margin = float(table["margin"].iloc[0])
    if margin == 0.0:
        return words.SAME_SCORE
    n, place = int(turned(table).sum()), leading(table)
    name = escaped(str(table["query"].iloc[place]))
    estimated = ", by its estimate" * bool(table["refit"].isna().iloc[place])
    change = f"{with_minus(margin, '.3g')} → {with_minus(table['after'].iloc[place], '.3g')}{estimated}"
    if n == 0:
        return words.NONE_TURNS.format(queries=len(table), name=name, change=change)
    other, one = ("B", "A") if margin > 0 else ("A", "B")
    return words.ONE_TURNS.format(
        name=name, other=other, one=one, change=change, n=n, of=len(table), s="s" * (n == 1)
    )


def leading(table: pd.DataFrame) -> int:
    """Return the position of the query to name: the first that turns the pair, else the largest change."""
    turn = turned(table)
    return int((turn if turn.any() else (table["after"] - table["margin"]).abs().to_numpy()).argmax())


def estimates_quality(table: pd.DataFrame) -> str:
    """Count the refits, and give the error of the estimates there."""
    known = table[table["refit"].notna()]
    miss, largest = (known["estimate"] - known["refit"]).abs().max(), known["refit"].abs().max()
    return words.quality(len(known), len(table), miss, largest)


def pair_of_a_list(
    asked: SharedModel,
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
            if not explainable(record.spec):
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
        st.info(ONE_DOCUMENT)
        end_page()
    at = None if marked is None else found.rank(marked)
    below = 1 if at is None else max(at, 1)
    labels = {row.document: f"{row.rank}. {row.document}" for row in listed.itertuples(index=False)}
    a, b = st.columns(2)
    query = int(data.query_ids[index_of_query(data, found.query)])
    above, other = _menu(a, "A", labels, below - 1), _menu(b, "B", labels, below)
    return Pair(record, found.part, data, query, listed, above, other)


def _menu(place: Any, label: str, labels: dict[str, str], first: int) -> str:
    names = list(labels)
    key = f"what-if-why-{label}-{names[first]}"  # restarts when another document was changed
    return str(place.selectbox(label, names, first, format_func=labels.__getitem__, key=key))


def _shares(asked: SharedModel, changes: Sequence[Change], pair: Pair) -> None:
    if pair.above == pair.below:
        st.info(SAME)
        return
    found = explain_margin(asked.model(changes), pair.a, pair.b)
    table = margin_explanation.waterfall_data(
        found.values, names_of(pair.record.spec, pair.data), pair.a, pair.b
    )
    with_changes = f"with {counted(len(changes), 'change')}" if changes else "without changes"
    show_figure(
        margin_explanation.waterfall_figure(table, float(found.margin)),
        table,
        answer=answer(pair, table, float(found.margin)),
        key="what-if-why-shares",
        caption=f"Query {pair.query}, A {escaped(pair.above)}, B {escaped(pair.below)}; model trained "
        f"{with_changes}. {words.what_it_is(found)} {describe(pair.record.spec, pair.part)}.",
    )
