"""Table behind the figures of the Low rank page, one row per query; ticked queries are selected."""

from __future__ import annotations

import math
from typing import Any

import pandas as pd
import streamlit as st

from rankviz.common.numbers import small
from rankviz.common.spreadsheets import as_csv
from ui.low_rank import words
from ui.low_rank.work import Shown
from ui.shared import selection
from ui.shared.show import show_table


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
        "Selected queries only", key="onlypicked", bind="query-params", help="Where queries are selected."
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
        on_select=selection.taken_from_rows(key, queries, selection.mark),
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
        f"{which}{words.queries(len(every))}; {words.left_out(what.found)}. Click a heading to sort; tick "
        f"rows to select queries everywhere on this page. {accuracy(what)}"
    )


def accuracy(what: Shown) -> str:
    """Give the final status of training, and the gap of its α."""
    gap = what.found.gap
    certified = "" if math.isnan(gap) else f"; duality gap {small(max(gap, 0.0))} of the objective"
    return f"Training: {what.record.status.rstrip('.')}{certified}."


def _columns(what: Shown) -> dict[str, Any]:
    number, share = st.column_config.NumberColumn, words.percent(what.choice.share)
    zero = words.power_of_ten(what.choice.tolerance)
    return {
        "query": number("query", format="%d", help="Its number in the data."),
        "documents": number("documents", help="n, the size of A as xu2019 counts it."),
        "grades": number("grades", help="How many different grades its documents have."),
        "pairs": number("pairs", help="Preference pairs: documents of different grades."),
        "active": number("active", format="percent", help="Share of the pairs with α > 0."),
        "k": number(f"k, {share}", help=f"Singular values that keep {share} of the energy."),
        "k_shuffled": number(
            "k, shuffled", help="The same, of the same α dealt at random to the same pairs."
        ),
        "rank": number("rank", help=f"Numerical rank: singular values above {zero} of the largest."),
        "rank_shuffled": number("rank, shuffled", help="The same, of the shuffled α."),
        "largest_rank": number("largest rank", help="The largest that the grades allow, whatever the α."),
        "law": number(
            "rank if all active", help="Largest rank under the plain squared hinge if every pair is active."
        ),
        "Dim_share": number(f"Dim, {share}", format="percent", help="k over the number of documents."),
        "Dim_100": number(
            "Dim, 100 %", format="percent", help="Numerical rank over the number of documents."
        ),
        "stable_rank": number(
            "stable rank",
            format="%.2f",
            help="Σσ²/σ₁²: how many singular values the energy would fill, were all as large as the first.",
        ),
        "nuclear": number("nuclear norm", format="%.4g", help="Σσ, what xu2019's second method penalises."),
    }
