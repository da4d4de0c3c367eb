"""Filters of the Runs page: controls on the left, each in the address."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from rankviz.store.study import STATES
from ui.controls.widgets import start_index
from ui.runs.columns import DATASET, FOLD, Columns, metrics
from ui.runs.words import SEARCH_HELP

SEARCH, STUDY, STATE, STARRED, WHOSE, BY, METRIC, LEAST, DELETED = KEYS = (
    "find",
    "study",
    "state",
    "starred",
    "whose",
    "by",
    "metric",
    "atleast",
    "deleted",
)
"""Keys of the widgets, and names in the address; those of settings begin with `OF_SETTING`."""
OF_SETTING = "only_"
USUAL_METRIC = "NDCG@10"
ALL, OWN, SHARED = "all", "own", "shared by others"
MOST_STOPS = 200
"""Largest number of values of a slider; of more, values at even ranks are used."""
PHRASES = ("dataset", "fold", "method", "feature_map", "kernel", "loss", "solver")
"""Settings covered by the search, by label and name."""


@dataclass(frozen=True)
class Shown:
    """The result of the filters.

    Attributes
    ----------
    table : DataFrame
        The filtered runs.
    total : int
        Number of runs without filters.
    metric : str
        The metric for comparing runs, "" if none was computed.
    differing : list of str
        Settings that differ between these runs.
    """

    table: pd.DataFrame
    total: int
    metric: str
    differing: list[str]


def metric_chosen(table: pd.DataFrame) -> str:
    """Draw the menu of metrics; return the chosen one."""
    known = metrics(table.columns)
    if not known:
        return ""
    at = start_index(METRIC, known, USUAL_METRIC)
    help_text = "Mean over queries."
    return str(st.selectbox("Metric", known, at, key=METRIC, bind="query-params", help=help_text))


def draw(table: pd.DataFrame, columns: Columns, metric: str) -> pd.DataFrame:
    """Draw the filters; return the runs that match."""
    found = table[searched(table, columns, _search())]
    found = _by_names(found, table)
    found = _by_state(found, table)
    if metric:
        found = _by_metric(found, metric)
    found = _by_settings(found, table, columns)
    st.button("Show all", icon=":material/filter_alt_off:", on_click=reset, key="show-all", width="stretch")
    return found


def reset() -> None:
    """Remove all filters (a callback)."""
    state = st.session_state
    for key in [str(key) for key in state if is_a_filter(str(key))]:
        if not isinstance(state[key], tuple):  # sliders end with the values that they filter
            state[key] = ALL if key == WHOSE else _NOTHING[type(state[key])]
    for key in [key for key in st.query_params if is_a_filter(key) and key not in state]:
        del st.query_params[key]


_NOTHING: dict[type, Any] = {str: "", list: [], bool: False, float: 0.0}
"""Values of widgets without a filter, by type."""


def is_a_filter(key: str) -> bool:
    """Return True for a key of a filter's widget."""
    return key in set(KEYS) - {METRIC, DELETED} or key.startswith(OF_SETTING)


def _search() -> str:
    return str(
        st.text_input(
            "Search",
            key=SEARCH,
            bind="query-params",
            placeholder="data, method, map, tag, note",
            icon=":material/search:",
            help=SEARCH_HELP,
        )
    )


def searched(table: pd.DataFrame, columns: Columns, text: str) -> pd.Series[bool]:
    """Return True for runs that have all words of a text, ignoring case."""
    wanted, found = text.casefold().split(), pd.Series(True, index=table.index)
    for word in wanted:
        here = table["note"].str.casefold().str.contains(word, regex=False)
        here |= table["tags"].map(lambda tags, word=word: any(word in tag.casefold() for tag in tags))
        here |= pd.Series(table.index.str.startswith(word), table.index)
        for name in PHRASES:
            if name in table:
                here |= _has(table[name], columns, name, word)
        found &= here
    return found


def _has(values: pd.Series[Any], columns: Columns, name: str, word: str) -> pd.Series[bool]:
    """Return True for values with a word in their name or label."""
    known = [value for value in values.dropna().unique() if isinstance(value, str)]
    return values.isin([one for one in known if word in f"{one} {columns.alone(name, one)}".casefold()])


def _choice(label: str, key: str, options: Sequence[Any], written: Mapping[Any, str], hint: str) -> list[Any]:
    """Draw a menu of values; drop values from a link that do not exist."""
    if key in st.session_state:
        st.session_state[key] = [one for one in st.session_state[key] if one in options]
    return list(
        st.multiselect(
            label,
            options,
            key=key,
            bind="query-params",
            format_func=lambda one: written.get(one, str(one)),
            placeholder="all",
            help=hint,
        )
    )


def _by_names(found: pd.DataFrame, table: pd.DataFrame) -> pd.DataFrame:
    for setting, hint in ((DATASET, "The data sets."), (FOLD, "The folds.")):
        names = sorted(table[setting.name].dropna().unique())
        if len(names) > 1:
            chosen = _choice(setting.label, f"{OF_SETTING}{setting.key}", names, {}, hint)
            found = found[found[setting.name].isin(chosen)] if chosen else found
    return found


def _by_state(found: pd.DataFrame, table: pd.DataFrame) -> pd.DataFrame:
    states = [state for state in STATES if (table["state"] == state).any()]
    if len(states) > 1:
        chosen = _choice("State", STATE, states, {}, "Progress or result.")
        found = found[found["state"].isin(chosen)] if chosen else found
    if not table["own"].all():
        whose = st.segmented_control(
            "Whose", [ALL, OWN, SHARED], default=ALL, required=True, key=WHOSE, bind="query-params"
        )
        found = found if whose == ALL else found[found["own"] == (whose == OWN)]
    if st.toggle("With a star", key=STARRED, bind="query-params"):
        found = found[found["star"]]
    return found


def _by_metric(found: pd.DataFrame, metric: str) -> pd.DataFrame:
    least = st.number_input(
        f"Validation {metric} at least",
        0.0,
        1.0,
        value=0.0,
        step=0.01,
        format="%.4f",
        key=LEAST,
        bind="query-params",
    )
    column = f"vali:{metric}"
    return found[found[column] >= least] if least > 0 and column in found else found


def _by_settings(found: pd.DataFrame, table: pd.DataFrame, columns: Columns) -> pd.DataFrame:
    """Draw filters of the other settings: menus for names, ranges for numbers."""
    offered = [name for name in columns.differing(table) if name not in (DATASET.name, FOLD.name)]
    if not offered:
        return found
    titles = {name: columns.setting(name).label for name in offered}
    titles |= {
        name: f"{titles[name]} ({name})" for name in offered if list(titles.values()).count(titles[name]) > 1
    }
    for name in _choice("Filter by setting", BY, offered, titles, "Settings that differ."):
        values = table[name]
        if pd.api.types.is_numeric_dtype(values) and not pd.api.types.is_bool_dtype(values):
            found = found[_in_range(name, titles[name], values, columns).reindex(found.index)]
        else:
            words = columns.in_words(name, table).fillna("none")
            chosen = _choice(titles[name], f"{OF_SETTING}{name}", sorted(words.unique()), {}, "")
            found = found[words.reindex(found.index).isin(chosen)] if chosen else found
    return found


def _in_range(name: str, title: str, values: pd.Series[Any], columns: Columns) -> pd.Series[bool]:
    """Return True for values in a slider's range; for runs without the setting if it is not moved."""
    stops = stops_of(values)
    if len(stops) < 2:
        return values == values
    key, ends = f"{OF_SETTING}{name}", (stops[0], stops[-1])
    held = st.session_state.get(key)
    if held is not None and not all(one in stops for one in held):
        st.session_state[key] = ends
    words = {value: columns.alone(name, value) for value in stops}
    if len(set(words.values())) < len(stops):  # rounded to the same text
        words = {value: repr(value) for value in stops}
    low, high = st.select_slider(
        title, stops, ends, key=key, bind="query-params", format_func=words.__getitem__
    )
    if (low, high) == ends:
        return pd.Series(True, index=values.index)
    return values.between(low, high)


def stops_of(values: pd.Series[Any]) -> list[Any]:
    """Return the values of a slider, ascending, always including the smallest and the largest."""
    found = np.unique(values.dropna().to_numpy())
    places = np.unique(np.linspace(0, len(found) - 1, MOST_STOPS).round().astype(int)) if len(found) else []
    return [one.item() for one in found[places]] if len(found) > MOST_STOPS else [one.item() for one in found]
