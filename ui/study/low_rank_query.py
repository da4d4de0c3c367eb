"""One query on the Low rank page: its matrix and the one of rank k, its spectrum, and the loss at rank k."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pandas as pd
import streamlit as st

from rankviz.analysis.model_duals import run_duals
from rankviz.models.dual_truncation import BlockSVD
from rankviz.models.dual_variables import DualBlock
from rankviz.plots import dual_matrices
from rankviz.runs.description import PART_NAMES
from ui.shell.figures import Figures, show_answer, show_figure, two_columns
from ui.shell.texts import describe
from ui.study import low_rank_words as words
from ui.study.low_rank_computations import PART, Cut, Shown, cut_losses

FIGURES = Figures(captions=words.CAPTIONS)


@dataclass(frozen=True, eq=False)
class Query:
    """The chosen query, with parts computed on demand: its numbers, its block, and its block of rank k."""

    what: Shown

    @cached_property
    def number(self) -> int:
        """Its number in the data."""
        return self.what.query

    @cached_property
    def row(self) -> pd.Series:
        """Its row of `what.needs`."""
        return self.what.needs[self.what.needs["query"] == self.number].iloc[0]

    @cached_property
    def block(self) -> DualBlock:
        """Its dual variables."""
        what = self.what
        return run_duals(what.record, what.train).block(what.train.query_ids.tolist().index(self.number))

    @cached_property
    def cut(self) -> DualBlock:
        """Its block of rank k."""
        return self._parts.truncated(self.k)

    @cached_property
    def energy(self) -> float:
        """Share of the energy of A at rank k."""
        kept, whole = self._parts.energy(np.array([self.k, len(self._parts.values)]))
        return float(kept / whole)

    @cached_property
    def _parts(self) -> BlockSVD:
        return BlockSVD.of(self.block)

    @property
    def k(self) -> int:
        """The rank k."""
        return self.what.choice.k

    @property
    def about(self) -> str:
        """The model, for captions."""
        return f"{describe(self.what.spec, 'train')}."


def matrices(query: Query) -> None:
    """Draw the number of singular values that the query needs, its matrix, and the one of rank k."""
    what = query.what
    needs = what.only_selected(what.needs)
    said = words.one_reading(query.row, needs, what.choice.share, "selected " if what.selected else "")
    show_answer(said)
    left, right = two_columns()
    with left:
        _whole(query)
    with right:
        _second_matrix(query)


def show(query: Query) -> None:
    """Draw the spectrum of the query, and the loss at rank k, for it alone and for all queries."""
    cut = cut_losses(query.what, query.number)
    show_answer(words.losses_of_query(query.number, query.k, cut))
    left, right = st.columns(2, gap="medium")
    with left:
        _spectrum(query)
    with right:
        _losses(query, cut)
    st.markdown(words.losses_of_all(query.k, cut))


def _whole(query: Query) -> None:
    row, matrix, order = query.row, query.what.choice.matrix, query.what.choice.order
    table = dual_matrices.heatmap_data(query.block, matrix, order)
    figure = dual_matrices.heatmap_figure(table, matrix, order, _limits(query))
    FIGURES.show(
        "dual-heatmap",
        figure.update_layout(title=f"Query {query.number}, whole"),
        table,
        query=query.number,
        definition=words.DEFINITION,
        documents=row["documents"],
        pairs=row["pairs"],
        active=row["active"],
        thinned=_thinned(query, table),
        about=query.about,
    )


def _limits(query: Query) -> tuple[float, float]:
    """Return one colour range for the whole matrix and the one of rank k."""
    tables = [
        dual_matrices.heatmap_data(b, query.what.choice.matrix, query.what.choice.order)
        for b in (query.block, query.cut)
    ]
    lows, highs = zip(*map(dual_matrices.colour_limits, tables), strict=True)
    return min(lows), max(highs)


def _thinned(query: Query, table: pd.DataFrame) -> str:
    """Say which part of a large matrix is drawn."""
    sides = [len(side) for side in dual_matrices.SIDES[query.what.choice.matrix](query.block)]
    if max(sides) <= dual_matrices.MOST:
        return ""
    drawn = int(table["row"].max()), int(table["column"].max())
    return f" Drawn: {drawn[0]} of {sides[0]} rows, {drawn[1]} of {sides[1]} columns."


def _second_matrix(query: Query) -> None:
    """Draw the matrix of rank k, or the difference to it."""
    choice, k = query.what.choice, query.k
    rest = replace(query.block, alpha=query.block.alpha - query.cut.alpha)
    of_rank_k = choice.beside == "cut"
    table = dual_matrices.heatmap_data(query.cut if of_rank_k else rest, choice.matrix, choice.order)
    most = float(table["alpha"].abs().max()) or 1.0
    limits, name = (_limits(query), f"α, rank {k}") if of_rank_k else ((-most, most), "left out")
    title, caption = words.beside(k, query.energy)[choice.beside]
    mirrored = " A is cut, then mirrored." if choice.matrix == "symmetrised" else ""
    figure = dual_matrices.heatmap_figure(table, choice.matrix, choice.order, limits, name, bar=not of_rank_k)
    show_figure(
        figure.update_layout(title=title),
        table,
        key="dual-heatmap-cut",
        caption=f"{caption}{mirrored}{_thinned(query, table)} {query.about}",
    )


def _spectrum(query: Query) -> None:
    what, row = query.what, query.row
    values = _values(query)
    table, last = dual_matrices.spectrum_data(values), dual_matrices.last_drawn(values)
    rest = f" The first {last} of {len(values)} are drawn." if last < len(values) else ""
    whole = " of A, not of A + Aᵀ" if what.choice.matrix == "symmetrised" else ""
    FIGURES.show(
        "block-spectrum",
        dual_matrices.spectrum_figure(
            table,
            what.look,
            tolerance=what.choice.tolerance,
            share=what.choice.share,
            chosen=query.k,
            last=last,
        ),
        table,
        query=query.number,
        rank=row["rank"],
        largest_rank=row["largest_rank"],
        k=row["k"],
        share=words.percent(what.choice.share),
        whole=whole,
        rest=rest,
        about=query.about,
    )


def _values(query: Query) -> np.ndarray:
    place = query.what.needs["query"].tolist().index(query.row["query"])
    return query.what.found.values[place]


def _losses(query: Query, cut: Cut) -> None:
    part = PART_NAMES[PART]
    last = dual_matrices.last_drawn(_values(query))
    FIGURES.show(
        "truncation-loss",
        dual_matrices.truncation_figure(cut.table, query.what.look, part, chosen=query.k, last=last),
        cut.table,
        metric=dual_matrices.METRIC,
        part=part,
        query=query.number,
        about=query.about,
    )
