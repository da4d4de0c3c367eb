"""How the factorised and the regularised model look beside the plain one, whose colour is its map's."""

from __future__ import annotations

from typing import Any

from rankviz.plots.style import METHODS, MethodStyle

LOW_RANK = {
    "factorized": MethodStyle("factorised", "#E69F00", "solid", "triangle-down"),
    "regularized": MethodStyle("regularised", "#882255", "solid", "pentagon"),
}
MODELS = ("ranksvm", "factorized", "regularized")
NAMES = {"ranksvm": "plain"} | {name: style.name for name, style in LOW_RANK.items()}
"""Names of the three models in legends, tables and sentences."""


def style_of(method: str, feature_map: str) -> MethodStyle:
    """The style of a model by its name in `MODELS`; the plain one has that of its feature map."""
    return LOW_RANK[method] if method in LOW_RANK else METHODS[feature_map]


def marker_of(method: str, feature_map: str, **more: Any) -> dict[str, Any]:
    """A marker of a model."""
    style = style_of(method, feature_map)
    return {"color": style.colour, "symbol": style.symbol, "size": 8} | more


def translucent_of(method: str, share: float = 0.25) -> str:
    """The colour of a low-rank model for bands behind its line."""
    red, green, blue = (int(LOW_RANK[method].colour[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({red}, {green}, {blue}, {share})"
