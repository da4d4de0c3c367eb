"""Menus of models, and distinct names for two of them: maps, methods, and pins."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import streamlit as st

from rankviz.features import EXACT, FEATURE_MAPS, LINEAR
from rankviz.models.methods import METHODS, USUAL
from rankviz.plots.style import look_of, style_of
from rankviz.runs.description import in_a_sentence
from rankviz.runs.labels import distinct_labels, short_labels
from rankviz.runs.spec import RunSpec
from ui.shared import words
from ui.shared.approximations import approximate_specs
from ui.shared.in_vain import shortened
from ui.shared.pins import token
from ui.shared.settings import METHOD, baseline, spec_from_state

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
