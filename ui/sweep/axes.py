"""Axes of a sweep as controls: the settings that vary, and their values."""

from __future__ import annotations

from typing import Any

import streamlit as st

from rankviz.common.errors import SettingError
from rankviz.common.settings import Powers, Setting, Steps
from rankviz.learning.risk_settings import COSTS
from rankviz.plots.setting_words import setting_words
from rankviz.runs.axes import Axis, Range, Values, powers, usual_axes
from rankviz.runs.spec import RunSpec
from ui.shared.ends import end_page
from ui.shared.foreign import escaped
from ui.shared.texts import told
from ui.sweep import words

AXES = "axes"
"""Key of the menu of settings that vary."""
USUAL_EXPONENTS, USUAL_STEP, USUAL_TYPED = (-8, 0), 2, "1, 2, 4"
EVERY = (1, 2, 3, 4)


def may_vary(base: RunSpec) -> dict[str, Setting]:
    """Return the settings of a run that may be on an axis, by label: those with a control.

    Seeds have their own control, and tables of costs have no line of values.
    """
    found = base.declared().values()
    return {setting_words(one): one for one in found if one.key and not one.draws and one is not COSTS}


def axes(base: RunSpec, drawn: bool) -> tuple[Axis, ...]:
    """Draw the controls of axes; if points are drawn at random, powers are a range."""
    offered = may_vary(base)
    if not offered:
        st.info(
            words.NO_SETTING.format(method=escaped(base.kind.label)),
            icon=":material/info:",
        )
        end_page()
    begun = usual_axes(offered.values())
    usual = [name for name, one in offered.items() if one in begun]
    if AXES in st.session_state:  # this model may lack axes of another one
        st.session_state[AXES] = [name for name in st.session_state[AXES] if name in offered] or usual
    chosen = st.multiselect(
        "Settings that vary",
        list(offered),
        usual,
        key=AXES,
        bind="query-params",
        help=words.AXES_HELP,
    )
    if not chosen:
        raise SettingError(words.NO_AXIS)
    return tuple(_axis(offered[name], drawn) for name in chosen)


def _axis(setting: Setting, drawn: bool) -> Axis:
    key = f"x{setting.key}"
    if isinstance(setting.offer, Powers):
        return _of_powers(setting, setting.offer, key, drawn)
    if setting.options:
        names = {str(option.label): name for name, option in setting.options.items()}
        return Values(setting.name, tuple(names[one] for one in _some(setting, list(names), key)))
    if isinstance(setting.offer, Steps):
        values = {told(value): value for value in setting.offer.values}
        return Values(setting.name, tuple(values[one] for one in _some(setting, list(values), key)))
    return Values(setting.name, _typed(setting, key))


def _of_powers(setting: Setting, offer: Powers, key: str, drawn: bool) -> Axis:
    low, high = (min(max(end, offer.low), offer.high) for end in USUAL_EXPONENTS)
    place, by = (st.container(), None) if drawn else st.columns([3, 1], vertical_alignment="bottom")
    first, last = place.slider(
        f"{setting.symbol} from, to",
        offer.low,
        offer.high,
        (low, high),
        format=f"${offer.base}^{{%d}}$",
        key=key,
        bind="query-params",
        help=setting.help,
    )
    if drawn or by is None:
        if first == last:
            raise SettingError(words.ONE_VALUE.format(symbol=setting.symbol))
        return Range(setting.name, float(offer.base) ** first, float(offer.base) ** last)
    step = by.selectbox(
        "every",
        EVERY,
        EVERY.index(USUAL_STEP),
        key=f"{key}by",
        bind="query-params",
        help=words.STEP_HELP.format(base=offer.base),
    )
    return Values(setting.name, powers(first, last, offer.base)[::step])


def _some(setting: Setting, values: list[str], key: str) -> list[str]:
    """Draw a menu of several values; the middle ones are the default."""
    middle = max(len(values) // 2 - 1, 0)
    chosen = st.multiselect(
        setting.label,
        values,
        values[middle : middle + 3],
        key=key,
        bind="query-params",
        help=setting.help,
    )
    if not chosen:
        raise SettingError(words.NO_VALUES.format(symbol=setting.symbol))
    return chosen


def _typed(setting: Setting, key: str) -> tuple[Any, ...]:
    text = st.text_input(
        f"{setting.symbol}, values",
        USUAL_TYPED if _allowed(setting, USUAL_TYPED) else told(setting.first),
        key=key,
        bind="query-params",
        max_chars=200,
        help=words.TYPED_HELP.format(help=setting.help),
    )
    try:
        return _numbers(text)
    except ValueError as error:
        raise SettingError(words.NOT_NUMBERS.format(symbol=setting.symbol, text=text)) from error


def _numbers(text: str) -> tuple[float | int, ...]:
    return tuple(int(word) if word.isdecimal() else float(word) for word in text.replace(",", " ").split())


def _allowed(setting: Setting, text: str) -> bool:
    """Return True if a setting allows each of the numbers."""
    try:
        Values(setting.name, _numbers(text)).checked(setting)
    except SettingError:
        return False
    return True
