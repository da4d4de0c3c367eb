"""The controls of settings: what each holds, how it is drawn, and how the address and pins write it.

Which control a setting has follows from what it may be and how it is offered. A power is held as its
exponent, no rank as 0, costs as a choice and a line of numbers; all else as it is.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import streamlit as st

from rankviz.common.errors import SettingError
from rankviz.common.settings import Powers, Setting, Steps, Typed
from rankviz.risk.settings import COSTS
from ui.shared import words
from ui.shared.costs import (
    CHOICES,
    DEFAULT_TABLE,
    TABLE_KEY,
    costs_of,
    in_a_pin,
    line_of_a_pin,
    needs_table,
    state_of_costs,
)
from ui.shared.texts import number, plain, pointless, told, whole, written_so

STARTS = "starts"
"""Where the session keeps, by the names of settings, what the chosen data set has them start from."""


@dataclass(frozen=True)
class Control(ABC):
    """The control of one setting, bound to the URL under the setting's key.

    Attributes
    ----------
    setting : Setting
    lasting : bool
        Whether it keeps what it holds while a page is shown that does not draw it.
    """

    setting: Setting
    lasting: bool = False

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys of its widgets."""
        return (self.setting.key,)

    @abstractmethod
    def draw(self, disabled: bool, hint: str) -> None:
        """Draw it, with a text that explains it; greyed out where nothing reads it."""

    def held(self, value: Any) -> dict[str, Any]:
        """What its widgets hold for a value, by their keys; `SettingError` for one that is not offered."""
        return {self.setting.key: value}

    def value(self, state: Mapping[str, Any]) -> Any:
        """The value that its widgets stand for; what they start from where they are not there yet.

        Raises `DataError` for costs that are no numbers.
        """
        key = self.setting.key
        return self.taken(state[key]) if key in state else first(self.setting, state)

    def taken(self, raw: Any) -> Any:
        """The value for what the widget of the setting's own key holds."""
        return raw

    def label(self, key: str, raw: Any) -> str:
        """What the widget of a key is said to hold, in menus and in the URL."""
        return str(raw)

    def written(self, key: str, raw: Any) -> str:
        """What a widget holds, in a pin: letters, digits, _ and - only."""
        return str(raw)

    @abstractmethod
    def read(self, key: str, text: str) -> Any:
        """What a widget holds by a text in a pin; ValueError where that is nothing it offers."""

    @property
    def start(self) -> Any:
        """What the widget of the setting's own key starts from."""
        return self.held(first(self.setting, st.session_state))[self.setting.key]

    def common(self, disabled: bool, hint: str) -> dict[str, Any]:
        """Keyword arguments that all widgets take."""
        kept = {"persist_state": "session"} if self.lasting else {}
        return {"key": self.setting.key, "bind": "query-params", "disabled": disabled, "help": hint} | kept

    def not_offered(self, value: Any) -> SettingError:
        """The error for a value that it cannot hold."""
        return SettingError(f"{self.setting.told(value)} is not available in “{self.setting.label}”")


class Menu(Control):
    """The names of a registry."""

    def draw(self, disabled: bool, hint: str) -> None:
        """Draw it, with a text that explains it; greyed out where nothing reads it."""
        options = list(self.setting.options)
        at = place(self.setting.key, options, self.start)
        common = self.common(disabled, hint)
        st.selectbox(self.setting.label, options, at, format_func=self._label, **common)

    def label(self, key: str, raw: Any) -> str:
        """The label of the option."""
        return self._label(raw)

    def _label(self, name: str) -> str:
        return str(self.setting.options[name].label)

    def written(self, key: str, raw: Any) -> str:
        """The name, other signs than letters, digits and _ as hexadecimal digits."""
        return plain(raw)

    def read(self, key: str, text: str) -> Any:
        """The name that is written so."""
        return written_so(text, self.setting.options, plain)


class Exponents(Control):
    """A slider over the exponents of powers."""

    @property
    def _powers(self) -> Powers:
        assert isinstance(self.setting.offer, Powers)
        return self.setting.offer

    def draw(self, disabled: bool, hint: str) -> None:
        """Draw it, with a text that explains it; greyed out where nothing reads it."""
        low, high, written = self._powers.low, self._powers.high, f"${self._powers.base}^{{%d}}$"
        common = self.common(disabled, hint)
        st.slider(self.setting.label, low, high, self.start, step=1, format=written, **common)

    def held(self, value: Any) -> dict[str, Any]:
        """The exponent."""
        if isinstance(value, str):
            raise self.not_offered(value)
        exponent = round(math.log(value, self._powers.base))
        offered = self._powers.low <= exponent <= self._powers.high
        if not offered or not math.isclose(self.taken(exponent), value):
            raise self.not_offered(value)
        return {self.setting.key: exponent}

    def taken(self, raw: Any) -> Any:
        """The power."""
        return float(self._powers.base) ** int(raw)

    def read(self, key: str, text: str) -> Any:
        """The exponent, if it is on the slider."""
        return whole(text, self._powers.low, self._powers.high)


class Listed(Control):
    """A slider over the values of a list."""

    @property
    def _values(self) -> list[Any]:
        assert isinstance(self.setting.offer, Steps)
        return list(self.setting.offer.values)

    def draw(self, disabled: bool, hint: str) -> None:
        """Draw it, with a text that explains it; greyed out where nothing reads it."""
        values = self._values
        at = values[place(self.setting.key, values, self.start)]
        common = self.common(disabled, hint)
        st.select_slider(self.setting.label, values, at, format_func=told, **common)

    def held(self, value: Any) -> dict[str, Any]:
        """The value, if it is listed."""
        if value not in self._values:
            raise self.not_offered(value)
        return {self.setting.key: value}

    def label(self, key: str, raw: Any) -> str:
        """The number as the slider writes it."""
        return told(raw)

    def former(self, text: str) -> Any:
        """The value that was written so before small ones had superscripts; None where none was."""
        return next((one for one in self._values if text == number(one) != told(one)), None)

    def written(self, key: str, raw: Any) -> str:
        """The number, a "p" for its point."""
        return pointless(raw)

    def read(self, key: str, text: str) -> Any:
        """The listed value that is written so."""
        return written_so(text, self._values, pointless)


class Number(Control):
    """A whole number to type; the least stands for None where that is the default."""

    @property
    def _ends(self) -> tuple[int, int]:
        assert isinstance(self.setting.offer, Typed)
        return int(self.setting.offer.low), int(self.setting.offer.high)

    def draw(self, disabled: bool, hint: str) -> None:
        """Draw it, with a text that explains it; greyed out where nothing reads it."""
        low, high = self._ends
        st.number_input(self.setting.label, low, high, self.start, step=1, **self.common(disabled, hint))

    def held(self, value: Any) -> dict[str, Any]:
        """The number, if it can be typed."""
        low, high = self._ends
        raw = low if value is None else value
        if not low <= raw <= high:
            raise self.not_offered(value)
        return {self.setting.key: raw}

    def taken(self, raw: Any) -> Any:
        """The number, or None."""
        return None if self.setting.default is None and int(raw) == self._ends[0] else raw

    def read(self, key: str, text: str) -> Any:
        """The number, if it can be typed."""
        return whole(text, *self._ends)


class CostsOfPairs(Control):
    """A menu of costs, and a line of numbers for a table of one's own."""

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys of its widgets."""
        return (self.setting.key, TABLE_KEY)

    def draw(self, disabled: bool, hint: str) -> None:
        """Draw it, with a text that explains it; greyed out where nothing reads it."""
        options, common = list(CHOICES), self.common(disabled, hint)
        at = place(self.setting.key, options, self.start)
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
        """The choice, and the line of numbers where it needs one."""
        return state_of_costs(value)

    def value(self, state: Mapping[str, Any]) -> Any:
        """The costs that choice and line stand for."""
        choice = state.get(self.setting.key, self.start)
        return costs_of(choice, state.get(TABLE_KEY, DEFAULT_TABLE))

    def label(self, key: str, raw: Any) -> str:
        """The label of the choice; the line as it is."""
        return str(raw) if key == TABLE_KEY else CHOICES[raw]

    def written(self, key: str, raw: Any) -> str:
        """The name of the choice; the numbers of the line, an "x" between them."""
        return in_a_pin(raw) if key == TABLE_KEY else plain(raw)

    def read(self, key: str, text: str) -> Any:
        """The choice that is written so; a line of numbers."""
        return line_of_a_pin(text) if key == TABLE_KEY else written_so(text, CHOICES, plain)


KINDS: tuple[tuple[Callable[[Setting], bool], type[Control]], ...] = (
    (lambda setting: setting is COSTS, CostsOfPairs),
    (lambda setting: bool(setting.options), Menu),
    (lambda setting: isinstance(setting.offer, Powers), Exponents),
    (lambda setting: isinstance(setting.offer, Steps), Listed),
    (lambda setting: isinstance(setting.offer, Typed), Number),
)
"""Which settings have which control; the first that fits."""


def control_of(setting: Setting, *, lasting: bool = False) -> Control:
    """The control of a setting that has a key; TypeError where none is made for what it may be."""
    for fits, kind in KINDS:
        if fits(setting):
            return kind(setting, lasting)
    raise TypeError(f"no control for the setting {setting.name!r}, which is offered as {setting.offer!r}")


def held(setting: Setting, value: Any) -> dict[str, Any]:
    """What the widgets of a setting hold for a value, by their keys; nothing where it has no control."""
    return control_of(setting).held(value) if setting.key else {}


def value_from(setting: Setting, state: Mapping[str, Any]) -> Any:
    """The value that a setting's widgets stand for; what they start from where it has none."""
    return control_of(setting).value(state) if setting.key else setting.first


def first(setting: Setting, state: Mapping[str, Any]) -> Any:
    """The value that a setting starts from on the data set that is chosen; what the app does elsewhere."""
    return state.get(STARTS, {}).get(setting.name, setting.first)


def place(key: str, options: list[Any], start: Any) -> int:
    """Position of a widget's start among its options, which the widget takes where they changed under it.

    The start is given to the widget itself: one set through the session state alone would leave the
    widget's own first option unreachable from the URL, for Streamlit drops values equal to that one.
    """
    position = options.index(start) if start in options else 0
    if st.session_state.get(key, options[position]) not in options:
        st.session_state[key] = options[position]
    return position
