"""Refits after one change beside cold fits, and estimates of left-out queries. OHSUMED: RANKVIZ_LETOR."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from itertools import cycle, islice
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.base import clone

from benchmarks import report
from rankviz import RankingData, RankSVM, load_demo, load_fold
from rankviz.features import FEATURE_MAPS
from rankviz.whatif.changes import Change, DocumentOut, FeatureOff, FeatureSet, GradeSet, QueryOut
from rankviz.whatif.estimates import beside_refits, effects_of_queries
from rankviz.whatif.refits import RankSVMRefits

CHANGES, COLD = 15, 3


def main() -> None:
    root = os.environ.get("RANKVIZ_LETOR")
    demo = load_demo().train
    problems = [("bundled fold", demo, RankSVM("nystroem", 200, gamma=0.25))]
    if root:
        fold = load_fold(Path(root) / "OHSUMED", 1).train
        problems += [
            ("OHSUMED Fold1", fold, RankSVM("linear")),
            ("OHSUMED Fold1", fold, RankSVM("nystroem", 500, gamma=2.0**-6)),
        ]
    notes = [
        f"Milliseconds. A refit: median and least of {CHANGES}, each of another query, with base, factor and "
        "curvature at hand, in one thread of BLAS, to a decrement of 1e-10 of the objective. Made ready: "
        "those, once for a model. Cold: the data trained on from zero with features computed anew, as runs "
        f"are, to 1e-6; least of {COLD}."
    ]
    notes += [] if root else ["RANKVIZ_LETOR is not set: OHSUMED is left out."]
    table = pd.DataFrame([row for problem in problems for row in refits(*problem)])
    report.write("refits", "Refits after one change", table, notes)
    notes = [
        "Every training query left out: the change of a margin, of the two documents whose scores are "
        "furthest apart in the first query, estimated to first order for all queries at once, and by a refit "
        "for each. Error: the largest difference over the largest change."
    ]
    report.write("left_out", "Left-out queries", pd.DataFrame([estimates(*p) for p in problems]), notes)


def refits(name: str, data: RankingData, model: RankSVM) -> list[dict[str, object]]:
    """Milliseconds of refits after a change of each kind, and of a cold fit."""
    made, least = RankSVMRefits(model.fit_data(data), data), _cold(model, data)
    ready = _milliseconds(lambda: (made.before, made.curvature))
    rows = []
    for kind, changes in _changes(data).items():
        found = [_milliseconds(lambda change=change: made.refit([change])) for change in changes]
        steps = [made.refit([change]).model.trace_["products"].sum() for change in changes[:3]]
        rows.append(
            {
                "data": name,
                "model": _called(model),
                "change": kind,
                "median": float(np.median(found)),
                "least": min(found),
                "cold": least,
                "made ready": ready,
                "products with Φ": float(np.median(steps)),
            }
        )
    return rows


def estimates(name: str, data: RankingData, model: RankSVM) -> dict[str, object]:
    """How good estimates of left-out queries are, and what they take beside refits."""
    made = RankSVMRefits(model.fit_data(data), data)
    scores = made.before.scores[data.query_slice(0)]
    A, B = data.X[int(scores.argmax())], data.X[int(scores.argmin())]
    ready = _milliseconds(lambda: made.curvature)
    found = _milliseconds(lambda: effects_of_queries(made))
    began = time.perf_counter()
    table = beside_refits(made, A, B)
    return {
        "data": name,
        "model": _called(model),
        "queries": len(table),
        "curvature, ms": ready,
        "estimate, ms": found,
        "refits, s": time.perf_counter() - began,
        "largest change / margin": float(table["refit"].abs().max() / table["margin"].abs().max()),
        "correlation": float(np.corrcoef(table["estimate"], table["refit"])[0, 1]),
        "error": float((table["estimate"] - table["refit"]).abs().max() / table["refit"].abs().max()),
    }


def _changes(data: RankingData) -> dict[str, Sequence[Change]]:
    """Changes of every kind, each of another query."""
    starts = [(data.query_labels[q], int(data.rows[i]), int(data.y[i])) for q, i in enumerate(data.ptr[:-1])]
    some = list(islice(cycle(starts), CHANGES))
    return {
        "one grade": [GradeSet(query, row, 0 if grade else 2) for query, row, grade in some],
        "a query left out": [QueryOut(query) for query, _, _ in some],
        "a document left out": [DocumentOut(query, row) for query, row, _ in some],
        "a feature value": [FeatureSet(query, row, 1, 0.5) for query, row, _ in some],
        "a feature off": [FeatureOff(feature) for feature in range(3)],
    }


def _called(model: RankSVM) -> str:
    kind = FEATURE_MAPS[model.feature_map]
    return f"{kind.label}, m = {model.n_components}" if kind.has_components else kind.label


def _cold(model: RankSVM, data: RankingData) -> float:
    return min(_milliseconds(lambda: clone(model).fit_data(data)) for _ in range(COLD))


def _milliseconds(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return 1e3 * (time.perf_counter() - began)
