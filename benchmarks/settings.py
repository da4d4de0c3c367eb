"""The figures of chen2017 and chapelle2010, and the starting points of the app."""

from __future__ import annotations

import numpy as np
import pandas as pd

from benchmarks import report
from benchmarks.report import fold_of, letor
from rankviz import Fold, RankSVM, evaluate, fit_curve

FOLDS = range(1, 6)

# published ------------------------------------------------------------------------------------------------

COLUMNS = ["NDCG@1", "NDCG@3", "NDCG@5", "NDCG@10", "P@1", "P@3", "MAP"]
PRIMAL = {"NDCG@1": 0.5645, "NDCG@3": 0.5004, "NDCG@5": 0.4782, "P@1": 0.6710, "P@3": 0.6112, "MAP": 0.4439}
NYSTROEM = {"NDCG@1": 0.5730, "NDCG@3": 0.4874, "NDCG@5": 0.4780, "P@1": 0.6801, "P@3": 0.5890, "MAP": 0.4473}
FOURIER = {"NDCG@1": 0.5728, "NDCG@3": 0.4965, "NDCG@5": 0.4804, "P@1": 0.6801, "P@3": 0.5983, "MAP": 0.4472}
KERNEL = {"gamma": 2.0**-6, "C": 2.0**-7}


def published() -> None:
    """Set the figures of chen2017 Table 4 and chapelle2010 Table 3 on OHSUMED beside ours."""
    if letor("OHSUMED, which has the published figures,") is None:
        return
    rows = {"linear, C = 1e-4": mean_of_folds(C=1e-4)}
    for m, seeds in ((500, 5), (25, 10)):
        runs = of_seeds(seeds, feature_map="nystroem", n_components=m, **KERNEL)
        rows |= _spread(f"Nyström m = {m}", runs)
    rows["chen2017 Table 4, RankNyström"] = pd.Series(NYSTROEM)
    runs = of_seeds(10, feature_map="fourier", n_components=500, **KERNEL)
    rows |= _spread("Fourier m = 500", runs)
    rows["chen2017 Table 4, RankRandomFourier"] = pd.Series(FOURIER)
    rows["its distance in sd of a seed"] = (pd.Series(FOURIER) - runs.mean()) / runs.std()
    rows["its distance in standard errors"] = rows["its distance in sd of a seed"] * len(runs) ** 0.5
    table = pd.DataFrame(rows).T[COLUMNS].round(4).reset_index(names="model")
    notes = ["Means of the five test folds; kernel models at γ = 2^-6, C = 2^-7."]
    report.write("published", "OHSUMED: the papers' figures and ours", table, notes)


def mean_of_folds(**settings: object) -> pd.Series:
    """Train on each fold of OHSUMED; return the mean metrics of the test parts."""
    tests = []
    for fold in (fold_of("OHSUMED", k) for k in FOLDS):
        model = RankSVM(**settings).fit_data(fold.train)
        tests.append(evaluate(model.predict(fold.test.X), fold.test).mean[COLUMNS])
    return pd.concat(tests, axis=1).mean(axis=1)


def of_seeds(n: int, **settings: object) -> pd.DataFrame:
    """Return the means of the folds for seeds 0 … n − 1."""
    return pd.DataFrame([mean_of_folds(random_state=seed, **settings) for seed in range(n)])


def _spread(name: str, runs: pd.DataFrame) -> dict[str, pd.Series]:
    return {
        f"{name}, mean of {len(runs)} seeds": runs.mean(),
        f"{name}, sd of a seed": runs.std(),
        f"{name}, farthest seed from the mean": (runs - runs.mean()).abs().max(),
    }


# starting points ------------------------------------------------------------------------------------------

M = 500
CS = tuple(2.0**k for k in range(-13, 2, 2))
GAMMAS = tuple(2.0**k for k in range(-10, 1, 2))
LINEAR_CS = tuple(2.0**k for k in range(-15, 2, 2))
METRIC = "NDCG@10"
AXES = ["log2 C", "log2 γ"]


def starting_points() -> None:
    """Choose the C and γ that the app starts from on OHSUMED and MQ2008, on validation parts only."""
    if letor("the choice of starting points on OHSUMED and MQ2008") is None:
        return
    rows = []
    for name in ("OHSUMED", "MQ2008"):
        for model in (RankSVM("linear"), RankSVM("nystroem", M)):
            judged = pd.concat(validated(model, fold_of(name, k)) for k in FOLDS)
            rows.append(chosen(judged).assign(set=name, model=model.feature_map))
    table = pd.concat(rows)[["set", "model", *AXES, METRIC, "below the best", "standard error", "chosen"]]
    notes = [
        f"Nyström m = {M}, seed 0, squared hinge. Means over the validation queries of five folds; chosen is "
        "the smallest C less than one standard error of the paired difference below the best."
    ]
    report.write("starting_points", "Where the app starts from on known sets", table, notes)


def validated(model: RankSVM, fold: Fold) -> pd.DataFrame:
    """Return NDCG@10 of every validation query, a row each, at every setting of the grid."""
    linear, rows = model.feature_map == "linear", []
    grid = {"C": LINEAR_CS} if linear else {"C": CS, "gamma": GAMMAS}
    for fitted in fit_curve(model, fold.train, **grid):
        values = evaluate(fitted.predict(fold.vali.X), fold.vali, at=[10]).per_query[METRIC]
        at = {"log2 C": np.log2(fitted.C), "log2 γ": np.nan if linear else np.log2(fitted.gamma)}
        rows.append(pd.DataFrame({**at, "query": fold.vali.query_labels, METRIC: np.asarray(values)}))
    return pd.concat(rows)


def chosen(judged: pd.DataFrame) -> pd.DataFrame:
    """Return a row per setting: its mean, its distance from the best, and whether it is chosen."""
    values = judged.pivot_table(index="query", columns=AXES, values=METRIC, dropna=False)
    values = values.dropna(axis="columns", how="all")
    lost = -values.sub(values[values.mean().idxmax()], axis=0)
    table = pd.DataFrame({METRIC: values.mean(), "below the best": lost.mean(), "standard error": lost.sem()})
    table = table.reset_index()
    near = table[table["below the best"] <= table["standard error"]]
    near = near[near["log2 C"] == near["log2 C"].min()]
    return table.assign(chosen=np.where(table.index == near[METRIC].idxmax(), "chosen", ""))
