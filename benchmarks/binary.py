"""One query with two grades, 1,200 to 300,000 examples: sorted against listed pairs (chapelle2010 Figure 3).

Listing stops where its pairs would take more memory than `LARGEST_LIST`.
"""

from __future__ import annotations

import time

import numpy as np
import pandas as pd
from sklearn.metrics import roc_auc_score

from benchmarks import report
from rankviz.datasets import RankingData, make_data
from rankviz.features.bases import IdentityBasis
from rankviz.features.operator import FeatureOperator
from rankviz.fitting.memory import PAIR_BYTES
from rankviz.metrics import auc
from rankviz.objectives.feature_space import RankObjective
from rankviz.risk import PairRisk, Risk, SortedRisk
from rankviz.risk.losses import LOSSES
from rankviz.risk.pairs import count_pairs
from rankviz.solvers.newton import TruncatedNewton

SIZES = (1200, 2400, 4800, 9600, 19_200, 37_500, 75_000, 150_000, 300_000)
LARGEST_LIST = 2.5e9
"""Bytes."""
FORMS = {"sorted": SortedRisk, "listed": PairRisk}
N_FEATURES, REPETITIONS = 50, 5
OVERHEAD_BELOW = 19_200
"""Fewer examples take the sorted form as long as calling its functions does."""


def main() -> None:
    data = {n: one_query(n) for n in SIZES}
    rows = [
        row(data[n], form)
        for n in SIZES
        for form in FORMS
        if form == "sorted" or _pairs(data[n]) * PAIR_BYTES <= LARGEST_LIST
    ]
    table = pd.DataFrame(rows)
    slopes = exponents(table)
    words = "; ".join(f"{form} pairs n^{slope:.2f}" for form, slope in slopes.items())
    notes = [
        f"Seconds grow as: {words} (least squares of logarithms; from {OVERHEAD_BELOW:,} examples on for the "
        "sorted form, over all sizes for the listed one).",
        f"Synthetic examples, {N_FEATURES} features, squared hinge, C = 100/pairs; least of {REPETITIONS} "
        "repetitions, preparation of the pairs included. AUC is this package's, ties as halves; beside it "
        "its distance from scikit-learn's. 1 − AUC is at most the mean loss of a pair.",
    ]
    report.write("binary", "One query with two grades", table, notes)


def one_query(n: int) -> RankingData:
    """Examples n with grades 0 and 1."""
    return make_data(n_queries=1, documents_per_query=(n, n), n_features=N_FEATURES, n_grades=2, seed=0)


def row(data: RankingData, form: str) -> dict[str, object]:
    """Train with one form of the risk."""
    C, seconds = 100.0 / _pairs(data), []
    for _ in range(REPETITIONS):
        began = time.perf_counter()
        risk: Risk = FORMS[form](data.y, data.ptr, LOSSES["squared_hinge"])
        objective = RankObjective(FeatureOperator(data.X, IdentityBasis(N_FEATURES)), risk, C)
        result = TruncatedNewton().solve(objective)
        seconds.append(time.perf_counter() - began)
    f = result.point.scores
    area = auc(f, data)
    return {
        "n": data.n_documents,
        "pairs": _pairs(data),
        "form": form,
        "seconds": min(seconds),
        "Newton steps": len(result.trace) - 1,
        "objective": result.point.value,
        "AUC": area,
        "less scikit-learn's": area - roc_auc_score(data.y, f),
        "mean loss of a pair": risk.at(f).value / _pairs(data),
    }


def exponents(table: pd.DataFrame) -> dict[str, float]:
    """Exponents of n in the seconds of each form."""
    found = {}
    for form, rows in table.groupby("form", sort=False):
        fitted = rows[rows["n"] >= OVERHEAD_BELOW] if form == "sorted" else rows
        found[str(form)] = float(np.polyfit(np.log(fitted["n"]), np.log(fitted["seconds"]), 1)[0])
    return found


def _pairs(data: RankingData) -> int:
    return int(count_pairs(data.y, data.ptr).sum())
