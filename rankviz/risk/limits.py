"""The losses that a risk stands for: what it approximates, and what it trains in the place of it."""

from __future__ import annotations

from typing import TypeVar

from rankviz.common.arrays import FloatArray
from rankviz.risk.losses import LOSSES, SmoothedHinge
from rankviz.risk.point import Risk, RiskFacts, RiskPoint

R = TypeVar("R", bound=RiskFacts)


def adapted_risk(risk: R, C: float) -> R:
    """The risk as it is trained at C: he2009's smooth hinge takes its η from C and Σc_ij."""
    loss = risk.loss.at(C, lambda: risk.total_cost)
    return risk if loss is risk.loss else risk.with_loss(loss)


def smoothed_risk(risk: R, h: float) -> R:
    """The risk of the hinge smoothed over h."""
    return risk.with_loss(SmoothedHinge(h))


def limit_of(risk: Risk, f: FloatArray, point: RiskPoint) -> tuple[float, float]:
    """Σ c·ℓ of the loss that the risk stands for at scores f (n,), and what smoothing adds to the gap.

    A smoothed hinge stands for the hinge. With its slopes s_ij = −ℓ'(t_ij) as dual variables over C the
    duality gap is larger than ½‖∇‖² by C times Σ c(max(0, 1 − t) − s(1 − t)), the second number. Every other
    loss stands for itself, and that is zero.
    """
    if not isinstance(risk.loss, SmoothedHinge):
        return point.value, 0.0
    hinge = 0.5 * risk.with_loss(LOSSES["squared_hinge"]).at(f).total_slope
    return hinge, max(0.0, hinge - point.total_slope - float(f @ point.gradient))
