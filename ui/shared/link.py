"""The address of a page: every setting of the sidebar in its widget's format, and the address as opened."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

import streamlit as st
from streamlit.delta_generator import DeltaGenerator
from streamlit.runtime.scriptrunner import get_script_run_ctx

from ui.shared import words
from ui.shared.controls import Control, control_of
from ui.shared.in_vain import VERSION, shortened
from ui.shared.settings import all_settings


def query_params(values: Mapping[str, Any]) -> dict[str, str]:
    """Return widget values as query parameters; Streamlit reads options there by their labels."""
    controls = _controls()
    labels = {
        key: controls[key].label(key, raw) if key in controls else str(raw) for key, raw in values.items()
    }
    return {"v": VERSION} | labels


def _controls() -> dict[str, Control]:
    """Return the controls of all settings, by the keys of their widgets."""
    controls = map(control_of, all_settings())
    return {key: control for control in controls for key in control.keys}


def frozen_link() -> str:
    """Return the page's address with every setting of the sidebar, including defaults."""
    sidebar_s = query_params(_set_now())
    return f"{(st.context.url or '').split('?')[0]}?{urlencode(st.query_params.to_dict() | sidebar_s)}"


def _set_now() -> dict[str, Any]:
    """Return the values of the sidebar's drawn widgets."""
    return {key: st.session_state[key] for key in ("data", "fold", *_controls()) if key in st.session_state}


def link_as_opened() -> dict[str, str]:
    """Return the address at the start of this run, before widgets drop unknown values."""
    told = st.query_params.to_dict()
    _leave_out([key for key in told if any(map(_beyond_numbers, st.query_params.get_all(key)))])
    return told


def _beyond_numbers(text: str) -> bool:
    """Return True if a text is an infinite number or NaN: Streamlit's widgets fail on these.

    Also for nonzero numbers that round to 0: the address would keep both.
    """
    try:
        number = float(text)
    except ValueError:
        return False
    return not math.isfinite(number) or (
        number == 0 and any(sign in "123456789" for sign in text.lower().split("e")[0])
    )


def _leave_out(keys: Sequence[str]) -> None:
    """Remove parameters from the address before widgets read it; Streamlit has no public function for it."""
    for key in keys:
        del st.query_params[key]
    context = get_script_run_ctx()
    if keys and context is not None:
        with context.session_state.query_params() as params:
            params.set_initial_query_params_from_current()


def say_what_was_not_read(link: Mapping[str, str], place: DeltaGenerator) -> None:
    """Report address parameters that nothing on the drawn page reads.

    By then the state contains all bound widgets and the app's own parameters.
    """
    told = {key: text for key, text in link.items() if _beyond_numbers(text)} | st.query_params.to_dict()
    unread = [key for key in told if key not in st.session_state and key not in OF_THE_APP]
    if unread:
        named = ", ".join(f"{shortened(key)} = {shortened(told[key])}" for key in unread)
        place.caption(f":material/link_off: {words.ignored(named)}")


OF_THE_APP = ("v", "job")
"""Parameters without a value in any widget or page."""
