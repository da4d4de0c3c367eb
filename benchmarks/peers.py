"""rankviz beside its peers: seconds, memory, objective, and how well unseen queries are ranked.

scikit-learn solves the same problem; LightGBM and XGBoost are what a user would pick instead. Every method is
given its best settings (benchmarks/tuning.py) and as many threads as ours; liblinear can use only one.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks import report, tuning
from benchmarks.children import LONGEST, REPETITIONS, SLOW, Measured, Method, side_by_side
from benchmarks.methods import Ours, PairSVM, available
from rankviz import Fold, evaluate, load_fold
from rankviz.common.numbers import small
from rankviz.datasets import make_fold
from rankviz.metrics.evaluation import Evaluation
from rankviz.metrics.significance import compare
from rankviz.risk.pairs import count_pairs

REAL = ("OHSUMED", "MQ2008")
SYNTHETIC = "synthetic"
SIZES = (100, 500)
REFERENCE, SAME_PROBLEM = "rankviz Nyström m = 500", "scikit-learn Nystroem m = 500 + pairs + LinearSVC"
TREES = ("LightGBM lambdarank", "XGBoost rank:ndcg")


def main() -> None:
    rows, notes, began = [], [], time.perf_counter()
    for name, fold in _folds():
        methods = _methods(name, fold)
        found = side_by_side({method.label: method for method in methods}, fold.train, fold.test)
        tests = {
            label: evaluate(measured.scores, fold.test)
            for label, measured in found.items()
            if measured.scores is not None
        }
        rows += [_row(name, method, found[method.label], tests.get(method.label)) for method in methods]
        notes.append(_reading(name, fold, found, tests))
        print(f"# {name} done, {time.perf_counter() - began:.0f} s so far", flush=True)
    report.write("peers", "rankviz beside its peers", pd.DataFrame(rows), [*notes, *_conditions()])


def _folds() -> Iterator[tuple[str, Fold]]:
    root = os.environ.get("RANKVIZ_LETOR")
    for name in REAL if root else ():
        yield f"{name} fold 1", load_fold(Path(root or "") / name, 1)
    # 1,666 queries leave 1,000 to train on: 42,000 documents
    yield (
        SYNTHETIC,
        make_fold(n_queries=1666, documents_per_query=(42, 42), n_features=46, seed=0),
    )


def _methods(name: str, fold: Fold) -> list[Method]:
    """All methods with settings chosen on the fold's validation part."""
    began = time.perf_counter()
    print(f"# {name}: choosing settings", flush=True)
    C_linear, (C, gamma) = tuning.linear(fold), tuning.kernel(fold)
    sizes = (*SIZES, 2000) if name == SYNTHETIC else SIZES
    methods: list[Method] = [Ours("linear", 1, C_linear)]
    methods += [Ours(kind, m, C, gamma) for kind in ("nystroem", "fourier") for m in sizes]
    # "exact" joins here: Ours("exact", 1, C, gamma)
    methods.append(PairSVM("linear", 1, C_linear))
    methods += [PairSVM("Nystroem", m, C, gamma) for m in SIZES]
    methods.append(PairSVM("RBFSampler", SIZES[0], C, gamma))
    methods += [tuning.lightgbm(fold)] if available("lightgbm") else []
    methods += [tuning.xgboost(fold)] if available("xgboost") else []
    print(f"# {name}: settings chosen in {time.perf_counter() - began:.0f} s", flush=True)
    return methods


def _row(name: str, method: Method, measured: Measured, test: Evaluation | None) -> dict[str, object]:
    reached, least = measured.objectives
    seconds = measured.seconds() or [np.nan]
    mean = {} if test is None else test.mean
    return {
        "data": name,
        "method": method.label,
        "seconds": measured.median(),
        "min": min(seconds),
        "max": max(seconds),
        "fits": len(measured.runs),
        "peak MB": round(measured.memory / 1e6, 1),
        "objective": reached,
        "above its minimum": max(reached / least - 1, 0.0),
        "NDCG@10": mean.get("NDCG@10", np.nan),
        "MAP": mean.get("MAP", np.nan),
        "settings": measured.failure or method.words,
    }


def _reading(name: str, fold: Fold, found: dict[str, Measured], tests: dict[str, Evaluation]) -> str:
    """The rows of one data set in sentences."""
    pairs = int(count_pairs(fold.train.y, fold.train.ptr).sum())
    text = [
        f"**{name}**: {fold.train.n_documents:,} documents, {fold.train.n_queries:,} queries and {pairs:,} "
        f"pairs to train on, {fold.test.n_queries:,} queries to judge by."
    ]
    ours, theirs = found[REFERENCE], found[SAME_PROBLEM]
    if ours.runs and theirs.runs:
        text.append(
            f"{SAME_PROBLEM} takes {theirs.median() / ours.median():,.1f} times the seconds and "
            f"{theirs.memory / ours.memory:,.1f} times the memory of {REFERENCE}, and ends a share of "
            f"{_above(theirs)} above its minimum (rankviz: {_above(ours)})."
        )
    for label in TREES:
        if label in tests and REFERENCE in tests:
            column = "NDCG@10"
            difference = compare(tests[label].per_query[column], tests[REFERENCE].per_query[column])
            text.append(f"{difference.sentence(label, REFERENCE, column)}.".replace("..", "."))
    return " ".join(text)


def _above(measured: Measured) -> str:
    reached, least = measured.objectives
    return small(max(reached / least - 1, 0.0))


def _conditions() -> list[str]:
    absent = [name for name in ("lightgbm", "xgboost") if not available(name)]
    missing = [] if os.environ.get("RANKVIZ_LETOR") else [f"{' and '.join(REAL)} left out: no RANKVIZ_LETOR."]
    missing += [f"{' and '.join(absent)} left out: not installed."] if absent else []
    return [
        f"Seconds of a fit: medians of {REPETITIONS} fits, methods taking turns in one run (one fit only "
        f"where it takes over {SLOW:g} s; given up after {LONGEST:g} s). All use the same number "
        "of threads, but LinearSVC can use only one. Its tolerance is loose in its favour.",
        "Memory: what the first fit adds at its peak to a process of its own that holds the data and has its "
        "libraries loaded.",
        "Objective: ½‖w‖² + C Σ max(0, 1 − margin)² over all pairs. Each method's minimum is that of its own "
        "features, found to 10^-10: scikit-learn's differ from ours by their random draw. At m = 500 "
        "RBFSampler is left out, for its time is Nystroem's: nearly all of both is LinearSVC.",
        "NDCG@10 and MAP: means over the queries of the test part, LETOR's definition.",
        tuning.GRIDS,
        *missing,
    ]
