"""One query on the Low rank page: its matrix, whole and cut to rank k, its spectrum, what cutting loses."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import streamlit as st

from rankviz.dual.truncation import BlockSVD
from rankviz.dual.variables import DualBlock
from rankviz.experiments.description import PART_NAMES
from rankviz.plots import block_spectrum, dual_heatmap, truncation_loss
from ui.low_rank import words
from ui.low_rank.work import PART, RANKS, Cut, Shown, cut_losses, duals_of
from ui.shared.foreign import describe
from ui.shared.show import sentence, show_figure

ORDERS = {"grade": "grade, then score", "score": "score"}
BESIDE = {"cut": "cut to rank k", "rest": "what that leaves out"}


@dataclass(frozen=True, eq=False)
class Query:
    """The query that is looked at: its row of numbers, its block whole and of rank k, its order."""

    what: Shown
    row: pd.Series
    block: DualBlock
    cut: DualBlock
    k: int
    order: str

    @property
    def about(self) -> str:
        """The model, for captions."""
        return f"{describe(self.what.spec, 'train')}."


def show(what: Shown) -> None:
    """Draw the menu, one query's matrices, its spectrum and what is lost at rank k."""
    query, beside = _chosen(what)
    number = int(query.row["query"])
    cut = cut_losses(what, number)
    st.header(sentence(words.lost(number, query.k, cut)), anchor=False)
    left, right = st.columns(2, gap="medium")
    with left:
        _whole(query)
    with right:
        _beside(query, beside)
    st.markdown(words.lost_by_all(query.k, cut))
    left, right = st.columns(2, gap="medium")
    with left:
        _spectrum(query)
    with right:
        _losses(query, cut)


def _chosen(what: Shown) -> tuple[Query, str]:
    """The controls: which query, sorted how, cut to which rank, what is drawn beside it."""
    table = what.only_picked(what.needs)
    queries = [int(q) for q in table["query"]]
    if st.session_state.get("block") not in queries:
        st.session_state["block"] = int(table.loc[table["pairs"].idxmax(), "query"])
    row = st.container(horizontal=True, vertical_alignment="bottom", gap="medium")
    of = f"the {len(queries)} selected" if what.picked else f"{len(queries)}"
    chosen = row.container(width=210).selectbox(
        f"Query, of {of}",
        queries,
        key="block",
        bind="query-params",
        help="A query of the training part that has dual variables; if some are selected, one of these. The "
        "one with the most pairs is shown first.",
    )
    k = row.container(width=210).select_slider(
        "Cut down to rank k",
        RANKS,
        1,
        key="k",
        bind="query-params",
        help="The closest matrix of rank k: the k largest singular values with their vectors, read at the "
        "pairs. Always of A, also where A + Aᵀ is shown.",
    )
    sorted_by = row.segmented_control(
        "Documents sorted by",
        list(ORDERS),
        format_func=ORDERS.__getitem__,
        key="order",
        default="grade",
        required=True,
        bind="query-params",
        help="By grade the blocks of two grades lie together; by score the border of the active pairs shows.",
    )
    drawn = row.segmented_control(
        "Beside it",
        list(BESIDE),
        format_func=BESIDE.__getitem__,
        key="beside",
        default="cut",
        required=True,
        bind="query-params",
        help="The matrix of rank k, or the difference to it: α less αᵏ.",
    )
    row = what.needs[what.needs["query"] == chosen].iloc[0]
    block = duals_of(what.record, what.train).block(what.train.query_ids.tolist().index(chosen))
    cut = BlockSVD.of(block).truncated(k)
    return Query(what, row, block, cut, int(k), str(sorted_by or "grade")), str(drawn or "cut")


def _whole(query: Query) -> None:
    row, matrix = query.row, query.what.choice.matrix
    table = dual_heatmap.data(query.block, matrix, query.order)
    show_figure(
        dual_heatmap.figure(table, matrix, query.order, _limits(query)),
        table,
        key="dual-heatmap",
        alt=f"Heat map of the dual variables of query {row['query']}.",
        caption=f"Query {row['query']}: {row['documents']} documents, {row['pairs']:,} pairs, "
        f"{row['active']:,} of them active (α > 0). Blank where there is no pair.{_thinned(query, table)} "
        f"{query.about}",
    )


def _limits(query: Query) -> tuple[float, float]:
    """One scale of colours for the whole matrix and the one of rank k."""
    tables = [dual_heatmap.data(b, query.what.choice.matrix, query.order) for b in (query.block, query.cut)]
    lows, highs = zip(*map(dual_heatmap.reach, tables), strict=True)
    return min(lows), max(highs)


def _thinned(query: Query, table: pd.DataFrame) -> str:
    """Says which part is drawn of a matrix too large to be drawn whole."""
    sides = [len(side) for side in dual_heatmap.SIDES[query.what.choice.matrix](query.block)]
    if max(sides) <= dual_heatmap.MOST:
        return ""
    drawn = int(table["row"].max()), int(table["column"].max())
    return f" Drawn: {drawn[0]} of {sides[0]} rows, {drawn[1]} of {sides[1]} columns, evenly spaced."


def _beside(query: Query, which: str) -> None:
    """The matrix of rank k, or what it leaves out."""
    matrix, k = query.what.choice.matrix, query.k
    rest = replace(query.block, alpha=query.block.alpha - query.cut.alpha)
    table = dual_heatmap.data(query.cut if which == "cut" else rest, matrix, query.order)
    most = float(table["alpha"].abs().max()) or 1.0
    limits, name = (_limits(query), f"α, rank {k}") if which == "cut" else ((-most, most), "left out")
    mirrored = " A is cut, then mirrored." if matrix == "symmetrised" else ""
    caption = {
        "cut": f"The closest matrix of rank {k}, read at the pairs; same colours as beside it.",
        "rest": f"α less its matrix of rank {k}: blue where that is too small, red where too large.",
    }[which]
    show_figure(
        dual_heatmap.figure(table, matrix, query.order, limits, name),
        table,
        key="dual-heatmap-cut",
        alt=f"Heat map: dual variables of query {query.row['query']}, {BESIDE[which]}, k = {k}.",
        caption=f"{caption}{mirrored}{_thinned(query, table)} {query.about}",
    )


def _spectrum(query: Query) -> None:
    what, row = query.what, query.row
    values = _values(query)
    table, last = block_spectrum.data(values), block_spectrum.last_drawn(values)
    rest = f" The first {last} of {len(values)} are drawn." if last < len(values) else ""
    whole = " of A, not of A + Aᵀ" if what.choice.matrix == "symmetrised" else ""
    show_figure(
        block_spectrum.figure(
            table,
            what.look,
            tolerance=what.choice.tolerance,
            share=what.choice.share,
            chosen=query.k,
            last=last,
        ),
        table,
        key="block-spectrum",
        alt=f"Singular values of the dual variables of query {row['query']}, and the energy they keep.",
        caption=f"Query {row['query']}: numerical rank {row['rank']} of at most {row['largest_rank']} that "
        f"its grades allow; k = {row['k']} for {words.percent(what.choice.share)} of the energy. Dotted: the "
        f"chosen k{whole}.{rest} {query.about}",
    )


def _values(query: Query) -> np.ndarray:
    place = query.what.needs["query"].tolist().index(query.row["query"])
    return query.what.found.values[place]


def _losses(query: Query, cut: Cut) -> None:
    part = PART_NAMES[PART]
    last = block_spectrum.last_drawn(_values(query))
    show_figure(
        truncation_loss.figure(cut.table, query.what.look, part, chosen=query.k, last=last),
        cut.table,
        key="truncation-loss",
        alt="What is lost of α, of w and of NDCG at 10 against the rank that dual variables are cut to.",
        caption=f"‖αᵏ − α‖/‖α‖ and ‖wᵏ − w‖/‖w‖ (log scale), and mean {truncation_loss.METRIC} over the "
        f"{part} queries. Dashed: query {query.row['query']} alone is cut (α: its own); solid: all "
        f"are. Dotted: the chosen k. {query.about}",
    )
