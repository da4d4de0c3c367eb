"""Ranges and ticks of axes with counts or with shares from 0 to 1."""

from __future__ import annotations

from typing import Any

from rankviz.plots.style import snapped_range

FEW = 8
"""Largest span of whole numbers with a tick at each; Plotly's own ticks would include halves."""
ROOM = 0.03
"""Space beyond 0 and 1, so that markers stay whole."""


def whole_ticks(low: float, high: float) -> dict[str, Any]:
    """Return axis settings for whole numbers from `low` to `high`, without fractional ticks."""
    return {"tick0": 0, "dtick": 1} if high - low <= FEW else {}


def share_range(low: float, high: float) -> list[float]:
    """Return a range that ends on tenths around [low, high], within the limits of a share."""
    ends = snapped_range(low, high)
    return [max(ends[0], -ROOM), min(ends[1], 1 + ROOM)]
