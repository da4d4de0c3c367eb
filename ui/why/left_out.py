"""The tab “Training queries” of the Why page: their effects on A above B."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from rankviz.common.arrays import BoolArray
from rankviz.common.errors import SettingError
from rankviz.common.numbers import with_minus
from rankviz.plots import margin_explanation
from rankviz.runs.spec import RunSpec
from rankviz.whatif.changes import QueryOut
from ui.controls.models import offered
from ui.controls.settings import go_to
from ui.shell.figures import sentence, show_figure, show_table
from ui.shell.texts import describe, escaped
from ui.what_if import state
from ui.what_if.encoding import plain_label
from ui.why import words, work
from ui.why.choices import Pair
from ui.work.folds import normalised


def show(pair: Pair, current: RunSpec) -> None:
    """Draw the margin without each training query: by refits of some, estimates of all.

    What if has the current model; for a pair of that model, a button leads there.
    """
    spec = pair.record.spec
    if not offered(spec, "refits"):
        return
    if normalised(spec).train.n_queries < 2:
        st.info(words.ONE_QUERY)
        return
    try:
        table = work.without_queries(pair)
    except SettingError as error:
        st.info(f"{sentence(escaped(error))} {words.TOO_LARGE}")
        return
    trained = int(table["refit"].notna().sum())
    far = bool(table["margin"].iloc[0]) and not margin_explanation.reversal_is_near(table)
    show_figure(
        margin_explanation.left_out_figure(table),
        table,
        answer=sentence(answer(table)),
        key="why-queries",
        alt=words.QUERIES_ALT,
        caption=f"{words.refits(trained, far)} {describe(spec, pair.part)}.",
    )
    st.caption(quality(table))
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
    with st.expander("Numbers of all queries"):
        show_table(table.drop(columns="margin").rename(columns={"after": "margin after"}), hide_index=True)


def _leave_out(spec: RunSpec, query: object) -> None:
    """Add it to the changes of What if and open that page (a callback)."""
    fold = normalised(spec)
    state.lines(fold)
    state.add([QueryOut(query)], fold)
    go_to("what_if")


def turned(table: pd.DataFrame) -> BoolArray:
    """Return True for queries without which the order changes; by the estimate where there is no refit."""
    found: BoolArray = (table["after"] * table["margin"] < 0.0).to_numpy()
    return found


def answer(table: pd.DataFrame) -> str:
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


def quality(table: pd.DataFrame) -> str:
    """Count the refits, and give the error of the estimates there."""
    known = table[table["refit"].notna()]
    miss, largest = (known["estimate"] - known["refit"]).abs().max(), known["refit"].abs().max()
    return words.quality(len(known), len(table), miss, largest)
