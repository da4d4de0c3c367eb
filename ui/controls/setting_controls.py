"""Controls of settings: their values, their drawing, and their form in addresses and pins.

A setting's control follows from its domain and its offer. A power is held as its exponent, no rank as 0,
costs as a choice and a line of numbers; all others unchanged.
"""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import streamlit as st

from rankviz.common.errors import SettingError
from rankviz.common.numbers import superscript
from rankviz.common.settings import Powers, Setting, Steps, Typed
from rankviz.datasets import DataError
from rankviz.learning.costs import RULES, Costs, triangle
from rankviz.learning.risk_settings import COSTS
from ui.controls.widgets import start_index
from ui.shell import words
from ui.shell.figures import capital
from ui.shell.words import COSTS_REMEDY, costs_expected

PLAIN, TABLE, TABLE_QUERY = "none", "table", "table_query"
CHOICES = {
    PLAIN: "every pair costs 1",
    **{name: capital(rule.label) for name, rule in RULES.items()},
    TABLE: "λ as below",
    TABLE_QUERY: "λ as below × μ by query",
}
"""Labels of the select box, by value."""

TABLE_KEY = "lam"
"""Key of the line of numbers."""
LARGEST = 1000.0
DEFAULT_TABLE = "1, 2, 1.3"
"""he2009 §4.2: λ₁₀, λ₂₀, λ₂₁."""


def costs_of(choice: str, text: str) -> Costs:
    """Return the costs for the select box and the line of numbers; `DataError` for an invalid line."""
    if choice == PLAIN:
        return None
    if not needs_table(choice):
        return choice
    return table_of(numbers_of(text), by_query=choice == TABLE_QUERY)


def needs_table(choice: str) -> bool:
    """Return True if a choice reads the line of numbers."""
    return choice in (TABLE, TABLE_QUERY)


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
    words = text.replace(";", " ").replace(",", " ").split()
    try:
        values = [round(float(word), 4) for word in words]
    except ValueError:
        values = []
    fits = [r * (r - 1) // 2 for r in range(2, 12)]
    if len(values) not in fits or not all(0 <= value <= LARGEST for value in values):
        raise DataError(
            f"λ = “{text}”",
            expected=costs_expected(LARGEST),
            remedy=COSTS_REMEDY,
        )
    return values


def state_of_costs(costs: Costs) -> dict[str, Any]:
    """Return values of the select box and the line of numbers: the inverse of `costs_of`."""
    if costs is None or isinstance(costs, str):
        return {"costs": costs or PLAIN}
    values = ", ".join(f"{value:g}" for value in triangle(costs))
    return {"costs": TABLE_QUERY if costs[0] == "query" else TABLE, TABLE_KEY: values}


def in_a_pin(line: str) -> str:
    """Return a line of numbers as letters and digits: "1x2x1p3"."""
    return "x".join(f"{value:g}" for value in numbers_of(line)).replace(".", "p")


def line_of_a_pin(text: str) -> str:
    """Return the line of numbers from a text in a pin; `DataError` for an invalid text."""
    return ", ".join(f"{value:g}" for value in numbers_of(text.replace("p", ".").replace("x", " ")))


_OTHERS = re.compile(r"[^A-Za-z0-9_]+")
_WHOLE = re.compile(r"-?[0-9]{1,10}")


def number(value: Any) -> str:
    """Format a listed value in ASCII; small ones with a power of ten."""
    if not isinstance(value, float):
        return str(value)
    short = f"{value:.0e}" if 0 < abs(value) < 1e-2 else f"{value:g}"
    return short if float(short) == value else repr(value)


def told(value: Any) -> str:
    """Format a listed value: 10⁻⁶ for a small power of ten, else like `number`."""
    written = number(value)
    mantissa, power, exponent = written.partition("e")
    return f"10{superscript(int(exponent))}" if power and mantissa == "1" else written


def pointless(value: Any) -> str:
    """Format a listed value in letters, digits and -, with "p" for its point."""
    return number(value).replace(".", "p")


def plain(name: str) -> str:
    """Format a name in letters, digits, _ and -: other characters become hexadecimal digits between two -."""
    return _OTHERS.sub(lambda found: f"-{found[0].encode().hex()}-", name)


def written_so(text: str, values: Iterable[Any], write: Callable[[Any], str]) -> Any:
    """Return the value with this text; ValueError if there is none."""
    for value in values:
        if write(value) == text:
            return value
    raise ValueError(f"{text!r} is none of {', '.join(map(write, values))}")


def whole(text: str, low: int, high: int) -> int:
    """Return the whole number of a text; ValueError outside the range."""
    if not _WHOLE.fullmatch(text) or not low <= int(text) <= high:
        raise ValueError(f"{text!r} is no whole number from {low} to {high}")
    return int(text)


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

    @abstractmethod
    def draw(self, disabled: bool, hint: str) -> None:
        """Draw it, with a help text; greyed out if nothing reads it."""

    def held(self, value: Any) -> dict[str, Any]:
        """Return its widgets' values for a setting's value, by key; `SettingError` if it is not offered."""
        return {self.setting.key: value}

    def value(self, state: Mapping[str, Any]) -> Any:
        """Return the setting's value from its widgets; their initial value if they are not there yet.

        Raises `DataError` for costs that are not numbers.
        """
        key = self.setting.key
        return self.taken(state[key]) if key in state else first(self.setting, state)

    def taken(self, raw: Any) -> Any:
        """Return the setting's value for a value of its main widget."""
        return raw

    def label(self, key: str, raw: Any) -> str:
        """Return the label of a widget's value, in menus and in the URL."""
        return str(raw)

    def written(self, key: str, raw: Any) -> str:
        """Return a widget's value for a pin: letters, digits, _ and - only."""
        return str(raw)

    @abstractmethod
    def read(self, key: str, text: str) -> Any:
        """Return a widget's value from a text in a pin; ValueError if it does not offer that."""

    @property
    def start(self) -> Any:
        """Initial value of the main widget."""
        return self.held(first(self.setting, st.session_state))[self.setting.key]

    def common(self, disabled: bool, hint: str) -> dict[str, Any]:
        """Return the keyword arguments of all widgets."""
        kept = {"persist_state": "session"} if self.lasting else {}
        return {"key": self.setting.key, "bind": "query-params", "disabled": disabled, "help": hint} | kept

    def not_offered(self, value: Any) -> SettingError:
        """Return the error for a value that it cannot hold."""
        return SettingError(f"{self.setting.told(value)} is not available in “{self.setting.label}”")


class Menu(Control):
    """The names of a registry."""

    def draw(self, disabled: bool, hint: str) -> None:
        """Draw it, with a help text; greyed out if nothing reads it."""
        options = list(self.setting.options)
        at = start_index(self.setting.key, options, self.start)
        common = self.common(disabled, hint)
        st.selectbox(self.setting.label, options, at, format_func=self._label, **common)

    def label(self, key: str, raw: Any) -> str:
        """Return the label of the option."""
        return self._label(raw)

    def _label(self, name: str) -> str:
        return str(self.setting.options[name].label)

    def written(self, key: str, raw: Any) -> str:
        """Return the name, with characters other than letters, digits and _ in hexadecimal."""
        return plain(raw)

    def read(self, key: str, text: str) -> Any:
        """Return the name from this form."""
        return written_so(text, self.setting.options, plain)


class Exponents(Control):
    """A slider over the exponents of powers."""

    @property
    def _powers(self) -> Powers:
        assert isinstance(self.setting.offer, Powers)
        return self.setting.offer

    def draw(self, disabled: bool, hint: str) -> None:
        """Draw it, with a help text; greyed out if nothing reads it."""
        low, high, written = self._powers.low, self._powers.high, f"${self._powers.base}^{{%d}}$"
        common = self.common(disabled, hint)
        st.slider(self.setting.label, low, high, self.start, step=1, format=written, **common)

    def held(self, value: Any) -> dict[str, Any]:
        """Return the exponent."""
        if isinstance(value, str):
            raise self.not_offered(value)
        exponent = round(math.log(value, self._powers.base))
        offered = self._powers.low <= exponent <= self._powers.high
        if not offered or not math.isclose(self.taken(exponent), value):
            raise self.not_offered(value)
        return {self.setting.key: exponent}

    def taken(self, raw: Any) -> Any:
        """Return the power."""
        return float(self._powers.base) ** int(raw)

    def read(self, key: str, text: str) -> Any:
        """Return the exponent if it is on the slider."""
        return whole(text, self._powers.low, self._powers.high)


class Listed(Control):
    """A slider over the values of a list."""

    @property
    def _values(self) -> list[Any]:
        assert isinstance(self.setting.offer, Steps)
        return list(self.setting.offer.values)

    def draw(self, disabled: bool, hint: str) -> None:
        """Draw it, with a help text; greyed out if nothing reads it."""
        values = self._values
        at = values[start_index(self.setting.key, values, self.start)]
        common = self.common(disabled, hint)
        st.select_slider(self.setting.label, values, at, format_func=told, **common)

    def held(self, value: Any) -> dict[str, Any]:
        """Return the value if it is listed."""
        if value not in self._values:
            raise self.not_offered(value)
        return {self.setting.key: value}

    def label(self, key: str, raw: Any) -> str:
        """Return the number in the slider's format."""
        return told(raw)

    def written(self, key: str, raw: Any) -> str:
        """Return the number with "p" for its point."""
        return pointless(raw)

    def read(self, key: str, text: str) -> Any:
        """Return the listed value from this form."""
        return written_so(text, self._values, pointless)


class Number(Control):
    """A whole number to type; the smallest means None if that is the default."""

    @property
    def _ends(self) -> tuple[int, int]:
        assert isinstance(self.setting.offer, Typed)
        return int(self.setting.offer.low), int(self.setting.offer.high)

    def draw(self, disabled: bool, hint: str) -> None:
        """Draw it, with a help text; greyed out if nothing reads it."""
        low, high = self._ends
        st.number_input(self.setting.label, low, high, self.start, step=1, **self.common(disabled, hint))

    def held(self, value: Any) -> dict[str, Any]:
        """Return the number if it can be typed."""
        low, high = self._ends
        raw = low if value is None else value
        if not low <= raw <= high:
            raise self.not_offered(value)
        return {self.setting.key: raw}

    def taken(self, raw: Any) -> Any:
        """Return the number, or None."""
        return None if self.setting.default is None and int(raw) == self._ends[0] else raw

    def read(self, key: str, text: str) -> Any:
        """Return the number if it can be typed."""
        return whole(text, *self._ends)


class CostsOfPairs(Control):
    """A menu of costs, and a line of numbers for a custom table."""

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys of its widgets."""
        return (self.setting.key, TABLE_KEY)

    def draw(self, disabled: bool, hint: str) -> None:
        """Draw it, with a help text; greyed out if nothing reads it."""
        options, common = list(CHOICES), self.common(disabled, hint)
        at = start_index(self.setting.key, options, self.start)
        chosen = st.selectbox(self.setting.label, options, at, format_func=CHOICES.__getitem__, **common)
        st.text_input(
            "λ₁₀, λ₂₀, λ₂₁, …",
            DEFAULT_TABLE,
            key=TABLE_KEY,
            bind="query-params",
            disabled=disabled or not needs_table(chosen),
            help=words.COSTS_BY_GRADE,
        )

    def held(self, value: Any) -> dict[str, Any]:
        """Return the choice, and the line of numbers if it needs one."""
        return state_of_costs(value)

    def value(self, state: Mapping[str, Any]) -> Any:
        """Return the costs from the choice and the line."""
        choice = state.get(self.setting.key, self.start)
        return costs_of(choice, state.get(TABLE_KEY, DEFAULT_TABLE))

    def label(self, key: str, raw: Any) -> str:
        """Return the label of the choice; the line unchanged."""
        return str(raw) if key == TABLE_KEY else CHOICES[raw]

    def written(self, key: str, raw: Any) -> str:
        """Return the name of the choice; the numbers of the line, with "x" between them."""
        return in_a_pin(raw) if key == TABLE_KEY else plain(raw)

    def read(self, key: str, text: str) -> Any:
        """Return the choice from this form; or a line of numbers."""
        return line_of_a_pin(text) if key == TABLE_KEY else written_so(text, CHOICES, plain)


KINDS: tuple[tuple[Callable[[Setting], bool], type[Control]], ...] = (
    (lambda setting: setting is COSTS, CostsOfPairs),
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


def held(setting: Setting, value: Any) -> dict[str, Any]:
    """Return the values of a setting's widgets for its value, by key; empty without a control."""
    return control_of(setting).held(value) if setting.key else {}


def value_from(setting: Setting, state: Mapping[str, Any]) -> Any:
    """Return a setting's value from its widgets; their initial value if they have none."""
    return control_of(setting).value(state) if setting.key else setting.first


def first(setting: Setting, state: Mapping[str, Any]) -> Any:
    """Return a setting's initial value on the chosen data set; the app's default otherwise."""
    return state.get(STARTS, {}).get(setting.name, setting.first)
