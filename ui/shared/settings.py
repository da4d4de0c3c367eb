"""The settings in the sidebar: where they start from, and the RunSpec that they stand for.

Every widget is bound to the URL under the key of its setting, so the address of a page is its whole state. A
value equal to its default is left out of the URL; `v` there says which set of defaults is meant.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any
from urllib.parse import urlencode

import streamlit as st

from rankviz.common.settings import Choice, Setting, every
from rankviz.datasets import NORMALISATIONS
from rankviz.experiments.spec import DataSpec, RunSpec
from rankviz.features import LINEAR
from rankviz.models.methods import METHODS, USUAL
from rankviz.models.settings import FEATURE_MAP
from rankviz.risk.settings import COSTS, LOSS_WEIGHT
from ui.shared.costs import CHOICES
from ui.shared.state import TABLE_KEY, held, value_from

VERSION = "1"

METHOD = Setting(
    name="method",
    symbol="method",
    label="Method",
    domain=Choice(METHODS),
    default=USUAL,
    help="What learns the scores. "
    + " ".join(f"{m.label}: minimises {m.minimises}." for m in METHODS.values() if m.minimises),
    key="method",
)

NORMALISATION = Setting(
    name="normalisation",
    symbol="normalisation",
    label="Normalisation",
    domain=Choice(NORMALISATIONS),
    default=DataSpec.normalisation,
    help=" ".join(f"{n.label}: {n.description}" for n in NORMALISATIONS.values()),
    key="norm",
)

BASELINE_C = replace(
    LOSS_WEIGHT,
    name="baseline_C",
    label="C of the linear baseline",
    start=2.0**-10,
    help="The dotted linear model is trained with a C of its own: the best C differs between maps.",
    key="clin",
)

SHARED = (METHOD, *every(METHODS[USUAL].settings), NORMALISATION, BASELINE_C)
"""Settings that the sidebar always has: those of RankSVM, for pages draw its models beside any other."""


def own_settings(method: str) -> list[Setting]:
    """The settings that a method has beside the shared ones."""
    declared = every(METHODS[method].settings)
    return [setting for setting in declared if setting not in SHARED and setting.key]


def defaults() -> dict[str, Any]:
    """What the controls start from, by key; chosen for the bundled folds, and part of what VERSION promises."""
    found: dict[str, Any] = {"fold": "Fold1"}
    for setting in SHARED:
        found |= held(setting, setting.first) if setting.key else {}
    return found


DEFAULTS = defaults()

PRESETS = {
    "Bundled folds": DEFAULTS,
    "chen2017, Table 4 (OHSUMED)": DEFAULTS | {"m": 500, "c": -7, "g": -6, "clin": -13},
}
"""Settings worth starting from. They change the model, not the data."""


def spec_from_state(state: Any, feature_map: str | None = None, **changes: Any) -> RunSpec:
    """The RunSpec that the sidebar's widgets stand for, or the same with another map or other settings.

    A map that is named makes it one of RankSVM. The digest is filled in when the fold is open. Raises
    `SettingError` for settings that do not go together, `DataError` for costs that are no numbers.
    """
    method = USUAL if feature_map else state.get(METHOD.key, USUAL)
    given = changes | ({FEATURE_MAP.name: feature_map} if feature_map else {})

    def value_of(setting: Setting) -> Any:
        return given[setting.name] if setting.name in given else value_from(setting, state)

    values = {setting.name: value for setting, value in METHODS[method].active(value_of)}
    data = DataSpec(state["data"], state["fold"], normalisation=state[NORMALISATION.key])
    spec = RunSpec(data.dataset, data.fold, "", data.normalisation, method=method, **(values | given))
    spec.kind.check(spec.values)
    return spec


def baseline(state: Any) -> RunSpec:
    """The linear model that is drawn beside others: with the sidebar's C where that is what is set there."""
    spec = spec_from_state(state, LINEAR)
    chosen = state.get(METHOD.key, USUAL), state[FEATURE_MAP.key]
    return spec if chosen == (USUAL, LINEAR) else spec.but(C=value_from(BASELINE_C, state))


def state_of(spec: RunSpec) -> dict[str, Any]:
    """Values of the widgets of the settings it has: the inverse of `spec_from_state`."""
    state = {"data": spec.dataset, "fold": spec.fold, NORMALISATION.key: spec.normalisation}
    state |= {METHOD.key: spec.method}
    for name, setting in spec.declared().items():
        state |= held(setting, spec.get(name)) if setting.key else {}
    return state


def query_params(values: dict[str, Any]) -> dict[str, str]:
    """Widget values as query parameters; Streamlit reads options there by their labels."""
    return {"v": VERSION} | {key: label_of(key)(value) for key, value in values.items()}


def label_of(key: str) -> Callable[[Any], str]:
    """What an option of a widget is called, in menus and in the URL, by the key of the widget."""
    if key == COSTS.key:
        return CHOICES.__getitem__
    setting = next((one for one in all_settings() if one.key == key), None)
    if setting is None or key == TABLE_KEY:
        return str
    if setting.options:
        return lambda name: str(setting.options[name].label)
    if isinstance(setting.first, float) and setting.offer is not None and setting.caption is not None:
        return lambda value: f"{value:.0e}"
    return str


def all_settings() -> list[Setting]:
    """The settings of every method, and the sidebar's own."""
    found = list(SHARED)
    for method in METHODS:
        found += [setting for setting in own_settings(method) if setting not in found]
    return found


def frozen_link() -> str:
    """The address of the page with every setting of the sidebar in it, also those equal to the defaults."""
    state = st.session_state
    keys = ("data", *DEFAULTS, *(s.key for s in own_settings(state.get(METHOD.key, USUAL))))
    sidebar_s = query_params({key: state[key] for key in keys if key in state})
    return f"{(st.context.url or '').split('?')[0]}?{urlencode(st.query_params.to_dict() | sidebar_s)}"


def open_run(spec: RunSpec) -> None:
    """Set the sidebar to a spec and go to the Train page (a callback; `go_where_asked` does the going)."""
    for key, value in state_of(spec).items():
        st.session_state[key] = value
    st.session_state[_DESTINATION] = "pages/train.py"


def go_where_asked() -> None:
    """Switch to the page that a callback asked for; the settings of the sidebar go along."""
    if _DESTINATION in st.session_state:
        st.switch_page(st.session_state.pop(_DESTINATION), query_params={})


def link_as_opened() -> dict[str, str]:
    """What the address said when the visitor came, before widgets drop what they do not offer."""
    link: dict[str, str] = st.session_state.setdefault(_LINK, st.query_params.to_dict())
    return link


def say_what_was_not_offered(link: dict[str, str]) -> None:
    """Warn of settings in the link that could not be taken, until the visitor changes one."""
    state = st.session_state
    taken = query_params({key: state[key] for key in DEFAULTS if key in state})
    if state.setdefault(_TAKEN, taken) != taken:
        return
    refused = [key for key in taken if link.get(key, taken[key]) != taken[key]]
    wrong = [f"{key} = {link[key]} ({taken[key]} is used)" for key in refused]
    if wrong:
        text = f"This link asks for what is not offered here: {', '.join(wrong)}."
        st.warning(text, icon=":material/link_off:")


_DESTINATION, _LINK, _TAKEN = "go-to", "link", "taken-from-link"
