"""Refits after one change of the data beside cold fits, and estimates of left-out queries beside refits."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np
import pandas as pd
from sklearn.base import clone

from benchmarks import report
from benchmarks.report import fold_of, letor, seconds, timed
from rankviz import RankSVM, load_demo
from rankviz.datasets import RankingData
from rankviz.features import FEATURE_MAPS
from rankviz.whatif.changes import Change, DocumentOut, FeatureOff, FeatureSet, GradeSet, QueryOut
from rankviz.whatif.estimates import effects_of_queries, margins_without_queries
from rankviz.whatif.refits import RankSVMRefits

CHANGES, COLD = 15, 3


def refits() -> None:
    """Measure refits after one change beside cold fits, and estimates of left-out queries."""
    problems = [("bundled fold", load_demo().train, RankSVM("nystroem", 200, gamma=0.25))]
    if letor("OHSUMED"):
        models = (RankSVM("linear"), RankSVM("nystroem", 500, gamma=2.0**-6))
        problems += [("OHSUMED Fold1", fold_of("OHSUMED").train, model) for model in models]
    note = (
        f"Milliseconds. A refit: median and least of {CHANGES}, each of another query, with base, factor and "
        "curvature at hand, to a decrement of 1e-10 of the objective. Made ready: those, once for a model. "
        f"Cold: trained from zero with features computed anew, to 1e-6; least of {COLD}."
    )
    table = pd.DataFrame([row for problem in problems for row in refit_rows(*problem)])
    report.write("refits", "Refits after one change", table, [note])
    note = (
        "Every training query left out: the change of a margin, of the two documents whose scores are "
        "furthest apart in the first query, estimated to first order for all queries at once, and by a "
        "refit for each. Error: the largest difference over the largest change."
    )
    table = pd.DataFrame([left_out_row(*problem) for problem in problems])
    report.write("left_out", "Left-out queries", table, [note])


def refit_rows(name: str, data: RankingData, model: RankSVM) -> Iterator[dict[str, object]]:
    """Yield the milliseconds of refits after a change of each kind, and of a cold fit."""
    cold = 1e3 * min(seconds(lambda: clone(model).fit_data(data), COLD))
    made = RankSVMRefits(model.fit_data(data), data)
    ready = 1e3 * seconds(lambda: (made.before, made.curvature))[0]
    for kind, changes in changes_of(data).items():
        took = [1e3 * seconds(partial(made.refit, [change]))[0] for change in changes]
        steps = [made.refit([change]).model.trace_["products"].sum() for change in changes[:3]]
        row = {"data": name, "model": _called(model), "change": kind, "median": np.median(took)}
        row |= {"least": min(took), "cold": cold, "made ready": ready}
        yield row | {"products with Φ": np.median(steps)}


def left_out_row(name: str, data: RankingData, model: RankSVM) -> dict[str, object]:
    """Compare estimates of left-out queries with refits: milliseconds and errors."""
    made = RankSVMRefits(model.fit_data(data), data)
    scores = made.before.scores[data.query_slice(0)]
    A, B = data.X[int(scores.argmax())], data.X[int(scores.argmin())]
    ready, found = (
        1e3 * seconds(work)[0] for work in (lambda: made.curvature, lambda: effects_of_queries(made))
    )
    table, took = timed(lambda: margins_without_queries(made, A, B, most=data.n_queries))
    largest = float(table["refit"].abs().max())
    row = {"data": name, "model": _called(model), "queries": len(table), "curvature, ms": ready}
    return row | {
        "estimate, ms": found,
        "refits, s": took,
        "largest change / margin": largest / float(table["margin"].abs().max()),
        "correlation": float(np.corrcoef(table["estimate"], table["refit"])[0, 1]),
        "error": float((table["estimate"] - table["refit"]).abs().max()) / largest,
    }


def changes_of(data: RankingData) -> dict[str, Sequence[Change]]:
    """Return changes of every kind, each of another query."""
    starts = [(data.query_labels[q], int(data.rows[i]), int(data.y[i])) for q, i in enumerate(data.ptr[:-1])]
    some = list(itertools.islice(itertools.cycle(starts), CHANGES))
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
