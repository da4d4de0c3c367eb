"""Pinned settings: short texts in the URL for models on the sidebar's data.

`c_-4~map_nystroem~m_200~g_-2~seed_0~loss_squared_hinge` is RankSVM on Nyström features with m = 200,
γ = 2^-2, seed 0 and C = 2^-4. A text names settings by their keys in the URL, each with its widget's value; a
method other than the default comes first. Defaults of settings that captions omit are omitted here too, and
missing settings have their defaults. Data set, fold and normalisation are the sidebar's, so that pins are
comparable.
"""

from __future__ import annotations

from typing import Any

import streamlit as st

from rankviz.common.settings import Setting
from rankviz.models.methods import METHODS
from rankviz.runs.spec import RunSpec
from ui.shared import words
from ui.shared.controls import control_of
from ui.shared.settings import METHOD

KEY = "pins"
MOST = 6
BETWEEN, WITHIN = "~", "_"
"""Separators between settings, and between a key and its value."""


def token(spec: RunSpec) -> str:
    """Return the text of a spec's model; `SettingError` for values that the sidebar does not offer."""
    told = [] if spec.method == METHOD.default else _written(METHOD, spec.method)
    for name, setting in spec.declared().items():
        value = spec.values[name]
        if setting.key and not (setting.quiet and value == setting.default):
            told += _written(setting, value)
    return BETWEEN.join(told)


def _written(setting: Setting, value: Any) -> list[str]:
    control = control_of(setting)
    return [f"{key}{WITHIN}{control.written(key, raw)}" for key, raw in control.held(value).items()]


def from_token(text: str, data: RunSpec) -> RunSpec | None:
    """Return the spec for a text, on the data of another spec; None for an invalid text.

    Settings without a key, which no address can have, are those of the other spec if it has them.
    """
    pairs = [part.partition(WITHIN) for part in text.split(BETWEEN)]
    texts = {key: value for key, _, value in pairs}
    if len(texts) < len(pairs):
        return None
    try:
        return _spec(texts, data)
    except ValueError:  # unknown, out of range, or an invalid combination
        return None


def _spec(texts: dict[str, str], data: RunSpec) -> RunSpec:
    """Return the spec for values by the keys of widgets; ValueError if there is none."""
    given, before = set(texts), data.declared()

    def value_of(setting: Setting) -> Any:
        if not setting.key:
            return data.values[setting.name] if before.get(setting.name) is setting else setting.default
        control = control_of(setting)
        named = [key for key in control.keys if key in texts]
        given.difference_update(named)
        return (
            control.value({key: control.read(key, texts[key]) for key in named}) if named else setting.default
        )

    method = value_of(METHOD)
    values = {setting.name: value for setting, value in METHODS[method].active(value_of)}
    if given:
        raise ValueError(f"{given} are no settings of this model")
    own = RunSpec(data.dataset, data.fold, data.digest, data.normalisation, method=method, **values)
    own.kind.check(own.values)
    return own


def pinned(spec: RunSpec) -> list[RunSpec]:
    """Return the pinned models on the data of `spec`; also put them into the URL and the session."""
    if KEY not in st.session_state:
        st.session_state[KEY] = [text for text in st.query_params.get(KEY, "").split(".") if text]
    texts = st.session_state[KEY]
    found = [one for one in (from_token(text, spec) for text in texts) if one is not None][:MOST]
    if len(found) < len(texts):
        st.warning(words.pins_left_out(MOST))
    st.session_state[KEY] = [token(one) for one in found]
    if found:
        st.query_params[KEY] = ".".join(st.session_state[KEY])
    elif KEY in st.query_params:
        del st.query_params[KEY]
    return found


def buttons(spec: RunSpec) -> None:
    """Draw buttons to pin the current model and to remove all pins; beyond the limit the oldest goes."""
    pins = st.session_state[KEY]
    st.button(
        "Pin this run",
        key="pin",
        icon=":material/keep:",
        on_click=_pin,
        args=(token(spec),),
        disabled=token(spec) in pins,
        help=words.pin(MOST),
    )
    st.button("Clear pins", key="unpin", on_click=_clear, disabled=not pins)


def _pin(text: str) -> None:
    st.session_state[KEY] = [*st.session_state[KEY], text][-MOST:]


def _clear() -> None:
    st.session_state[KEY] = []
