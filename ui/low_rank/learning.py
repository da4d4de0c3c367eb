"""Convergence of the factorised and the regularised model, with two solvers each (xu2019 Figure 4)."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from rankviz.common.settings import Setting
from rankviz.models.low_rank.settings import DUAL_SOLVER, FACTOR_SOLVER
from rankviz.plots import low_rank_models as plot
from rankviz.runs.record import RunRecord
from rankviz.runs.spec import RunSpec
from ui.low_rank import models_words as words
from ui.low_rank import words as texts
from ui.low_rank.settings import (
    Records,
    Settings,
    affordable,
    bare,
    controls,
    factorized,
    found,
    in_kernel_space,
    regularized,
    settings,
    wait,
)
from ui.low_rank.work import Shown
from ui.shell.figures import capital, sentence, show_figure, show_table
from ui.shell.texts import describe

AXES = {"iteration": "iterations", "seconds": "seconds"}


def specs(spec: RunSpec) -> list[RunSpec]:
    """Return both models with both of their solvers."""
    return affordable(_wanted(spec, settings(spec)))


def _wanted(spec: RunSpec, chosen: Settings) -> list[RunSpec]:
    """Return the runs, the default solver of each model first."""
    first, convex = factorized(spec, chosen), regularized(spec, chosen)
    return [
        *(
            first.but(solver=solver)
            for solver in _usual_first(FACTOR_SOLVER)
            if not _out_of_place(solver, spec)
        ),
        *(convex.but(solver=solver) for solver in _usual_first(DUAL_SOLVER)),
    ]


def _usual_first(setting: Setting) -> list[str]:
    return [setting.default, *(name for name in setting.options if name != setting.default)]


def _out_of_place(solver: str, spec: RunSpec) -> bool:
    """Return True if a solver of the factorised model needs rows of features that do not exist."""
    return FACTOR_SOLVER.options[solver].needs_rows and in_kernel_space(spec)


def show(what: Shown, others: Records) -> None:
    """Draw the curves of the existing runs, and their final status."""
    row, chosen = controls(what.spec)
    axis = row.segmented_control(
        "Against",
        list(AXES),
        format_func=AXES.__getitem__,
        default="seconds",
        required=True,
        key="learnaxis",
        bind="query-params",
        help=texts.HELP["learnaxis"],
    )
    plain = bare(what.spec)
    if in_kernel_space(plain):
        st.markdown(words.NO_QUERY_STEPS)
    records = found(_wanted(plain, chosen), others)
    there = [record for record in records if record is not None]
    if there:
        _curves(what, there, str(axis or "seconds"))
    if len(there) < len(records):
        wait("This figure" if not there else "The rest")


def _curves(what: Shown, records: Sequence[RunRecord], axis: str) -> None:
    table = plot.curves_data(records)
    own = dict.fromkeys(describe(record.spec).method for record in records)
    show_figure(
        plot.curves_figure(table, axis),
        table,
        answer=sentence(plot.race_sentence(table)),
        key="low-rank-learning",
        alt=texts.ALTS["low-rank-learning"].format(axis=AXES[axis]),
        caption=texts.CAPTIONS["low-rank-learning"].format(
            own=capital("; ".join(own)),
            least=words.power(plot.LEAST_DISTANCE),
            about=words.about(records[0].spec),
        ),
    )
    st.markdown(words.of_the_paper(table))
    st.markdown(words.ends_differ(table))
    _ends(table, records)


def _ends(table: pd.DataFrame, records: Sequence[RunRecord]) -> None:
    """Draw the final state of each curve."""
    last, number = plot.last_rows(table), st.column_config.NumberColumn
    shown = last[["label", "iteration", "seconds", "objective", "above", "gap"]].assign(
        start=[record.start for record in records]
    )
    show_table(
        shown,
        hide_index=True,
        column_config={
            "label": "run",
            "iteration": "iterations",
            "seconds": number(format="%.2f"),
            "objective": number(format="%.7g", help=texts.COLUMN_HELP["learned"]),
            "above": number("above the best", format="%.1e"),
            "gap": number(
                "gap",
                format="%.1e",
                help=texts.COLUMN_HELP["first_order"],
            ),
            "start": "started from",
        },
    )
    st.caption(words.ended(dict(zip(last["label"], (record.status for record in records), strict=True))))
