"""Losses behind a risk: the loss that it approximates, and the loss that is trained instead."""

from __future__ import annotations

from typing import TypeVar

from rankviz.common.arrays import FloatArray
from rankviz.risk.losses import LOSSES, SmoothedHinge
from rankviz.risk.point import Risk, RiskFacts, RiskPoint

R = TypeVar("R", bound=RiskFacts)


def adapted_risk(risk: R, C: float) -> R:
    """Return the risk trained at C: he2009's smooth hinge computes its η from C and Σc_ij."""
    loss = risk.loss.at(C, lambda: risk.total_cost)
    return risk if loss is risk.loss else risk.with_loss(loss)


def smoothed_risk(risk: R, h: float) -> R:
    """Return the risk of the hinge smoothed over h."""
    return risk.with_loss(SmoothedHinge(h))


def limit_of(risk: Risk, f: FloatArray, point: RiskPoint) -> tuple[float, float]:
    """Return Σ c·ℓ of the approximated loss at scores f (n,), and the smoothing term of the duality gap.

    A smoothed hinge approximates the hinge. With its slopes s_ij = −ℓ'(t_ij) as dual variables over C, the
    duality gap exceeds ½‖∇‖² by C times Σ c(max(0, 1 − t) − s(1 − t)), the second number. For every other
    loss this number is zero.
    """
    if not isinstance(risk.loss, SmoothedHinge):
        return point.value, 0.0
    # The squared hinge has −ℓ' = 2·max(0, 1 − t), so half its total slope is Σ c·max(0, 1 − t).
    hinge = 0.5 * risk.with_loss(LOSSES["squared_hinge"]).at(f).total_slope
    return hinge, max(0.0, hinge - point.total_slope - float(f @ point.gradient))
