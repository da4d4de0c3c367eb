"""Predicted against measured seconds and bytes of single runs, on generated folds."""

from __future__ import annotations

import time
import tracemalloc

import pandas as pd

from benchmarks import report
from rankviz import RunSpec, execute
from rankviz.datasets import make_fold
from rankviz.experiments.estimate import estimate
from rankviz.features import FEATURE_MAPS

SIZES = {"4,000 documents": 80, "15,000 documents": 300}
MAPS = ("linear", "nystroem", "fourier")


def main() -> None:
    rows = {}
    for name, queries in SIZES.items():
        fold = make_fold(n_queries=queries, documents_per_query=(60, 110), n_features=40, seed=1)
        for feature_map in MAPS:
            for m in (100, 500, 1500) if FEATURE_MAPS[feature_map].has_components else (None,):
                spec = RunSpec(name, n_components=m or 1, C=2.0**-6, gamma=2.0**-4)
                spec = spec.but(feature_map=feature_map)
                predicted = estimate(spec, fold)
                began = time.perf_counter()
                execute(spec, fold=fold)
                seconds = time.perf_counter() - began
                tracemalloc.start()
                execute(spec, fold=fold)
                peak = tracemalloc.get_traced_memory()[1]
                tracemalloc.stop()
                data = sum(part.X.nbytes for part in fold.parts.values())
                rows[name, feature_map, m] = {
                    "predicted s": predicted.seconds,
                    "measured s": seconds,
                    "predicted MB": predicted.bytes / 1e6,
                    "measured MB": (peak + data) / 1e6,
                }
    table = pd.DataFrame(rows).T.round(2)
    table["predicted / measured s"] = (table["predicted s"] / table["measured s"]).round(2)
    table = table.reset_index(names=["data", "map", "m"])
    report.write("estimates", "Predicted and measured cost of single runs", table)
