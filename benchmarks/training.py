"""42,000 synthetic documents in 1,000 queries, 46 features, Nyström m = 2000, γ = 2^-5, C = 2^-2.

Seconds for kernel, factor and Newton, CG iterations with and without the preconditioner, and peak memory;
medians over repetitions in one process. The same arrays serve every row.
"""

from __future__ import annotations

import time

import numpy as np
import pandas as pd

from benchmarks import report
from rankviz.datasets import RankingData, make_data
from rankviz.features import Nystroem, rbf_kernel
from rankviz.losses import LOSSES
from rankviz.objective import RankObjective
from rankviz.risk import PairRisk
from rankviz.solvers.newton import TruncatedNewton
from rankviz.timing import peak_memory, reset_peak_memory

M, GAMMA, C, REPETITIONS = 2000, 2.0**-5, 2.0**-2, 5


def main() -> None:
    data = make_data(n_queries=1000, documents_per_query=(42, 42), n_features=46, seed=0)
    risk = PairRisk(data.y, data.ptr, LOSSES["squared_hinge"])
    reset_peak_memory()
    stages = pd.DataFrame([_stages(data, risk) for _ in range(REPETITIONS)])
    table = pd.DataFrame({"median": stages.median(), "min": stages.min(), "max": stages.max()})
    notes = [
        f"{data.n_documents:,} documents, {data.n_queries:,} queries, {risk.n_pairs:,} preference pairs; "
        f"Nyström m = {M}, γ = 2^-5, C = 2^-2. {REPETITIONS} repetitions; peak memory "
        f"{peak_memory() / 1e9:.2f} GB."
    ]
    report.write("training", "Training by stage", table.reset_index(names="stage"), notes)


def _stages(data: RankingData, risk: PairRisk) -> dict[str, float]:
    out: dict[str, float] = {}
    began = time.perf_counter()
    fitted = Nystroem(M, GAMMA).fit(data.X)
    out["landmarks and factor, s"] = time.perf_counter() - began
    began = time.perf_counter()
    features = fitted.operator(data.X)
    out["kernel matrix, s"] = time.perf_counter() - began
    for name, preconditioned in (("preconditioned", True), ("plain CG", False)):
        objective = RankObjective(features, risk, C)
        began = time.perf_counter()
        result = TruncatedNewton(preconditioned=preconditioned).solve(objective)
        out[f"Newton, {name}, s"] = time.perf_counter() - began
        out[f"  Newton steps, {name}"] = float((result.frame["step"] > 0).sum())
        out[f"  CG iterations, {name}"] = float(result.frame["cg_iterations"].sum())
        last = result.trace[-1]
        out[f"  decrement / objective x 1e6, {name}"] = last.decrement / last.objective * 1e6
        out[f"  objective, {name}"] = last.objective
    out["all, preconditioned, s"] = sum(
        out[k] for k in ("landmarks and factor, s", "kernel matrix, s", "Newton, preconditioned, s")
    )
    return out | _yardsticks(data, features.base)


def _yardsticks(data: RankingData, K: np.ndarray) -> dict[str, float]:
    """What the parts cost alone: one kernel matrix, one Cholesky factor, 60 products with K."""
    landmarks, v = data.X[:M], np.ones(M)
    began = time.perf_counter()
    small = rbf_kernel(landmarks, landmarks, GAMMA) + 1e-6 * np.eye(M)
    np.linalg.cholesky(small)
    cholesky = time.perf_counter() - began
    began = time.perf_counter()
    for _ in range(60):
        K @ v
    return {"yardstick: Cholesky of 2000, s": cholesky, "yardstick: 60 K v, s": time.perf_counter() - began}
