"""Ranges and ticks of axes that count things or carry shares from 0 to 1."""

from __future__ import annotations

from typing import Any

from rankviz.plots.style import snapped_range

FEW = 8
"""Up to so many steps an axis of whole numbers has a tick at each: it would be given halves otherwise."""
ROOM = 0.03
"""Beyond 0 and 1, so that no marker is cut."""


def whole_ticks(low: float, high: float) -> dict[str, Any]:
    """Settings of an axis of whole numbers from `low` to `high`: no ticks between them."""
    return {"tick0": 0, "dtick": 1} if high - low <= FEW else {}


def share_range(low: float, high: float) -> list[float]:
    """A range that ends on tenths around [low, high], and not beyond what a share can be."""
    ends = snapped_range(low, high)
    return [max(ends[0], -ROOM), min(ends[1], 1 + ROOM)]
