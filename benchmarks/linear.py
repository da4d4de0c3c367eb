"""Linear models: fits against their targets, and all solvers on one problem. OHSUMED needs RANKVIZ_LETOR.

Public figures to compare with, on a machine like this: the fastest C++ code takes 0.017 s on OHSUMED Fold1
and 0.059 s on 42,000 documents with 46 features; chapelle2010's PRSVM+ 1.5 s for OHSUMED's five folds;
svm_rank 0.16 s for the hinge, to a loose ε (chapelle2010 Table 3 has hours for SVMlight).
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pandas as pd

from benchmarks import report
from rankviz import RankSVM, load_fold
from rankviz.datasets import RankingData, make_data
from rankviz.solvers.registry import SOLVERS

REPETITIONS, FEW = 15, 3
HINGE_OBJECTIVE = 2984.6218
"""Of OHSUMED Fold1 at C = 0.01, from an implementation of its own."""
CS = (1e-4, 2.0**-11, 1e-2)
"""C at which solvers are compared; at 0.01 chapelle2010's printed steps blow up."""


def main() -> None:
    root = os.environ.get("RANKVIZ_LETOR")
    folds = [load_fold(Path(root) / "OHSUMED", k).train for k in range(1, 6)] if root else []
    synthetic = make_data(n_queries=1000, documents_per_query=(42, 42), n_features=46, seed=0)
    notes = [
        __doc__.split("\n\n")[1],
        f"{REPETITIONS} repetitions in one process.",
    ]
    notes += [] if folds else ["RANKVIZ_LETOR is not set: OHSUMED is left out."]
    report.write("linear", "Linear fits", pd.DataFrame(fits(folds, synthetic)), notes)
    name, data = ("OHSUMED Fold1", folds[0]) if folds else ("42,000 synthetic documents", synthetic)
    notes = [
        f"{name}, linear, squared hinge. Above the optimum: (objective − best)/best, the best by truncated "
        "Newton to a decrement of 1e-13. L-BFGS stops at a duality gap of 1e-6 of the objective, SGD after "
        "100 passes; a pass by pair is as many pairs as there are documents. Seconds are the "
        f"least of {FEW} runs, without features and pairs."
    ]
    table = pd.DataFrame([row for C in CS for row in solvers(data, C)])
    report.write("solvers", "Solvers on one problem", table, notes)


def fits(folds: Sequence[RankingData], synthetic: RankingData) -> list[dict[str, object]]:
    """Seconds of fits beside what they should take at most."""
    rows = [fit("42,000 x 46 synthetic", [synthetic], 0.08, C=2.0**-11)]
    if folds:
        rows += [
            fit("OHSUMED Fold1", folds[:1], 0.017, C=2.0**-11),
            fit("OHSUMED, five folds", folds, 0.1, C=1e-4),
            fit("OHSUMED Fold1", folds[:1], 1.5, C=0.01, loss="hinge"),
        ]
    return rows


def fit(
    name: str, parts: Sequence[RankingData], target: float, *, C: float, loss: str = "squared_hinge"
) -> dict[str, object]:
    """One fit of each part, repeated: seconds of `fit`, of them in the solver, and how good the end is."""
    models = [RankSVM(C=C, loss=loss) for _ in parts]
    seconds, alone = [], []
    for _ in range(REPETITIONS + 1):
        seconds.append(_seconds(lambda: [m.fit_data(part) for m, part in zip(models, parts, strict=True)]))
        alone.append(sum(model.seconds_["newton"] for model in models))
    fitted, solver = pd.Series(seconds[1:]), pd.Series(alone[1:])
    last = [model.trace_.iloc[-1] for model in models]
    return {
        "data": name,
        "loss": loss,
        "C": C,
        "fit, median s": fitted.median(),
        "fit, least s": fitted.min(),
        "at most, s": target,
        "solver alone, median s": solver.median(),
        "Newton steps": sum(model.n_iter_ for model in models),
        "CG iterations": sum(int(model.trace_["cg_iterations"].sum()) for model in models),
        "decrement / objective": max(row["decrement"] / row["objective"] for row in last),
        "duality gap / objective": max(model.gap_ for model in models),
        "objective": sum(model.objective_ for model in models),
        "reference objective": HINGE_OBJECTIVE if loss == "hinge" else float("nan"),
    }


def solvers(data: RankingData, C: float) -> list[dict[str, object]]:
    """Every solver on one problem."""
    best = RankSVM(C=C, tol=1e-13).fit_data(data).objective_
    rows = []
    for name, choice in SOLVERS.items():
        models = [RankSVM(C=C, solver=name).fit_data(data) for _ in range(FEW)]
        model, trace = models[0], models[0].trace_
        rows.append(
            {
                "C": C,
                "solver": choice.label,
                "seconds": min(m.seconds_["newton"] for m in models),
                "iterations": model.n_iter_,
                "products": trace["products"].sum(),
                "above the optimum": f"{max(0.0, model.objective_ / best - 1.0):.1e}",
                "highest on the way": f"{trace['objective'].max() / best - 1.0:.1e}",
                "status": model.status_.name.lower(),
            }
        )
    return rows


def _seconds(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began
