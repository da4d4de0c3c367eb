"""Menus of models, and distinct names for two of them: maps, methods, and pins."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import streamlit as st

from rankviz.common.settings import Setting
from rankviz.features import EXACT, FEATURE_MAPS, LINEAR
from rankviz.models.methods import METHODS, USUAL
from rankviz.plots.style import look_of, style_of
from rankviz.runs.description import in_a_sentence
from rankviz.runs.labels import distinct_labels, short_labels
from rankviz.runs.spec import RunSpec
from ui.controls.curves import approximate_specs
from ui.controls.link import shortened
from ui.controls.setting_controls import control_of
from ui.controls.settings import METHOD, baseline, spec_from_state
from ui.shell import words

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


Options = dict[str, "Option"]
"""Models by their texts in the address."""


@dataclass(frozen=True)
class Option:
    """A model in a menu: its label, and its spec, which fails for invalid settings."""

    label: str
    spec: Callable[[], RunSpec]


def of_the_sidebar(state: Any) -> Options:
    """Return RankSVM on every map, approximations first, then other methods, with the sidebar's settings.

    Approximations that do not fit these settings are left out.
    """
    maps = [look_of(spec) for spec in approximate_specs(state)[0]]
    maps += [name for name, kind in FEATURE_MAPS.items() if not kind.approximates]
    found = {style_of(name).name: Option(style_of(name).name, partial(_on_map, state, name)) for name in maps}
    for name, method in METHODS.items():
        if name != USUAL:
            found[method.label] = Option(method.label, partial(_by_method, state, name))
    return found


def usual_two(state: Any) -> tuple[str, str]:
    """Return the texts of the two default models: approximations of the kernel, the second only for RankSVM.

    Another current method takes the place of the second one. With too few approximations, the exact kernel
    and the linear model follow.
    """
    own = state.get(METHOD.key, USUAL)
    maps = [look_of(spec) for spec in approximate_specs(state)[0]]
    first, second, *_ = (style_of(name).name for name in (*maps, EXACT, LINEAR))
    return first, second if own == USUAL else METHODS[own].label


def _on_map(state: Any, name: str) -> RunSpec:
    return baseline(state) if name == LINEAR else spec_from_state(state, name)


def _by_method(state: Any, name: str) -> RunSpec:
    return spec_from_state(ChainMap({METHOD.key: name}, state))


def of_pins(pins: Sequence[RunSpec]) -> Options:
    """Return the pinned models with distinct labels."""
    labels: dict[RunSpec, str] = {}
    for method in dict.fromkeys(spec.method for spec in pins):
        alike = [spec for spec in pins if spec.method == method]
        labels |= zip(alike, distinct_labels(alike), strict=True)
    return {token(spec): Option(f"{labels[spec]} (pinned)", partial(_itself, spec)) for spec in pins}


def _itself(spec: RunSpec) -> RunSpec:
    return spec


def menu(place: Any, label: str, options: Mapping[str, Option], default: str, key: str, hint: str) -> Option:
    """Draw a menu of models with a key in the address; return the chosen one.

    The address has the options' own texts, because labels of pins depend on the other pins. An unknown text,
    such as that of a removed pin, is reported, and the default used.
    """
    state, kept = st.session_state, f"chosen-{key}"
    if kept not in state and key in st.query_params:
        state[kept] = st.query_params[key]
    chosen = state.get(kept, default)
    if chosen not in options:
        asked = shortened(chosen)
        st.warning(
            words.no_such_model(label, asked, options[default].label),
            icon=":material/link_off:",
        )
        chosen = default
        del state[kept]
    if len(options) > 1:
        state[key] = chosen
        texts = {text: option.label for text, option in options.items()}
        place.selectbox(
            label,
            list(options),
            format_func=texts.__getitem__,
            key=key,
            on_change=_keep,
            args=(key,),
            help=hint,
        )
    if chosen == default:
        st.query_params.pop(key, None)
    else:
        st.query_params[key] = chosen
    return options[chosen]


def _keep(key: str) -> None:
    st.session_state[f"chosen-{key}"] = st.session_state[key]


@dataclass(frozen=True)
class Two:
    """Two models to compare, with distinct names."""

    left: RunSpec
    right: RunSpec

    @property
    def same(self) -> bool:
        """True if they are the same run."""
        return self.left.but(digest="") == self.right.but(digest="")

    @property
    def looks(self) -> tuple[str, str]:
        """Their looks; equal looks share a colour."""
        return look_of(self.left), look_of(self.right)

    @property
    def labels(self) -> tuple[str, str]:
        """Legend entries: "Nyström, m = 500"; with further settings if these are equal."""
        left, right = short_labels([self.left, self.right])
        return left, right

    @property
    def names(self) -> tuple[str, str]:
        """Names for axes and tables: of their looks if these differ, else their labels."""
        left, right = self.looks
        return (style_of(left).name, style_of(right).name) if left != right else self.labels

    @property
    def told(self) -> tuple[str, str]:
        """Names within a sentence: "the linear model", "Nyström"; their labels if the looks are the same."""
        left, right = self.looks
        return (in_a_sentence(self.left), in_a_sentence(self.right)) if left != right else self.labels
