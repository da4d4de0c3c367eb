"""`rankviz runs`: what is in the run store."""

from __future__ import annotations

from argparse import Namespace

import pandas as pd

from rankviz.command.output import rows, say, say_json, say_table
from rankviz.command.values import number, pair
from rankviz.common.errors import SettingError
from rankviz.runs.record import NOT_MADE_HERE
from rankviz.store import RunStore
from rankviz.store.listing import ABOUT, DATA
from rankviz.store.study import IMPORTED

METRICS = ("vali:NDCG@10", "vali:MAP")
"""Listed unless others are asked for; the test part is looked at once, when a choice is made."""


def run(chosen: Namespace) -> int:
    """List runs, or studies."""
    if chosen.limit < 0:
        raise SettingError(f"--limit {chosen.limit}: give a number of rows, or 0 for all")
    store = RunStore()
    try:
        if chosen.studies:
            _studies(store, as_json=chosen.json)
        else:
            _runs(store, chosen)
    finally:
        store.close()
    return 0


def _studies(store: RunStore, *, as_json: bool) -> None:
    found = store.studies.every()
    if as_json:
        about = {status.id: status for status in found}
        say_json(
            [
                {
                    "study": key,
                    "title": status.study.title,
                    "runs": dict(status.counts),
                    "asked": status.asked,
                }
                for key, status in about.items()
            ]
        )
        return
    for status in found:
        say(f"{status.id}  {status.study.title}: {status.in_words}")
    if not found:
        say("No studies yet: `rankviz sweep` makes one.")


def _runs(store: RunStore, chosen: Namespace) -> None:
    if chosen.study is not None:
        store.studies.status(chosen.study)  # which says where there is none
    table = store.listing.every() if chosen.study is None else store.listing.of_studies([chosen.study])
    table = selected(table, chosen.where, chosen.data)
    if chosen.sort:
        table = table.sort_values(known(table, chosen.sort), ascending=False, kind="stable", key=_numbers)
    total = len(table)
    table = table.head(chosen.limit) if chosen.limit else table
    if chosen.json:
        say_json(rows(table.drop(columns=["own", "star", "note", "shared", "tags"]).reset_index()))
        return
    if table.empty:
        say("No such runs: `rankviz train` makes one.")
        return
    metrics = [known(table, name) for name in chosen.metric] or [name for name in METRICS if name in table]
    table = table.assign(state=table["state"].replace(IMPORTED, NOT_MADE_HERE))
    say_table(table[[*differing(table), *metrics]])
    if len(table) < total:
        say(f"{len(table):,} of {total:,} runs; --limit 0 lists all.")


def selected(table: pd.DataFrame, where: list[str], data: str | None) -> pd.DataFrame:
    """The rows in which settings have the values that are asked for."""
    asked = [pair(text) for text in where] + ([("dataset", data)] if data else [])
    for name, text in asked:
        column, value = table[known(table, name)], number(text)
        table = table[(column == text) | (False if value is None else column == value)]
    return table


def known(table: pd.DataFrame, name: str) -> str:
    """A column by its name; `SettingError` where there is none."""
    if name not in table:
        raise SettingError(f"{name!r} is no column of runs; there are {', '.join(map(str, table.columns))}")
    return name


def differing(table: pd.DataFrame) -> list[str]:
    """State, and the columns of data and settings in which the rows differ."""
    settings = [str(name) for name in table if name not in (*ABOUT, "seconds") and ":" not in str(name)]
    differ = (name for name in settings if name in DATA[:2] or len(set(map(str, table[name]))) > 1)
    return ["state", *differ]


def _numbers(column: pd.Series) -> pd.Series:
    return pd.to_numeric(column, errors="coerce")
