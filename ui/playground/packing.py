"""Data sent to the browser: documents, the model at every step on a grid, and its components."""

from __future__ import annotations

from base64 import b64encode
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankviz.common.arrays import FloatArray, IntArray
from rankviz.features import FEATURE_MAPS
from rankviz.features.fourier import FittedFourier
from rankviz.features.nystroem import FittedNystroem
from rankviz.plots.margins import shown_iterations
from rankviz.plots.style import GRADE_COLOURS, style_of
from rankviz.whatif.plane import PlaneFit
from ui.playground.scene import EDGE, Scene
from ui.shell.figures import ON_DARK

SIDE, EXTENT = 57, 1.2
"""Points of the grid along each side, and half its width."""
WAVES = 3
"""Number of waves drawn: those with the largest weights."""


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
