"""The exact kernel: OHSUMED Fold1 against one kernel matrix of the same run, and 42,000 documents.

chen2017's Table 2 has 47,463 s for kernel RankSVM at the second size. Seconds are those of `fit`, the kernel
matrix included; in OHSUMED's case medians of repetitions, in the other one fit.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks import report
from rankviz import RankSVM, load_fold
from rankviz.common.memory import peak_memory, reset_peak_memory
from rankviz.datasets import RankingData, make_data
from rankviz.features import rbf_kernel

REPETITIONS = 5
OHSUMED = {"gamma": 2.0**-6, "C": 2.0**-7}
SYNTHETIC = {"gamma": 2.0**-5, "C": 2.0**-2}


def main() -> None:
    rows = []
    if os.environ.get("RANKVIZ_LETOR"):
        data = load_fold(Path(os.environ["RANKVIZ_LETOR"]) / "OHSUMED", 1).train
        rows.append(_row("OHSUMED Fold1", data, REPETITIONS, OHSUMED, square=True))
        hard = {"gamma": 2.0**-3, "C": 4.0}
        rows.append(_row("OHSUMED Fold1, rough", data, 1, hard, square=True))
    data = make_data(n_queries=1000, documents_per_query=(42, 42), n_features=46, seed=0)
    rows.append(_row("synthetic", data, 1, SYNTHETIC, square=False))
    report.write("exact", "The exact kernel", pd.DataFrame(rows), [__doc__.split("\n\n")[1]])


def _row(
    name: str, data: RankingData, repetitions: int, settings: dict[str, float], *, square: bool
) -> dict[str, object]:
    matrices, fits = [], []
    for _ in range(repetitions):
        reset_peak_memory()
        began = time.perf_counter()
        model = RankSVM("exact", **settings).fit_data(data)
        fits.append(time.perf_counter() - began)
        peak = peak_memory() / 1e9
        if square:
            began = time.perf_counter()
            rbf_kernel(data.X, data.X, settings["gamma"])
            matrices.append(time.perf_counter() - began)
    last = model.trace_.iloc[-1]
    matrix = float(np.median(matrices)) if matrices else np.nan
    return {
        "data": name,
        "documents": data.n_documents,
        "γ": settings["gamma"],
        "C": settings["C"],
        "fit, s": float(np.median(fits)),
        "of it kernel, s": model.seconds_["features"],
        "one float64 kernel matrix, s": matrix,
        "fit / matrix": float(np.median(fits)) / matrix,
        "peak memory, GB": peak,
        "Newton steps": model.n_iter_,
        "CG iterations": int(model.trace_["cg_iterations"].sum()),
        "decrement / objective": float(last["decrement"] / last["objective"]),
        "objective": model.objective_,
    }
