"""Seconds, memory and ends of fits. OHSUMED and MQ2008 need RANKVIZ_LETOR."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from sklearn.base import clone

from benchmarks import report
from benchmarks.children import Measured, side_by_side
from benchmarks.report import fold_of, letor, seconds, synthetic, timed
from rankviz import FactorizedRankSVM, RankSVM, RegularizedRankSVM, fit_curve
from rankviz.common.memory import peak_memory, reset_peak_memory
from rankviz.datasets import RankingData, make_data
from rankviz.features import rbf_kernel
from rankviz.models.low_rank.registry import DUAL_SOLVERS, FACTOR_SOLVERS

Ranker = RankSVM | FactorizedRankSVM | RegularizedRankSVM


def ending(models: Sequence[Ranker]) -> dict[str, object]:
    """Return how Newton fits ended: steps, iterations, the largest decrement, the sum of objectives."""
    last = [model.trace_.iloc[-1] for model in models]
    return {
        "Newton steps": sum(model.n_iter_ for model in models),
        "CG iterations": sum(int(model.trace_["cg_iterations"].sum()) for model in models),
        "decrement / objective": max(float(row["decrement"] / row["objective"]) for row in last),
        "objective": sum(model.objective_ for model in models),
    }


def measured_fit(model: RankSVM, data: RankingData) -> tuple[RankSVM, float, float]:
    """Fit a model; return it, its seconds, and the peak memory of this process in GB."""
    reset_peak_memory()
    model, took = timed(lambda: model.fit_data(data))
    return model, took, peak_memory() / 1e9


# linear ---------------------------------------------------------------------------------------------------

LINEAR = (
    ("42,000 x 46 synthetic", 0, 0.08, {"C": 2.0**-11}),
    ("OHSUMED Fold1", 1, 0.017, {"C": 2.0**-11}),
    ("OHSUMED, five folds", 5, 0.1, {"C": 1e-4}),
    ("OHSUMED Fold1", 1, 1.5, {"C": 0.01, "loss": "hinge"}),
)
"""Data, folds of OHSUMED (0: synthetic documents), the goal in seconds, settings."""
LINEAR_NOTE = (
    "For comparison, on a machine like this: the fastest C++ code takes 0.017 s on OHSUMED Fold1 and 0.059 "
    "s on 42,000 documents with 46 features; PRSVM+ of chapelle2010 1.5 s for the five folds of OHSUMED; "
    "svm_rank 0.16 s for the hinge, to a loose ε (chapelle2010 Table 3 has hours for SVMlight)."
)


def linear(repetitions: int = 15) -> None:
    """Measure linear fits against their goals."""
    here = letor("OHSUMED") is not None
    rows = [linear_row(*case, repetitions) for case in LINEAR if here or not case[1]]
    notes = [LINEAR_NOTE, f"{repetitions} repetitions in one process, after one that does not count."]
    report.write("linear", "Linear fits", pd.DataFrame(rows), notes)


def linear_row(name: str, folds: int, goal: float, settings: dict, repetitions: int) -> dict[str, object]:
    """Fit each part, repeated: seconds of `fit`, seconds of the solver alone, and the end."""
    parts = [fold_of("OHSUMED", k).train for k in range(1, folds + 1)] or [synthetic()]
    models, alone = [RankSVM(**settings) for _ in parts], list[float]()

    def fit() -> None:
        for model, part in zip(models, parts, strict=True):
            model.fit_data(part)
        alone.append(sum(model.seconds_["newton"] for model in models))

    fitted = seconds(fit, repetitions, warm_up=True)
    row = {"data": name, "loss": models[0].loss, "C": models[0].C, "fit, median s": np.median(fitted)}
    row |= {"fit, least s": min(fitted), "at most, s": goal, "solver alone, median s": np.median(alone[1:])}
    return row | ending(models) | {"duality gap / objective": max(model.gap_ for model in models)}


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


# exact ----------------------------------------------------------------------------------------------------

EXACT = (
    ("OHSUMED Fold1", 5, {"gamma": 2.0**-6, "C": 2.0**-7}),
    ("OHSUMED Fold1, rough", 1, {"gamma": 2.0**-3, "C": 4.0}),
    ("synthetic", 1, {"gamma": 2.0**-5, "C": 2.0**-2}),
)
"""Data, repetitions, settings."""


def exact() -> None:
    """Measure the exact kernel: OHSUMED Fold1 against one kernel matrix, and 42,000 documents."""
    here = letor("OHSUMED") is not None
    rows = [exact_row(*case) for case in EXACT if here or case[0] == "synthetic"]
    notes = [
        "chen2017's Table 2 has 47,463 s for kernel RankSVM at the second size. Seconds are those of `fit`, "
        "with the kernel matrix; medians of 5 repetitions in the first row, else one fit."
    ]
    report.write("exact", "The exact kernel", pd.DataFrame(rows), notes)


def exact_row(name: str, repetitions: int, settings: dict[str, float]) -> dict[str, object]:
    """Fit with the exact kernel, and compute one kernel matrix in turns where it is small."""
    data, fits, matrices = synthetic() if name == "synthetic" else fold_of("OHSUMED").train, [], []
    for _ in range(repetitions):
        model, took, peak = measured_fit(RankSVM("exact", **settings), data)
        fits.append(took)
        if name != "synthetic":
            matrices += seconds(lambda: rbf_kernel(data.X, data.X, settings["gamma"]))
    matrix = float(np.median(matrices)) if matrices else np.nan
    row = {"data": name, "documents": data.n_documents, "γ": settings["gamma"], "C": settings["C"]}
    row |= {"fit, s": float(np.median(fits)), "of it kernel, s": model.seconds_["features"]}
    row |= {"one float64 kernel matrix, s": matrix, "fit / matrix": float(np.median(fits)) / matrix}
    return row | {"peak memory, GB": peak} | ending([model])


# training -------------------------------------------------------------------------------------------------

M, GAMMA, C = 2000, 2.0**-5, 2.0**-2


def training(repetitions: int = 5) -> None:
    """Measure Nyström with m = 2000 on 42,000 documents, against the seconds of its parts alone."""
    data = synthetic()
    model, _, peak = measured_fit(RankSVM("nystroem", M, GAMMA, C), data)
    table = pd.DataFrame([training_round(data) for _ in range(repetitions)])
    table["yardstick: all three, s"] = table.filter(like="yardstick").sum(axis=1)
    table["fit / yardstick"] = table["fit, s"] / table["yardstick: all three, s"]
    table = pd.DataFrame({"median": table.median(), "min": table.min(), "max": table.max()})
    zero, plain = RankSVM("nystroem", M, GAMMA, C), RankSVM("nystroem", M, GAMMA, C, preconditioner="none")
    zero.fit_in(zero.training(data), alone=True)
    ends = {"fit": model, "from zero": zero, "without a preconditioner": plain.fit_data(data)}
    notes = [
        f"{data.n_documents:,} documents, {data.n_queries:,} queries, {model.n_pairs_:,} preference pairs; "
        f"Nyström m = {M}, γ = 2^-5, C = 2^-2. {repetitions} repetitions; peak memory {peak:.2f} GB. "
        "Seconds in the system are those of pages that are touched first.",
        *(f"{name}: started from {one.start_}, {_words(ending([one]))}." for name, one in ends.items()),
    ]
    report.write("training", "Training against its parts", table.reset_index(names="what"), notes)


def _words(ends: dict[str, object]) -> str:
    return ", ".join(f"{name} {value:.6g}" for name, value in ends.items())


def training_round(data: RankingData) -> dict[str, float]:
    """Measure one kernel matrix, 60 products with it, one Cholesky factor, and a fit with its stages."""
    landmarks, v, out = data.X[:M], np.ones(M), dict[str, float]()
    K, out["yardstick: kernel matrix, s"] = timed(lambda: rbf_kernel(data.X, landmarks, GAMMA))
    out["yardstick: 60 products K v, s"] = seconds(lambda: [K @ v for _ in range(60)])[0]
    small = rbf_kernel(landmarks, landmarks, GAMMA) + 1e-6 * np.eye(M)
    out["yardstick: Cholesky factor of 2000, s"] = seconds(lambda: np.linalg.cholesky(small))[0]
    K = np.empty(0)  # it takes as much memory as a fit
    before = os.times().system
    model, out["fit, s"] = timed(lambda: RankSVM("nystroem", M, GAMMA, C).fit_data(data))
    out["  in the system, s"] = os.times().system - before
    return out | {f"  {stage}, s": took for stage, took in model.seconds_.items()}


# large ----------------------------------------------------------------------------------------------------

LARGE = {
    "linear": ({"C": 2.0**-11}, 30.0),
    "nystroem": ({"C": 2.0**-11, "gamma": 2.0**-6, "n_components": 500}, 150.0),
}
"""Settings by map, and the goal in seconds."""


def large() -> None:
    """Measure the size of the training folds of MSLR-WEB10K; xu2019's Table 5 has N/A for RankSVM there."""
    sizes = {"n_queries": 6000, "documents_per_query": (25, 340), "n_features": 136, "n_grades": 5}
    data = make_data(**sizes, seed=0)
    rows = []
    for name, (settings, goal) in LARGE.items():
        model, took, peak = measured_fit(RankSVM(name, **settings), data)
        row = {"map": name, "pairs": model.n_pairs_, "fit, s": took, "at most, s": goal}
        row |= {f"{stage}, s": model.seconds_[stage] for stage in ("features", "pairs", "newton")}
        rows.append(row | {"peak GB": peak} | ending([model]) | {"status": model.status_.name.lower()})
    notes = [
        f"{data.n_documents:,} documents in {data.n_queries:,} queries, {data.n_features} features of "
        f"{data.X.nbytes / 1e9:.2f} GB, generated. One fit each; peak memory of the process with the data, "
        "at most 8 GB. C = 2^-11, γ = 2^-6, m = 500."
    ]
    report.write("large", "The size of MSLR-WEB10K", pd.DataFrame(rows), notes)


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
