"""The table of runs: its columns, their formats, and the chosen rows."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from rankviz.common.settings import Whole
from rankviz.runs.record import NOT_MADE_HERE
from rankviz.store.study import DONE, IMPORTED
from ui.runs.columns import Columns
from ui.shared.show import show_table

CHOSEN = "runs-chosen"
"""Session key of the digests of the chosen runs."""
_LISTED, _VERSION = "runs-listed", "runs-version"
HEIGHT = 390
WHOSE = {(True, False): "own", (True, True): "own, shared", (False, False): "of others"}
"""Owner of a run in words, by two flags: own, and shared."""


def cells(
    table: pd.DataFrame, columns: Columns, wanted: Sequence[str], metrics: dict[str, str]
) -> pd.DataFrame:
    """Return the cells of the table: marks in use, differing settings, metrics, state and time."""
    found: dict[str, Any] = {}
    if table["star"].any():
        found["★"] = table["star"].map({True: "★", False: ""})
    for name in wanted:
        title = _title(columns, name, wanted)
        found[title] = _written(columns, name, table)
    found |= {title: table[column] for column, title in metrics.items()}
    found["seconds"] = table["seconds"]
    if (table["state"] != DONE).any():
        found["state"] = table["state"].replace(IMPORTED, NOT_MADE_HERE)
    if (table["reason"] != "").any():
        found["reason"] = table["reason"]
    if (table["tags"].map(len) > 0).any():
        found["tags"] = table["tags"].map(list)
    if (table["note"] != "").any():
        found["note"] = table["note"]
    if table["shared"].any() or not table["own"].all():
        pairs = zip(table["own"], table["shared"], strict=True)
        found["whose"] = pd.Series([WHOSE[bool(own), bool(shared)] for own, shared in pairs], table.index)
    found["made"] = times(table)
    return pd.DataFrame(found, index=table.index)


def _title(columns: Columns, name: str, wanted: Sequence[str]) -> str:
    """Return a column's title: a short symbol, or a label, with the name if labels coincide."""
    labels = {one: _short(columns, one) for one in wanted}
    title = labels[name]
    return title if list(labels.values()).count(title) == 1 else f"{title} ({name})"


def _short(columns: Columns, name: str) -> str:
    setting = columns.setting(name)
    wordy = setting.options or len(setting.symbol) > 2
    return setting.label if wordy else setting.symbol


def _written(columns: Columns, name: str, table: pd.DataFrame) -> pd.Series[Any]:
    if columns.by_powers(name, table):
        return columns.exponents(name, table)
    numeric = pd.api.types.is_numeric_dtype(table[name])
    return table[name] if numeric else columns.in_words(name, table)


def _says_anything(values: pd.Series[Any]) -> bool:
    """Return True if any run has a value in a column."""
    return bool((values.notna() & ~values.isin(["", "none"])).any())


def times(table: pd.DataFrame) -> pd.Series[Any]:
    """Return the times at which runs ended or were submitted, in the visitor's time zone."""
    found = pd.to_datetime(table["ended"].fillna(table["created"]), unit="s", utc=True)
    zone = st.context.timezone
    return found.dt.tz_convert(zone) if zone else found


def formats(
    shown: pd.DataFrame, columns: Columns, wanted: Sequence[str], metrics: dict[str, str]
) -> dict[str, Any]:
    """Return the formats of columns: powers as in the papers, metrics with four digits."""
    config = st.column_config
    found: dict[str, Any] = {title: config.NumberColumn(title, format="%.4f") for title in metrics.values()}
    for name in wanted:
        title, help_text = _title(columns, name, wanted), columns.setting(name).help
        if columns.by_powers(name, columns.table):
            found[title] = config.NumberColumn(title, format=f"{columns.base(name)}^%d", help=help_text)
        elif isinstance(columns.setting(name).domain, Whole) and pd.api.types.is_numeric_dtype(shown[title]):
            found[title] = config.NumberColumn(title, format="%d", help=help_text)
        elif pd.api.types.is_numeric_dtype(shown[title]):
            found[title] = config.NumberColumn(title, format="%.4g", help=help_text)
    found["★"] = config.TextColumn("★", width=30)
    found["seconds"] = config.NumberColumn("seconds", format="%.3g", help="Training time.")
    found["made"] = config.DatetimeColumn("made", format="D MMM YYYY, HH:mm:ss")
    found["tags"] = config.ListColumn("tags")
    return found


def show(table: pd.DataFrame, columns: Columns, wanted: Sequence[str], metrics: dict[str, str]) -> list[str]:
    """Draw the table; return the digests of its chosen runs."""
    wanted = [name for name in wanted if _says_anything(_written(columns, name, table))]
    shown = cells(table, columns, wanted, metrics)
    key = _key(table, list(shown.columns))
    st.session_state[_LISTED] = table.index
    chosen = chosen_of(table)
    places = [int(place) for place in table.index.get_indexer(pd.Index(chosen))]
    show_table(
        shown,
        key=key,
        hide_index=True,
        height=min(HEIGHT, 36 * (len(shown) + 1) + 3),
        column_config=formats(shown, columns, wanted, metrics),
        on_select=lambda: _take(key),
        selection_mode="multi-row",
        selection_default={"selection": {"rows": places}},
        alt="Runs with settings and metrics.",
    )
    return chosen


def chosen_of(table: pd.DataFrame) -> list[str]:
    """Return the chosen runs of a table."""
    return [digest for digest in st.session_state.get(CHOSEN, []) if digest in table.index]


def choose(digests: Iterable[str]) -> None:
    """Choose runs, and redraw the table with them (a callback)."""
    st.session_state[CHOSEN] = list(digests)
    st.session_state[_VERSION] = st.session_state.get(_VERSION, 0) + 1


def _take(key: str) -> None:
    """Store the clicked rows, by their position in the table as drawn."""
    rows = st.session_state[key]["selection"]["rows"]
    st.session_state[CHOSEN] = [st.session_state[_LISTED][row] for row in rows]


def _key(table: pd.DataFrame, titles: list[str]) -> str:
    """Return the widget's key, which changes with the runs, because it stores positions."""
    told = "".join(table.index) + "|".join(titles) + str(st.session_state.get(_VERSION, 0))
    return f"runs-table-{hashlib.blake2b(told.encode(), digest_size=6).hexdigest()}"
