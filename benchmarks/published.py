"""The papers' figures that should come out on OHSUMED, beside ours; needs RANKVIZ_LETOR."""

from __future__ import annotations

import os
from pathlib import Path

import pandas as pd

from benchmarks import report
from rankviz import Fold, RankSVM, evaluate, load_fold

COLUMNS = ["NDCG@1", "NDCG@3", "NDCG@5", "NDCG@10", "P@1", "P@3", "MAP"]
PRIMAL = {"NDCG@1": 0.5645, "NDCG@3": 0.5004, "NDCG@5": 0.4782, "P@1": 0.6710, "P@3": 0.6112, "MAP": 0.4439}
NYSTROEM = {"NDCG@1": 0.5730, "NDCG@3": 0.4874, "NDCG@5": 0.4780, "P@1": 0.6801, "P@3": 0.5890, "MAP": 0.4473}
FOURIER = {"NDCG@1": 0.5728, "NDCG@3": 0.4965, "NDCG@5": 0.4804, "P@1": 0.6801, "P@3": 0.5983, "MAP": 0.4472}
KERNEL = {"gamma": 2.0**-6, "C": 2.0**-7}


def main() -> None:
    root = os.environ.get("RANKVIZ_LETOR")
    if not root:
        print("# RANKVIZ_LETOR is not set: the published figures need the real OHSUMED folds")
        return
    folds = [load_fold(Path(root) / "OHSUMED", k) for k in range(1, 6)]
    rows = {"linear, C = 1e-4": _row(folds, C=1e-4)}
    for m, seeds in ((500, 5), (25, 10)):
        runs = _seeds(folds, seeds, feature_map="nystroem", n_components=m, **KERNEL)
        rows |= _spread(f"Nyström m = {m}", runs)
    rows["chen2017 Table 4, RankNyström"] = pd.Series(NYSTROEM)
    runs = _seeds(folds, 10, feature_map="fourier", n_components=500, **KERNEL)
    rows |= _spread("Fourier m = 500", runs)
    rows["chen2017 Table 4, RankRandomFourier"] = pd.Series(FOURIER)
    rows["its distance in sd of a seed"] = (pd.Series(FOURIER) - runs.mean()) / runs.std()
    rows["its distance in standard errors"] = rows["its distance in sd of a seed"] * len(runs) ** 0.5
    table = pd.DataFrame(rows).T[COLUMNS].round(4).reset_index(names="model")
    notes = ["Means of the five test folds; kernel models at γ = 2^-6, C = 2^-7."]
    report.write("published", "OHSUMED: the papers' figures and ours", table, notes)


def _row(folds: list[Fold], **settings: object) -> pd.Series:
    tests = []
    for fold in folds:
        model = RankSVM(**settings).fit_data(fold.train)
        tests.append(evaluate(model.predict(fold.test.X), fold.test).mean[COLUMNS])
    return pd.concat(tests, axis=1).mean(axis=1)


def _seeds(folds: list[Fold], n: int, **settings: object) -> pd.DataFrame:
    return pd.DataFrame([_row(folds, random_state=seed, **settings) for seed in range(n)])


def _spread(name: str, runs: pd.DataFrame) -> dict[str, pd.Series]:
    return {
        f"{name}, mean of {len(runs)} seeds": runs.mean(),
        f"{name}, sd of a seed": runs.std(),
        f"{name}, farthest seed from the mean": (runs - runs.mean()).abs().max(),
    }
