"""The playground: the plane with its controls, and downloads; the browser trains the model."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from io import BytesIO
from typing import Any

import streamlit as st

from rankviz.common.numbers import counted
from rankviz.common.settings import SEED, Choice, Powers, Setting, Steps, Typed, active
from rankviz.datasets import RankingData, write_letor
from rankviz.datasets.synthetic import MOST_EACH, PLANES
from rankviz.features import FEATURE_MAPS, LINEAR
from rankviz.features.kernels import GAMMA
from rankviz.features.registry import FEATURE_MAP, N_COMPONENTS
from rankviz.learning.losses import LOSS, LOSS_WEIGHT, LOSSES
from rankviz.plots.style import GRADE_COLOURS, style_of
from ui.controls.setting_controls import control_of, value_from
from ui.controls.sidebar import own_place
from ui.learn import playground_words as words
from ui.learn.playground_scene import CHANGES, EDGE, FAR, KEY, MOST, PlaneState, Scene, take_changes
from ui.shell.components import SCRIPTS, mount
from ui.shell.errors import end_page
from ui.shell.figures import ON_DARK, TEXT_COLOURS
from ui.shell.locks import locked
from ui.shell.page import ALONE, is_on

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
MAPS = {name: FEATURE_MAPS[name] for name in ("linear", "nystroem", "fourier", "exact")}
TRAINED = ("squared_hinge", "huber", "hinge", "logistic", "logistic_pwq", "smooth_hinge")
"""Losses of the small core in JavaScript, which trains here."""
MAP = replace(FEATURE_MAP, name="plane_map", domain=Choice(MAPS), default=LINEAR, key="pmap")
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
PLANE_LOSS = replace(
    LOSS, name="plane_loss", domain=Choice({name: LOSSES[name] for name in TRAINED}), key="ploss"
)
PLANE_SEED = replace(
    SEED,
    name="plane_seed",
    help=words.SEED_HELP,
    key="pseed",
)
SETTINGS = (PLANE, EACH, MAP, M, C, PLANE_GAMMA, PLANE_LOSS, PLANE_SEED)
"""All settings of the page."""
OF = {M: N_COMPONENTS, PLANE_GAMMA: GAMMA}
"""The feature map's setting for each of these: read if the map reads it."""


def packed(scene: Scene) -> dict[str, Any]:
    """Return the scene as JSON."""
    return {
        "documents": [[number, *one] for number, one in scene.in_order],
        "moved": [[number, *place] for number, place in scene.moved.items()],
        "turned": [[number, *place] for number, place in scene.turned.items()],
        "set": f"{scene.plane} {scene.each} {scene.seed}",
        "seed": scene.seed,
        "next": max([len(scene.drawn), *(number + 1 for number in scene.changed)]),
        "byHand": scene.by_hand,
    }


def look(feature_map: str, *, dark: bool) -> dict[str, Any]:
    """Return what the plane needs for a map and a theme: colours, words, and the largest values."""
    kind = MAPS[feature_map]
    return {
        "edge": EDGE,
        "far": FAR,
        "most": MOST,
        "map": feature_map,
        "kernel": kind.has_kernel,
        "approximates": kind.approximates,
        "colours": _colours(feature_map, dark=dark),
        "words": {
            "full": words.FULL.format(most=MOST),
            "answer": words.answers(kind),
            "matrices": words.MATRICES,
            "frequencies": words.FREQUENCIES,
            "side": {"goal": words.goal(dark=dark), "own": words.own_marks(kind), "note": words.note(kind)},
        },
    }


def _colours(feature_map: str, *, dark: bool) -> dict[str, Any]:
    """Return the colours of grades, of the methods and of matrices, for a theme."""

    def shown(colour: str) -> str:
        return ON_DARK.get(colour, colour) if dark else colour

    methods = {name: shown(style_of(name).colour) for name in MAPS}
    return {
        "grades": [shown(one) for one in GRADE_COLOURS],
        "method": methods[feature_map],
        "methods": methods,
        "ink": TEXT_COLOURS["dark" if dark else "light"],
        "below": "#d55e00",
    }


SCRIPT = SCRIPTS / "playground" / "plane.js"


def plane(held: PlaneState) -> None:
    """Draw the plane, whose script trains and draws the model and the answer; the page may end here."""
    if held.unread:
        st.warning(words.UNREADABLE)
    mount(SCRIPT, KEY, _sent(held), {"changes": (CHANGES, partial(take_changes, _take_slider))})
    if is_on(ALONE):
        end_page()


def below(held: PlaneState, *, short: bool) -> None:
    """Draw the description, and a download of the documents."""
    data = held.scene.data
    if not short:
        st.caption(words.TOO_LONG)
    row = st.container(key="plane-tools", horizontal=True, wrap=False, gap=None)
    with row.expander("About this figure", icon=":material/info:", type="compact"):
        st.caption(words.ABOUT)
    with row.expander("Save", icon=":material/download:", type="compact"):
        st.download_button(
            "Documents (LETOR text)",
            b"" if data is None else letor(data),
            "plane.txt",
            "text/plain",
            key="plane-letor",
            on_click="ignore",
            disabled=data is None,
        )


def letor(data: RankingData) -> bytes:
    """Return the documents as LETOR text."""
    stream = BytesIO()
    write_letor(data, stream)
    return stream.getvalue()


def _sent(held: PlaneState) -> dict[str, Any]:
    scene, name = held.scene, _now(MAP)
    sent = packed(scene) | look(name, dark=st.context.theme.type == "dark")
    sent["words"]["plane"] = f"The plane: {words.about(scene)}"
    return sent | {
        "rev": held.seen,
        "locked": locked(),
        "undo": len(held.before),
        "loss": _now(PLANE_LOSS),
        "sliders": [slider(setting, _now(setting), name) for setting in SLIDERS.values()],
    }


SLIDERS = {"m": M, "gamma": PLANE_GAMMA, "C": C}
"""Settings that are set beside the plane, by their names in its script."""


def slider(setting: Setting, value: Any, feature_map: str) -> dict[str, Any]:
    """Return a setting's values, as its widget holds them, with their texts."""
    control, offer = control_of(setting), setting.offer
    steps = (
        list(range(offer.low, offer.high + 1)) if isinstance(offer, Powers) else list(setting.offer.values)
    )
    compared = setting is M and MAPS[feature_map].has_kernel  # by the approximations beside the plane
    unread = not (compared or _read_by_map(feature_map)(setting))
    return {
        "name": next(name for name, one in SLIDERS.items() if one is setting),
        "label": setting.label,
        "help": " ".join([setting.help, *[words.UNREAD] * unread]),
        "steps": steps,
        "raw": control.to_widgets(value)[setting.key],
        "shown": [setting.format(control.from_widget(raw)) for raw in steps],
        "unread": unread,
    }


def _take_slider(change: Mapping[str, Any]) -> None:
    """Write a slider's value into its widget, which keeps the address."""
    setting = SLIDERS.get(str(change.get("name")))
    if setting is not None and change.get("raw") in slider(setting, _now(setting), _now(MAP))["steps"]:
        st.session_state[setting.key] = change["raw"]


def controls() -> tuple[str, int, int]:
    """Draw them; return the set, its size, and the seed.

    The sliders beside the plane write into widgets in the sidebar, which are hidden and keep the address.
    """
    hidden = ", ".join(f"[data-testid='stSidebar'] .st-key-{setting.key}" for setting in SLIDERS.values())
    with own_place():
        for setting in (PLANE, MAP):
            _draw(setting)
        st.html(f"<style>{hidden} {{ display: none; }}</style>")
        for setting in SLIDERS.values():
            _draw(setting)
        with st.expander("More settings"):
            for setting in (PLANE_LOSS, EACH, PLANE_SEED):
                _draw(setting)
    return str(_now(PLANE)), int(_now(EACH)), int(_now(PLANE_SEED))


def _draw(setting: Setting) -> None:
    parts = [setting.help]
    if setting is PLANE:
        parts += [f"{one.label}: {one.shows}" for one in PLANES.values()]
    if setting is PLANE_LOSS:
        parts += [f"{LOSSES[name].label}: {LOSSES[name].formula}." for name in TRAINED]
    control_of(setting, lasting=True).draw(disabled=False, hint=" ".join(parts))


def _now(setting: Setting) -> Any:
    return value_from(setting, st.session_state)


def _read_by_map(name: str) -> Callable[[Setting], bool]:
    of_map = [one for one, _ in active(FEATURE_MAP.settings_of(name), lambda one: one.default)]
    return lambda setting: OF.get(setting, setting) in of_map or setting not in OF


def in_words() -> str:
    """Describe the set and the model."""
    read = _read_by_map(_now(MAP))
    shown = [setting for setting in (PLANE, MAP, M, PLANE_GAMMA, C, PLANE_LOSS) if read(setting)]
    return " · ".join(setting.format(_now(setting)) for setting in shown)


def landmarks_there_are(scene: Scene) -> str:
    """Say that there are fewer landmarks than requested, if so."""
    kind, places = MAPS[_now(MAP)], len({(one.x, one.y) for one in scene.documents.values()})
    if not (kind.approximates and kind.expands and 0 < places < _now(M)):
        return ""
    return words.FEW_LANDMARKS.format(
        landmarks=counted(places, "landmark"), n=counted(places, "different document")
    )
