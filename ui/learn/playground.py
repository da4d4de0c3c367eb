"""The playground: the answer, the plane with its controls, and downloads."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Mapping
from dataclasses import replace
from io import BytesIO
from typing import Any

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from rankviz.common.arrays import FloatArray, IntArray
from rankviz.common.settings import SEED, Choice, Powers, Setting, Steps, Typed, active
from rankviz.datasets import RankingData, write_letor
from rankviz.datasets.synthetic import MOST_EACH, PLANES
from rankviz.features import EXACT, FEATURE_MAPS, LINEAR
from rankviz.features.fourier import FittedFourier
from rankviz.features.kernels import GAMMA
from rankviz.features.nystroem import FittedNystroem
from rankviz.features.registry import FEATURE_MAP, N_COMPONENTS
from rankviz.learning.losses import LOSS, LOSS_WEIGHT, LOSSES
from rankviz.plots.margins import shown_iterations
from rankviz.plots.style import GRADE_COLOURS, style_of
from rankviz.whatif.plane import PlaneFit, best_direction, fit_plane
from ui.controls.setting_controls import control_of, value_from
from ui.controls.sidebar import own_place
from ui.learn import playground_words as words
from ui.learn.playground_scene import CHANGES, EDGE, KEY, MOST, WAVES, PlaneState, Scene, take_changes
from ui.shell.components import SCRIPTS, mount
from ui.shell.errors import end_page
from ui.shell.figures import ON_DARK, TEXT_COLOURS, show_answer
from ui.shell.page import ALONE, is_on

SIDE, EXTENT = 57, 1.2
"""Points of the grid along each side, and half its width."""
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


def packed(scene: Scene, fit: PlaneFit | None) -> dict[str, Any]:
    """Return the scene and the model as JSON; no model without documents."""
    rows = [[number, *one] for number, one in scene.in_order]
    return {"documents": rows, "edge": EDGE, "model": None if fit is None else _model(fit)}


def colours(feature_map: str, *, dark: bool) -> dict[str, Any]:
    """Return the colours of grades and of the method, for the current theme."""

    def shown(colour: str) -> str:
        return ON_DARK.get(colour, colour) if dark else colour

    return {"grades": [shown(one) for one in GRADE_COLOURS], "method": shown(style_of(feature_map).colour)}


def _model(fit: PlaneFit) -> dict[str, Any]:
    steps = shown_iterations(len(fit.path))
    surface = fit.scores(_grid())[steps]
    kind = FEATURE_MAPS[fit.model.feature_map]
    return {
        "steps": steps,
        "surface": _integers(surface),
        "side": SIDE,
        "extent": EXTENT,
        "scores": _short(fit.scores(fit.data.X)[steps]),
        "objective": _short(fit.trace["objective"].to_numpy()[steps]),
        "arrow": _short(fit.coefficients[steps]) if kind.is_identity else None,
        "landmarks": _landmarks(fit, steps) if kind.approximates else None,
        "waves": _waves(fit, steps),
        "reach": _reach(fit),
        "kernels": _kernels(fit, both=kind.approximates) if kind.has_kernel else None,
    }


def _grid() -> FloatArray:
    """Return the grid's points (SIDE², 2), row by row from the top."""
    ticks = np.linspace(-EXTENT, EXTENT, SIDE)
    x, y = np.meshgrid(ticks, ticks[::-1])
    return np.column_stack((x.ravel(), y.ravel()))


def _integers(surface: FloatArray) -> dict[str, Any]:
    """Return values as 16-bit integers with their scale, in base64."""
    scale = float(np.abs(surface).max(initial=0.0)) / 32767 or 1.0
    return {"scale": scale, "values": _text((surface / scale).round().astype("<i2"))}


def _text(values: NDArray[Any]) -> str:
    return b64encode(values.tobytes()).decode()


def _short(values: FloatArray) -> Any:
    """Round numbers to visible digits."""
    return [_short(row) for row in values] if values.ndim > 1 else [float(f"{v:.6g}") for v in values]


def _landmarks(fit: PlaneFit, steps: list[int]) -> dict[str, Any] | None:
    """Return the landmarks and their coefficients at each step; redundant ones have 0."""
    fitted = fit.model.feature_map_
    if not isinstance(fitted, FittedNystroem):
        return None
    every = fit.landmarks
    own = np.arange(len(every)) if fitted.kept is None else fitted.kept
    coefficients = np.zeros((len(steps), len(every)))
    coefficients[:, own] = fit.coefficients[steps]
    return {"places": _short(every), "coefficients": _short(coefficients)}


def _waves(fit: PlaneFit, steps: list[int]) -> dict[str, Any] | None:
    """Return the waves with the largest weights: their numbers, ω, b, and their weights at each step."""
    fitted = fit.model.feature_map_
    if not isinstance(fitted, FittedFourier):
        return None
    weights = fit.coefficients
    largest = np.argsort(-np.abs(weights[-1]))[:WAVES]
    return {
        "numbers": largest.tolist(),
        "omega": _short(fitted.frequencies[:, largest].T),
        "phase": _short(fitted.phases[largest]),
        "weights": _short(weights[steps][:, largest]),
    }


def _reach(fit: PlaneFit) -> float | None:
    """Return the distance at which the kernel is 0.5."""
    kernel = fit.model.feature_map_.kernel
    if kernel is None:
        return None
    distances = np.linspace(0, 2 * EXTENT, 481)
    values = kernel.matrix(np.zeros((1, 2)), np.column_stack((distances, np.zeros_like(distances))))[0]
    below: IntArray = np.flatnonzero(values < values[0] / 2)
    return float(distances[below[0]]) if len(below) else None


def _kernels(fit: PlaneFit, *, both: bool) -> dict[str, Any]:
    """Return K, and K̃ if it differs, by query and grade, as bytes: 0 for −1, 254 for 1."""
    order = np.lexsort((fit.data.y, fit.data.qid))
    found = [K[np.ix_(order, order)] for K in (fit.kernels if both else fit.kernels[:1])]
    sent = [_text((127 * (np.clip(K, -1, 1) + 1)).round().astype(np.uint8)) for K in found]
    return {"side": fit.data.n_documents, "matrices": sent}


SCRIPT = SCRIPTS / "playground" / "plane.js"


def plane(held: PlaneState, settings: Mapping[str, Any]) -> None:
    """Draw the answer and the plane; the page ends here if only the first figure is wanted."""
    scene, data = held.scene, held.scene.data
    fit = None if data is None else fit_plane(data, settings, scene.moved)
    show_answer(words.EMPTY if fit is None else _answer(fit, settings))
    if held.unread:
        st.warning(words.UNREADABLE)
    mount(SCRIPT, KEY, _sent(held, fit, settings), {"changes": (CHANGES, take_changes)})
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


def _answer(fit: PlaneFit, settings: Mapping[str, Any]) -> str:
    if fit.model.n_pairs_ == 0:
        return words.no_pairs(fit)
    share, _ = best_direction(fit.data)
    approximates = FEATURE_MAPS[fit.model.feature_map].approximates
    kept = {name: value for name, value in settings.items() if name != "n_components"}
    exact = fit_plane(fit.data, kept | {"feature_map": EXACT}).n_ordered if approximates else None
    return words.answer(fit, exact, round(share * fit.model.n_pairs_))


def _sent(held: PlaneState, fit: PlaneFit | None, settings: Mapping[str, Any]) -> dict[str, Any]:
    scene, dark = held.scene, st.context.theme.type == "dark"
    ink = {"ink": TEXT_COLOURS["dark" if dark else "light"], "below": "#d55e00"}
    return packed(scene, fit) | {
        "rev": held.seen,
        "set": f"{scene.plane} {scene.each} {scene.seed}",
        "next": max([len(scene.drawn), *(number + 1 for number in scene.changed)]),
        "most": MOST,
        "extent": EXTENT,
        "undo": len(held.before),
        "byHand": scene.by_hand,
        "colours": colours(settings["feature_map"], dark=dark) | ink,
        "words": _words(scene, fit, dark=dark),
    }


def _words(scene: Scene, fit: PlaneFit | None, *, dark: bool) -> dict[str, Any]:
    side: dict[str, Any] = {"own": [], "labels": [], "note": ""}
    if fit is not None:
        side = {"own": words.own_marks(fit), "labels": words.of_kernels(fit), "note": words.note(fit)}
    return {
        "plane": f"The plane: {words.about(scene)}",
        "full": words.FULL.format(most=MOST),
        "side": side | {"goal": words.goal(dark=dark)},
    }


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
    return " · ".join(setting.format(_now(setting)) for setting in shown)
