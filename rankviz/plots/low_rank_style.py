"""Looks of the factorised and the regularised model, and of the plain one with its map's colour."""

from __future__ import annotations

from typing import Any

from rankviz.models.methods import USUAL
from rankviz.plots.style import STYLES, MethodStyle, style_of, translucent

MODELS = (USUAL, "factorized", "regularized")
NAMES = {USUAL: "plain"} | {name: STYLES[name].name for name in MODELS[1:]}
"""Names of the three models in legends, tables and sentences."""


def model_style(method: str, look: str) -> MethodStyle:
    """Return the style of a model in `MODELS`; the plain one has its own look."""
    return style_of(look if method == USUAL else method)


def marker_of(method: str, look: str, **more: Any) -> dict[str, Any]:
    """Return a model's marker."""
    style = model_style(method, look)
    return {"color": style.colour, "symbol": style.symbol, "size": 8} | more


def translucent_of(method: str, share: float = 0.25) -> str:
    """Return the colour of a low-rank model's band."""
    return translucent(method, share)
