"""LambdaMART, MART and random forest beside linear RankSVM on LETOR, five folds; needs RANKVIZ_LETOR.

Each method's settings are the best of a small grid by NDCG@10 on the validation part; equal scores count at
the mean over their orders. Differences are paired over the test queries of all folds.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import pandas as pd

from benchmarks import report
from benchmarks.report import fold_of, letor
from rankviz import Fold, RunRecord, RunSpec, execute
from rankviz.metrics.significance import compare
from rankviz.models.methods import METHODS
from rankviz.runs.record import training_seconds

SETS = {"OHSUMED": "query_minmax", "MQ2008": "none"}
"""Data sets with the scaling of their features; MQ2008's are scaled already."""
METRICS = ("NDCG@10", "MAP")
GRIDS: dict[str, dict[str, tuple[Any, ...]]] = {
    "ranksvm": {"feature_map": ("linear",), "C": tuple(2.0**k for k in range(-15, 1, 3))},
    "lambdamart": {"leaves": (4, 10), "leaf_documents": (50,)},
    "mart": {"leaves": (4, 10), "leaf_documents": (50,)},
    "forest": {"leaf_documents": (5, 20)},
}


def main() -> None:
    if letor("trees beside linear RankSVM") is None:
        return
    rows = []
    for name in SETS:
        chosen: dict[str, list[RunRecord]] = {method: [] for method in GRIDS}
        for k in range(1, 6):
            fold = fold_of(name, k)
            for method in GRIDS:
                chosen[method].append(best(RunSpec(name, f"Fold{k}", normalisation=SETS[name]), method, fold))
        rows += [row(name, method, records, chosen["ranksvm"]) for method, records in chosen.items()]
        report.write("trees", "Trees beside linear RankSVM: test parts of five folds", pd.DataFrame(rows))


def best(spec: RunSpec, method: str, fold: Fold) -> RunRecord:
    """Return the run of a method's grid with the highest NDCG@10 on the validation part."""
    grid = GRIDS[method]
    values = [dict(zip(grid, each, strict=True)) for each in product(*grid.values())]
    runs = [execute(spec.but(method=method).but(**one), fold=fold) for one in values]
    return max(runs, key=lambda run: run.metrics["vali"]["NDCG@10"].mean())


def row(name: str, method: str, records: list[RunRecord], others: list[RunRecord]) -> dict[str, Any]:
    """Return means over folds of the test metrics, and differences from linear RankSVM over queries."""
    found: dict[str, Any] = {"set": name, "method": METHODS[method].label}
    for metric in METRICS:
        found[metric] = round(sum(r.metrics["test"][metric].mean() for r in records) / len(records), 4)
        if records is not others:
            a, b = (pd.concat([r.metrics["test"][metric] for r in runs]) for runs in (records, others))
            found[f"{metric} − RankSVM"] = compare(a, b).effect("").strip()
    found["seconds of a training"] = round(sum(map(training_seconds, records)) / len(records), 2)
    return found
