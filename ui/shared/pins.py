"""Pinned settings: short texts in the URL that stand for models on the data that the sidebar names.

`c_-4~map_nystroem~m_200~g_-2~seed_0~loss_squared_hinge` is RankSVM on Nyström features with m = 200,
γ = 2^-2, seed 0 and C = 2^-4. A text names settings by their keys in the URL, each with what its widget
holds; the method comes first where it is not the usual one. What captions leave out as understood is left
out here too, and a setting that is not named is the default. Data set, fold and normalisation are the
sidebar's, so that pins compare. Texts of earlier versions are read by `ui.shared.old_pins`.
"""

from __future__ import annotations

from typing import Any

import streamlit as st

from rankviz.common.settings import Setting
from rankviz.experiments.spec import RunSpec
from rankviz.models.methods import METHODS
from ui.shared import words
from ui.shared.controls import control_of
from ui.shared.old_pins import translated
from ui.shared.settings import METHOD

KEY = "pins"
MOST = 6
BETWEEN, WITHIN = "~", "_"
"""What stands between settings, and between a key and its value."""


def token(spec: RunSpec) -> str:
    """The text that stands for a spec's model; `SettingError` for what the sidebar does not offer."""
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
    """The spec that a text stands for, on the data of another spec; None where it is none of ours.

    Settings without a key, which no address can have, are those of the other spec where it has them too.
    """
    pairs = [part.partition(WITHIN) for part in (translated(text) or text).split(BETWEEN)]
    texts = {key: value for key, _, value in pairs}
    if len(texts) < len(pairs):
        return None
    try:
        return _spec(texts, data)
    except ValueError:  # unknown, out of range, or settings that do not go together
        return None


def _spec(texts: dict[str, str], data: RunSpec) -> RunSpec:
    """The spec of what is written, by the keys of widgets; ValueError where there is no such spec."""
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
    """The models that are pinned, on the data of `spec`; told in the URL, and remembered between pages."""
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
    """Buttons that pin the current model and let all pins go; pinning beyond the most drops the oldest."""
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
