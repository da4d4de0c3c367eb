"""42,000 synthetic documents in 1,000 queries, 46 features, Nyström m = 2000, γ = 2^-5, C = 2^-2.

Seconds of `fit`, all of it, against what its parts cost alone in the same run: one kernel matrix, one
Cholesky factor, 60 products with the kernel. Its stages, its CG iterations (with a start from fewer features,
from zero, and without a preconditioner) and peak memory stand beside; medians over repetitions in one
process. Seconds in the system are those of pages touched first: where a virtual machine has given free memory
back to its host, they cost more than what is computed on them.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from functools import partial
from typing import TypeVar

import numpy as np
import pandas as pd

from benchmarks import report
from rankviz import RankSVM
from rankviz.common.memory import peak_memory, reset_peak_memory
from rankviz.datasets import RankingData, make_data
from rankviz.features import rbf_kernel

T = TypeVar("T")
M, GAMMA, C, REPETITIONS = 2000, 2.0**-5, 2.0**-2, 5


def main() -> None:
    data = make_data(n_queries=1000, documents_per_query=(42, 42), n_features=46, seed=0)
    model = RankSVM("nystroem", M, GAMMA, C).fit_data(data)
    reset_peak_memory()
    seconds = pd.DataFrame([_round(data) for _ in range(REPETITIONS)])
    peak = peak_memory() / 1e9
    seconds["yardstick: all three, s"] = seconds.filter(like="yardstick").sum(axis=1)
    seconds["fit / yardstick"] = seconds["fit, s"] / seconds["yardstick: all three, s"]
    table = pd.DataFrame({"median": seconds.median(), "min": seconds.min(), "max": seconds.max()})
    notes = [
        f"{data.n_documents:,} documents, {data.n_queries:,} queries, {model.n_pairs_:,} preference pairs; "
        f"Nyström m = {M}, γ = 2^-5, C = 2^-2. {REPETITIONS} repetitions; peak memory {peak:.2f} GB.",
        *_iterations(data, model),
    ]
    report.write("training", "Training against its parts", table.reset_index(names="what"), notes)


def _round(data: RankingData) -> dict[str, float]:
    landmarks, v = data.X[:M], np.ones(M)
    out: dict[str, float] = {}
    K: np.ndarray = _timed(out, "yardstick: kernel matrix, s", lambda: rbf_kernel(data.X, landmarks, GAMMA))
    _timed(out, "yardstick: 60 products K v, s", partial(_products, K, v))
    small = rbf_kernel(landmarks, landmarks, GAMMA) + 1e-6 * np.eye(M)
    _timed(out, "yardstick: Cholesky factor of 2000, s", lambda: np.linalg.cholesky(small))
    del K  # as much memory as a fit takes
    before = os.times().system
    model = _timed(out, "fit, s", lambda: RankSVM("nystroem", M, GAMMA, C).fit_data(data))
    out["  in the system, s"] = os.times().system - before
    return out | {f"  {stage}, s": seconds for stage, seconds in model.seconds_.items()}


def _iterations(data: RankingData, model: RankSVM) -> list[str]:
    """The Newton steps and CG iterations of a fit, of one from zero and of one without a preconditioner."""
    alone, plain = RankSVM("nystroem", M, GAMMA, C), RankSVM("nystroem", M, GAMMA, C, preconditioner="none")
    alone.fit_in(alone.training(data), alone=True)
    plain.fit_data(data)
    names = {"fit": model, "from zero": alone, "without a preconditioner": plain}
    return [f"{name}: {_in_words(fitted)}" for name, fitted in names.items()]


def _in_words(model: RankSVM) -> str:
    last, cg = model.trace_.iloc[-1], model.trace_["cg_iterations"].sum()
    share = last["decrement"] / last["objective"]
    return (
        f"started from {model.start_}, {model.n_iter_} Newton steps, {cg} CG iterations, "
        f"decrement / objective {share:.1e}, objective {model.objective_:.4f}."
    )


def _products(K: np.ndarray, v: np.ndarray) -> None:
    for _ in range(60):
        K @ v


def _timed(out: dict[str, float], name: str, work: Callable[[], T]) -> T:
    began = time.perf_counter()
    result = work()
    out[name] = time.perf_counter() - began
    return result
