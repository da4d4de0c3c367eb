"""Settings in the sidebar: their initial values, and their RunSpec.

Every widget is bound to the URL under the key of its setting, so a page's address is its whole state. Values
equal to the default are omitted from the URL; its `v` names the version of the defaults.

See docs/decisions/0024-the-address-is-the-state.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import streamlit as st

from rankviz.common.errors import SettingError
from rankviz.common.settings import Choice, Setting, every
from rankviz.datasets import NORMALISATIONS
from rankviz.features import LINEAR
from rankviz.features.kernels import GAMMA
from rankviz.features.registry import FEATURE_MAP, N_COMPONENTS
from rankviz.learning.losses import LOSS_WEIGHT
from rankviz.models.methods import METHODS, USUAL
from rankviz.runs.spec import DataSpec, RunSpec
from ui.controls.setting_controls import initial_value, value_from, widget_values
from ui.shell import words
from ui.shell.page import go_to

METHOD = Setting(
    name="method",
    symbol="method",
    label="Method",
    domain=Choice(METHODS),
    default=USUAL,
    help=words.METHOD,
    key="method",
)

NORMALISATION = Setting(
    name="normalisation",
    symbol="normalisation",
    label="Normalisation",
    domain=Choice(NORMALISATIONS),
    default=DataSpec.normalisation,
    help=words.NORMALISATION,
    key="norm",
)

BASELINE_C = replace(
    LOSS_WEIGHT,
    name="baseline_C",
    label="C of the linear baseline",
    start=2.0**-10,
    help=words.BASELINE_C,
    key="clin",
)

FIRST_FOLD = "Fold1"
"""The initial fold, if the data set has it."""

OF_DATA = (N_COMPONENTS, LOSS_WEIGHT, GAMMA, BASELINE_C)
"""Settings whose initial value depends on the data set (`ui.controls.sidebar`)."""

PRESETS: dict[str, Mapping[Setting, Any]] = {
    "Start values of this data set": {},
    "chen2017, Table 4 (OHSUMED)": {
        N_COMPONENTS: 500,
        LOSS_WEIGHT: 2.0**-7,
        GAMMA: 2.0**-6,
        BASELINE_C: 2.0**-13,
    },
}
"""Presets; other settings get the data set's initial values. The data stay unchanged."""


def shared() -> list[Setting]:
    """Return the sidebar's settings for every method: those of RankSVM, which pages compare with any.

    Computed at each call, because registries may grow; settings without a control are left out.
    """
    found = [METHOD, *every(METHODS[USUAL].settings), NORMALISATION, BASELINE_C]
    return [setting for setting in found if setting.key]


def all_settings() -> list[Setting]:
    """Return the shared settings and those of every method."""
    of_methods = (one for method in METHODS.values() for one in every(method.settings) if one.key)
    return list(dict.fromkeys([*shared(), *of_methods]))


def preset(name: str, before: Mapping[str, Any]) -> dict[str, Any]:
    """Return the widgets' values for one of `PRESETS`, by key, given the present state."""
    values = {one: PRESETS[name].get(one, initial_value(one, before)) for one in all_settings()}
    return {key: raw for one, value in values.items() for key, raw in widget_values(one, value).items()}


def spec_from_state(state: Mapping[str, Any], feature_map: str | None = None, **changes: Any) -> RunSpec:
    """Return the RunSpec of the sidebar's widgets, or the same with another map or other settings.

    A named map implies RankSVM. The digest is added when the fold is open. Raises `SettingError` for an
    invalid combination, `DataError` for costs that are not numbers.
    """
    method = value_from(METHOD, state) if feature_map is None else USUAL
    given = changes if feature_map is None else changes | {FEATURE_MAP.name: feature_map}

    def value_of(setting: Setting) -> Any:
        return given[setting.name] if setting.name in given else value_from(setting, state)

    values = {setting.name: value for setting, value in METHODS[method].active(value_of)}
    chosen = data_from_state(state)
    spec = RunSpec(chosen.dataset, chosen.fold, "", chosen.normalisation, method=method, **(values | given))
    spec.kind.check(spec.values)
    return spec


def data_from_state(state: Mapping[str, Any]) -> RunSpec:
    """Return the sidebar's data set, fold and normalisation, with the default model."""
    return RunSpec(state["data"], state["fold"], "", value_from(NORMALISATION, state))


def baseline(state: Mapping[str, Any]) -> RunSpec:
    """Return the linear model for comparison, with the sidebar's C if that model is the current one."""
    spec = spec_from_state(state, LINEAR)
    return spec if baseline_is_set(state) else spec.but(C=value_from(BASELINE_C, state))


def baseline_is_set(state: Mapping[str, Any]) -> bool:
    """Return True if the sidebar's model is the linear one, which then has only one C."""
    return (value_from(METHOD, state), value_from(FEATURE_MAP, state)) == (USUAL, LINEAR)


def is_read(setting: Setting, state: Mapping[str, Any]) -> bool:
    """Return True if the current model reads a setting; others matter only in figures with more models."""
    if setting is BASELINE_C:
        return not baseline_is_set(state)

    def choice_of(one: Setting) -> Any:  # only choices matter here; costs may still be invalid
        return value_from(one, state) if one.options else one.first

    read = METHODS[value_from(METHOD, state)].active(choice_of)
    return setting in (METHOD, NORMALISATION, *(one for one, _ in read))


def state_of(spec: RunSpec) -> dict[str, Any]:
    """Return the widgets' values for a spec's settings: the inverse of `spec_from_state`.

    Raises `SettingError` for a value that the sidebar does not offer.
    """
    if spec.sample.drawn:
        raise SettingError(f"the sidebar has no setting for {spec.sample.words}")
    state = {"data": spec.dataset, "fold": spec.fold}
    state |= widget_values(METHOD, spec.method) | widget_values(NORMALISATION, spec.normalisation)
    for name, setting in spec.declared().items():
        state |= widget_values(setting, spec.values[name])
    return state


def open_run(spec: RunSpec) -> None:
    """Set the sidebar to a spec and go to Train (a callback; `switch_if_requested` then switches)."""
    st.session_state.update(state_of(spec))
    st.session_state[SET_FOR] = spec.dataset
    go_to("train")


SET_FOR = "set-for"
"""Session key of the data set that the settings belong to: another one has its own."""
