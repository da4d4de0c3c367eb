"""The views of the Side by side page: queries of both methods, one query's lists, where they disagree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pandas as pd
import streamlit as st

from rankviz.datasets import RankingData
from rankviz.experiments.record import RunRecord
from rankviz.experiments.spec import RunSpec
from rankviz.metrics import kendall_tau
from rankviz.plots import per_query, ranked_list, score_scatter
from rankviz.plots.style import METHODS, choices, describe, method_label, with_minus
from rankviz.significance import compare
from ui import selection
from ui.jobs import run_or_wait
from ui.settings import spec_from_state
from ui.show import bold_sentence, definition_caption, say_if_nothing_was_learned, show_figure

METRIC = "NDCG@10"
MAPS = ("nystroem", "fourier")
LIST_LENGTH = 15


@dataclass(frozen=True)
class Pair:
    """Both models and what to call them."""

    left: RunRecord
    right: RunRecord

    @property
    def names(self) -> tuple[str, str]:
        """The methods' names, for axes and tables."""
        return METHODS[MAPS[0]].name, METHODS[MAPS[1]].name

    def about(self, part: str) -> str:
        """Data, fold, settings of both and part, for captions."""
        return _about(self.left.spec, self.right.spec, part)


def _about(left: RunSpec, right: RunSpec, part: str) -> str:
    return f"{describe(left, part)}; random Fourier alike{choices(right)}"


def trained(state: Any, part: str) -> Pair:
    """The line that says what is shown, and both maps with the sidebar's settings."""
    specs = [spec_from_state(state, name) for name in MAPS]
    st.markdown(f":gray[{_about(*specs, part)}]")
    return Pair(*run_or_wait(specs, title=f"Side by side, {specs[0].dataset}"))


def reading(pair: Pair, part: str) -> str:
    """What the queries say about both methods."""
    values = [record.metrics[part][METRIC] for record in (pair.left, pair.right)]
    return bold_sentence(compare(*values).sentence(*pair.names, METRIC))


@st.fragment
def linked(pair: Pair, data: RankingData, part: str, sentence: str) -> None:
    """All views of the page, which share one selection of queries and one query that is shown."""
    say_if_nothing_was_learned(pair.left)
    table = per_query.data(pair.left, pair.right, data, part, METRIC)
    picked = selection.picked(table)
    queries = st.container()  # drawn last, for it marks the query that is chosen below
    st.markdown(sentence)
    _selected(table, picked)
    one, most = st.tabs(["One query", "Where they disagree"])
    with one:
        chosen = _one_query(pair, table, data, part)
    with most:
        _disagreement(pair, table, data, part, picked)
    with queries:
        _queries(pair, table, data, part, picked, chosen)


def _queries(
    pair: Pair, table: pd.DataFrame, data: RankingData, part: str, picked: list[int], chosen: int
) -> None:
    even = int((table["difference"] == 0).sum())
    wide, narrow = st.columns([3, 2], gap="medium")
    with wide:
        key = selection.chart_key("ndcg-per-query")
        show_figure(
            per_query.figure(table, MAPS, METRIC, picked, chosen),
            table,
            key=key,
            alt=f"{METRIC} of each query, {pair.names[0]} against {pair.names[1]}, with the diagonal.",
            caption=f"One point a query, larger for more documents; {even} of {len(table)} queries "
            "are even (hollow). "
            f"{pair.about(part)}. {definition_caption(data)}.",
            on_select=selection.taken_from(key, table),
        )
    with narrow:
        key = selection.chart_key("ndcg-differences")
        show_figure(
            per_query.strip(table, MAPS, METRIC, picked, chosen),
            table,
            key=key,
            alt=f"Differences in {METRIC} between both methods, from the smallest to the largest.",
            caption="Click a point in either figure, or draw a box or a lasso (tools at the figure's upper "
            "right): both show the selection. Hollow: even. "
            f"{pair.about(part)}.",
            on_select=selection.taken_from(key, table),
        )


def _selected(table: pd.DataFrame, picked: list[int]) -> None:
    row = st.container(horizontal=True, vertical_alignment="center")
    row.button("Clear selection", key="clear-selection", on_click=selection.clear, disabled=not picked)
    if picked:
        rows = table[table["query"].isin(picked)]
        noun = "query" if len(rows) == 1 else "queries"
        mean = with_minus(rows["difference"].mean(), "+.3f")
        row.markdown(
            f"{len(rows)} {noun} selected, mean difference in {METRIC} {mean}. "
            "Chosen by eye, so no interval is given."
        )


def _one_query(pair: Pair, table: pd.DataFrame, data: RankingData, part: str) -> int:
    chosen = selection.query(table)
    scores = pair.left.scores[part], pair.right.scores[part]
    position = int((table["query"] == chosen).argmax())
    documents = score_scatter.data(*scores, data, position)
    values = table.loc[table["query"] == chosen, ["left", "right"]].iloc[0]
    lists, points = st.columns(2, gap="medium")
    k = min(LIST_LENGTH, len(documents))
    with lists:
        show_figure(
            ranked_list.figure(documents, method_label(pair.left.spec), method_label(pair.right.spec), k),
            documents,
            key="ranked-lists",
            alt=f"The first {k} documents of query {chosen} as both methods rank them.",
            caption=f"Query {chosen}, {len(documents)} documents, first {k} of each list. {METRIC}: "
            f"{pair.names[0]} {values['left']:.4f}, {pair.names[1]} {values['right']:.4f}. "
            f"{pair.about(part)}.",
        )
    with points:
        show_figure(
            score_scatter.figure(documents, *pair.names),
            documents,
            key="scores",
            alt=f"Scores of the documents of query {chosen}, {pair.names[0]} against {pair.names[1]}.",
            caption=f"All {len(documents)} documents of query {chosen}; scores less their mean over the "
            f"query, for only differences rank. {pair.about(part)}.",
        )
    return chosen


def _disagreement(pair: Pair, table: pd.DataFrame, data: RankingData, part: str, picked: list[int]) -> None:
    tau = _tau(pair.left.spec.hash, pair.right.spec.hash, part, pair, data)
    ranked = table.assign(tau=tau.to_numpy(), size=table["difference"].abs())
    ranked = ranked.sort_values(["size", "tau"], ascending=[False, True])
    shown = ranked[ranked["query"].isin(picked)] if picked else ranked
    names = {"left": f"{METRIC}, {pair.names[0]}", "right": f"{METRIC}, {pair.names[1]}"}
    names |= {"difference": "difference", "tau": "Kendall's τ"}
    st.dataframe(
        shown.drop(columns="size").rename(columns=names),
        hide_index=True,
        column_config={name: st.column_config.NumberColumn(format="%.4f") for name in names.values()},
    )
    which = f"The {len(shown)} selected of {len(table)} queries" if picked else f"All {len(table)} queries"
    st.caption(
        f"{which}, the largest difference in {METRIC} first, then the lowest τ. Kendall's τ compares the two "
        f"orders of a query's documents: 1 the same, −1 the reverse; its median is {tau.median():.3f}. "
        f"{pair.about(part)}."
    )


@st.cache_resource(max_entries=64, show_spinner="Comparing both orders of each query …")
def _tau(left: str, right: str, part: str, _pair: Pair, _data: RankingData) -> pd.Series:
    return kendall_tau(_pair.left.scores[part], _pair.right.scores[part], _data)
