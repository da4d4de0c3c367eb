"""Two limits of the low-rank models, OHSUMED Fold1 and MQ2008 Fold1: more factors, and nuclear → 0.

Needs RANKVIZ_LETOR. Linear; each model with its own settings otherwise.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from benchmarks import report
from rankviz import RankingData, RankSVM, RegularizedRankSVM, load_fold
from rankviz.features.maps import FittedLinear
from rankviz.models.low_rank.cells import Cells
from rankviz.models.low_rank.factorized import FactorProblem
from rankviz.models.low_rank.factorized_solvers import BoxedLBFGS, FactorSolver, QuerySteps
from rankviz.models.low_rank.gram import FeatureGram
from rankviz.models.low_rank.nested import Nested

SETS = ("OHSUMED", "MQ2008")
FACTORS, CS, SEEDS = (1, 2, 5, 10, 20), (1e-4, 1e-2), 3
NUCLEAR, STEPS, C = (1.0, 1e-2, 1e-4, 1e-6), 300, 1e-2
EXACT = 1e-8
"""Gap to which the plain model's optimum is computed."""

WAYS: dict[str, FactorSolver] = {
    "from one factor to K": Nested(),
    "from K drawn factors": BoxedLBFGS(),
    "query by query, from K drawn factors": QuerySteps(),
}


def main() -> None:
    root = os.environ.get("RANKVIZ_LETOR")
    if not root:
        print("RANKVIZ_LETOR is not set: the limits of the low-rank models are left out.")
        return
    parts = {f"{name} Fold1": load_fold(Path(root) / name, 1).train for name in SETS}
    rows = [row for name, train in parts.items() for row in more_factors(name, train)]
    note = (
        f"½‖w‖² − Σα, minimised: mean of {SEEDS} seeds (the lowest in brackets). Tolerance 10^-3, so that "
        "differences below 0.1 % say little of the minima. Least: the negative dual optimum of the plain "
        "model, which no K reaches. From one factor to K the objective is never above that for a divisor."
    )
    report.write("limits_factors", "Factorised RankSVM: its objective by K", pd.DataFrame(rows), [note])
    rows = [row for name, train in parts.items() for row in less_nuclear(name, train)]
    note = f"C = {C:g}, coupling 1, at most {STEPS} accelerated steps. Plain: nuclear = 0."
    report.write("limits_nuclear", "Regularised RankSVM as nuclear → 0", pd.DataFrame(rows), [note])


def more_factors(name: str, train: RankingData) -> Iterator[dict[str, object]]:
    """Objectives of each way of training, by C, one column for each K."""
    cells = Cells(train.y, train.ptr)
    gram = FeatureGram(FittedLinear(train.n_features).operator(train.X))
    for weight in CS:
        plain = _plain(train, weight)
        least = -plain.objective_ * (1.0 - plain.gap_)
        for way, solver in WAYS.items():
            row = {"data": name, "C": weight, "training": way}
            for K in FACTORS:
                problem = FactorProblem(cells, gram, weight, K)
                values = pd.Series([_end(solver, problem, seed) for seed in range(SEEDS)])
                row[f"K = {K}"] = f"{values.mean():.6g} ({values.min():.6g})"
            yield row | {"least": f"{least:.6g}"}


def _end(solver: FactorSolver, problem: FactorProblem, seed: int) -> float:
    return solver.solve(problem, solver.start(problem, seed)).point.value


def less_nuclear(name: str, train: RankingData) -> Iterator[dict[str, object]]:
    """Objective, proved gap and weights beside the plain model's, by nuclear."""
    plain = _plain(train, C)
    length = float((plain.coef_**2).sum() ** 0.5)
    for nuclear in NUCLEAR:
        model = RegularizedRankSVM(C, nuclear, 1.0, max_iter=STEPS, tol=EXACT).fit_data(train)
        yield {
            "data": name,
            "nuclear": nuclear,
            "objective": f"{model.objective_:.8g}",
            "proved gap": float(model.trace_["gap"].iloc[-1]),
            "plain": f"{-plain.objective_:.8g}",
            "‖w − w_plain‖/‖w_plain‖": float(((model.coef_ - plain.coef_) ** 2).sum() ** 0.5) / length,
        }


def _plain(train: RankingData, weight: float) -> RankSVM:
    return RankSVM(C=weight, loss="hinge", tol=EXACT).fit_data(train)
