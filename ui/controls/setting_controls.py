"""Controls of settings: their widgets, and the values of these.

A setting's control follows from its domain and its offer. A power is held as its exponent, no rank as 0,
costs as a choice and a line of numbers; all others unchanged.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from rankviz.common.errors import SettingError
from rankviz.common.numbers import exact
from rankviz.common.settings import Powers, Setting, Steps, Typed
from rankviz.datasets import DataError
from rankviz.learning.pairs import COSTS, RULES, Costs, triangle
from rankviz.models.given import SYSTEM
from ui.controls.widgets import Bound
from ui.shell import words
from ui.shell.figures import capital
from ui.work.systems import systems

PLAIN, TABLE, TABLE_QUERY = "none", "table", "table_query"
TABLES = (TABLE, TABLE_QUERY)
"""Choices that read the line of numbers."""
TABLE_KEY = "lam"
"""Key of the line of numbers."""
LARGEST = 1000.0
DEFAULT_TABLE = "1, 2, 1.3"
"""he2009 §4.2: λ₁₀, λ₂₀, λ₂₁."""


def choices() -> dict[str, str]:
    """Return the labels of the menu of costs, by value."""
    rules = {name: capital(rule.label) for name, rule in RULES.items()}
    return {PLAIN: "every pair costs 1", **rules, TABLE: "λ as below", TABLE_QUERY: "λ as below × μ by query"}


def costs_of(choice: str, text: str) -> Costs:
    """Return the costs for the select box and the line of numbers; `DataError` for an invalid line."""
    if choice == PLAIN:
        return None
    if choice not in TABLES:
        return choice
    return table_of(numbers_of(text), by_query=choice == TABLE_QUERY)


def table_of(values: list[float], *, by_query: bool) -> tuple[object, ...]:
    """Return λ of grades r > s from λ₁₀, λ₂₀, λ₂₁, λ₃₀, … as a symmetric table, alone or with μ by query."""
    grades = next(r for r in range(2, len(values) + 2) if r * (r - 1) // 2 >= len(values))
    at = iter(values)
    found = [[0.0] * grades for _ in range(grades)]
    for r in range(1, grades):
        for s in range(r):
            found[r][s] = found[s][r] = next(at)
    rows = tuple(map(tuple, found))
    return ("query", rows) if by_query else rows


def numbers_of(text: str) -> list[float]:
    """Return the numbers of a line such as "1, 2, 1.3": one for every pair of grades."""
    try:
        values = [round(float(word), 4) for word in text.replace(";", " ").replace(",", " ").split()]
    except ValueError:
        values = []
    fits = [r * (r - 1) // 2 for r in range(2, 12)]
    if len(values) not in fits or not all(0 <= value <= LARGEST for value in values):
        expected = words.COSTS_EXPECTED.format(largest=LARGEST)
        raise DataError(f"λ = “{text}”", expected=expected, remedy=words.COSTS_REMEDY)
    return values


def state_of_costs(costs: Costs) -> dict[str, Any]:
    """Return values of the select box and the line of numbers: the inverse of `costs_of`."""
    if costs is None or isinstance(costs, str):
        return {"costs": costs or PLAIN}
    values = ", ".join(f"{value:g}" for value in triangle(costs))
    return {"costs": TABLE_QUERY if costs[0] == "query" else TABLE, TABLE_KEY: values}


STARTS = "starts"
"""Session key of the settings' initial values for the chosen data set, by name."""


@dataclass(frozen=True)
class Control(ABC):
    """The control of one setting, bound to the URL under the setting's key.

    Attributes
    ----------
    setting : Setting
    lasting : bool
        True if it keeps its value while a page does not draw it.
    """

    setting: Setting
    lasting: bool = False

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys of its widgets."""
        return (self.setting.key,)

    def draw(self, disabled: bool, hint: str, **more: Any) -> None:
        """Draw it, with a help text and more arguments of Streamlit's; greyed out if nothing reads it."""
        kept = {"persist_state": "session"} if self.lasting else {}
        start = self.to_widgets(initial_value(self.setting, st.session_state))[self.setting.key]
        how = {"disabled": disabled, "help": hint} | kept | more
        self.widget(self.setting.key, self.setting.label, start, how)

    @abstractmethod
    def widget(self, key: str, label: str, start: Any, how: dict[str, Any]) -> None:
        """Draw its widgets; `how` are further arguments of Streamlit's."""

    def to_widgets(self, value: Any) -> dict[str, Any]:
        """Return its widgets' values for a setting's value, by key; `SettingError` if it is not offered."""
        return {self.setting.key: value}

    def value(self, state: Mapping[str, Any]) -> Any:
        """Return the setting's value from its widgets; their initial value if they are not there yet.

        Raises `DataError` for costs that are not numbers.
        """
        key = self.setting.key
        return self.from_widget(state[key]) if key in state else initial_value(self.setting, state)

    def from_widget(self, raw: Any) -> Any:
        """Return the setting's value for a value of its main widget."""
        return raw

    def label(self, key: str, raw: Any) -> str:
        """Return the label of a widget's value, in menus and in the URL."""
        return str(raw)

    def value_for_widget(self, value: Any, there: bool) -> dict[str, Any]:
        """Return the value of its widget if it is there; else raise `SettingError`."""
        if not there:
            shown = self.setting.format(value)
            raise SettingError(f"{shown} is not available in “{self.setting.label}”")
        return {self.setting.key: value}


class Menu(Control):
    """The names of a registry."""

    def widget(self, key: str, label: str, start: Any, how: dict[str, Any]) -> None:
        """Draw a menu of the options' labels."""
        Bound().menu(key, label, {name: self.label(key, name) for name in self._offered}, start, **how)

    @property
    def _offered(self) -> list[str]:
        """The names; methods of given scores only if this visitor has some, or has chosen one."""
        state, options = st.session_state, self.setting.options
        needed = {name for name, option in options.items() if getattr(option, "named_by", None) is SYSTEM}
        asked = {state.get(self.setting.key), st.query_params.get(self.setting.key)}
        if not needed or systems(state["data"]):
            return list(options)
        return [name for name in options if name not in needed or {name, self.label("", name)} & asked]

    def label(self, key: str, raw: Any) -> str:
        """Return the label of the option."""
        return str(self.setting.options[raw].label)


class Exponents(Control):
    """A slider over the exponents of powers."""

    def widget(self, key: str, label: str, start: Any, how: dict[str, Any]) -> None:
        """Draw a slider that shows powers."""
        low, high, base = self._offer
        Bound().slider(key, label, low, high, start, step=1, format=f"${base}^{{%d}}$", **how)

    @property
    def _offer(self) -> tuple[int, int, int]:
        assert isinstance(self.setting.offer, Powers)
        return self.setting.offer.low, self.setting.offer.high, self.setting.offer.base

    def to_widgets(self, value: Any) -> dict[str, Any]:
        """Return the exponent."""
        low, high, base = self._offer
        exponent = low - 1 if isinstance(value, str) else round(math.log(value, base))
        there = low <= exponent <= high and math.isclose(self.from_widget(exponent), value)
        return self.value_for_widget(value, there) | {self.setting.key: exponent}

    def from_widget(self, raw: Any) -> Any:
        """Return the power."""
        return float(self._offer[2]) ** int(raw)


class Listed(Control):
    """A slider over the values of a list."""

    def widget(self, key: str, label: str, start: Any, how: dict[str, Any]) -> None:
        """Draw a slider over the values."""
        Bound().steps(key, label, {value: exact(value) for value in self._values}, start, **how)

    @property
    def _values(self) -> Sequence[Any]:
        assert isinstance(self.setting.offer, Steps)
        return self.setting.offer.values

    def to_widgets(self, value: Any) -> dict[str, Any]:
        """Return the value if it is listed."""
        return self.value_for_widget(value, value in self._values)

    def label(self, key: str, raw: Any) -> str:
        """Return the number in the slider's format."""
        return exact(raw)


class Number(Control):
    """A whole number to type; the smallest means None if that is the default."""

    def widget(self, key: str, label: str, start: Any, how: dict[str, Any]) -> None:
        """Draw a field for the number."""
        Bound().number(key, label, *self._ends, start, step=1, **how)

    @property
    def _ends(self) -> tuple[int, int]:
        assert isinstance(self.setting.offer, Typed)
        return int(self.setting.offer.low), int(self.setting.offer.high)

    def to_widgets(self, value: Any) -> dict[str, Any]:
        """Return the number if it can be typed."""
        low, high = self._ends
        raw = low if value is None else value
        return self.value_for_widget(value, low <= raw <= high) | {self.setting.key: raw}

    def from_widget(self, raw: Any) -> Any:
        """Return the number, or None."""
        return None if self.setting.default is None and int(raw) == self._ends[0] else raw


class CostsOfPairs(Control):
    """A menu of costs, and a line of numbers for a custom table."""

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys of its widgets."""
        return (self.setting.key, TABLE_KEY)

    def widget(self, key: str, label: str, start: Any, how: dict[str, Any]) -> None:
        """Draw the menu and the line."""
        own_costs = Bound().menu(key, label, choices(), start, **how) in TABLES
        hint = {"help": words.COSTS_BY_GRADE, "disabled": how["disabled"] or not own_costs}
        Bound().text(TABLE_KEY, "λ₁₀, λ₂₀, λ₂₁, …", DEFAULT_TABLE, **hint)

    def to_widgets(self, value: Any) -> dict[str, Any]:
        """Return the choice, and the line of numbers if it needs one."""
        return state_of_costs(value)

    def value(self, state: Mapping[str, Any]) -> Any:
        """Return the costs from the choice and the line."""
        start = self.to_widgets(initial_value(self.setting, st.session_state))[self.setting.key]
        return costs_of(state.get(self.setting.key, start), state.get(TABLE_KEY, DEFAULT_TABLE))

    def label(self, key: str, raw: Any) -> str:
        """Return the label of the choice; the line unchanged."""
        return str(raw) if key == TABLE_KEY else choices()[raw]


class Systems(Control):
    """The visitor's own systems on the chosen data set; a link has their names."""

    def widget(self, key: str, label: str, start: Any, how: dict[str, Any]) -> None:
        """Draw a menu of their names."""
        Bound().menu(key, label, systems(st.session_state["data"]) or {"": self.setting.format("")}, **how)

    def value(self, state: Mapping[str, Any]) -> Any:
        """Return the chosen system, or the latest; "" without one."""
        there = systems(state["data"]) if "data" in state else {}
        chosen = state.get(self.setting.key, "")
        return chosen if chosen in there else next(iter(there), "")

    def label(self, key: str, raw: Any) -> str:
        """Return the name of the system."""
        return systems(st.session_state["data"]).get(raw, self.setting.format(raw))


KINDS: tuple[tuple[Callable[[Setting], bool], type[Control]], ...] = (
    (lambda setting: setting is COSTS, CostsOfPairs),
    (lambda setting: setting is SYSTEM, Systems),
    (lambda setting: bool(setting.options), Menu),
    (lambda setting: isinstance(setting.offer, Powers), Exponents),
    (lambda setting: isinstance(setting.offer, Steps), Listed),
    (lambda setting: isinstance(setting.offer, Typed), Number),
)
"""Controls with their conditions on settings; the first match is used."""


def control_of(setting: Setting, *, lasting: bool = False) -> Control:
    """Return the control of a setting with a key; TypeError if none fits."""
    for fits, kind in KINDS:
        if fits(setting):
            return kind(setting, lasting)
    raise TypeError(f"no control for the setting {setting.name!r}, which is offered as {setting.offer!r}")


def widget_values(setting: Setting, value: Any) -> dict[str, Any]:
    """Return the values of a setting's widgets for its value, by key; empty without a control."""
    return control_of(setting).to_widgets(value) if setting.key else {}


def value_from(setting: Setting, state: Mapping[str, Any]) -> Any:
    """Return a setting's value from its widgets; their initial value if they have none."""
    return control_of(setting).value(state) if setting.key else setting.first


def initial_value(setting: Setting, state: Mapping[str, Any]) -> Any:
    """Return a setting's initial value on the chosen data set; the app's default otherwise."""
    return state.get(STARTS, {}).get(setting.name, setting.first)
