"""Table behind the figures of the Low rank page, one row per query; ticked queries are selected."""

from __future__ import annotations

import math
from typing import Any

import pandas as pd
import streamlit as st

from rankviz.common.numbers import as_csv, small
from ui.controls import selection
from ui.low_rank import words
from ui.low_rank.work import Shown
from ui.shell.figures import show_table


def table_of(what: Shown) -> pd.DataFrame:
    """Return the numbers of every query, in the order of the columns shown."""
    needs, more = what.needs, what.found.table.reset_index(drop=True)
    documents = needs["documents"]
    return pd.DataFrame(
        {
            "query": needs["query"],
            "documents": documents,
            "grades": more["grades"],
            "pairs": needs["pairs"],
            "active": needs["active"] / needs["pairs"],
            "k": needs["k"],
            "k_shuffled": needs["k_shuffled"],
            "rank": needs["rank"],
            "rank_shuffled": needs["rank_shuffled"],
            "largest_rank": needs["largest_rank"],
            "law": more["law"],
            "Dim_share": needs["k"] / documents,
            "Dim_100": needs["rank"] / documents,
            "stable_rank": more["stable_rank"],
            "nuclear": more["nuclear"],
        }
    )


def show(what: Shown) -> None:
    """Draw the table; its ticked rows are the selected queries of the whole page."""
    every = table_of(what)
    row = st.container(horizontal=True, vertical_alignment="center")
    only = row.toggle(
        "Selected queries only", key="onlypicked", bind="query-params", help=words.HELP["onlypicked"]
    )
    if what.picked:
        selection.count(row, len(what.picked), len(every))
    table = what.only_picked(every) if only else every
    queries = [int(query) for query in table["query"]]
    # rows that disappear when unticked would make a new table each time
    key = (selection.chart_key if only else selection.table_key)("low-rank-queries")
    ticked = [place for place, query in enumerate(queries) if query in set(what.picked)]
    show_table(
        table,
        hide_index=True,
        key=key,
        on_select=selection.on_rows(key, queries, selection.mark),
        selection_mode="multi-row",
        selection_default={"selection": {"rows": ticked}},
        column_config=_columns(what),
        alt="One row for each query.",
    )
    row.download_button(
        "Numbers (CSV)",
        lambda: as_csv(table),
        "low-rank.csv",
        "text/csv",
        key="low-rank-csv",
        on_click="ignore",
        icon=":material/download:",
    )
    which = f"{len(table)} of " if len(table) < len(every) else ""
    st.caption(
        words.CAPTIONS["numbers"].format(
            queries=f"{which}{words.queries(len(every))}",
            left_out=words.left_out(what.found),
            accuracy=accuracy(what),
        )
    )


def accuracy(what: Shown) -> str:
    """Give the final status of training, and the gap of its α."""
    gap = what.found.gap
    certified = "" if math.isnan(gap) else f"; duality gap {small(max(gap, 0.0))} of the objective"
    return f"Training: {what.record.status.rstrip('.')}{certified}."


def _columns(what: Shown) -> dict[str, Any]:
    number, share, told = st.column_config.NumberColumn, words.percent(what.choice.share), words.COLUMN_HELP
    zero = words.power_of_ten(what.choice.tolerance)
    return {
        "query": number("query", format="%d", help=told["query"]),
        "documents": number("documents", help=told["documents"]),
        "grades": number("grades", help=told["grades"]),
        "pairs": number("pairs", help=told["pairs"]),
        "active": number("active", format="percent", help=told["active"]),
        "k": number(f"k, {share}", help=told["k"].format(share=share)),
        "k_shuffled": number("k, shuffled", help=told["k_shuffled"]),
        "rank": number("rank", help=told["rank"].format(zero=zero)),
        "rank_shuffled": number("rank, shuffled", help=told["k_shuffled"]),
        "largest_rank": number("largest rank", help=told["largest_rank"]),
        "law": number("rank if all active", help=told["law"]),
        "Dim_share": number(f"Dim, {share}", format="percent", help=told["dim"]),
        "Dim_100": number("Dim, 100 %", format="percent", help=told["dim_100"]),
        "stable_rank": number(
            "stable rank",
            format="%.2f",
            help=told["stable_rank"],
        ),
        "nuclear": number("nuclear norm", format="%.4g", help=told["nuclear"]),
    }
