"""Objective and dual value of the hinge at any dual variables: one scale for models with different
objectives."""

from __future__ import annotations

import numpy as np

from rankviz.models.dual_variables import Duals


def hinge_values(duals: Duals) -> tuple[float, float]:
    """Return P = ½‖w‖² + C·Σ max(0, 1 − t) and D = Σα − ½‖w‖² of the hinge, w = Σ α (φ_i − φ_j) over pairs.

    ‖w‖² = Σ_i c_i f_i with the document weights c and the scores f of the training part, so no features are
    needed. D ≤ min P if 0 ≤ α ≤ C; for other α, D proves nothing (xu2019 eq. 3 and 4).
    """
    square = hinge = total = 0.0
    for block in duals:
        inside = block.is_pair
        margins = block.f[block.winners][:, None] - block.f[block.losers]
        square += float(block.document_weights @ block.f)
        hinge += float(np.maximum(1.0 - margins[inside], 0.0).sum())
        total += float(block.alpha[inside].sum())
    return 0.5 * square + duals.C * hinge, total - 0.5 * square
