"""Low-rank models on OHSUMED Fold1 and MQ2008 Fold1: seconds, memory, where they end. Needs RANKVIZ_LETOR.

Both models with both of their solvers, linear, with their own settings; RankSVM with the hinge beside them.
"""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
from sklearn.base import clone

from benchmarks import report
from benchmarks.children import Measured, side_by_side
from rankviz import FactorizedRankSVM, RankSVM, RegularizedRankSVM, duals, load_fold
from rankviz.analysis.spectra import spectra_of
from rankviz.datasets import RankingData
from rankviz.models.low_rank.registry import DUAL_SOLVERS, FACTOR_SOLVERS

C, REPETITIONS = 2.0**-7, 3
SETS = ("OHSUMED", "MQ2008")
MATRICES = ("block", "symmetrised")
EXACT = 1e-8
"""Gap to which the least value of the dual problem is computed."""

Ranker = RankSVM | FactorizedRankSVM | RegularizedRankSVM


@dataclass(frozen=True)
class Fitted:
    """An estimator as it is."""

    model: Ranker

    def fit(self, train: RankingData) -> Ranker:
        return clone(self.model).fit_data(train)

    def objectives(self, model: Ranker, train: RankingData) -> tuple[float, float]:
        """Of the factorised model the least is the dual optimum, of the others what their gap proves."""
        if isinstance(model, FactorizedRankSVM):
            plain = RankSVM(C=model.C, loss="hinge", tol=EXACT).fit_data(train)
            return model.objective_, -plain.objective_ * (1.0 - plain.gap_)
        return model.objective_, model.objective_ - model.trace_["gap"].iloc[-1] * abs(model.objective_)


def models() -> dict[str, Fitted]:
    """The measurements by name."""
    found: dict[str, Ranker] = {"RankSVM, hinge": RankSVM(C=C, loss="hinge")}
    for name, solver in FACTOR_SOLVERS.items():
        found[f"factorised, {solver.label}"] = FactorizedRankSVM(C=C, solver=name)
    for name, solver in DUAL_SOLVERS.items():
        found[f"regularised, {solver.label}"] = RegularizedRankSVM(C=C, solver=name)
    return {name: Fitted(model) for name, model in found.items()}


def main() -> None:
    root = os.environ.get("RANKVIZ_LETOR")
    if not root:
        print("RANKVIZ_LETOR is not set: the low-rank models are left out.")
        return
    parts = {name: load_fold(Path(root) / name, 1).train for name in SETS}
    rows = [row for name, train in parts.items() for row in fits(f"{name} Fold1", train, REPETITIONS)]
    factorised, regularised = FactorizedRankSVM(), RegularizedRankSVM()
    notes = [
        __doc__.split("\n\n")[1].strip(),
        f"C = 2^-7, K = {factorised.rank}, nuclear = {regularised.nuclear:g}, coupling = "
        f"{regularised.coupling:g}, tolerance {factorised.tol:g}; RankSVM's is 10^-6. Medians of "
        f"{REPETITIONS} fits, each method in a process of its own, in turns; memory is the peak above the "
        "process before. Least: of the factorised model the optimum of the dual problem, which it cannot go "
        "below and need not reach; of the others the bound that their duality gap proves. (RankSVM's "
        "objective is the primal one, the negative of the dual at the optimum.)",
    ]
    report.write("low_rank", "Low-rank models", pd.DataFrame(rows), notes)
    table = pd.DataFrame(spectra("OHSUMED Fold1", parts["OHSUMED"]))
    note = f"All singular values of all blocks, median and largest of {2 * REPETITIONS + 1} in one process."
    report.write("spectra", "Spectra of all blocks", table, [note])


def fits(data: str, train: RankingData, repetitions: int) -> list[dict[str, object]]:
    """Every model on one training part."""
    found: Mapping[str, Measured] = side_by_side(models(), train, train, repetitions)
    return [{"data": data, "model": name} | row(measured) for name, measured in found.items()]


def row(measured: Measured) -> dict[str, object]:
    """Seconds, memory and the end of one model."""
    reached, least = measured.objectives
    return {
        "fit, median s": measured.median(),
        "of them features": measured.median("features"),
        "fits": len(measured.runs),
        "peak MB": measured.memory / 1e6,
        "iterations": measured.iterations,
        "objective": reached,
        "least": least,
        "above it": (reached - least) / abs(least) if least else float("nan"),
        "failure": measured.failure or "–",
    }


def spectra(data: str, train: RankingData) -> list[dict[str, object]]:
    """Seconds for the singular values of all blocks of RankSVM and of both low-rank models."""
    fitted = {
        "RankSVM, squared hinge": RankSVM(C=C).fit_data(train),
        "RankSVM, hinge": RankSVM(C=C, loss="hinge").fit_data(train),
        "factorised": FactorizedRankSVM(C=C).fit_data(train),
    }
    rows = []
    for name, model in fitted.items():
        found = duals(model, train)
        for matrix in MATRICES:
            seconds = []
            for _ in range(2 * REPETITIONS + 1):
                began = time.perf_counter()
                spectra_of(found, matrix)
                seconds.append(time.perf_counter() - began)
            row = {"data": data, "model": name, "matrix": matrix, "blocks": len(found)}
            rows.append(row | {"median s": statistics.median(seconds), "largest s": max(seconds)})
    return rows
