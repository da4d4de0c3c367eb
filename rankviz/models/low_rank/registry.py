"""Solvers of the factorised and the regularised model by name."""

from __future__ import annotations

from rankviz.common.errors import SettingError
from rankviz.features import FEATURE_MAPS
from rankviz.models.low_rank.factorized_solvers import QuerySteps
from rankviz.models.low_rank.nested import Nested
from rankviz.models.low_rank.regularized_solvers import Alternating, Fista

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
            f"solver={name!r} needs rows of features, and the exact kernel of so many documents has none: it "
            f"is trained in one coefficient for each document. Choose solver={able!r}, or "
            f"feature_map={near!r}"
        )
