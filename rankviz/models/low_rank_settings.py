"""Solvers of the factorised and the regularised model by name, and the settings of both models."""

from __future__ import annotations

from rankviz.common.errors import SettingError
from rankviz.common.numbers import counted, exact
from rankviz.common.settings import Choice, Positive, Setting, Steps, Typed, Whole
from rankviz.features import FEATURE_MAPS
from rankviz.learning.solvers import TOLERANCES
from rankviz.models.factorized import Nested, QuerySteps
from rankviz.models.regularized import Alternating, Fista

FACTOR_SOLVERS: dict[str, type[Nested | QuerySteps]] = {"lbfgs": Nested, "query_steps": QuerySteps}
"""Solvers by their names in `FactorizedRankSVM(solver=...)`; the second is the paper's."""

DUAL_SOLVERS: dict[str, type[Fista | Alternating]] = {"fista": Fista, "alternating": Alternating}
"""Solvers by their names in `RegularizedRankSVM(solver=...)`; the second is the paper's."""


def check_rows(name: str) -> None:
    """Raise `SettingError` for a solver that needs rows of features, because an exact kernel has none."""
    if FACTOR_SOLVERS[name].needs_rows:
        able = next(other for other, solver in FACTOR_SOLVERS.items() if not solver.needs_rows)
        near = next(other for other, kind in FEATURE_MAPS.items() if kind.approximates)
        raise SettingError(
            f"solver={name!r} needs rows of features, but the exact kernel of so many documents has none: "
            f"it has one coefficient for each document. Choose solver={able!r}, or "
            f"feature_map={near!r}"
        )


FACTORS = Setting(
    name="factors",
    symbol="K",
    label="Factors",
    domain=Whole(most=10_000),
    default=5,
    help="Length K of the vectors v with αᵢⱼ = ⟨vᵢ, vⱼ⟩, one for each document (xu2019 §5.1). With R grades, "
    "a query's block has rank (R − 1)·K at most.",
    key="lfactors",
    offer=Typed(1, 50),
    caption=lambda factors: counted(factors, "factor"),
    named=True,
    parameter="rank",
)

NUCLEAR = Setting(
    name="nuclear",
    symbol="nuclear",
    label="Nuclear norm",
    domain=Positive(),
    default=1.0,
    help="Weight of the nuclear norm Σσ of the matrices A (γ in xu2019). Larger values give a lower rank: "
    "each singular value of A is max(0, σ of α − nuclear/(2·coupling)).",
    key="lnuclear",
    offer=Steps((0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0)),
    caption=lambda value: f"nuclear {value:g}",
    named=True,
)

COUPLING = Setting(
    name="coupling",
    symbol="coupling",
    label="Coupling",
    domain=Positive(),
    default=10.0,
    help="Weight of the distance ‖α − A‖² (λ in xu2019). Larger values bring A and α closer.",
    key="lcoupling",
    offer=Steps((0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0, 3000.0, 10000.0)),
    caption=lambda value: f"coupling {value:g}",
    named=True,
)

LOW_RANK_TOL = Setting(
    name="tol",
    symbol="tolerance",
    label="Tolerance",
    domain=Positive(),
    default=1e-3,
    help="Training stops when the possible gain is below this share of the objective.",
    key="ltol",
    offer=Steps(TOLERANCES[:4]),
    caption=lambda tol: f"tolerance {exact(tol)}",
    quiet=True,
    how=True,
)

FACTOR_SOLVER = Setting(
    name="solver",
    symbol="solver",
    label="Solver",
    domain=Choice(FACTOR_SOLVERS),
    default="lbfgs",
    help="Train all factors at once, starting with one; or query by query, as in the paper.",
    key="fsolver",
    quiet=True,
    how=True,
)

DUAL_SOLVER = Setting(
    name="solver",
    symbol="solver",
    label="Solver",
    domain=Choice(DUAL_SOLVERS),
    default="fista",
    help="Accelerated steps from the plain model, or the paper's alternating steps from random α.",
    key="rsolver",
    quiet=True,
    how=True,
)
