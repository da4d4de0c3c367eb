"""Losses ℓ(t) on margins t = f_i − f_j of preference pairs; a loss sees margins only, never features.

A piecewise-quadratic loss is its zones: where ℓ'' is not zero, and what it is there. Its risk is computed
by sorting, without a list of pairs; every other loss goes through explicit pairs. To add a loss: derive one
from `Loss`, or name the zones of a `PiecewiseQuadratic`, and enter it in `LOSSES`.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from scipy.special import expit

from rankviz.common.arrays import FloatArray


class Loss(ABC):
    """A function of the margin, applied entry by entry, and what solvers need to know of it.

    Derive a loss from this class: it then has the defaults of what few losses do otherwise.

    Attributes
    ----------
    label, formula : str
        What to call it, and what it computes, in one line.
    convex : bool
        Without it no solver can say how far from a minimum it is.
    smooth : bool
        Whether ℓ' is continuous, so that `derivative` is the derivative everywhere.
    falling : bool
        Whether ℓ'(t) ≤ 0 for every t. Then no dual variable α = −C·c·ℓ'(t) is negative. A loss that declares
        nothing is taken to rise somewhere.
    curvature : float
        The largest ℓ''(t), infinite where there is none; at a corner too.
    by_continuation : bool
        Whether it is the limit of smoothed hinges (see `rankviz.solvers.hinge`).
    unlisted : str
        For a loss whose pairs are listed, the name of the nearest one that needs no list; "" for none.
    """

    label: str
    formula: str
    curvature: float
    convex: ClassVar[bool]
    smooth: ClassVar[bool]
    falling: ClassVar[bool] = False
    by_continuation: ClassVar[bool] = False
    unlisted: ClassVar[str] = ""

    @abstractmethod
    def value(self, t: FloatArray) -> FloatArray:
        """ℓ(t)."""

    @abstractmethod
    def derivative(self, t: FloatArray) -> FloatArray:
        """ℓ'(t)."""

    @abstractmethod
    def second_derivative(self, t: FloatArray) -> FloatArray:
        """A generalised ℓ''(t); zero exactly where a pair does not enter the Hessian."""

    def surrogate(self) -> Loss:
        """The loss that training begins with: itself, or a smooth one that stands for it."""
        return self

    def at(self, C: float, total_cost: Callable[[], float]) -> Loss:
        """The loss as it is trained at C with pairs that cost Σc_ij in all: itself for most."""
        return self

    def ended_with(self, smoothing: float) -> Loss:
        """The loss whose slopes are the dual variables, where training ended at this smoothing: itself."""
        return self


class Zone(NamedTuple):
    """Margins low ≤ t < high where ℓ'' = 2·bend."""

    high: float
    low: float
    bend: float

    @property
    def width(self) -> float:
        """high − low."""
        return self.high - self.low


@dataclass(frozen=True)
class PiecewiseQuadratic(Loss):
    """ℓ(t) = Σ_k a_k·max(0, b_k − t)² as a sum over zones, each quadratic within and linear below.

    With u = min(max(0, high − t), width) a zone adds bend·u·(2·max(0, high − t) − u) to ℓ and −2·bend·u to
    ℓ'; every term has one sign, so nothing cancels however narrow a zone is. Shifted squared hinges are
    chapelle2010 §4.1's form: a zone is the two terms (bend, high) and (−bend, low).

    Attributes
    ----------
    label, formula : str
    zones : tuple of Zone
        Where ℓ'' ≠ 0; disjoint, the margins falling. ℓ is convex and falls because every bend is positive;
        ValueError where one is not.
    """

    label: str
    formula: str
    zones: tuple[Zone, ...]

    convex = True
    smooth = True
    falling = True

    def __post_init__(self) -> None:
        """Refuse zones that would make ℓ rise or bend downwards."""
        if not all(zone.bend > 0.0 for zone in self.zones):
            raise ValueError(f"every bend of the {self.label} loss must be positive")

    @property
    def curvature(self) -> float:  # type: ignore[override]  # follows from the zones
        """Twice the largest bend."""
        return 2.0 * max(zone.bend for zone in self.zones)

    @property
    def terms(self) -> tuple[tuple[float, float], ...]:
        """The pairs (a_k, b_k) of ℓ(t) = Σ_k a_k·max(0, b_k − t)², b_k falling."""
        weights: dict[float, float] = {}
        for high, low, bend in self.zones:
            weights[high] = weights.get(high, 0.0) + bend
            weights[low] = weights.get(low, 0.0) - bend
        return tuple(
            (a, b) for b, a in sorted(weights.items(), reverse=True) if a != 0.0 and math.isfinite(b)
        )

    def value(self, t: FloatArray) -> FloatArray:
        """ℓ(t)."""
        out = np.zeros_like(t)
        for zone in self.zones:
            below = np.maximum(0.0, zone.high - t)
            u = np.minimum(below, zone.width)
            out += zone.bend * u * (2.0 * below - u)
        return out

    def derivative(self, t: FloatArray) -> FloatArray:
        """ℓ'(t)."""
        out = np.zeros_like(t)
        for zone in self.zones:
            out -= 2.0 * zone.bend * np.clip(zone.high - t, 0.0, zone.width)
        return out

    def second_derivative(self, t: FloatArray) -> FloatArray:
        """ℓ''(t); at the upper end of a zone that of the margins above, at the lower end that of the zone."""
        out = np.zeros_like(t)
        for zone in self.zones:
            out[(t < zone.high) & (t >= zone.low)] = 2.0 * zone.bend
        return out


class SmoothedHinge(PiecewiseQuadratic):
    """The hinge with its corner replaced by a parabola on [1 − h, 1): 0 ≤ max(0, 1 − t) − ℓ(t) ≤ h/2."""

    def __init__(self, h: float) -> None:
        zone = Zone(1.0, 1.0 - h, 0.5 / h)
        super().__init__(f"hinge smoothed over {h:g}", f"u²/{2 * h:g} for u = 1 − t < {h:g}", (zone,))


class Hinge(Loss):
    """ℓ(t) = max(0, 1 − t), the loss of RankSVM (joachims2002, herbrich2000); it has no second derivative.

    It is trained as the limit of smoothed hinges, with a duality gap as certificate.
    """

    label = "hinge"
    formula = "max(0, 1 − t)"
    convex = True
    smooth = False
    falling = True
    by_continuation = True
    curvature = math.inf

    def value(self, t: FloatArray) -> FloatArray:
        """ℓ(t) = max(0, 1 − t)."""
        value: FloatArray = np.maximum(0.0, 1.0 - t)
        return value

    def derivative(self, t: FloatArray) -> FloatArray:
        """A subgradient: −1 where t < 1, else 0."""
        slope: FloatArray = np.where(t < 1.0, -1.0, 0.0)
        return slope

    def second_derivative(self, t: FloatArray) -> FloatArray:
        """Zero, where it exists."""
        return np.zeros_like(t)

    def surrogate(self) -> Loss:
        """The widest smoothed hinge."""
        return SmoothedHinge(1.0)

    def ended_with(self, smoothing: float) -> Loss:
        """The last smoothed hinge; ValueError where its width is not known (any more)."""
        if not smoothing > 0.0:
            raise ValueError(
                "the dual variables of a hinge depend on the width of its last smoothing, which is in the "
                "trace, and this model has none; fit it again"
            )
        return SmoothedHinge(smoothing)


class Logistic(Loss):
    """ℓ(t) = log(1 + e^−t), the loss of RankNet (burges2005; chapelle2010 §4.1)."""

    label = "logistic"
    formula = "log(1 + e^−t)"
    convex = True
    smooth = True
    falling = True
    curvature = 0.25
    unlisted = "logistic_pwq"

    def value(self, t: FloatArray) -> FloatArray:
        """ℓ(t) = log(1 + e^−t)."""
        value: FloatArray = np.logaddexp(0.0, -t)
        return value

    def derivative(self, t: FloatArray) -> FloatArray:
        """ℓ'(t) = −1/(1 + e^t)."""
        slope: FloatArray = -expit(-t)
        return slope

    def second_derivative(self, t: FloatArray) -> FloatArray:
        """ℓ''(t) = ℓ'(t)·(−1 − ℓ'(t))."""
        curvature: FloatArray = expit(t) * expit(-t)
        return curvature


@dataclass(frozen=True)
class SmoothHinge(Loss):
    """ℓ(t) = p(t)² with p the hinge smoothed on (1 − η, 1 + η), twice differentiable (he2009 §2.1).

    With u = (1 − t)/η in (−1, 1): p = η(1 + u)³(3 − u)/16, p' = −(1 + u)²(2 − u)/4, p'' = 3(1 − u²)/(4η).
    Then 0 ≤ p² − max(0, 1 − t)² ≤ 0.0515 η² (theorem 1).

    Attributes
    ----------
    eta : float
        0 < η < 1.
    """

    eta: float

    label = "smooth hinge"
    convex = True
    smooth = True
    falling = True
    curvature = 2.32813
    unlisted = "squared_hinge"

    def at(self, C: float, total_cost: Callable[[], float]) -> Loss:
        """With the η that C and the costs ask for."""
        return SmoothHinge(eta_for(C, total_cost()))

    @property
    def formula(self) -> str:  # type: ignore[override]  # says which η
        """What it computes, in one line."""
        return f"p(t)², p the hinge smoothed over 1 ± {self.eta:.2g}"

    def _inner(self, t: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """p, p' and p'' at margins t."""
        u = np.clip((1.0 - t) / self.eta, -1.0, 1.0)
        p = np.where(u < 1.0, self.eta * (1.0 + u) ** 3 * (3.0 - u) / 16.0, 1.0 - t)
        return p, -((1.0 + u) ** 2) * (2.0 - u) / 4.0, 3.0 * (1.0 - u) * (1.0 + u) / (4.0 * self.eta)

    def value(self, t: FloatArray) -> FloatArray:
        """ℓ(t) = p²."""
        return self._inner(t)[0] ** 2

    def derivative(self, t: FloatArray) -> FloatArray:
        """ℓ'(t) = 2pp'."""
        p, slope, _ = self._inner(t)
        return 2.0 * p * slope

    def second_derivative(self, t: FloatArray) -> FloatArray:
        """ℓ''(t) = 2(p'² + pp'')."""
        p, slope, bend = self._inner(t)
        return 2.0 * (slope**2 + p * bend)


SMOOTHING_ERROR = 0.0515
"""max (p² − max(0, 1 − t)²)/η² is 0.05149, at t = 1 − 0.189η (he2009 theorem 1)."""


def eta_for(C: float, total_cost: float, error: float = 1e-5) -> float:
    """η of he2009's smooth hinge for which ‖w_smooth − w‖² ≤ `error` (theorem 2), at most 0.99.

    η = √(ε/(0.0515·C·Σc_ij)); the paper's §2.3 has the number of pairs in place of Σc_ij, with which costs
    above one on average would miss the bound that theorem 2 proves.
    """
    product = SMOOTHING_ERROR * C * total_cost
    return min(0.99, math.sqrt(error / product)) if product > 0 else 0.99


def _symmetric(breaks: tuple[float, ...], bends: tuple[float, ...]) -> tuple[Zone, ...]:
    """Zones of an ℓ'' that is even, from its steps at t ≥ 0, outermost first."""
    inner = (*breaks[1:], 0.0)
    right = [Zone(high, low, bend) for high, low, bend in zip(breaks, inner, bends, strict=True)]
    middle = Zone(right[-1].high, -right[-1].high, right[-1].bend)
    left = [Zone(-low, -high, bend) for high, low, bend in reversed(right[:-1])]
    return (*right[:-1], middle, *left)


_BREAKS = (6.813108743898641, 3.923997085244629, 2.3316930767880404, 1.134604171139882)
_BENDS = (0.0023016386647994403, 0.020569979906787033, 0.06419284489844702, 0.1178843762364917)
LOGISTIC_ZONES = _symmetric(_BREAKS, _BENDS)
"""Seven zones that minimise the largest error: breaks and steps of an even ℓ'' of integral 1."""

LOSSES: dict[str, Loss] = {
    "squared_hinge": PiecewiseQuadratic("squared hinge", "max(0, 1 − t)²", (Zone(1.0, -math.inf, 1.0),)),
    "huber": PiecewiseQuadratic("Huber", "max(0, 1 − t)² − max(0, −t)²", (Zone(1.0, 0.0, 1.0),)),
    "hinge": Hinge(),
    "logistic": Logistic(),
    "logistic_pwq": PiecewiseQuadratic(
        "piecewise-quadratic logistic", "log(1 + e^−t) within 0.0013, by parabolas", LOGISTIC_ZONES
    ),
    "smooth_hinge": SmoothHinge(0.2),
}
"""Losses by the names that `RankSVM(loss=...)` and the app use.

The squared hinge is chen2017 eq. 4 and 22 (C multiplies it without a ½), Huber chapelle2010 §4.1 (after
huber1964). The smooth hinge is trained with the η that C and the costs ask for (`eta_for`); the one here is
for drawing.
"""


def largest_error(approximation: Loss, exact: Loss, low: float = -30.0, high: float = 30.0) -> float:
    """The largest |approximation(t) − exact(t)| on a grid of margins with step 1/1000."""
    t = np.arange(low, high, 1e-3)
    return float(np.abs(approximation.value(t) - exact.value(t)).max())
