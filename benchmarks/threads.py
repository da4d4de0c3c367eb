"""Whether figures depend on the number of threads, on the process, or on the processor. Needs RANKVIZ_LETOR.

Every model is trained on OHSUMED Fold1 and on MQ2008 Fold1 in several processes that differ in one thing; the
table has the largest differences of scores and of NDCG@10 on the test part.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks import report
from rankviz import FactorizedRankSVM, Fold, RankSVM, RegularizedRankSVM, evaluate, load_fold
from rankviz.common.threads import ENVIRONMENT
from rankviz.models.ranker import Ranker

SETS = ("OHSUMED", "MQ2008")
BLAS_THREADS = "OPENBLAS_NUM_THREADS"

MODELS: dict[str, Ranker] = {
    **{
        f"linear, {loss}": RankSVM(loss=loss)
        for loss in ("squared_hinge", "huber", "hinge", "logistic", "logistic_pwq", "smooth_hinge")
    },
    "linear, no preconditioner": RankSVM(preconditioner="none"),
    **{
        f"linear, {solver}": RankSVM(solver=solver)
        for solver in ("newton_yuan", "lbfgs", "sgd_query", "sgd_pair", "sgd_query_printed")
    },
    "Nyström": RankSVM("nystroem"),
    "Nyström, k-means++": RankSVM("nystroem", landmarks="kmeans++"),
    "Fourier": RankSVM("fourier"),
    "exact": RankSVM("exact"),
    "factorised, lbfgs": FactorizedRankSVM(),
    "factorised, query_steps": FactorizedRankSVM(solver="query_steps", max_iter=30),
    "factorised, Nyström": FactorizedRankSVM(feature_map="nystroem", n_components=200),
    "regularised, fista": RegularizedRankSVM(),
    "regularised, alternating": RegularizedRankSVM(solver="alternating", max_iter=20),
}
"""With their own settings, but for limits that keep the slowest short."""

ONE, TWO, AGAIN = "1 thread", "2 threads", "2 threads, another process"
PROCESSES: dict[str, dict[str, str]] = {
    ONE: {ENVIRONMENT: "1", BLAS_THREADS: "1"},
    TWO: {ENVIRONMENT: "2", BLAS_THREADS: "2"},
    AGAIN: {ENVIRONMENT: "2", BLAS_THREADS: "2"},
    "Haswell": {ENVIRONMENT: "1", BLAS_THREADS: "1", "OPENBLAS_CORETYPE": "Haswell"},
}
"""What is set in the environment of each; the last makes BLAS compute as on processors of that type."""

COMPARED = {"threads": (ONE, TWO), "process": (TWO, AGAIN), "Haswell": (ONE, "Haswell")}


def main() -> None:
    root = os.environ.get("RANKVIZ_LETOR")
    if not root:
        print("# RANKVIZ_LETOR is not set: models are compared on OHSUMED and MQ2008")
        return
    with tempfile.TemporaryDirectory() as folder:
        found = {
            name: _in_process(root, environment, Path(folder)) for name, environment in PROCESSES.items()
        }
    folds = {name: load_fold(Path(root) / name, 1) for name in SETS}
    report.write(
        "threads",
        "One thread and two, and other processors",
        pd.DataFrame(differences(folds, found)),
        [
            "Largest difference of scores on the test part, over their standard deviation, and of the mean "
            "NDCG@10: between one thread and two (of BLAS and of ours), between two processes with two "
            "threads each, and between BLAS as it computes here and as it computes on an older type of "
            "processor (Haswell), in one thread.",
            f"Defaults but for what is named; factorised, query_steps after "
            f"{MODELS['factorised, query_steps'].max_iter} passes, regularised, alternating after "
            f"{MODELS['regularised, alternating'].max_iter} rounds.",
        ],
    )


def differences(
    folds: Mapping[str, Fold], found: Mapping[str, Mapping[str, np.ndarray]]
) -> Iterator[dict[str, object]]:
    """A row for each set and model: differences of scores and of NDCG@10 between processes."""
    for data, fold in folds.items():
        for model in MODELS:
            scores = {name: of[f"{data}/{model}"] for name, of in found.items()}
            quality = {
                name: float(evaluate(f, fold.test, at=[10]).mean["NDCG@10"]) for name, f in scores.items()
            }
            row: dict[str, object] = {"data": f"{data} Fold1", "model": model, "NDCG@10": quality[ONE]}
            for label, (a, b) in COMPARED.items():
                row[f"{label}: scores"] = relative(scores[a], scores[b])
                row[f"{label}: NDCG@10"] = abs(quality[a] - quality[b])
            yield row


def relative(f: np.ndarray, other: np.ndarray) -> float:
    """The largest difference of scores (n,), over the standard deviation of the first."""
    largest = float(np.abs(f - other).max())
    return largest / float(f.std()) if largest > 0.0 else 0.0


def _in_process(root: str, environment: Mapping[str, str], folder: Path) -> dict[str, np.ndarray]:
    """Scores of every model on every set, from a process with that environment."""
    path = folder / "scores.npz"
    command = [sys.executable, "-m", "benchmarks.threads", root, str(path)]
    subprocess.run(command, env=os.environ | environment, check=True)
    with np.load(path) as stored:
        return dict(stored)


def _train_all(root: Path, path: Path) -> None:
    scores = {}
    for data in SETS:
        fold = load_fold(root / data, 1)
        for name, model in MODELS.items():
            scores[f"{data}/{name}"] = model.fit_data(fold.train).predict(fold.test.X)
    np.savez(path, **scores)


if __name__ == "__main__":
    _train_all(Path(sys.argv[1]), Path(sys.argv[2]))
