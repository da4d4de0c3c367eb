"""The settings in the sidebar: where they start from, and the RunSpec that they stand for.

Every widget is bound to the URL under the key of its setting, so the address of a page is its whole state. A
value equal to its default is left out of the URL; `v` there says which set of defaults is meant.

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
from rankviz.experiments.spec import DataSpec, RunSpec
from rankviz.features import LINEAR
from rankviz.features.settings import GAMMA, N_COMPONENTS
from rankviz.models.methods import METHODS, USUAL
from rankviz.models.settings import FEATURE_MAP
from rankviz.risk.settings import LOSS_WEIGHT
from ui.shared import words
from ui.shared.controls import first, held, value_from

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
"""The fold that the app starts from, where the data set has it."""

OF_DATA = (N_COMPONENTS, LOSS_WEIGHT, GAMMA, BASELINE_C)
"""Settings that start from another value on another data set (`ui.shared.starts`)."""

PRESETS: dict[str, Mapping[Setting, Any]] = {
    "Start values of this data set": {},
    "chen2017, Table 4 (OHSUMED)": {
        N_COMPONENTS: 500,
        LOSS_WEIGHT: 2.0**-7,
        GAMMA: 2.0**-6,
        BASELINE_C: 2.0**-13,
    },
}
"""Settings worth starting from; those not named are where the data set starts. They leave the data alone."""


def shared() -> list[Setting]:
    """Settings that the sidebar has for every method: those of RankSVM, for pages draw its models beside any.

    Asked anew each time, for registries may grow; without those that have no control.
    """
    found = [METHOD, *every(METHODS[USUAL].settings), NORMALISATION, BASELINE_C]
    return [setting for setting in found if setting.key]


def own_settings(method: str) -> list[Setting]:
    """The settings that a method has beside the shared ones."""
    known = shared()
    return [one for one in every(METHODS[method].settings) if one.key and one not in known]


def all_settings() -> list[Setting]:
    """The shared settings and those of every method."""
    return list(dict.fromkeys([*shared(), *(one for method in METHODS for one in own_settings(method))]))


def preset(name: str, before: Mapping[str, Any]) -> dict[str, Any]:
    """What widgets hold for one of `PRESETS`, by their keys, where they held something else before."""
    state: dict[str, Any] = {}
    for setting in all_settings():
        state |= held(setting, PRESETS[name].get(setting, first(setting, before)))
    return state


def spec_from_state(state: Mapping[str, Any], feature_map: str | None = None, **changes: Any) -> RunSpec:
    """The RunSpec that the sidebar's widgets stand for, or the same with another map or other settings.

    A map that is named makes it one of RankSVM. The digest is filled in when the fold is open. Raises
    `SettingError` for settings that do not go together, `DataError` for costs that are no numbers.
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
    """The data set, fold and normalisation that the sidebar's widgets stand for, with the usual model."""
    return RunSpec(state["data"], state["fold"], "", value_from(NORMALISATION, state))


def baseline(state: Mapping[str, Any]) -> RunSpec:
    """The linear model that is drawn beside others: with the sidebar's C where that is what is set there."""
    spec = spec_from_state(state, LINEAR)
    return spec if baseline_is_set(state) else spec.but(C=value_from(BASELINE_C, state))


def baseline_is_set(state: Mapping[str, Any]) -> bool:
    """Whether the sidebar stands for the linear model itself, which then has one C only."""
    return (value_from(METHOD, state), value_from(FEATURE_MAP, state)) == (USUAL, LINEAR)


def is_read(setting: Setting, state: Mapping[str, Any]) -> bool:
    """Whether the model that is set reads a setting; others count only in figures that draw more models."""
    if setting is BASELINE_C:
        return not baseline_is_set(state)

    def choice_of(one: Setting) -> Any:  # all that matters here; costs may be no numbers yet
        return value_from(one, state) if one.options else one.first

    read = METHODS[value_from(METHOD, state)].active(choice_of)
    return setting in (METHOD, NORMALISATION, *(one for one, _ in read))


def state_of(spec: RunSpec) -> dict[str, Any]:
    """Values of the widgets of the settings it has: the inverse of `spec_from_state`.

    Raises `SettingError` for a setting whose value the sidebar does not offer.
    """
    if spec.sample.drawn:
        raise SettingError(f"the sidebar has no setting for {spec.sample.words}")
    state = {"data": spec.dataset, "fold": spec.fold}
    state |= held(METHOD, spec.method) | held(NORMALISATION, spec.normalisation)
    for name, setting in spec.declared().items():
        state |= held(setting, spec.values[name])
    return state


def open_run(spec: RunSpec) -> None:
    """Set the sidebar to a spec and go to the Train page (a callback; `go_where_asked` does the going)."""
    for key, value in state_of(spec).items():
        st.session_state[key] = value
    st.session_state[SET_FOR] = spec.dataset
    go_to("train")


def go_to(page: str) -> None:
    """Go to a page, by the name of its script (a callback; `go_where_asked` does the going)."""
    st.session_state[_DESTINATION] = f"pages/{page}.py"


def leave_if_asked() -> None:
    """In a fragment, which runs without the router: run the whole page where a callback asked for another."""
    if _DESTINATION in st.session_state:
        st.rerun()


def go_where_asked() -> None:
    """Switch to the page that a callback asked for; the settings of the sidebar go along."""
    if _DESTINATION in st.session_state:
        st.switch_page(st.session_state.pop(_DESTINATION), query_params={})


_DESTINATION = "go-to"
SET_FOR = "set-for"
"""Where the session keeps the data set that its settings are meant for: another one brings its own."""
