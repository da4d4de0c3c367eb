"""Shared by the views of the Low rank page: its choices, and the spectra of runs, cached by spec."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pandas as pd
import streamlit as st

from rankviz.analysis.model_duals import run_duals
from rankviz.analysis.spectra import RANK_TOLERANCE, Spectra, spectra_of
from rankviz.datasets import RankingData
from rankviz.metrics import evaluate
from rankviz.metrics.definitions import COMPARED
from rankviz.models.dual_truncation import Truncation, Truncator
from rankviz.models.dual_variables import ShuffledDuals, check_blocks
from rankviz.plots import dual_energy, dual_matrices
from rankviz.runs.description import look_of
from rankviz.runs.record import RunRecord
from rankviz.runs.run import model_from
from rankviz.runs.spec import RunSpec
from ui.controls import selection
from ui.shell.page import progress_bar
from ui.work.folds import normalised

HINGE = "hinge"
"""The loss of the factorised and the regularised model."""
BLOCK = "block"
"""Key of the menu of queries."""
PART = "vali"
"""Part whose rankings are evaluated with truncated dual variables."""
ZEROS = (1e-2, 1e-4, RANK_TOLERANCE, 1e-9)
"""Shares of the largest singular value below which others may count as zero."""
SHARES = (*range(50, 90, 5), *range(90, 100), 99.5, 99.9)
"""Shares of the energy to keep, in per cent."""
RANKS = (*range(1, 11), 12, 15, 20, 25, 30, 40, 50, 75, 100)
"""Ranks for truncated dual variables."""
MOST_ENTRIES = 4_000_000
"""Most entries of a query's matrix: 0.3 GB, and half a second to a second for its singular values."""
SELECTED_PART = "train"
"""Part of the selected queries: α belongs to it."""
HOW = "Click a bar or draw a box: selects queries in every tab."


@dataclass(frozen=True)
class Choice:
    """Controls that this page adds to the sidebar.

    The matrix and its order, the rank k and the second matrix; the share of the energy to keep, the threshold
    for zero, and the scale of dimensions.
    """

    matrix: str
    share: float
    tolerance: float
    scale: str
    k: int
    order: str
    beside: str


@dataclass(frozen=True, eq=False)
class Shown:
    """A run with the spectra of its dual variables, and every query's dimensions (`dimensions_needed`)."""

    record: RunRecord
    train: RankingData
    choice: Choice
    found: Spectra
    shuffled: Spectra
    needs: pd.DataFrame
    selected: list[int]

    @property
    def spec(self) -> RunSpec:
        """The spec that was trained."""
        return self.record.spec

    def only_selected(self, table: pd.DataFrame) -> pd.DataFrame:
        """Return the selected rows of a table with a column query; all rows if none is selected."""
        return table[table["query"].isin(self.selected)] if self.selected else table

    @property
    def look(self) -> str:
        """The look of the model, for figures."""
        return look_of(self.spec)

    @property
    def query(self) -> int:
        """The last chosen query, or the one with the most pairs, among the selected ones or all.

        The session's last query may belong to other data, or be unselected.
        """
        table = self.only_selected(self.needs)
        if (kept := st.session_state.get(BLOCK)) in table["query"].tolist():
            return int(kept)
        return int(table.loc[table["pairs"].idxmax(), "query"])


def kept_spectra(record: RunRecord, train: RankingData, matrix: str) -> tuple[Spectra, Spectra]:
    """Return the spectra of a run's dual variables and of shuffled ones, computed once, with progress."""
    place = _place(record.spec, matrix)
    if not place:
        check_blocks(train, MOST_ENTRIES)
        duals = run_duals(record, train)
        with progress_bar("Singular values") as tell:
            found = spectra_of(duals, matrix, tell)
        with progress_bar("Singular values, shuffled") as tell:
            place.append((found, spectra_of(ShuffledDuals(duals), matrix, tell)))
    return place[0]


def shown(
    record: RunRecord, train: RankingData, choice: Choice, selected: Callable[[pd.DataFrame], list[int]]
) -> Shown:
    """Return the shared data of all views; `selected` returns the selected queries of a table."""
    spectra = kept_spectra(record, train, choice.matrix)
    table = dual_energy.dimensions_needed(*spectra, choice.share, choice.tolerance)
    return Shown(record, train, choice, *spectra, table, selected(table))


@st.cache_resource(max_entries=64, show_spinner=False)
def _place(spec: RunSpec, matrix: str) -> list[tuple[Spectra, Spectra]]:
    """Return a cached list for the spectra of a spec, empty at first."""
    return []


@dataclass(frozen=True, eq=False)
class Cut:
    """Losses with one query, or all, truncated to each of `RANKS`.

    Attributes
    ----------
    table : DataFrame
        As returned by `truncation_loss.truncation_data`.
    metric : dict of DataFrame
        "query" and "all" -> the metric of every query of `PART` (rows) at each k (columns, and "whole").
    """

    table: pd.DataFrame
    metric: dict[str, pd.DataFrame]


def cut_losses(what: Shown, query: int) -> Cut:
    """Return the losses at each k for this query alone and for all; computed once, with progress."""
    part = normalised(what.spec).parts[PART]
    position = what.train.query_ids.tolist().index(query)
    truncator, every = _truncated(what.spec, what.record, what.train, part)
    one = _one_cut(what.spec, query, position, truncator, part)
    table = dual_matrices.truncation_data(one.table, every.table)
    return Cut(table, {"query": one.metric, "all": every.metric})


@dataclass(frozen=True, eq=False)
class _Ranked:
    """A truncation's table, and its metric for every query of the part."""

    table: pd.DataFrame
    metric: pd.DataFrame

    @classmethod
    def of(cls, cut: Truncation, part: RankingData) -> _Ranked:
        """Rank a part by the weights of every k."""
        scores = cut.scores(part.X).T
        metric = pd.DataFrame(
            {
                k: evaluate(f, part, COMPARED, at=[10]).per_query[dual_matrices.METRIC]
                for k, f in zip(cut.table["k"], scores, strict=True)
            }
        )
        return cls(cut.table.assign(**{dual_matrices.METRIC: metric.mean().to_numpy()}), metric)


@st.cache_resource(max_entries=8, show_spinner=False)
def _truncated(
    spec: RunSpec, _record: RunRecord, _train: RankingData, _part: RankingData
) -> tuple[Truncator, _Ranked]:
    """Return a `Truncator` of a run's blocks, and all of them truncated."""
    with progress_bar("Cutting all queries") as tell:
        truncator = Truncator(run_duals(_record, _train), model_from(_record, _train).feature_map_, tell)
        return truncator, _Ranked.of(truncator.every_query(RANKS, tell), _part)


@st.cache_resource(max_entries=256, show_spinner=False)
def _one_cut(spec: RunSpec, query: int, position: int, _truncator: Truncator, _part: RankingData) -> _Ranked:
    return _Ranked.of(_truncator.one_query(position, RANKS), _part)


def toolbar(what: Shown) -> str:
    """Draw the toolbar of figures that select queries; return the effect of dragging in them."""
    tool = selection.toolbar(len(what.selected), len(what.needs), ["click", "select"], HOW)
    return "pan" if tool == "click" else tool


def count(what: Shown) -> None:
    """Draw the number of selected queries on tabs without selection; nothing if none is selected."""
    if what.selected:
        row = st.container(horizontal=True, vertical_alignment="center")
        selection.count(row, len(what.selected), len(what.needs))
