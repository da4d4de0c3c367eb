"""The settings of solvers (see `rankviz.common.settings`)."""

from __future__ import annotations

from dataclasses import dataclass

from rankviz.common.settings import Choice, Positive, Setting, Steps, Whole


@dataclass(frozen=True)
class Preconditioning:
    """Choice to solve the Newton systems with or without a preconditioner."""

    label: str
    used: bool


PRECONDITIONERS = {
    "auto": Preconditioning("preconditioned", used=True),
    "none": Preconditioning("without preconditioner", used=False),
}
"""Choices by their names in `RankSVM(preconditioner=...)`."""

PRECONDITIONER = Setting(
    name="preconditioner",
    symbol="preconditioner",
    label="Preconditioner",
    domain=Choice(PRECONDITIONERS),
    default="auto",
    help="auto: Newton systems are solved with the preconditioner that suits the map. none: by plain "
    "conjugate gradients, to see what it is worth.",
    quiet=True,
    how=True,
)

TOLERANCES = (1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8)
"""Tolerances offered on pages."""

TOL = Setting(
    name="tol",
    symbol="tolerance",
    label="Tolerance",
    domain=Positive(),
    default=1e-6,
    help="Training stops when its measure of what is left to gain, such as the Newton decrement, is at most "
    "this share of the objective.",
    key="tol",
    offer=Steps(TOLERANCES),
    caption=lambda tol: f"tolerance {tol:.0e}",
    quiet=True,
    how=True,
)

MAX_ITER = Setting(
    name="max_iter",
    symbol="iterations",
    label="Largest number of iterations",
    domain=Whole(optional=True),
    default=None,
    help="None for a number that suits the solver.",
    quiet=True,
    how=True,
)
