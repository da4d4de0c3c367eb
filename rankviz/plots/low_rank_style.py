"""How the factorised and the regularised model look beside the plain one, whose colour is its map's."""

from __future__ import annotations

from typing import Any

from rankviz.models.methods import USUAL
from rankviz.plots.style import STYLES, MethodStyle, style_of, translucent

MODELS = (USUAL, "factorized", "regularized")
NAMES = {USUAL: "plain"} | {name: STYLES[name].name for name in MODELS[1:]}
"""What the three models are called in legends, tables and sentences."""


def model_style(method: str, look: str) -> MethodStyle:
    """The style of a model by its name in `MODELS`; the plain one has its own look."""
    return style_of(look if method == USUAL else method)


def marker_of(method: str, look: str, **more: Any) -> dict[str, Any]:
    """A marker of a model."""
    style = model_style(method, look)
    return {"color": style.colour, "symbol": style.symbol, "size": 8} | more


def translucent_of(method: str, share: float = 0.25) -> str:
    """The colour of a low-rank model for bands behind its line."""
    return translucent(method, share)
