"""The settings of kernels (see `rankviz.common.settings`)."""

from __future__ import annotations

from rankviz.common.settings import Positive, Powers, Real, Setting, Steps, Whole

GAMMA = Setting(
    name="gamma",
    symbol="γ",
    label="γ",
    domain=Positive(names=("scale",)),
    default=2.0**-6,
    start=2.0**-2,
    help="How fast the kernel falls off with distance, such as exp(−γ‖x − z‖²): the larger, the nearer two "
    "documents must be to count as alike, and the rougher the model.",
    key="g",
    offer=Powers(-12, 4),
)

DEGREE = Setting(
    name="degree",
    symbol="degree",
    label="Degree of the polynomial",
    domain=Whole(),
    default=3,
    help="Of (γ⟨x, z⟩ + coef0)^degree: products of up to so many features take part.",
    key="deg",
    offer=Steps((1, 2, 3, 4, 5)),
    caption=lambda degree: f"degree {degree}",
)

COEF0 = Setting(
    name="coef0",
    symbol="coef0",
    label="Constant coef0",
    domain=Real(low=0),
    default=1.0,
    help="Of (γ⟨x, z⟩ + coef0)^degree: above 0, products of fewer features take part too. Below 0 it would "
    "be no kernel.",
    key="coef0",
    offer=Steps((0.0, 0.5, 1.0, 2.0)),
)
