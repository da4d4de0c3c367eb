"""The tab “Training queries” of the Why page: which of them make A stand above B."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from rankviz.common.arrays import BoolArray
from rankviz.common.errors import SettingError
from rankviz.common.numbers import with_minus
from rankviz.plots import left_out_queries
from ui.shared.foreign import describe, escaped
from ui.shared.needs import offered
from ui.shared.runs import normalised
from ui.shared.show import sentence, show_figure, show_table
from ui.why import work
from ui.why.choices import Pair


def show(pair: Pair) -> None:
    """What the margin becomes without each training query: by refits of some, estimates of all."""
    spec = pair.record.spec
    if not offered(spec, "refits"):
        return
    if normalised(spec).train.n_queries < 2:
        st.info("The training part has one query, and without it there is nothing to learn from.")
        return
    try:
        table = work.without_queries(pair)
    except SettingError as error:
        st.info(f"{sentence(escaped(error))} What if leaves out the queries that you name.")
        return
    trained = int(table["refit"].notna().sum())
    line = "" if left_out_queries.within(table) else " It is too far away to be drawn."
    show_figure(
        left_out_queries.figure(table),
        table,
        answer=sentence(answer(table)),
        key="why-queries",
        alt="Changes of the margin when single training queries are left out, with their estimates.",
        caption=f"Trained again without one query at a time: the {trained} with the largest estimates, in "
        "their order. Bars to the right move the margin towards A, to the left towards B; beyond "
        f"the dashed line the order is turned.{line} The tick is the estimate to first order, "
        "C·H⁻¹∇ℓ of the query's loss ℓ with the Hessian H of the whole objective. Landmarks or frequencies "
        f"and γ are those of the present model. {describe(spec, pair.part)}.",
    )
    st.caption(quality(table))
    with st.expander("Numbers of all queries"):
        show_table(table.drop(columns="margin").rename(columns={"after": "margin after"}), hide_index=True)


def turned(table: pd.DataFrame) -> BoolArray:
    """Whether the order is another one without each query; where nothing was trained, by the estimate."""
    found: BoolArray = (table["after"] * table["margin"] < 0.0).to_numpy()
    return found


def answer(table: pd.DataFrame) -> str:
    """Which query turns the pair, and how many do; else which one changes the margin most."""
    margin = float(table["margin"].iloc[0])
    if margin == 0.0:
        return "A and B have the same score: there is no order that a training query makes"
    turn = table[turned(table)]
    if len(turn) == 0:
        name, change = _told(table.iloc[[(table["after"] - margin).abs().to_numpy().argmax()]])
        return (
            f"None of {len(table):,} training queries turns the pair alone; query {name} changes the margin "
            f"most ({change})"
        )
    other, one = ("B", "A") if margin > 0 else ("A", "B")
    name, change = _told(turn)
    return (
        f"Without training query {name}, {other} would stand above {one} (margin {change}); of "
        f"{len(table):,} queries {len(turn):,} turn{'s' * (len(turn) == 1)} the pair"
    )


def _told(table: pd.DataFrame) -> tuple[str, str]:
    """The first query of a table, and the margin with and without it."""
    name = escaped(str(table["query"].iloc[0]))
    before, after = (with_minus(table[column].iloc[0], ".3g") for column in ("margin", "after"))
    estimated = ", by its estimate" if table["refit"].isna().iloc[0] else ""
    return name, f"{before} → {after}{estimated}"


def quality(table: pd.DataFrame) -> str:
    """How many were trained without, and how far the estimates are off there."""
    known = table[table["refit"].notna()]
    miss, largest = (known["estimate"] - known["refit"]).abs().max(), known["refit"].abs().max()
    others = "; for the rest the estimate counts" * (len(known) < len(table))
    return (
        f"Trained again without each of {len(known):,} of {len(table):,} training queries{others}. Where "
        f"both are known, the estimate is off by at most {miss:.2g}, the largest change being {largest:.2g}."
    )
