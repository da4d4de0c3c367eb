"""Report link parameters that no widget accepted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator
from streamlit.runtime.scriptrunner import get_script_run_ctx

from rankviz.common.numbers import superscript
from rankviz.common.settings import Powers, Setting
from ui.shared.controls import control_of
from ui.shared.foreign import escaped
from ui.shared.settings import BASELINE_C, all_settings
from ui.shared.words import not_available, other_version

VERSION = "2"
"""Version of the defaults, in each link: a value equal to its default is not in the address."""
LONGEST = 40
"""Signs of a value from an address that are shown; what is longer is cut."""
_ICON = ":material/link_off:"
_JUDGED, _VAIN, _PLACE = "link-judged", "link-in-vain", "link-refused"


def shortened(text: str) -> str:
    """Escape a text from an address for Markdown, shortened if long."""
    return escaped(text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…")


def place_for_refusals() -> DeltaGenerator:
    """Create the places where router and pages report rejected parameters; return the router's place."""
    place = st.empty()
    st.session_state[_PLACE] = st.container()
    return place


def refuse(key: str, text: str) -> None:
    """Report at once an unknown value of a parameter that a page reads itself, because it may end early."""
    st.session_state.get(_PLACE, st).warning(not_available(key, shortened(text)), icon=_ICON)


def say_what_was_not_offered(link: Mapping[str, str], place: DeltaGenerator) -> None:
    """Warn at `place` of link parameters that drawn widgets did not accept, each until it is changed.

    A parameter is checked once: in the run in which its widget first reads the address.
    """
    judged: set[str] = st.session_state.setdefault(_JUDGED, set())
    vain: dict[str, tuple[str, Sequence[str]]] = st.session_state.setdefault(_VAIN, {})
    now = dict(_held({*link, *vain} - {"data"}))
    for key in [key for key in link if key in now and key not in judged]:
        judged.add(key)
        if not any(_alike(link[key], written) for written in now[key]):
            vain[key] = link[key], now[key]
    for key in [key for key, (_, then) in vain.items() if now.get(key, then) != then]:
        del vain[key]
    told = [_in_words(key, text, then) for key, (text, then) in vain.items() if key in now]
    if (version := link.get("v", VERSION)) != VERSION:
        told.append(other_version(shortened(version)))
    if told:
        place.warning(" ".join(told), icon=_ICON)


def _held(keys: set[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield the values of widgets bound to these parameters, as in an address.

    Streamlit has no public function for a widget's text in the address, such as an option's label.
    """
    context = get_script_run_ctx()
    if context is None:
        return
    drawn = context.session_state._state._new_widget_state.widget_metadata
    with context.session_state.query_params() as params:
        bound = {key: params.get_binding_for_param(key) for key in keys}
    for key, binding in bound.items():
        if binding is not None and binding.widget_id in drawn and key in st.session_state:
            raw = drawn[binding.widget_id].serializer(st.session_state[key])
            yield key, [_written(value) for value in (raw if isinstance(raw, list | tuple) else [raw])]


def _written(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:.15g}" if isinstance(value, float) else str(value)


def _alike(text: str, written: str) -> bool:
    """Return True if two texts of an address mean the same: numbers have several forms."""
    try:
        return Decimal(text) == Decimal(written)
    except InvalidOperation:
        return text == written or text.lower() == written in ("true", "false")


def _in_words(key: str, text: str, then: Sequence[str]) -> str:
    """Describe the rejected value and its replacement, with the sidebar's names of settings."""
    setting = next((one for one in all_settings() if key in control_of(one).keys), None)
    if setting is None or key != setting.key:
        return not_available(key, shortened(text), shortened(", ".join(then)) or "none")
    wordy = setting.options or setting is BASELINE_C or len(setting.symbol) > 2
    name = setting.label if wordy else setting.symbol
    words = then[0]
    if isinstance(setting.offer, Powers):  # an address has exponents
        words = setting.told(control_of(setting).taken(st.session_state[key])).removeprefix(
            f"{setting.symbol} = "
        )
    return not_available(name, _asked(setting, text), escaped(words))


def _asked(setting: Setting, text: str) -> str:
    """Format a value from an address for a setting; an exponent as its power."""
    digits = text.removeprefix("-")
    if isinstance(setting.offer, Powers) and digits.isascii() and digits.isdigit() and len(digits) <= 4:
        return f"{setting.offer.base}{superscript(int(text))}"
    return shortened(text)
