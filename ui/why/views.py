"""The views of the Why page: shares of features, values, one moved feature, landmarks, and the list."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from rankviz.common.arrays import FloatArray
from rankviz.datasets import RankingData
from rankviz.features import FEATURE_MAPS
from rankviz.features.registry import FEATURE_MAP
from rankviz.plots import margin_explanation
from rankviz.plots.style import shown_documents
from rankviz.runs.description import look_of
from rankviz.whatif.explanations import alike_together
from ui.controls.models import offered
from ui.shell.figures import sentence, show_figure, show_table
from ui.shell.texts import describe, escaped
from ui.why import words, work
from ui.why.choices import Pair, choose, in_address
from ui.work.folds import normalised

FEATURE = "move"
"""Query parameter with the number of the moved feature."""
LISTED = 10
"""Number of neighbouring pairs of the list to explain."""
_TIMES = "why-list-changes"


def shares(pair: Pair, names: Sequence[str]) -> pd.DataFrame:
    """Draw the sentence and the waterfall; return its table."""
    found = work.explained(pair)
    table = margin_explanation.waterfall_data(found.values, names, pair.a, pair.b)
    margin = float(found.margin)
    show_figure(
        margin_explanation.waterfall_figure(table, margin),
        table,
        answer=sentence(words.answer(pair, table, margin)),
        key="why-shares",
        alt=words.SHARES_ALT,
        caption=f"{words.bars(pair.query, escaped(pair.above), escaped(pair.below), abs(float(found.rest)))} "
        f"{words.WHAT_IT_IS} {_about(pair)}",
    )
    st.caption(f"{words.balance(table, margin)} {words.WHAT_IT_IS}")
    return table


def values(pair: Pair, table: pd.DataFrame) -> None:
    """Draw both documents' values and the distribution of each feature."""
    train = normalised(pair.record.spec).train
    told = margin_explanation.features_data(table[table["share"] != 0].head(margin_explanation.MOST), train.X)
    if len(told) == 0:
        st.info(words.NO_SHARE)
        return
    show_figure(
        margin_explanation.features_figure(told, (pair.above, pair.below)),
        told,
        key="why-values",
        alt=words.VALUES_ALT,
        caption=f"{words.distributions(len(told), len(train.X))} {_about(pair)}",
    )
    with st.expander("Numbers of all features"):
        show_table(margin_explanation.features_data(table, train.X), hide_index=True)


def moved(pair: Pair, names: Sequence[str], table: pd.DataFrame) -> None:
    """Draw the margin as one feature of A moves, and the smallest change that swaps the two."""
    found = work.nearest(pair)
    nearest = found.found
    best = nearest[0].feature if nearest else int(table.iloc[0]["number"]) - 1
    feature = _feature(names, best)
    grid, margin, crossings = work.curve(pair, feature)
    now = float(pair.a[feature])
    show_figure(
        margin_explanation.curve_figure(
            margin_explanation.curve_data(grid, margin),
            look_of(pair.record.spec),
            names[feature],
            (now, float(work.explained(pair).margin)),
            float(pair.b[feature]),
            crossings.values,
        ),
        margin_explanation.curve_data(grid, margin),
        answer=sentence(words.along(names[feature], crossings, now)),
        key="why-curve",
        alt=words.moving_alt(names[feature]),
        caption=f"{words.moving(len(grid))} {words.looked(crossings.step)} {_about(pair)}",
    )
    st.markdown(f"{words.smallest(found, names, pair)}.")
    if nearest:
        with st.expander(words.swaps(len(nearest), len(names))):
            rows = [(names[one.feature], pair.a[one.feature], one.value, one.spreads) for one in nearest]
            columns = ["feature", "A has", "they swap at", "standard deviations"]
            show_table(pd.DataFrame(rows, columns=columns), hide_index=True)


def _feature(names: Sequence[str], best: int) -> int:
    """Return the moved feature: by default the one that swaps them with the smallest change."""
    told = {str(number): f"{number}. {name}" for number, name in enumerate(names, 1)}
    return int(in_address(st, "Move a feature of A", told, str(best + 1), FEATURE, words.FEATURE)) - 1


def landmarks(pair: Pair) -> None:
    """Draw the landmarks for and against."""
    spec = pair.record.spec
    if not offered(spec, "expansion"):
        return
    table, train = alike_together(work.landmarks(pair)), normalised(spec).train
    exact = FEATURE_MAPS[spec.get(FEATURE_MAP.name)].is_exact
    rows = _named(margin_explanation.strongest_landmarks(table), train)
    if len(rows) == 0:
        st.info(words.NO_LANDMARK)
        return
    show_figure(
        margin_explanation.landmarks_figure(rows, rows["name"].tolist()),
        table,
        answer=sentence(words.landmarks(table, _named(table.head(1), train).iloc[0], exact)),
        key="why-landmarks",
        alt=words.LANDMARKS_ALT,
        caption=f"{words.landmarks_caption(margin_explanation.LANDMARKS_EACH)} {_about(pair)}",
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
    found = work.neighbours(pair, n)
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
    st.markdown(words.list_title(n))
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
