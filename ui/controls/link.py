"""The address of a page: as opened, as a link with all settings, and reports of unread parameters."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from typing import Any
from urllib.parse import urlencode

import streamlit as st
from streamlit.delta_generator import DeltaGenerator
from streamlit.runtime.scriptrunner import get_script_run_ctx

from rankviz.common.numbers import superscript
from rankviz.common.settings import Powers, Setting
from rankviz.learning.losses import LOSS_WEIGHT
from rankviz.runs.description import fold_title
from rankviz.store import NoSuchStudy, StoreError
from ui.controls.setting_controls import Control, control_of
from ui.controls.settings import BASELINE_C, all_settings
from ui.shell import words
from ui.shell.components import SCRIPTS
from ui.shell.page import VIEW
from ui.shell.server import REFUSED
from ui.shell.texts import escaped
from ui.shell.words import OTHER_VERSION, not_available
from ui.work.jobs import WAITS
from ui.work.watching import PARAMETER, jobs

VERSION = "2"
"""Version of the defaults, in each link: a value equal to its default is not in the address."""
LONGEST = 40
"""Signs of a value from an address that are shown; what is longer is cut."""
_ICON = ":material/link_off:"
_CHECKED, _REJECTED, _PLACE = "link-checked", "link-rejected", "link-messages"


def shortened(text: str) -> str:
    """Escape a text from an address for Markdown, shortened if long."""
    return escaped(text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…")


def message_places() -> DeltaGenerator:
    """Create the places where router and pages report rejected parameters; return the router's place."""
    place, st.session_state[WAITS] = st.empty(), False
    st.session_state[_PLACE] = st.container()
    return place


def report_invalid(key: str, text: str) -> None:
    """Report at once an unknown value of a parameter that a page reads itself, because it may end early."""
    st.session_state.get(_PLACE, st).warning(not_available(key, shortened(text)), icon=_ICON)


def report_unknown_job() -> None:
    """Warn once, on any page, that the job of the address does not exist."""
    if job := st.query_params.get(PARAMETER):
        try:
            jobs().status(job)
        except NoSuchStudy:
            del st.query_params[PARAMETER]
            st.session_state[_PLACE].warning(words.NO_JOB, icon=_ICON)
        except StoreError:  # pages that need the store say so
            pass


def report_rejected(link: Mapping[str, str], place: DeltaGenerator) -> None:
    """Warn at `place` of link parameters that drawn widgets did not accept, each until it is changed.

    A parameter is checked once: in the run in which its widget first reads the address.
    """
    checked: set[str] = st.session_state.setdefault(_CHECKED, set())
    rejected: dict[str, tuple[str, Sequence[str]]] = st.session_state.setdefault(_REJECTED, {})
    now = dict(_values_in_address({*link, *rejected} - {"data"}))
    for key in [key for key in link if key in now and key not in checked]:
        if not any(_alike(link[key], written) for written in now[key]):
            rejected[key] = link[key], now[key]
    checked.update(map(str, st.session_state))
    for key in [key for key, (_, then) in rejected.items() if now.get(key, then) != then]:
        del rejected[key]
    parts = [_in_words(key, text, then) for key, (text, then) in rejected.items() if key in now]
    if (version := link.get("v", VERSION)) != VERSION:
        parts.append(OTHER_VERSION.format(version=shortened(version)))
    if parts:
        place.warning(" ".join(parts), icon=_ICON)


def report_refused() -> None:
    """Warn that a control has its first value, because its browser's was none that it can have."""
    if st.session_state.pop(REFUSED, False):
        st.session_state[_PLACE].warning(words.REFUSED, icon=":material/error:")


def _values_in_address(keys: set[str]) -> Iterator[tuple[str, list[str]]]:
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
    words = then[0]
    if isinstance(setting.offer, Powers):  # an address has exponents
        words = setting.format(control_of(setting).from_widget(st.session_state[key])).removeprefix(
            f"{setting.symbol} = "
        )
    return not_available(_name(setting), _format_asked(setting, text), escaped(words))


def _name(setting: Setting) -> str:
    """Return a setting's symbol, or its label if the symbol is long or that of another setting."""
    wordy = setting.options or setting is BASELINE_C or len(setting.symbol) > 2
    return setting.label if wordy else setting.symbol


def _format_asked(setting: Setting, text: str) -> str:
    """Format a value from an address for a setting; an exponent as its power."""
    digits = text.removeprefix("-")
    if isinstance(setting.offer, Powers) and digits.isascii() and digits.isdigit() and len(digits) <= 4:
        return f"{setting.offer.base}{superscript(int(text))}"
    return shortened(text)


def params_in_words(params: Mapping[str, str], unread: Callable[[Setting], str]) -> str:
    """Name the data, the open tab, C and the changed settings of an address that its page reads, as Markdown.

    The defaults of both C differ by data set: the model's is always named, the baseline's never.
    """
    named = {**params, "fold": fold_title(params["fold"])} if "fold" in params else params
    parts = [shortened(named[key]) for key in ("data", "fold", VIEW) if key in named]
    read = (one for one in all_settings() if not unread(one))
    return ", ".join([*parts, *settings_in_words(params, read)])


def settings_in_words(params: Mapping[str, str], settings: Iterable[Setting]) -> Iterator[str]:
    """Name C and the changed ones of these settings in an address."""
    for setting in settings:
        text, control = params.get(setting.key), control_of(setting)
        default = control.label(setting.key, control.to_widgets(setting.default)[setting.key])
        usual = setting is not LOSS_WEIGHT and _alike(text or default, default)
        if text and setting is not BASELINE_C and not usual:
            yield f"{_name(setting)} = {_format_asked(setting, text)}"


def query_params(values: Mapping[str, Any]) -> dict[str, str]:
    """Return widget values as query parameters; Streamlit reads options there by their texts."""
    controls = _controls()
    texts = {
        key: controls[key].label(key, raw) if key in controls else str(raw) for key, raw in values.items()
    }
    return {"v": VERSION} | texts


def _controls() -> dict[str, Control]:
    """Return the controls of all settings, by the keys of their widgets."""
    controls = map(control_of, all_settings())
    return {key: control for control in controls for key in control.keys}


def frozen_params() -> dict[str, str]:
    """Return the parameters of the page's address with every setting of the sidebar, including defaults."""
    state = st.session_state
    drawn = {key: state[key] for key in ("data", "fold", *_controls()) if key in state}
    return st.query_params.to_dict() | query_params(drawn)


def frozen_link() -> str:
    """Return the page's address with these parameters."""
    return f"{(st.context.url or '').split('?')[0]}?{urlencode(frozen_params())}"


def link_as_opened() -> dict[str, str]:
    """Return the address at the start of this run, before widgets drop unknown values."""
    values = st.query_params.to_dict()
    _leave_out([key for key in values if any(_beyond(key, one) for one in st.query_params.get_all(key))])
    return values


def _beyond(key: str, text: str) -> bool:
    """Return True if a text is an infinite number or NaN: Streamlit's widgets fail on these.

    Also for nonzero numbers that round to 0: the address would keep both. Not for ids, such as 12e45,
    or names of data, such as Nan.
    """
    if key in NO_NUMBERS:
        return False
    try:
        number = float(text)
    except ValueError:
        return False
    return not math.isfinite(number) or (
        number == 0 and any(sign in "123456789" for sign in text.lower().split("e")[0])
    )


def _leave_out(keys: Sequence[str]) -> None:
    """Remove parameters from the address before widgets read it; Streamlit has no public function for it.

    The browser gets one message: each has the whole address, and Streamlit keeps hundreds for a slow browser.
    """
    context = get_script_run_ctx()
    if keys and context is not None:
        with context.session_state.query_params() as params:
            for key in keys[1:]:
                params.discard_param_no_forward_msg(key)
            params.remove_param(keys[0])
            params.set_initial_query_params_from_current()


def report_unread(link: Mapping[str, str], place: DeltaGenerator) -> None:
    """Report address parameters that nothing on the drawn page reads.

    By then the state contains all bound widgets and the app's own parameters.
    """
    texts = {key: text for key, text in link.items() if _beyond(key, text)} | st.query_params.to_dict()
    unread = [key for key in texts if key not in st.session_state and key not in OF_THE_APP]
    if unread:
        named = ", ".join(f"{shortened(key)} = {shortened(texts[key])}" for key in unread)
        text = words.NOT_READ_YET if st.session_state[WAITS] else words.IGNORED
        place.caption(f":material/link_off: {text.format(named=named)}")


NO_NUMBERS = ("run", "runs", "study", "studies", "job", "baseline", "data", "fold")
"""Parameters with ids of runs and studies, and names of data."""
OF_THE_APP = ("v", "job", "seq", "class", "at")
"""Parameters without a value in any widget or page; three of them belong to `ui/controls/sequence.py`."""


_SCRIPT = (SCRIPTS / "shell" / "history.js").read_text(encoding="utf-8")
"""Streamlit adds an entry for each parameter that a script sets, such as a started job."""


def keep_one_history_entry(name: str, value: str) -> None:
    """Make the browser replace the history entry when a page's parameters change.

    One parameter is in every address. At first the browser sets it, later we do too. Parameters set by the
    first run of a script arrive before the browser knows it. Those set later by a fragment lack the browser's
    parameters.
    """
    script = _SCRIPT.replace("{name}", name).replace("{value}", value)
    st.html(f"<script>\n{script}</script>", unsafe_allow_javascript=True)
    if st.session_state.setdefault(_OPENED, False) and name not in st.query_params:
        st.query_params[name] = value  # once a page: a late message would undo a slider's next step
    st.session_state[_OPENED] = True


_OPENED = "history-opened"
