"""The widgets of the sidebar, made from the settings; what they stand for is in `ui.shared.settings`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import streamlit as st

from rankviz.common.settings import Powers, Setting, Steps, Typed
from rankviz.datasets import DataError, Dataset
from rankviz.models.methods import METHODS, USUAL
from rankviz.models.settings import FEATURE_MAP
from rankviz.risk.losses import LOSSES
from rankviz.risk.settings import COSTS, LOSS, LOSS_WEIGHT
from ui.shared.costs import CHOICES, DEFAULT_TABLE, TABLE, TABLE_QUERY
from ui.shared.settings import (
    BASELINE_C,
    DEFAULTS,
    METHOD,
    NORMALISATION,
    PRESETS,
    SHARED,
    frozen_link,
    label_of,
    own_settings,
)
from ui.shared.state import TABLE_KEY, held, value_from

FIRST = (METHOD, FEATURE_MAP)
LAST = (LOSS_WEIGHT, LOSS)
"""Settings that are always in view: these first, then what the map brings along, then these."""
HIDDEN = ("rank", "landmarks", "frequencies", "seed")
"""Settings of maps that few change: below "More settings"."""


def sidebar(datasets: dict[str, Dataset]) -> None:
    """Draw the shared sidebar; `spec_from_state` says what experiment it describes."""
    with st.sidebar:
        _data_settings(datasets)
        for setting in FIRST:
            _control(setting)
        of_map, more = _of_the_map(), []
        for setting in (*of_map, *LAST):
            (more.append if setting.name in HIDDEN else _control)(setting)
        for setting in own_settings(st.session_state[METHOD.key]):
            _control(setting)
        with st.expander("More settings"):
            for setting in _others(more):
                _control(setting)
        _presets_and_link()


def _of_the_map() -> list[Setting]:
    """Settings that feature maps bring along, in the order of the sidebar."""
    later = {LOSS_WEIGHT, LOSS, *FIRST}
    start = SHARED.index(FEATURE_MAP)
    after = next(i for i, s in enumerate(SHARED) if i > start and s is LOSS)
    return [setting for setting in SHARED[start + 1 : after] if setting not in later and setting.key]


def _others(of_map: list[Setting]) -> list[Setting]:
    """What is below "More settings": costs, solver and the rest, then what few change of a map."""
    shown = {*FIRST, *LAST, *_of_the_map(), NORMALISATION, BASELINE_C}
    rest = [setting for setting in SHARED if setting not in shown and setting.key]
    return [*rest, NORMALISATION, BASELINE_C, *of_map]


def _data_settings(datasets: dict[str, Dataset]) -> None:
    if not datasets:
        raise DataError(
            "no data set below the data folders",
            expected="folders such as NAME/Fold1/train.txt",
            remedy="Start the app with a data folder that has some: make app DATA=folder.",
        )
    names = list(datasets)
    chosen = st.selectbox(
        "Data set",
        names,
        key="data",
        bind="query-params",
        help="Found below the data folders. The bundled set is synthetic; put LETOR folds beside it or start "
        "with `make app DATA=folder`.",
    )
    folds = list(datasets[chosen].folds)
    st.selectbox(
        "Fold",
        folds,
        _default("fold", folds, DEFAULTS["fold"]),
        key="fold",
        bind="query-params",
        help="Each fold has a training part to fit on, a validation part to choose settings on, and a test "
        "part to judge by, once.",
    )


def _control(setting: Setting) -> None:
    """The control of a setting, bound to the URL under its key; greyed out where nothing reads it."""
    if setting is COSTS:
        _cost_settings()
    elif setting.options:
        _choice(setting, setting.label, list(setting.options), _hint(setting))
    elif isinstance(setting.offer, Powers):
        st.slider(
            setting.label,
            setting.offer.low,
            setting.offer.high,
            _start(setting),
            step=1,
            format=f"{setting.offer.base}^%d",
            **_common(setting),
        )
    elif isinstance(setting.offer, Steps):
        values = list(setting.offer.values)
        at = values[_default(setting.key, values, _start(setting))]
        st.select_slider(setting.label, values, at, format_func=label_of(setting.key), **_common(setting))
    elif isinstance(setting.offer, Typed):
        low, high = int(setting.offer.low), int(setting.offer.high)
        st.number_input(setting.label, low, high, _start(setting), step=1, **_common(setting))


def _common(setting: Setting) -> dict[str, Any]:
    return {
        "key": setting.key,
        "bind": "query-params",
        "disabled": not is_read(setting),
        "help": setting.help,
    }


def _start(setting: Setting) -> Any:
    """What the control of a setting starts from."""
    return held(setting, setting.first)[setting.key]


def is_read(setting: Setting) -> bool:
    """Whether the model that is set reads a setting; what the sidebar has for others counts in figures only."""
    state = st.session_state
    if setting in (METHOD, NORMALISATION):
        return True
    method = state.get(METHOD.key, USUAL)
    read = [s for s, _ in METHODS[method].active(lambda one: value_from(one, state))]
    if setting is BASELINE_C:
        return FEATURE_MAP not in read or state[FEATURE_MAP.key] != "linear"
    return setting in read


def _hint(setting: Setting) -> str:
    if setting is LOSS:
        told = " ".join(f"{loss.label}: {loss.formula}." for loss in LOSSES.values())
        return setting.help.replace("costs. C", f"costs. {told} C")
    return setting.help


def _cost_settings() -> None:
    _choice(COSTS, COSTS.label, list(CHOICES), COSTS.help)
    st.text_input(
        "λ₁₀, λ₂₀, λ₂₁, …",
        DEFAULT_TABLE,
        key=TABLE_KEY,
        bind="query-params",
        disabled=st.session_state[COSTS.key] not in (TABLE, TABLE_QUERY) or not is_read(COSTS),
        help="Costs by grades of your own: what a document of grade 1 preferred to one of grade 0 costs, "
        "then 2 to 0, 2 to 1, then 3 to 0, … Used where the costs are “λ as below”.",
    )


def _choice(setting: Setting, label: str, options: Sequence[str], hint: str) -> None:
    """A menu whose options have labels, bound to the URL under its key."""
    st.selectbox(
        label,
        options,
        _default(setting.key, options, _start(setting)),
        format_func=label_of(setting.key),
        **(_common(setting) | {"help": hint}),
    )


def _default(key: str, options: Sequence[Any], start: Any) -> int:
    """Position of a widget's default among its options, which the widget takes where they changed under it.

    The default is given to the widget itself: one set through the session state alone would leave the
    widget's own first option unreachable from the URL, for Streamlit drops values equal to that one.
    """
    position = options.index(start) if start in options else 0
    if st.session_state.get(key, options[position]) not in options:
        st.session_state[key] = options[position]
    return position


def _presets_and_link() -> None:
    with st.popover("Presets and link", width="stretch"):
        for name, values in PRESETS.items():
            st.button(name, on_click=_apply, args=(values,), width="stretch")
        st.markdown("The address of this page is this experiment. With every setting spelled out:")
        st.code(frozen_link(), language=None, wrap_lines=True)


def _apply(values: dict[str, Any]) -> None:
    for key, value in values.items():
        if key != "fold":
            st.session_state[key] = value
