"""C and γ that the app starts from on OHSUMED and MQ2008, chosen on validation parts; needs RANKVIZ_LETOR.

Every setting of a coarse grid is trained on the training part of each of the five folds and judged by NDCG@10
of the queries of its validation part; each query is in one of these. Of the settings whose mean is less than
one standard error of the paired difference below the best one, those of the smallest C are taken, and of
these the best. Test parts are not looked at.
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks import report
from rankviz import Fold, RankSVM, evaluate, fit_curve, load_fold

SETS = ("OHSUMED", "MQ2008")
M = 500
CS = tuple(2.0**k for k in range(-13, 2, 2))
GAMMAS = tuple(2.0**k for k in range(-10, 1, 2))
LINEAR_CS = tuple(2.0**k for k in range(-15, 2, 2))
METRIC = "NDCG@10"
MODEL, SETTINGS = "model", ["log2 C", "log2 γ"]


def main() -> None:
    root = os.environ.get("RANKVIZ_LETOR")
    if not root:
        print("# RANKVIZ_LETOR is not set: settings are chosen on the real folds of OHSUMED and MQ2008")
        return
    rows = []
    for name in SETS:
        folds = [load_fold(Path(root) / name, k) for k in range(1, 6)]
        for model in (RankSVM("linear"), RankSVM("nystroem", M)):
            judged = pd.concat(_judged(model, fold) for fold in folds)
            rows.append(_told(judged).assign(set=name, model=model.feature_map))
    table = pd.concat(rows)[["set", MODEL, *SETTINGS, METRIC, "below the best", "standard error", "chosen"]]
    notes = [
        f"Nyström m = {M}, seed 0, squared hinge. Means over the validation queries of five folds; chosen is "
        "the smallest C less than one standard error of the paired difference below the best."
    ]
    report.write("starting_points", "Where the app starts from on known sets", table, notes)


def _judged(model: RankSVM, fold: Fold) -> pd.DataFrame:
    """NDCG@10 of every validation query, one row each, at every setting of the grid."""
    linear = model.feature_map == "linear"
    fits = fit_curve(model, fold.train, C=LINEAR_CS if linear else CS, gamma=() if linear else GAMMAS)
    return pd.concat(_row(fitted, fold, linear) for fitted in fits)


def _row(fitted: RankSVM, fold: Fold, linear: bool) -> pd.DataFrame:
    values = evaluate(fitted.predict(fold.vali.X), fold.vali, at=[10]).per_query[METRIC]
    at = {"log2 C": np.log2(fitted.C), "log2 γ": np.nan if linear else np.log2(fitted.gamma)}
    return pd.DataFrame({**at, "query": fold.vali.query_labels, METRIC: np.asarray(values)})


def _told(judged: pd.DataFrame) -> pd.DataFrame:
    """One row per setting: its mean, how far that is below the best, and whether it is the one chosen."""
    values = judged.pivot_table(index="query", columns=SETTINGS, values=METRIC, dropna=False)
    values = values.dropna(axis="columns", how="all")
    lost = -values.sub(values[values.mean().idxmax()], axis=0)
    told = pd.DataFrame({METRIC: values.mean(), "below the best": lost.mean(), "standard error": lost.sem()})
    told = told.reset_index()
    near = told[told["below the best"] <= told["standard error"]]
    near = near[near["log2 C"] == near["log2 C"].min()]
    return told.assign(chosen=np.where(told.index == near[METRIC].idxmax(), "chosen", ""))
