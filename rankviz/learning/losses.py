"""Losses ℓ(t) on margins t = f_i − f_j of preference pairs; a loss sees margins only, never features.

A piecewise-quadratic loss consists of zones with ℓ'' ≠ 0. Its risk is computed by sorting, without listing
pairs; all other losses use explicit pairs. To add a loss, derive one from `Loss`, or give the zones of a
`PiecewiseQuadratic`. `RankSVM(loss=...)` takes the object. Enter it in `LOSSES` to give it a name, for runs,
files and the app.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections import ChainMap
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import expit

from rankviz.common.arrays import FloatArray
from rankviz.common.errors import SettingError
from rankviz.common.settings import ChoiceOrObject, Positive, Powers, Setting
from rankviz.learning.loss_facts import AnyLoss
from rankviz.learning.map_loss import MapHinge
from rankviz.learning.score_losses import SCORE_LOSSES, ScoreLoss


class Loss(AnyLoss, ABC):
    """A function of the margin, applied entrywise, with facts for solvers (see `AnyLoss`).

    Derive a loss from this class to get the usual defaults.
    """

    @abstractmethod
    def value(self, t: FloatArray) -> FloatArray:
        """Return ℓ(t)."""

    @abstractmethod
    def derivative(self, t: FloatArray) -> FloatArray:
        """Return ℓ'(t)."""

    @abstractmethod
    def second_derivative(self, t: FloatArray) -> FloatArray:
        """Return a generalised ℓ''(t); zero exactly for pairs outside the Hessian."""

    def ended_with(self, smoothing: float) -> Loss:
        """Return the loss whose slopes are the dual variables after this final smoothing: itself."""
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
    """ℓ(t) = Σ_k a_k·max(0, b_k − t)² as a sum over zones, each quadratic inside and linear below.

    With u = min(max(0, high − t), width) a zone adds bend·u·(2·max(0, high − t) − u) to ℓ and −2·bend·u to
    ℓ'. Every term has one sign, so nothing cancels even for narrow zones. chapelle2010 §4.1 has the form of
    shifted squared hinges: a zone is the two terms (bend, high) and (−bend, low).

    Attributes
    ----------
    label, formula : str
    zones : tuple of Zone
        Intervals with ℓ'' ≠ 0; disjoint, with descending margins. ℓ is convex and decreasing because every
        bend is positive; ValueError otherwise.
    """

    label: str
    formula: str
    zones: tuple[Zone, ...]

    convex = True
    smooth = True
    falling = True

    def __post_init__(self) -> None:
        """Raise ValueError for zones that would make ℓ increasing or concave."""
        if not all(zone.bend > 0.0 for zone in self.zones):
            raise ValueError(f"every bend of the {self.label} loss must be positive")

    @property
    def curvature(self) -> float:  # type: ignore[override]  # follows from the zones
        """Twice the largest bend."""
        return 2.0 * max(zone.bend for zone in self.zones)

    @property
    def terms(self) -> tuple[tuple[float, float], ...]:
        """The pairs (a_k, b_k) of ℓ(t) = Σ_k a_k·max(0, b_k − t)², with b_k descending."""
        weights: dict[float, float] = {}
        for high, low, bend in self.zones:
            weights[high] = weights.get(high, 0.0) + bend
            weights[low] = weights.get(low, 0.0) - bend
        return tuple(
            (a, b) for b, a in sorted(weights.items(), reverse=True) if a != 0.0 and math.isfinite(b)
        )

    def value(self, t: FloatArray) -> FloatArray:
        """Return ℓ(t)."""
        out = np.zeros_like(t)
        for zone in self.zones:
            below = np.maximum(0.0, zone.high - t)
            u = np.minimum(below, zone.width)
            out += zone.bend * u * (2.0 * below - u)
        return out

    def derivative(self, t: FloatArray) -> FloatArray:
        """Return ℓ'(t)."""
        out = np.zeros_like(t)
        for zone in self.zones:
            out -= 2.0 * zone.bend * np.clip(zone.high - t, 0.0, zone.width)
        return out

    def second_derivative(self, t: FloatArray) -> FloatArray:
        """Return ℓ''(t); at a zone's upper end that of margins above, at its lower end that of the zone."""
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
    """ℓ(t) = max(0, 1 − t), the loss of RankSVM (joachims2002, herbrich2000), without second derivative.

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
        """Return ℓ(t) = max(0, 1 − t)."""
        value: FloatArray = np.maximum(0.0, 1.0 - t)
        return value

    def derivative(self, t: FloatArray) -> FloatArray:
        """Return a subgradient: −1 for t < 1, else 0."""
        slope: FloatArray = np.where(t < 1.0, -1.0, 0.0)
        return slope

    def second_derivative(self, t: FloatArray) -> FloatArray:
        """Return zero, its value wherever it exists."""
        return np.zeros_like(t)

    def surrogate(self) -> Loss:
        """Return the widest smoothed hinge."""
        return SmoothedHinge(1.0)

    def ended_with(self, smoothing: float) -> Loss:
        """Return the last smoothed hinge; ValueError if its width is unknown."""
        if not smoothing > 0.0:
            raise ValueError(
                "the dual variables of a hinge depend on the width of its last smoothing, which is in the "
                "trace, which this model lacks; fit it again"
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
        """Return ℓ(t) = log(1 + e^−t)."""
        value: FloatArray = np.logaddexp(0.0, -t)
        return value

    def derivative(self, t: FloatArray) -> FloatArray:
        """Return ℓ'(t) = −1/(1 + e^t)."""
        slope: FloatArray = -expit(-t)
        return slope

    def second_derivative(self, t: FloatArray) -> FloatArray:
        """Return ℓ''(t) = ℓ'(t)·(−1 − ℓ'(t))."""
        curvature: FloatArray = expit(t) * expit(-t)
        return curvature


class RankNet(Logistic):
    """ℓ(t) = log(1 + e^−t): the cross entropy of RankNet (burges2005 §3), here with a linear model or φ.

    The model of burges2005 is a network with one hidden layer; its loss on pairs is exactly the logistic one.
    """

    label = method = "RankNet"


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
        """Return the loss with η computed from C and the costs."""
        return SmoothHinge(eta_for(C, total_cost()))

    @property
    def formula(self) -> str:  # type: ignore[override]  # depends on η
        """The formula in one line."""
        return f"p(t)², p the hinge smoothed over 1 ± {self.eta:.2g}"

    def _inner(self, t: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return p, p' and p'' at margins t."""
        u = np.clip((1.0 - t) / self.eta, -1.0, 1.0)
        p = np.where(u < 1.0, self.eta * (1.0 + u) ** 3 * (3.0 - u) / 16.0, 1.0 - t)
        return p, -((1.0 + u) ** 2) * (2.0 - u) / 4.0, 3.0 * (1.0 - u) * (1.0 + u) / (4.0 * self.eta)

    def value(self, t: FloatArray) -> FloatArray:
        """Return ℓ(t) = p²."""
        return self._inner(t)[0] ** 2

    def derivative(self, t: FloatArray) -> FloatArray:
        """Return ℓ'(t) = 2pp'."""
        p, slope, _ = self._inner(t)
        return 2.0 * p * slope

    def second_derivative(self, t: FloatArray) -> FloatArray:
        """Return ℓ''(t) = 2(p'² + pp'')."""
        p, slope, bend = self._inner(t)
        return 2.0 * (slope**2 + p * bend)


SMOOTHING_ERROR = 0.0515
"""max (p² − max(0, 1 − t)²)/η² is 0.05149, at t = 1 − 0.189η (he2009 theorem 1)."""


def eta_for(C: float, total_cost: float, error: float = 1e-5) -> float:
    """Return η of he2009's smooth hinge for which ‖w_smooth − w‖² ≤ `error` (theorem 2), at most 0.99.

    η = √(ε/(0.0515·C·Σc_ij)). The paper's §2.3 has the number of pairs instead of Σc_ij. With costs above one
    on average, that would violate the bound of theorem 2.
    """
    product = SMOOTHING_ERROR * C * total_cost
    return min(0.99, math.sqrt(error / product)) if product > 0 else 0.99


def _symmetric(breaks: tuple[float, ...], bends: tuple[float, ...]) -> tuple[Zone, ...]:
    """Return the zones of an even ℓ'' from its steps at t ≥ 0, outermost first."""
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
"""Losses by their names in `RankSVM(loss=...)` and the app.

The squared hinge is chen2017 eq. 4 and 22 (C multiplies it without a ½), Huber chapelle2010 §4.1 (after
huber1964). The smooth hinge is trained with η from C and the costs (`eta_for`); the η here is for drawing.
"""


OTHER_NAMES: dict[str, Loss] = {"ranknet": RankNet()}
"""Losses of `LOSSES` under the name of a method; figures of losses leave them out."""

STRUCTURAL: dict[str, ScoreLoss] = {"svmmap": MapHinge()}
"""Losses of scores without a derivative: maxima over rankings."""

EVERY_LOSS: Mapping[str, AnyLoss] = ChainMap(STRUCTURAL, SCORE_LOSSES, OTHER_NAMES, LOSSES)  # type: ignore[arg-type]
"""Losses of margins, and losses of scores that are no sums over pairs, by name."""


def loss_of(loss: str | AnyLoss) -> AnyLoss:
    """Return a loss given by its name in `EVERY_LOSS`, or as an object."""
    return EVERY_LOSS[loss] if isinstance(loss, str) else loss


def loss_name(loss: str | AnyLoss) -> str:
    """Return the name in `EVERY_LOSS` of an equal loss; `SettingError` if there is none."""
    for name, known in EVERY_LOSS.items():
        if name == loss or known is loss or (type(known) is type(loss) and vars(known) == vars(loss)):
            return name
    raise SettingError(
        f"loss={loss!r} has no name for storage; register it in rankviz.learning.losses.LOSSES, or fit "
        f"with one of {', '.join(map(repr, EVERY_LOSS))}"
    )


def check_costs_of(loss: AnyLoss, costs: object) -> None:
    """Raise `SettingError` for costs of pairs with a loss that is no sum over pairs."""
    if costs is not None and not loss.of_pairs:
        raise SettingError(
            f"the {loss.label} loss is no sum over preference pairs, so pairs have no costs; leave "
            "out the costs, or choose a loss of pairs"
        )


LOSS_WEIGHT = Setting(
    name="C",
    symbol="C",
    label="C",
    domain=Positive(),
    default=2.0**-7,
    start=2.0**-4,
    help="Weight of the loss against ½‖w‖²: a larger C fits the training part more closely. It multiplies "
    "the loss without ½ (chen2017 eq. 22).",
    key="c",
    offer=Powers(-15, 10),
)


_DECLARED = ("label", "formula", "curvature", "convex", "smooth")
"""Properties that a loss must define; the others have defaults."""

LOSS = Setting(
    name="loss",
    symbol="loss",
    label="Loss",
    domain=ChoiceOrObject(EVERY_LOSS, AnyLoss, "rankviz.learning.losses.Loss", _DECLARED),
    default="squared_hinge",
    help="Penalty of a pair with margin t = f(preferred) − f(other), or of scores f and grades y. C is not "
    "comparable between losses.",
    key="loss",
)
