"""Which runs are shown: what the controls at the left say, each of them in the address."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from rankviz.store.study import STATES
from ui.runs.columns import DATASET, FOLD, Columns, metrics
from ui.shared.controls import place

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
"""A slider has so many values at most; of more, those that stand at even ranks."""
PHRASES = ("dataset", "fold", "method", "feature_map", "kernel", "loss", "solver")
"""Settings that the search looks through, by what they are called and by name."""


@dataclass(frozen=True)
class Shown:
    """What was found.

    Attributes
    ----------
    table : DataFrame
        The runs that are shown.
    total : int
        How many there are without filters.
    metric : str
        The metric that runs are judged by, "" where none was computed.
    differing : list of str
        The settings that are not the same in all of them.
    """

    table: pd.DataFrame
    total: int
    metric: str
    differing: list[str]


def metric_chosen(table: pd.DataFrame) -> str:
    """The metric that runs are judged by."""
    known = metrics(table.columns)
    if not known:
        return ""
    at = place(METRIC, known, USUAL_METRIC)
    help_text = "Mean over a part's queries."
    return str(st.selectbox("Metric", known, at, key=METRIC, bind="query-params", help=help_text))


def draw(table: pd.DataFrame, columns: Columns, metric: str) -> pd.DataFrame:
    """Draw the filters; returns the runs that they let through."""
    found = table[searched(table, columns, _search())]
    found = _by_names(found, table)
    found = _by_state(found, table)
    if metric:
        found = _by_metric(found, metric)
    found = _by_settings(found, table, columns)
    st.button("Show all", icon=":material/filter_alt_off:", on_click=reset, key="show-all", width="stretch")
    return found


def reset() -> None:
    """Take all filters away (a callback)."""
    state = st.session_state
    for key in [str(key) for key in state if is_a_filter(str(key))]:
        if not isinstance(state[key], tuple):  # sliders go with what they were asked for by
            state[key] = ALL if key == WHOSE else _NOTHING[type(state[key])]
    for key in [key for key in st.query_params if is_a_filter(key) and key not in state]:
        del st.query_params[key]


_NOTHING: dict[type, Any] = {str: "", list: [], bool: False, float: 0.0}
"""What widgets hold that filter nothing, by the type of what they hold."""


def is_a_filter(key: str) -> bool:
    """Whether a widget's key is that of a filter."""
    return key in set(KEYS) - {METRIC, DELETED} or key.startswith(OF_SETTING)


def _search() -> str:
    return str(
        st.text_input(
            "Search",
            key=SEARCH,
            bind="query-params",
            placeholder="data, method, map, tag, note",
            icon=":material/search:",
            help="Finds runs that contain all words in their data, method, settings, tags or note.",
        )
    )


def searched(table: pd.DataFrame, columns: Columns, text: str) -> pd.Series[bool]:
    """Which runs have all words of a text; upper and lower case are the same."""
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
    """Which values have a word in their name or in what they are called."""
    known = [value for value in values.dropna().unique() if isinstance(value, str)]
    return values.isin([one for one in known if word in f"{one} {columns.alone(name, one)}".casefold()])


def _choice(label: str, key: str, options: Sequence[Any], written: Mapping[Any, str], hint: str) -> list[Any]:
    """Some of a few values; one that a link names and that is not there is left out."""
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
    """Filters of the settings that one chooses; of names some, of numbers a range."""
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
    """Which values lie between the two ends of a slider; runs without the setting while neither is moved."""
    stops = stops_of(values)
    if len(stops) < 2:
        return values == values
    key, ends = f"{OF_SETTING}{name}", (stops[0], stops[-1])
    held = st.session_state.get(key)
    if held is not None and not all(one in stops for one in held):
        st.session_state[key] = ends
    words = {value: columns.alone(name, value) for value in stops}
    if len(set(words.values())) < len(stops):  # rounded to the same
        words = {value: repr(value) for value in stops}
    low, high = st.select_slider(
        title, stops, ends, key=key, bind="query-params", format_func=words.__getitem__
    )
    if (low, high) == ends:
        return pd.Series(True, index=values.index)
    return values.between(low, high)


def stops_of(values: pd.Series[Any]) -> list[Any]:
    """The values of a slider, rising: the least and the largest always."""
    found = np.unique(values.dropna().to_numpy())
    places = np.unique(np.linspace(0, len(found) - 1, MOST_STOPS).round().astype(int)) if len(found) else []
    return [one.item() for one in found[places]] if len(found) > MOST_STOPS else [one.item() for one in found]
