"""Seconds, memory and ends of fits. OHSUMED and MQ2008 need RANKVIZ_LETOR."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd
from sklearn.base import clone

from benchmarks import report
from benchmarks.children import Measured, side_by_side
from benchmarks.report import fold_of, letor, seconds, synthetic
from rankviz import FactorizedRankSVM, RankSVM, RegularizedRankSVM, fit_curve
from rankviz.common.memory import peak_memory, reset_peak_memory
from rankviz.datasets import RankingData, make_data
from rankviz.features import rbf_kernel
from rankviz.models.low_rank_settings import DUAL_SOLVERS, FACTOR_SOLVERS

Ranker = RankSVM | FactorizedRankSVM | RegularizedRankSVM


# one model ------------------------------------------------------------------------------------------------

OHSUMED, SYNTHETIC, MSLR = "OHSUMED Fold1", "42,000 x 46 synthetic", "720,000 x 136 synthetic"
FITS: dict[str, tuple[str, list[tuple[str, RankSVM, int]]]] = {
    "linear": (
        "Linear fits",
        [
            (SYNTHETIC, RankSVM(C=2.0**-11), 15),
            (OHSUMED, RankSVM(C=2.0**-11), 15),
            (OHSUMED, RankSVM(C=0.01, loss="hinge"), 15),
        ],
    ),
    "training": ("Nyström with m = 2000", [(SYNTHETIC, RankSVM("nystroem", 2000, 2.0**-5, 2.0**-2), 5)]),
    "exact": (
        "The exact kernel",
        [
            (OHSUMED, RankSVM("exact", gamma=2.0**-6, C=2.0**-7), 5),
            (OHSUMED, RankSVM("exact", gamma=2.0**-3, C=4.0), 1),
            (SYNTHETIC, RankSVM("exact", gamma=2.0**-5, C=2.0**-2), 1),
        ],
    ),
    "large": (
        "The size of MSLR-WEB10K",
        [(MSLR, RankSVM(C=2.0**-11), 1), (MSLR, RankSVM("nystroem", 500, 2.0**-6, 2.0**-11), 1)],
    ),
}
"""Measurement -> title, and data, model and repetitions of each row."""
NOTE = (
    "Several fits follow one that does not count. Seconds of features, pairs, start and solver are those of "
    "the last fit. Peak: of the process, with the data. Kernel matrix: one in float64, after each fit of "
    "fewer than 10,000 documents. chen2017's Table 2 has 47,463 s for kernel RankSVM at 42,000 documents; "
    "xu2019's Table 5 has N/A for RankSVM at the size of MSLR-WEB10K."
)


def fits(name: str) -> None:
    """Fit every model of a measurement, and write its table."""
    title, cases = FITS[name]
    here = letor("OHSUMED") is not None
    rows = [fit_row(*case) for case in cases if here or case[0] != OHSUMED]
    report.write(name, title, pd.DataFrame(rows), [NOTE])


linear, training, exact, large = (partial(fits, name) for name in FITS)


def documents(name: str) -> RankingData:
    """Return the training documents of a name in `FITS`."""
    if name == OHSUMED:
        return fold_of("OHSUMED").train
    if name == SYNTHETIC:
        return synthetic()
    sizes = {"n_queries": 6000, "documents_per_query": (25, 340), "n_features": 136, "n_grades": 5}
    return make_data(**sizes, seed=0)


def fit_row(name: str, model: RankSVM, repetitions: int) -> dict[str, object]:
    """Fit a model several times; return seconds, peak memory, and how the last fit ended."""
    data, took, matrices = documents(name), list[float](), list[float]()
    reset_peak_memory()
    for _ in range(repetitions + (repetitions > 1)):
        took += seconds(lambda: model.fit_data(data))
        if model.feature_map == "exact" and data.n_documents < 10_000:
            matrices += seconds(lambda: rbf_kernel(data.X, data.X, model.gamma))
    took, last = took[-repetitions:], model.trace_.iloc[-1]
    row = {"data": name, "pairs": model.n_pairs_, "map": model.feature_map, "loss": model.loss, "C": model.C}
    row |= {"fit, median s": np.median(took), "least": min(took), "most": max(took)}
    row |= {f"{stage}, s": spent for stage, spent in model.seconds_.items()}
    if matrices:
        row |= {
            "kernel matrix, s": np.median(matrices),
            "fit / matrix": np.median(took) / np.median(matrices),
        }
    return row | {
        "peak GB": peak_memory() / 1e9,
        "Newton steps": model.n_iter_,
        "CG iterations": int(model.trace_["cg_iterations"].sum()),
        "decrement / objective": float(last["decrement"] / last["objective"]),
        "duality gap / objective": model.gap_,
        "objective": model.objective_,
        "status": model.status_.name.lower(),
    }


# curves ---------------------------------------------------------------------------------------------------

GRID = (25, 50, 100, 200, 500, 1000, 2000)
CURVES: dict[str, tuple[int, dict[str, tuple[float, ...]]]] = {
    f"curve, m = {GRID[0]} to {GRID[-1]}, against m = {GRID[-1]} alone": (2000, {"n_components": GRID}),
    "path over 7 values of C, m = 500, against separate fits": (
        500,
        {"C": tuple(2.0**k for k in range(-5, 2))},
    ),
    "grid over 3 values of γ, m = 500, against separate fits": (500, {"gamma": (2.0**-8, 2.0**-6, 2.0**-4)}),
}
"""m of the model, and the values of one setting."""


def curves(rounds: int = 5) -> None:
    """Measure many fits together against the same fits one by one, in turns."""
    data, maps = synthetic(), ("nystroem", "fourier")
    rows = [curve_row(name, what, data) for _ in range(rounds) for name in maps for what in CURVES]
    table = pd.DataFrame(rows)
    table["ratio"] = table["together, s"] / table["alone, s"]
    table = table.groupby(["map", "what"], sort=False).median().reset_index()
    note = f"42,000 documents in 1,000 queries, 46 features; medians of {rounds} rounds."
    report.write("curves", "Fits that share features and starts", table, [note])


def curve_row(name: str, what: str, data: RankingData) -> dict[str, object]:
    """Measure one curve: alone, then together. A curve over m stands against its costliest point alone."""
    m, grid = CURVES[what]
    model = RankSVM(name, n_components=m, gamma=2.0**-5, C=2.0**-2)
    ((setting, values),) = grid.items()
    alone = values[-1:] if setting == "n_components" else values
    row: dict[str, object] = {"map": name, "what": what}
    for way, work in (
        ("alone", lambda: [clone(model).set_params(**{setting: one}).fit_data(data) for one in alone]),
        ("together", lambda: list(fit_curve(model, data, **grid))),
    ):
        reset_peak_memory()
        row |= {f"{way}, s": seconds(work)[0], f"{way}, peak GB": peak_memory() / 1e9}
    return row


# low_rank -------------------------------------------------------------------------------------------------

LOW_RANK_C, OPTIMUM_TOL = 2.0**-7, 1e-8


@dataclass(frozen=True)
class Fitted:
    """An estimator with its settings."""

    model: Ranker

    def fit(self, train: RankingData) -> Ranker:
        return clone(self.model).fit_data(train)

    def objectives(self, model: Ranker, train: RankingData) -> tuple[float, float]:
        """Return the objective, and the dual optimum (factorised) or the bound of the gap (others)."""
        if isinstance(model, FactorizedRankSVM):
            plain = RankSVM(C=model.C, loss="hinge", tol=OPTIMUM_TOL).fit_data(train)
            return model.objective_, -plain.objective_ * (1.0 - plain.gap_)
        return model.objective_, model.objective_ - model.trace_["gap"].iloc[-1] * abs(model.objective_)


def low_rank(repetitions: int = 3) -> None:
    """Measure both low-rank models with both of their solvers, beside RankSVM with the hinge."""
    if letor("the data of the low-rank models") is None:
        return
    C = LOW_RANK_C
    models: dict[str, Ranker] = {"RankSVM, hinge": RankSVM(C=C, loss="hinge")}
    models |= {f"factorised, {s.label}": FactorizedRankSVM(C=C, solver=n) for n, s in FACTOR_SOLVERS.items()}
    models |= {f"regularised, {s.label}": RegularizedRankSVM(C=C, solver=n) for n, s in DUAL_SOLVERS.items()}
    rows = []
    for name in ("OHSUMED", "MQ2008"):
        train, methods = fold_of(name).train, {label: Fitted(model) for label, model in models.items()}
        found = side_by_side(methods, train, train, repetitions)
        rows += [
            {"data": f"{name} Fold1", "model": label} | _low_rank_row(one) for label, one in found.items()
        ]
    factorised, regularised = FactorizedRankSVM(), RegularizedRankSVM()
    notes = [
        f"Linear. C = 2^-7, K = {factorised.rank}, nuclear = {regularised.nuclear:g}, coupling = "
        f"{regularised.coupling:g}, tolerance {factorised.tol:g}; RankSVM's is 10^-6. Medians of "
        f"{repetitions} fits in turns, each method in its own process; memory is the peak above the process "
        "before. Least: for the factorised model the optimum of the dual problem, a bound it need not "
        "reach; for the others the bound of their duality gap. RankSVM's objective is the primal one, the "
        "negative of the dual at the optimum."
    ]
    report.write("low_rank", "Low-rank models", pd.DataFrame(rows), notes)


def _low_rank_row(measured: Measured) -> dict[str, object]:
    reached, least = measured.objectives
    return {
        "fit, median s": measured.median(),
        "of them features": measured.median("features"),
        "fits": len(measured.runs),
        "peak MB": measured.memory / 1e6,
        "iterations": measured.iterations,
        "objective": reached,
        "least": least,
        "above it": (reached - least) / abs(least) if least else np.nan,
        "failure": measured.failure or "–",
    }
