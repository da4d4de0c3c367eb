"""Reasons why the dual variables have low rank: a law, a staircase, and solver errors; one at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import streamlit as st

from rankviz.analysis.model_duals import run_duals
from rankviz.analysis.spectra import (
    RANK_TOLERANCE,
    dual_distance,
    median_ranks,
    ranks_of_fits,
    ranks_with_errors,
    staircases,
)
from rankviz.datasets import RankingData
from rankviz.datasets.parts import take_queries
from rankviz.learning.solvers import TOL
from rankviz.models.dual_variables import DualBlock, Duals, GivenDuals
from rankviz.plots import dual_matrices, dual_ranks
from rankviz.runs.description import look_of
from rankviz.runs.record import RunRecord
from rankviz.runs.spec import RunSpec
from ui.controls.widgets import Bound
from ui.shell.figures import Figures, show_answer
from ui.shell.texts import describe
from ui.study import low_rank_words as words
from ui.study.low_rank_computations import HINGE, ZEROS, Shown
from ui.study.low_rank_models import Records, bare, found, plain_with, wait

FIGURES = Figures(captions=words.CAPTIONS)

EXPONENTS = (-15, -10, -5, 0, 5, 10)
SOLVER_TOLERANCES = (1e-1, 1e-3, 1e-8)
WHY = "why"
"""Key of the control that chooses a reason; also in the address."""


@dataclass(frozen=True)
class Reason:
    """A reason for low rank: its theory, its runs, and its figure."""

    label: str
    theory: str
    specs: Callable[[RunSpec], list[RunSpec]]
    draw: Callable[[Shown, Sequence[RunRecord]], None]


def specs(spec: RunSpec) -> list[RunSpec]:
    """Return the runs of the chosen reason; none before its control has read the address."""
    chosen = REASONS.get(str(st.session_state.get(WHY)))
    return chosen.specs(spec) if chosen else []


def show(what: Shown, others: Records) -> None:
    """Draw one of the reasons, with its theory in a popover; `others` has the records of `specs`."""
    chosen = _chosen()
    records = found(chosen.specs(bare(what.spec)), others)
    there = [record for record in records if record is not None]
    if len(there) < len(records):
        wait()
        return
    chosen.draw(what, there)


def _chosen() -> Reason:
    row = st.container(horizontal=True, vertical_alignment="center")
    labels = {name: reason.label for name, reason in REASONS.items()}
    chosen = REASONS[Bound(row).buttons(WHY, "Reason", labels, label_visibility="collapsed")]
    row.popover("Theory", icon=":material/menu_book:").markdown(chosen.theory)
    row.popover("xu2019", icon=":material/article:").markdown(words.PAPER)
    return chosen


def _over_C(spec: RunSpec) -> list[RunSpec]:
    """Return the plain squared hinge over C, the last one at the sidebar's C."""
    plain = plain_with(spec, "squared_hinge", costs=None)
    return [*(plain.but(C=2.0**exponent) for exponent in EXPONENTS), plain]


def _stopped_early(spec: RunSpec) -> list[RunSpec]:
    """Return this model with other tolerances, if its dual variables follow from its weights."""
    reads = TOL in spec.declared().values()
    return [spec.but(tol=tol) for tol in SOLVER_TOLERANCES] if reads else []


def _law(what: Shown, records: Sequence[RunRecord]) -> None:
    """Draw rank 2 for each pair of grades under the squared hinge."""
    plain, queries = records[-1].spec, _queries(what)
    fits = sorted({record.spec.C: record for record in records}.values(), key=lambda record: record.spec.C)
    ranks = _ranks(tuple(r.spec for r in fits), what.choice.matrix, queries, fits, what.train)
    at_hand = ranks[ranks["C"] == plain.C]
    over_C, activity = dual_ranks.by_C_data(ranks), dual_ranks.activity_data(at_hand)
    show_answer(words.law(at_hand))
    left, right = st.columns(2, gap="medium")
    with left:
        FIGURES.show(
            "rank-by-activity",
            dual_ranks.activity_figure(activity, look_of(plain)),
            activity,
            zero=words.ZERO,
            about=describe(plain, "train"),
        )
    with right:
        FIGURES.show(
            "rank-by-c",
            dual_ranks.by_C_figure(over_C, look_of(plain), plain.C),
            over_C,
            queries=words.queries(len(queries)),
            zero=words.ZERO,
            about=describe(plain, "train"),
        )
    st.markdown(f"{words.law_holds_up_to(over_C)} {words.trained_for_this(what.spec, plain)}")


def _staircase(what: Shown, records: Sequence[RunRecord]) -> None:
    """Draw the staircase of the hinge: one query's matrix, and all ranks against the stairs."""
    (record,) = records
    duals = run_duals(record, what.train)
    stairs = _stairs(record.spec, _queries(what), duals)
    show_answer(words.staircase(stairs))
    left, right = st.columns(2, gap="medium")
    with left:
        _steps(what, record, duals)
    with right:
        FIGURES.show(
            "rank-by-stairs",
            dual_ranks.stairs_figure(stairs, look_of(record.spec)),
            stairs,
            zero=words.ZERO,
            about=describe(record.spec, "train"),
        )
    st.markdown(f"{words.off_the_staircase(stairs)} {words.trained_for_this(what.spec, record.spec)}")


def _steps(what: Shown, record: RunRecord, duals: Duals) -> None:
    """Draw the chosen query's dual variables under the hinge, sorted by score."""
    query = what.query
    position = what.train.query_ids.tolist().index(query)
    block: DualBlock = duals.block(position)
    table = dual_matrices.heatmap_data(replace(block, alpha=block.alpha / record.spec.C), "block", "score")
    FIGURES.show(
        "staircase",
        dual_matrices.heatmap_figure(table, "block", "score", dual_matrices.colour_limits(table), "α / C"),
        table,
        query=query,
        about=describe(record.spec, "train"),
    )


def _accuracy(what: Shown, records: Sequence[RunRecord]) -> None:
    """Draw the effect of errors in α on the rank, and this solver's errors."""
    choice = what.choice
    queries = _queries(what)
    chosen = queries if what.selected else None
    rough, stopped = _errors(what.record.spec, choice.matrix, choice.tolerance, chosen, records, what)
    largest = float(what.only_selected(what.needs)["largest_rank"].median())
    FIGURES.show(
        "rank-by-error",
        dual_ranks.error_figure(rough, stopped, what.look, tolerance=choice.tolerance, largest=largest),
        rough,
        words.accuracy(rough, choice.tolerance),
        queries=words.queries(len(queries)),
        diamonds=_diamonds() if len(stopped) else "",
        about=describe(what.spec, "train"),
    )
    st.markdown(f"{words.stopped_early(stopped)} {words.scope_of_errors(what.spec)}")


def _diamonds() -> str:
    """Describe the runs that stopped early, for the caption."""
    *early, last = map(words.power_of_ten, SOLVER_TOLERANCES)
    return words.CAPTIONS["diamonds"].format(early=", ".join(early), last=last)


def _queries(what: Shown) -> tuple[int, ...]:
    return tuple(int(query) for query in what.only_selected(what.needs)["query"])


@st.cache_resource(max_entries=16, show_spinner="Computing …")
def _ranks(
    specs: tuple[RunSpec, ...],
    matrix: str,
    queries: tuple[int, ...],
    _records: Sequence[RunRecord],
    _train: RankingData,
) -> pd.DataFrame:
    return ranks_of_fits((run_duals(record, _train) for record in _records), queries, matrix)


@st.cache_resource(max_entries=16, show_spinner="Counting …")
def _stairs(spec: RunSpec, queries: tuple[int, ...], _duals: Duals) -> pd.DataFrame:
    return staircases(_duals, queries, RANK_TOLERANCE)


@st.cache_resource(max_entries=16, show_spinner="Computing …")
def _errors(
    spec: RunSpec,
    matrix: str,
    tolerance: float,
    queries: tuple[int, ...] | None,
    _fits: Sequence[RunRecord],
    _what: Shown,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return median ranks with added errors, and those of fits stopped early (tol, error, rank)."""
    train = _what.train
    rough = ranks_with_errors(_of(queries, run_duals(_what.record, train)), ZEROS, matrix)
    fits = [(record.spec.tol, _of(queries, run_duals(record, train))) for record in _fits]
    rows = [
        (tol, dual_distance(duals, fits[-1][1]), *median_ranks(duals, [tolerance], matrix))
        for tol, duals in fits
    ]
    return rough, pd.DataFrame(rows, columns=["tol", "error", "rank"])


def _of(queries: tuple[int, ...] | None, duals: Duals) -> Duals:
    """Return the dual variables of some queries, or of all."""
    if queries is None:
        return duals
    train = duals.train
    places = np.flatnonzero(np.isin(train.query_ids, queries))
    return GivenDuals(
        take_queries(train, places),
        duals.scores[np.isin(train.qid, queries)],
        duals.C,
        lambda at: duals.block(int(places[at])).alpha,
        duals.gap,
    )


REASONS = {
    "law": Reason("Squared hinge: a law", words.LAW, _over_C, _law),
    "staircase": Reason(
        "Hinge: a staircase", words.STAIRCASE, lambda spec: [plain_with(spec, HINGE)], _staircase
    ),
    "accuracy": Reason("Errors of a solver", words.ACCURACY, _stopped_early, _accuracy),
}
"""The reasons, by the values of their control."""
