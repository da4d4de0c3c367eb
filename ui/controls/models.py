"""Models that pages compare: menus, pins, distinct names, and what a page requires of a model."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

import streamlit as st

from rankviz.common.errors import SettingError
from rankviz.common.settings import Setting
from rankviz.features import EXACT, FEATURE_MAPS, LINEAR
from rankviz.learning.losses import LOSS
from rankviz.models.given import SYSTEM
from rankviz.models.methods import METHODS, USUAL, WORDS
from rankviz.plots.style import style_of
from rankviz.runs.description import (
    distinct_labels,
    in_a_sentence,
    look_of,
    method_label,
    own_C,
    short_labels,
)
from rankviz.runs.spec import RunSpec
from rankviz.store import StoreError, StoreOutOfReach
from ui.controls.compared import ID, choose, chosen
from ui.controls.curves import approximate_specs
from ui.controls.link import shortened
from ui.controls.settings import METHOD, baseline, spec_from_state
from ui.controls.widgets import write_address
from ui.shell import words
from ui.shell.errors import errors_as_sentences
from ui.shell.figures import capital
from ui.work.folds import digest_of
from ui.work.run_store import keeper, run_store
from ui.work.runs import twins
from ui.work.systems import GIVEN, systems

Options = dict[str, "Option"]
"""Models by their texts in the address."""


@dataclass(frozen=True)
class Option:
    """A model in a menu: its label, and its spec, which fails for invalid settings."""

    label: str
    spec: Callable[[], RunSpec]


def sidebar_models(state: Any) -> Options:
    """Return RankSVM on every map, approximations first, then other methods, with the sidebar's settings.

    Approximations that do not fit these settings are left out.
    """
    maps = [look_of(spec) for spec in approximate_specs(state)[0]]
    maps += [name for name, kind in FEATURE_MAPS.items() if not kind.approximates]
    specs = {style_of(name).name: partial(spec_from_state, state, name) for name in maps}
    specs[style_of(LINEAR).name] = partial(baseline, state)
    for name, method in METHODS.items():
        if name == GIVEN:
            specs |= _systems(state)
        elif name != USUAL:
            specs[method.label] = partial(spec_from_state, ChainMap({METHOD.key: name}, state))
    return {label: Option(label, spec) for label, spec in specs.items()}


def _systems(state: Any) -> dict[str, Callable[[], RunSpec]]:
    """Return the visitor's own systems on the chosen data set, by name."""
    return {
        label: partial(spec_from_state, ChainMap({METHOD.key: GIVEN, SYSTEM.key: value}, state))
        for value, label in systems(state["data"]).items()
    }


def system_options(state: Any) -> Options:
    """Return them as options of a menu."""
    return {label: Option(label, spec) for label, spec in _systems(state).items()}


def default_two(state: Any) -> tuple[str, str]:
    """Return the texts of the two default models: approximations of the kernel, the second only for RankSVM.

    Another current method takes the place of the second one. With too few approximations, the exact kernel
    and the linear model follow.
    """
    own = state.get(METHOD.key, USUAL)
    maps = [look_of(spec) for spec in approximate_specs(state)[0]]
    first, second, *_ = (style_of(name).name for name in (*maps, EXACT, LINEAR))
    if own == GIVEN:
        return first, method_label(spec_from_state(state))
    return first, second if own == USUAL else METHODS[own].label


def pinned_models(spec: RunSpec) -> Options:
    """Return the pinned models on the data of `spec`, with distinct labels."""
    pins = pinned(spec)
    labels: dict[RunSpec, str] = {}
    for method in dict.fromkeys(one.method for one in pins.values()):
        alike = [one for one in pins.values() if one.method == method]
        labels |= zip(alike, distinct_labels(alike), strict=True)
    return {
        digest: Option(f"{labels[one]} (pinned)", partial(RunSpec.but, one)) for digest, one in pins.items()
    }


MOST = 6
"""Largest number of pins."""
_PINS, _PINNED = "pins", "pinned-specs"


def pinned(spec: RunSpec) -> dict[str, RunSpec]:
    """Return the pinned models on the data of `spec`, by the digests of the pinned runs, as in the address.

    Data set, fold, normalisation and settings without a control are those of `spec`, so that pins are
    comparable. Digests that name no run of the store are left out with a warning.
    """
    digests, known = chosen(_PINS), st.session_state.setdefault(_PINNED, {})
    if unknown := [digest for digest in digests if digest not in known]:
        with suppress(StoreOutOfReach):
            known |= {run.hash: run for run in run_store().listing.specs(unknown)}
    there = [digest for digest in digests if digest in known][:MOST]
    if len(there) < len(digests):
        st.warning(words.PINS_LEFT_OUT.format(most=MOST))
        choose(_PINS, there)
        chosen(_PINS)  # writes them into the address
    return {digest: _on_data_of(spec, known[digest]) for digest in there}


def pins_of_session() -> list[RunSpec]:
    """Return the pinned runs that this session has opened, without a change of the address."""
    known = st.session_state.get(_PINNED, {})
    return [known[digest] for digest in st.session_state.get(_PINS, ()) if digest in known]


def _on_data_of(spec: RunSpec, run: RunSpec) -> RunSpec:
    """Return the model of a run on the data of a spec, with its settings that have no control."""
    declared = spec.declared()
    hidden = {
        name: spec.values[name]
        for name, setting in run.declared().items()
        if not setting.key and declared.get(name) is setting
    }
    data = {"dataset": spec.dataset, "fold": spec.fold, "digest": "", "normalisation": spec.normalisation}
    return run.but(**data, **hidden)


def pin_buttons(spec: RunSpec) -> None:
    """Draw buttons to pin the current model and to remove all pins; beyond the limit the oldest goes."""
    pins = pinned(spec)
    st.button(
        "Pin this run",
        key="pin",
        icon=":material/keep:",
        on_click=_pin,
        args=(spec,),
        disabled=spec in pins.values(),
        help=words.PIN_RUN.format(most=MOST),
    )
    st.button("Clear pins", key="unpin", on_click=choose, args=(_PINS, ()), disabled=not pins)


@errors_as_sentences()
def _pin(spec: RunSpec) -> None:
    """Pin the run of a spec, or its twin if only that is stored (a callback)."""
    spec = spec.but(digest=digest_of(spec))
    with suppress(StoreError):
        keeper().wait()
        alike = [spec, *twins([spec])]
        spec = next(iter(run_store().listing.specs([one.hash for one in alike])), spec)
    st.session_state[_PINNED][spec.hash] = spec
    choose(_PINS, [*chosen(_PINS), spec.hash][-MOST:])


def menu(place: Any, label: str, options: Mapping[str, Option], default: str, key: str, hint: str) -> Option:
    """Draw a menu of models with a key in the address; return the chosen one.

    The address has the options' own texts, because labels of pins depend on the other pins. For an unknown
    text the default is used. This is reported, except for a pin that the visitor removed.
    """
    state, kept = st.session_state, f"chosen-{key}"
    if kept not in state and key in st.query_params:
        state[kept] = st.query_params[key]
    chosen = state.get(kept, default)
    if chosen not in options:
        if chosen not in state.get(_PINNED, ()):
            asked = words.RUN_OF_LINK if ID.fullmatch(chosen) else shortened(chosen)
            st.warning(
                words.NO_SUCH_MODEL.format(label=label, asked=asked, shown=options[default].label),
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
    write_address(key, "" if chosen == default else chosen)
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
        """Names for axes and tables: of their looks, with a linear model's own C; labels if these match."""
        left, right = (", ".join((style_of(look_of(one)).name, *self.own_C(one))) for one in self._both)
        return self.labels if len(set(self.looks)) == 1 else (left, right)

    @property
    def names_in_text(self) -> tuple[str, str]:
        """Names within a sentence: "the linear model (C = 2⁻¹⁵)", "Nyström"; labels if the looks match."""
        left, right = (
            " ".join((in_a_sentence(one), *map("({})".format, self.own_C(one)))) for one in self._both
        )
        return self.labels if len(set(self.looks)) == 1 else (left, right)

    @property
    def _both(self) -> tuple[RunSpec, RunSpec]:
        return self.left, self.right

    def own_C(self, spec: RunSpec) -> tuple[str, ...]:
        """Return the C of one of them if it is linear, and the other one has another C."""
        return own_C(spec, self._both)


def supports(spec: RunSpec, *names: str) -> bool:
    """Return True if a spec's model offers all of these; else explain why not, and offer alternatives."""
    lacking = spec.offers.lacks(*names)
    if not lacking:
        return True
    st.info(reason(spec, lacking), icon=":material/info:")
    row = st.container(horizontal=True)
    able = list(alternatives(spec, *names))
    labels = [setting.options[option].label for setting, option in able]
    for (setting, option), label in zip(able, labels, strict=True):
        which = f" ({setting.label.lower()})" * (labels.count(label) > 1)  # a map and a kernel share one
        row.button(
            f"Use {label}{which}",
            key=f"use-{setting.key}-{option}-{'-'.join(names)}",
            on_click=st.session_state.update,
            args=({setting.key: option},),
        )
    return False


def reason(spec: RunSpec, lacking: list[str]) -> str:
    """Explain in a sentence why something cannot be shown for a model."""
    words, loss = " and no ".join(WORDS[name] for name in lacking), spec.option(LOSS.name)
    of_loss = loss is not None and not loss.of_pairs
    if of_loss and not spec.but(**{LOSS.name: LOSS.default}).offers.lacks(*lacking):
        return f"The {loss.label} loss is no sum over preference pairs, so a model with it has no {words}."
    return f"{capital(in_a_sentence(spec))} has no {words}, so there is nothing to show here."


def alternatives(spec: RunSpec, *names: str) -> Iterator[tuple[Setting, str]]:
    """Yield single other choices, as setting and option, with which a model offers all of these."""
    choices = [setting for setting in spec.declared().values() if setting.options and setting.key]
    for setting in (*choices, METHOD):
        for option in setting.options:
            try:
                other = spec.but(**{setting.name: option})
                other.kind.check(other.values)
            except SettingError:
                continue  # invalid with the other settings
            if not other.offers.lacks(*names):
                yield setting, option
