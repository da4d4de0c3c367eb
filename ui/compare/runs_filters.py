"""Filters of the Runs page: controls on the left, each in the address."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from rankviz.common.numbers import counted
from rankviz.common.settings import Powers, Setting, Steps, Whole, every
from rankviz.datasets import NORMALISATIONS
from rankviz.datasets.samples import SETTINGS as OF_SAMPLES
from rankviz.metrics.formulas import direction
from rankviz.models.methods import METHODS
from rankviz.runs.description import fold_title, fold_words
from rankviz.store.study import STATES
from ui.compare.runs_words import END_HELP, METRIC_HELP, SEARCH_HELP
from ui.controls.settings import METHOD, NORMALISATION
from ui.controls.widgets import Bound, metric_menu
from ui.shell.texts import escaped
from ui.work.metrics import with_column

_NAMED = replace(METHOD, domain=OF_SAMPLES[0].domain, default="", caption=str)
DATASET = replace(_NAMED, name="dataset", symbol="data", label="Data set", key="d")
FOLD = replace(_NAMED, name="fold", symbol="fold", label="Fold", key="f", caption=fold_words)
_NORMALISED = replace(
    NORMALISATION, quiet=True, caption=lambda name: f"normalised: {NORMALISATIONS[name].label}"
)
BOUND = Bound()
PARTS = {"vali": "validation", "train": "training", "test": "test"}
SMALL = 1e-3
"""Smaller numbers are written as powers of ten."""
MOST_MEASURED = 200
"""Largest number of runs for which a metric that runs lack is computed."""
MOST_NAMED = 8
"""Largest number of common settings to list; the others are counted."""
SEARCH, STUDY, STATE, STARRED, WHOSE, BY, LEAST, MOST, DELETED = KEYS = (
    "find",
    "study",
    "state",
    "starred",
    "whose",
    "by",
    "atleast",
    "atmost",
    "deleted",
)
"""Keys of the widgets, and names in the address; those of settings begin with `OF_SETTING`."""
OF_SETTING = "only_"
OF_FOLD = f"{OF_SETTING}{FOLD.key}"
ALL, OWN, SHARED = "all", "own", "shared by others"
MOST_STOPS = 200
"""Largest number of values of a slider; of more, values at even ranks are used."""
PHRASES = ("dataset", "fold", "method", "feature_map", "kernel", "loss", "solver")
"""Settings covered by the search, by label and name."""
_NOTHING: dict[type, Any] = {str: "", list: [], bool: False, float: 0.0}
"""Values of widgets without a filter, by type."""


def known() -> dict[str, tuple[Setting, ...]]:
    """Return the settings of runs by name; methods may have different settings of the same name."""
    found: dict[str, tuple[Setting, ...]] = {}
    of_methods = every(one for method in METHODS.values() for one in method.settings)
    for one in (DATASET, FOLD, METHOD, *of_methods, _NORMALISED, *OF_SAMPLES):
        found[one.name] = (*found.get(one.name, ()), one)
    return found


class Columns:
    """The data and settings columns of a table of runs, in order of display.

    `table` has numbers as numbers, even if some runs do not have the setting.
    """

    def __init__(self, table: pd.DataFrame) -> None:
        self._known = known()
        self.names = [name for name in self._known if name in table]
        self.table = table.assign(**{name: _numbers(table[name]) for name in self.names})

    def setting(self, name: str, value: Any = None) -> Setting:
        """Return the setting with this name; if there are several, the one that offers this value."""
        held, named = self._known[name], isinstance(value, str)
        return next((one for one in held if named and value in one.options), held[0])

    @cached_property
    def _varying(self) -> list[str]:
        """Columns that differ between runs; parts of the table differ in no others."""
        return [name for name in self.names if self._differs(name, self.table)]

    def differing(self, part: pd.DataFrame) -> list[str]:
        """Return the columns that differ within a part of the table."""
        whole = len(part) == len(self.table)
        return [name for name in self._varying if whole or self._differs(name, part)]

    def _differs(self, name: str, table: pd.DataFrame) -> bool:
        """Return True if runs differ in a setting; a setting that only some runs have does not count."""
        values = table[name].map(repr).where(table[name].notna()) if _mixed(table[name]) else table[name]
        found = values.unique()
        gaps = int(pd.isna(found).sum())
        none_is_a_value = gaps and self.setting(name).default is None
        return len(found) - gaps + none_is_a_value > 1

    def format(self, name: str, value: Any) -> str:
        """Format a value as in captions: "C = 2⁻⁷"."""
        setting = self.setting(name, value)
        if isinstance(setting.domain, Whole) and isinstance(value, float):
            value = int(value)
        return setting.format(value if isinstance(value, Hashable) else setting.domain.plain(value))

    def alone(self, name: str, value: Any) -> str:
        """Format a value alone, for menus and cells: "RBF", "2⁻⁷"."""
        if is_none(value):
            return "none"
        return self.format(name, value).removeprefix(f"{self.setting(name, value).symbol} = ")

    def common(self, part: pd.DataFrame) -> str:
        """Describe the common settings of a part of the table, in Markdown, without obvious ones."""
        differing = self.differing(part)
        values = {name: part[name].dropna() for name in self.names if name not in differing}
        words = [self._unless_understood(name, held.iloc[0]) for name, held in values.items() if len(held)]
        said = [escaped(text) for text in words if text]
        more = len(said) - MOST_NAMED
        return " · ".join([*said[:MOST_NAMED], *([f"{counted(more, 'setting')} more"] if more > 0 else [])])

    def _unless_understood(self, name: str, value: Any) -> str:
        setting = self.setting(name, value)
        return "" if setting.quiet and value == setting.default else self.format(name, value)

    def by_powers(self, name: str, table: pd.DataFrame) -> bool:
        """Return True if a column is offered as powers, and has only powers."""
        base = self.base(name)
        if base is None or not pd.api.types.is_float_dtype(table[name]):
            return False
        found = table[name].dropna().unique()
        return len(found) > 0 and all(_exponent(value, base) is not None for value in found)

    def base(self, name: str) -> int | None:
        """Return the base of a column of powers: 10 for small numbers such as tolerances; None for others."""
        offer = self.setting(name).offer
        if isinstance(offer, Powers):
            return offer.base
        return 10 if isinstance(offer, Steps) and any(0 < one < SMALL for one in offer.values) else None

    def exponents(self, name: str, table: pd.DataFrame) -> pd.Series[Any]:
        """Return the exponents of a column of powers."""
        base = self.base(name)
        assert base is not None
        by_value = {value: _exponent(value, base) for value in table[name].dropna().unique()}
        return table[name].map(by_value).astype("float")

    def in_words(self, name: str, table: pd.DataFrame) -> pd.Series[Any]:
        """Return a column as texts; None for runs without the setting."""
        values = table[name]
        if not _mixed(values):
            words = {value: self.alone(name, value) for value in values.dropna().unique()}
            return values.map(words).astype(object)
        first = dict(zip(values.map(repr), values, strict=True))
        labels = {text: None if is_none(value) else self.alone(name, value) for text, value in first.items()}
        return values.map(repr).map(labels).astype(object)


def _mixed(values: pd.Series[Any]) -> bool:
    """Return True if a column has values of several types, including lists such as costs."""
    return values.dtype == object


def _numbers(values: pd.Series[Any]) -> pd.Series[Any]:
    """Return a column as numbers if it has only numbers and gaps."""
    kinds = set(map(type, values.dropna())) if _mixed(values) else set()
    return values.astype(float) if kinds and kinds <= {int, float} else values


def is_none(value: Any) -> bool:
    """Return True if a run does not have a setting, or its value is None."""
    return value is None or (isinstance(value, float) and math.isnan(value))


def _exponent(value: float, base: int) -> int | None:
    """Return the exponent of a power; None for other values."""
    if value <= 0:
        return None
    nearest = round(math.log(value, base))
    return nearest if math.isclose(float(base) ** nearest, value, rel_tol=1e-12) else None


def metrics(columns: Iterable[str]) -> list[str]:
    """Return the names of the table's metrics of any part, in order."""
    split = [name.partition(":") for name in columns]
    return list(dict.fromkeys(name for part, _, name in split if part in PARTS))


def of_parts(names: Sequence[str], parts: Sequence[str], table: pd.DataFrame) -> dict[str, str]:
    """Return the table's columns of metrics on parts, with their titles."""
    wanted = {f"{part}:{name}": f"{name}, {PARTS[part]}" for part in parts for name in names}
    return {column: title for column, title in wanted.items() if column in table}


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
    return metric_menu(st, width="stretch", help=METRIC_HELP) if metrics(table.columns) else ""


def draw(table: pd.DataFrame, columns: Columns, metric: str) -> pd.DataFrame:
    """Draw the filters; return the runs that match.

    A metric that runs lack is computed for the first `MOST_MEASURED` of them.
    """
    about = {"placeholder": "data, method, map, tag, note", "icon": ":material/search:", "help": SEARCH_HELP}
    found = table[searched(table, columns, BOUND.text(SEARCH, "Search", **about))]
    found = _by_names(found, table)
    found = _by_state(found, table)
    end = _end(metric) if metric else 0.0
    found = _by_settings(found, table, columns)
    if metric:
        found = _by_metric(with_column(found, metric, MOST_MEASURED), metric, end)
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


def is_a_filter(key: str) -> bool:
    """Return True for a key of a filter's widget."""
    return key in set(KEYS) - {DELETED} or key.startswith(OF_SETTING)


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
    labels = {one: written.get(one, str(one)) for one in options}
    how = {"placeholder": "all", "help": hint}
    if key == OF_FOLD:
        return list(BOUND.named(BOUND.several, key, label, labels, [], **how))
    return BOUND.several(key, label, labels, [], **how)


def _by_names(found: pd.DataFrame, table: pd.DataFrame) -> pd.DataFrame:
    for setting, hint in ((DATASET, "The data sets."), (FOLD, "The folds.")):
        names = sorted(table[setting.name].dropna().unique())
        if len(names) > 1:
            titles = {name: fold_title(name) for name in names} if setting is FOLD else {}
            chosen = _choice(setting.label, f"{OF_SETTING}{setting.key}", names, titles, hint)
            found = found[found[setting.name].isin(chosen)] if chosen else found
    return found


def _by_state(found: pd.DataFrame, table: pd.DataFrame) -> pd.DataFrame:
    states = [state for state in STATES if (table["state"] == state).any()]
    if len(states) > 1:
        chosen = _choice("State", STATE, states, {}, "Progress or result.")
        found = found[found["state"].isin(chosen)] if chosen else found
    if not table["own"].all():
        whose = BOUND.buttons(WHOSE, "Whose", [ALL, OWN, SHARED])
        found = found if whose == ALL else found[found["own"] == (whose == OWN)]
    if BOUND.switch(STARRED, "With a star"):
        found = found[found["star"]]
    return found


def _end(metric: str) -> float:
    """Draw the field of the worst value to show; 0 shows all."""
    digits = {"step": 0.01, "format": "%.3f", "help": END_HELP}
    if direction(metric) < 0:
        return float(BOUND.number(MOST, f"Validation {metric} at most", 0.0, None, 0.0, **digits))
    return float(BOUND.number(LEAST, f"Validation {metric} at least", 0.0, 1.0, 0.0, **digits))


def _by_metric(found: pd.DataFrame, metric: str, end: float) -> pd.DataFrame:
    column, sign = f"vali:{metric}", direction(metric)
    return found[sign * found[column] >= sign * end] if end > 0 and column in found else found


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
