"""The sidebar, made from the settings; `ui.shared.settings` reads its widgets."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from rankviz.common.settings import SEED, Setting
from rankviz.datasets import NORMALISATIONS, DataError, Dataset
from rankviz.features import FEATURE_MAPS
from rankviz.features.settings import FREQUENCY_CHOICE, GAMMA, LANDMARK_CHOICE, N_COMPONENTS, RANK
from rankviz.learning.losses import LOSSES
from rankviz.learning.risk_settings import COSTS, LOSS, LOSS_WEIGHT
from rankviz.learning.solver_settings import TOL
from rankviz.learning.solvers import SOLVER
from rankviz.models.methods import METHODS, USUAL
from rankviz.models.settings import FEATURE_MAP
from ui.controls.widgets import start_index
from ui.shared import words
from ui.shared.compared import send_button
from ui.shared.controls import control_of, value_from
from ui.shared.link import frozen_link
from ui.shared.settings import (
    BASELINE_C,
    FIRST_FOLD,
    METHOD,
    NORMALISATION,
    PRESETS,
    is_read,
    preset,
)
from ui.shared.starts import say_what_was_brought, start_from, whence

IN_VIEW = (METHOD, FEATURE_MAP, N_COMPONENTS, LOSS_WEIGHT, GAMMA, LOSS)
NEXT_TO_M = (LOSS_WEIGHT, GAMMA)
BELOW = (COSTS, SOLVER, NORMALISATION, SEED, BASELINE_C, TOL, RANK, LANDMARK_CHOICE, FREQUENCY_CHOICE)
"""Settings with a fixed place: visible, or below "More settings". All others follow the choice that needs
them: a method's below the methods, a kernel's below the kernels. C and γ come before these, to be visible on
a small screen."""
BRINGERS = {FEATURE_MAP: (), N_COMPONENTS: (FEATURE_MAP,)}
"""Settings whose dependent settings follow another one: those of feature maps follow m."""

HINTS: dict[Setting, Callable[[], Iterable[str]]] = {
    METHOD: lambda: (f"{one.label}: minimises {one.minimises}." for one in METHODS.values() if one.minimises),
    LOSS: lambda: (f"{loss.label}: {loss.formula}." for loss in LOSSES.values()),
    NORMALISATION: lambda: (f"{one.label}: {one.description}" for one in NORMALISATIONS.values()),
}
"""Additions to help texts about the available options."""


def sidebar(
    datasets: dict[str, Dataset],
    unread: Callable[[Setting], str] = lambda _: "",
    no_fold: Callable[[], str] = lambda: "",
    *,
    folded: bool = False,
) -> None:
    """Draw the shared sidebar; `spec_from_state` reads its experiment.

    `unread` explains why the current page does not read a setting, "" if it does; `no_fold` does so for the
    fold. On a page that reads none, they are `folded`: they keep their values for the other pages.
    """
    drawn: set[Setting] = set()
    with st.sidebar:
        st.session_state[_OWN] = st.container()
    with st.sidebar, st.expander("Settings not used on this page") if folded else nullcontext():
        _data_settings(datasets, no_fold())
        place = st.container()  # C and γ are drawn after the kernel, which decides whether γ is read
        for setting in in_order(IN_VIEW, drawn):
            with place if setting in NEXT_TO_M else nullcontext():
                _control(setting, unread(setting))
            if setting is N_COMPONENTS:
                place = st.container()
        with st.expander("More settings", expanded=_costs_are_wrong()):
            for setting in in_order(BELOW, drawn):
                _control(setting, unread(setting))
        _presets_and_link()


_OWN, _LINK = "sidebar-own", "sidebar-link"


def own_place() -> DeltaGenerator:
    """Return the place above the shared settings, for a page's own controls."""
    place: DeltaGenerator = st.session_state[_OWN]
    return place


def in_order(settings: Iterable[Setting], drawn: set[Setting]) -> Iterator[Setting]:
    """Yield settings, each followed by dependent ones without a fixed place; skip those already drawn.

    A widget's value is read after it is drawn, because the first run takes it from the URL only then.
    """
    for setting in settings:
        if setting in drawn or not setting.key:
            continue
        drawn.add(setting)
        yield setting
        for bringer in BRINGERS.get(setting, (setting,)):
            brought = [one for one in _brought(bringer) if one not in IN_VIEW and one not in BELOW]
            yield from in_order(brought, drawn)


def _brought(setting: Setting) -> list[Setting]:
    """Return the dependent settings of a choice; for feature maps those of all: pages compare them."""
    if not setting.options:
        return []
    chosen = setting.options if setting is FEATURE_MAP else (value_from(setting, st.session_state),)
    return [one for name in chosen for one in setting.settings_of(name)]


def _control(setting: Setting, why: str) -> None:
    """Draw the control of a setting, greyed out if page or model do not read it, with the reason."""
    if not why and not is_read(setting, st.session_state):
        why = words.not_used_by(_model())
    told = HINTS[setting]() if setting in HINTS else ()
    hint = " ".join(filter(None, (setting.help, *told, whence(setting), why)))
    control_of(setting).draw(disabled=bool(why), hint=hint)


def _costs_are_wrong() -> bool:
    """Return True if the costs of pairs are invalid, to be corrected below "More settings"."""
    try:
        value_from(COSTS, st.session_state)
    except DataError:
        return True
    return False


def _model() -> str:
    """Name the current model within a sentence."""
    method, name = (value_from(setting, st.session_state) for setting in (METHOD, FEATURE_MAP))
    return METHODS[method].label if method != USUAL else FEATURE_MAPS[name].in_a_sentence


def _data_settings(datasets: dict[str, Dataset], no_fold: str) -> None:
    if not datasets:
        raise DataError(
            "no data set below the data folders",
            expected="folders such as NAME/Fold1/train.txt",
            remedy="Start the app with another data folder: make app DATA=folder.",
        )
    first, second = st.columns([27, 15], gap="xsmall")
    chosen = first.selectbox(
        "Data set",
        list(datasets),
        key="data",
        bind="query-params",
        help=words.DATA_SET,
    )
    start_from(datasets[chosen])
    folds = list(datasets[chosen].folds)
    second.selectbox(
        "Fold",
        folds,
        start_index("fold", folds, FIRST_FOLD),
        key="fold",
        bind="query-params",
        disabled=bool(no_fold) and len(folds) > 1,
        help=f"{words.FOLD} {no_fold}",
    )
    say_what_was_brought()


def _presets_and_link() -> None:
    with st.popover("Share and presets", width="stretch"):
        for name in PRESETS:
            st.button(name, on_click=_apply, args=(name,), width="stretch")
        st.session_state[_LINK] = st.container()


def show_link() -> None:
    """Fill the place of the link after the page is drawn, when the address is complete."""
    place: DeltaGenerator = st.session_state[_LINK]
    place.markdown(words.LINK)
    place.code(frozen_link(), language=None, wrap_lines=True)
    with place:
        send_button()


def _apply(name: str) -> None:
    """Set the drawn widgets to a preset (a callback)."""
    for key, value in preset(name, st.session_state).items():
        if key in st.session_state:
            st.session_state[key] = value
