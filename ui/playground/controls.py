"""The playground's controls at the top of the sidebar: the set, and its model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import streamlit as st

from rankviz.common.settings import SEED, Choice, Powers, Setting, Steps, Typed, active
from rankviz.datasets.plane import MOST_EACH, PLANES
from rankviz.features import LINEAR
from rankviz.features.settings import GAMMA, N_COMPONENTS
from rankviz.learning.losses import LOSSES
from rankviz.learning.risk_settings import LOSS, LOSS_WEIGHT
from rankviz.models.settings import FEATURE_MAP
from ui.playground import words
from ui.shared.controls import control_of, value_from
from ui.shared.sidebar import own_place

PLANE = Setting(
    name="plane",
    symbol="set",
    label="Documents",
    domain=Choice(PLANES),
    default="ring",
    help=words.PLANE_HELP,
    key="pset",
)
EACH = Setting(
    name="plane_each",
    symbol="documents",
    label="Documents of each query",
    domain=N_COMPONENTS.domain,
    default=16,
    help=words.EACH_HELP,
    key="peach",
    offer=Typed(1, MOST_EACH),
)
MAP = replace(FEATURE_MAP, name="plane_map", default=LINEAR, key="pmap")
M = replace(
    N_COMPONENTS,
    name="plane_m",
    default=12,
    start=None,
    key="pm",
    offer=Steps((1, 2, 3, 4, 6, 8, 12, 20, 30, 50, 100)),
)
C = replace(LOSS_WEIGHT, name="plane_C", default=1.0, start=None, key="pc", offer=Powers(-12, 10))
PLANE_GAMMA = replace(GAMMA, name="plane_gamma", default=4.0, start=None, key="pg", offer=Powers(-4, 6))
PLANE_LOSS = replace(LOSS, name="plane_loss", key="ploss")
PLANE_SEED = replace(
    SEED,
    name="plane_seed",
    help=words.SEED_HELP,
    key="pseed",
)
ALL = (PLANE, EACH, PLANE_SEED, MAP, M, PLANE_GAMMA, C, PLANE_LOSS)
PARAMETERS = {MAP: "feature_map", M: "n_components", PLANE_GAMMA: "gamma", C: "C", PLANE_LOSS: "loss"}
"""Settings of `RankSVM`, including the seed."""
ENOUGH = 1e-4
"""Tolerance of training: a smaller one changes no picture and doubles the time of the hinge."""
OF = {M: N_COMPONENTS, PLANE_GAMMA: GAMMA}
"""The feature map's setting for each of these: read if the map reads it."""


def controls() -> tuple[str, int, dict[str, Any]]:
    """Draw them; return the set, its size, and the settings of RankSVM that the chosen map reads."""
    with own_place():
        for setting in (PLANE, MAP):
            _draw(setting)
        read = _read_by_map(_now(MAP))
        for setting in (M, PLANE_GAMMA, C):
            _draw(setting, unread=not read(setting))
        with st.expander("More settings"):
            for setting in (PLANE_LOSS, EACH, PLANE_SEED):
                _draw(setting)
    settings = {name: _now(setting) for setting, name in PARAMETERS.items() if read(setting)}
    settings |= {"random_state": int(_now(PLANE_SEED)), "tol": ENOUGH}
    return str(_now(PLANE)), int(_now(EACH)), settings


def _draw(setting: Setting, *, unread: bool = False) -> None:
    told = [setting.help]
    if setting is PLANE:
        told += [f"{one.label}: {one.shows}" for one in PLANES.values()]
    if setting is PLANE_LOSS:
        told += [f"{loss.label}: {loss.formula}." for loss in LOSSES.values()]
    told += [words.UNREAD] * unread
    control_of(setting, lasting=True).draw(disabled=unread, hint=" ".join(told))


def _now(setting: Setting) -> Any:
    return value_from(setting, st.session_state)


def _read_by_map(name: str) -> Callable[[Setting], bool]:
    of_map = [one for one, _ in active(FEATURE_MAP.settings_of(name), lambda one: one.default)]
    return lambda setting: OF.get(setting, setting) in of_map or setting not in OF


def in_words() -> str:
    """Describe the set and the model."""
    read = _read_by_map(_now(MAP))
    shown = [setting for setting in (PLANE, MAP, M, PLANE_GAMMA, C, PLANE_LOSS) if read(setting)]
    return " · ".join(setting.told(_now(setting)) for setting in shown)
