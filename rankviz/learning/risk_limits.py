"""Losses behind a risk: the loss that it approximates, and the loss that is trained instead."""

from __future__ import annotations

from typing import TypeVar

import numpy as np

from rankviz.common.arrays import FloatArray
from rankviz.learning.losses import LOSSES, SmoothedHinge
from rankviz.learning.pairs import grade_codes
from rankviz.learning.risk_point import Risk, RiskFacts, RiskPoint

R = TypeVar("R", bound=RiskFacts)

TRUSTED = 100.0
"""A slack of at least this many times its possible rounding error is accepted as computed."""
LISTED = 16
"""Most pairs in the smoothed zone per document for summing a slack near rounding pair by pair."""


def adapted_risk(risk: R, C: float) -> R:
    """Return the risk trained at C: he2009's smooth hinge computes its η from C and Σc_ij."""
    loss = risk.loss.at(C, lambda: risk.total_cost)
    return risk if loss is risk.loss else risk.with_loss(loss)


def smoothed_risk(risk: R, h: float) -> R:
    """Return the risk of the hinge smoothed over h."""
    return risk.with_loss(SmoothedHinge(h))


def limit_of(risk: Risk, f: FloatArray, point: RiskPoint) -> tuple[float, float]:
    """Return Σ c·ℓ of the approximated loss at scores f (n,), and the slack that smoothing adds.

    A smoothed hinge approximates the hinge. With its slopes s_ij = −ℓ'(t_ij) as dual variables over C, the
    duality gap exceeds ½‖∇‖² by C·slack, with slack = Σ c(max(0, 1 − t) − s(1 − t)). Every other loss has
    slack 0.
    """
    if not isinstance(risk.loss, SmoothedHinge):
        return point.value, 0.0
    # The squared hinge has −ℓ' = 2·max(0, 1 − t), so half its total slope is Σ c·max(0, 1 − t).
    hinge = 0.5 * risk.with_loss(LOSSES["squared_hinge"]).at(f).total_slope
    slack = hinge - point.total_slope - float(f @ point.gradient)
    width = risk.loss.zones[0].width
    noise = _rounding(risk, f, width)
    if slack >= TRUSTED * noise:
        return hinge, slack
    if point.n_active <= LISTED * len(f):
        return hinge, _listed_slack(risk, f, point, width)
    return hinge, max(slack, 0.0) + noise


def _rounding(risk: Risk, f: FloatArray, width: float) -> float:
    """Bound the rounding error of Σ_i f_i·∂risk/∂f_i, a term of the slack.

    Slopes are differences of cumulative sums over the documents, divided by the width h. Each such sum is at
    most S = Σ_i (1 + |f_i − f_first|), so a slope errs by about ε·S/h, and the sum over documents by ε·S²/h.
    """
    first = np.repeat(risk.ptr[:-1], np.diff(risk.ptr))
    size = float((1.0 + np.abs(f - f[first])).sum())
    return float(np.finfo(np.float64).eps) * size * size * risk.costs.largest / width


def _listed_slack(risk: Risk, f: FloatArray, point: RiskPoint, width: float) -> float:
    """Sum the slack over the pairs in the smoothed zone, without cancellation of large numbers.

    With v = b − t in (0, bh), margin b and curvature κ = c/h it is κ·v·(bh − v); outside the zone it is 0.
    """
    winner, loser, curvature = point.sample_active(np.random.default_rng(0), point.n_active)
    codes = grade_codes(risk.y, risk.ptr)
    b = risk.costs.margins(codes.query[winner], codes.code[winner], codes.code[loser])
    margin = np.ones(len(winner)) if b is None else b
    short = margin - (f[winner] - f[loser])
    rest = margin * width - short
    return float(curvature @ np.maximum(short * rest, 0.0))
