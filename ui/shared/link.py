"""The address of a page: every setting of the sidebar as its widget writes it, and what came in it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

import streamlit as st
from streamlit.delta_generator import DeltaGenerator
from streamlit.runtime.scriptrunner import get_script_run_ctx

from ui.shared import words
from ui.shared.controls import Control, Listed, control_of, held
from ui.shared.in_vain import VERSIONS, shortened
from ui.shared.old_labels import FORMER
from ui.shared.settings import OF_DATA, all_settings

VERSION = VERSIONS[-1]
"""Of the defaults: a value equal to its default is not in the address."""
_ONE_START = VERSIONS[0]
"""Of the version whose settings started from the same values on every data set."""


def query_params(values: Mapping[str, Any]) -> dict[str, str]:
    """Widget values as query parameters; Streamlit reads options there by their labels."""
    return {"v": VERSION} | _labels(values)


def _labels(values: Mapping[str, Any]) -> dict[str, str]:
    """What widgets are said to hold, by their keys."""
    controls = _controls()
    return {
        key: controls[key].label(key, raw) if key in controls else str(raw) for key, raw in values.items()
    }


def _controls() -> dict[str, Control]:
    """The controls of all settings, by the keys of their widgets."""
    controls = map(control_of, all_settings())
    return {key: control for control in controls for key in control.keys}


def frozen_link() -> str:
    """The address of the page with every setting of the sidebar in it, also those equal to the defaults."""
    sidebar_s = query_params(_set_now())
    return f"{(st.context.url or '').split('?')[0]}?{urlencode(st.query_params.to_dict() | sidebar_s)}"


def _set_now() -> dict[str, Any]:
    """What the sidebar's widgets hold, those that are drawn."""
    return {key: st.session_state[key] for key in ("data", "fold", *_controls()) if key in st.session_state}


def link_as_opened() -> dict[str, str]:
    """The address that this run begins with, before widgets drop what they do not offer.

    Options that were called something else in an earlier version are called what they are called now.
    """
    if st.query_params.get("v") == _ONE_START:
        _spell_out()
    told = st.query_params.to_dict()
    _leave_out([key for key in told if any(map(_beyond_numbers, st.query_params.get_all(key)))])
    if _LINK not in st.session_state:
        meant = {key: _meant(key, text) for key, text in told.items()}
        known = {key: value for key, value in meant.items() if value is not None}
        if known:
            _put(_labels(known))
        st.session_state[_LINK] = True
        told |= st.query_params.to_dict()
    return told


def _meant(key: str, text: str) -> Any:
    """What a widget holds by a text that an earlier version wrote; None for a text of today."""
    control = _controls().get(key)
    return control.former(text) if isinstance(control, Listed) else FORMER.get((key, text))


def _spell_out() -> None:
    """Put into the address what a link of that version leaves out where data sets have their own now."""
    then = {key: raw for setting in OF_DATA for key, raw in held(setting, setting.first).items()}
    _put(query_params({key: raw for key, raw in then.items() if key not in st.query_params}))


def _beyond_numbers(text: str) -> bool:
    """Whether a text stands for a number without end, or for none: Streamlit's widgets fail on these.

    So does one that is 0 only because it is too small: the address would keep it beside the 0.
    """
    try:
        number = float(text)
    except ValueError:
        return False
    return not math.isfinite(number) or (
        number == 0 and any(sign in "123456789" for sign in text.lower().split("e")[0])
    )


def _leave_out(keys: Sequence[str]) -> None:
    """Take parameters out of the address, before widgets look for them."""
    for key in keys:
        del st.query_params[key]
    if keys:
        _tell_widgets()


def _put(labels: Mapping[str, str]) -> None:
    """Put labels into the address, before widgets look for them: they would know no old one, and drop it."""
    st.query_params.update(labels)
    _tell_widgets()


def _tell_widgets() -> None:
    """Have widgets that are drawn first look at the address as it is now; Streamlit has no public way."""
    context = get_script_run_ctx()
    if context is not None:
        with context.session_state.query_params() as params:
            params.set_initial_query_params_from_current()


def say_what_was_not_read(link: Mapping[str, str], place: DeltaGenerator) -> None:
    """Say at a place which parameters of the address nothing reads on the page that has been drawn.

    What a widget is bound to, and what the app itself keeps in the address, is in the state by then.
    """
    told = {key: text for key, text in link.items() if _beyond_numbers(text)} | st.query_params.to_dict()
    unread = [key for key in told if key not in st.session_state and key not in OF_THE_APP]
    if unread:
        named = ", ".join(f"{shortened(key)} = {shortened(told[key])}" for key in unread)
        place.caption(f":material/link_off: {words.ignored(named)}")


OF_THE_APP = ("v", "job")
"""Parameters that no widget and no page has a value of."""
_LINK = "link-opened"
