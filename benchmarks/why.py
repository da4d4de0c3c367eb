"""Why A ranks above B: milliseconds of one explanation, of a page's ten, of swaps; and how exact they are.

OHSUMED needs RANKVIZ_LETOR.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks import report
from rankviz import FactorizedRankSVM, RankSVM, crossings, explain_margin, load_demo, load_fold
from rankviz.datasets import Fold, RankingData
from rankviz.models.feature_ranker import FeatureRanker
from rankviz.whatif.crossings import swaps
from rankviz.whatif.landmarks import landmark_shares

REPETITIONS, PAIRS = 9, 10
GAMMA, C = 2.0**-4, 2.0**-7

MODELS: dict[str, Callable[[], FeatureRanker]] = {
    "linear": lambda: RankSVM(C=C),
    "Nyström m = 200": lambda: RankSVM("nystroem", 200, GAMMA, C),
    "Nyström m = 500": lambda: RankSVM("nystroem", 500, GAMMA, C),
    "Nyström m = 500, Laplacian": lambda: RankSVM("nystroem", 500, GAMMA, C, kernel="laplacian"),
    "Nyström m = 2,000": lambda: RankSVM("nystroem", 2000, GAMMA, C),
    "random Fourier m = 500": lambda: RankSVM("fourier", 500, GAMMA, C),
    "exact kernel": lambda: RankSVM("exact", gamma=GAMMA, C=C),
    "factorised, Nyström m = 100": lambda: FactorizedRankSVM(2, C, "nystroem", 100, GAMMA),
}
SMALL = "factorised, Nyström m = 100"
"""Trained on the first queries alone, for what is asked here is not how it ranks."""


def main() -> None:
    """Measure on the bundled fold, and on OHSUMED where it is at hand."""
    root = os.environ.get("RANKVIZ_LETOR")
    folds = {"bundled fold 1": load_demo(1)}
    folds |= {"OHSUMED Fold1": load_fold(Path(root) / "OHSUMED", 1)} if root else {}
    rows = [row for name, fold in folds.items() for row in of_fold(name, fold)]
    notes = [
        "One pair: the first document of the longest validation query and the second. Ten: the first "
        f"{PAIRS} documents, each and the next. Milliseconds are medians of {REPETITIONS} repetitions in one "
        "process, or the least of them, with the scores of both documents; the model is there already. "
        "Rest: what the shares leave of the margin, over the range of the query's scores. Swaps: the nearest "
        "value along every feature at which the first two swap.",
    ]
    notes += [] if root else ["RANKVIZ_LETOR is not set: OHSUMED is left out."]
    report.write("why", "Why one document stands above another", pd.DataFrame(rows), notes)


def of_fold(name: str, fold: Fold) -> list[dict[str, object]]:
    """Milliseconds of every model on one fold."""
    part = fold.vali
    X = part.X[part.query_slice(int(np.diff(part.ptr).argmax()))]
    return [{"data": name, "model": label} | of_model(label, make, fold, X) for label, make in MODELS.items()]


def of_model(label: str, make: Callable[[], FeatureRanker], fold: Fold, X: np.ndarray) -> dict[str, object]:
    """Milliseconds of one model, and what its shares leave of margins."""
    train = first_queries(fold.train, 12) if label == SMALL else fold.train
    model = make().fit_data(train)
    scores = model.predict(X)
    ranked = X[np.argsort(-scores, kind="stable")[: PAIRS + 1]]
    a, b, feature = ranked[0], ranked[1], int((ranked[0] != ranked[1]).argmax())
    ends = (float(train.X[:, feature].min()), float(train.X[:, feature].max()))
    rest = explain_margin(model, ranked[:-1], ranked[1:]).rest
    one = milliseconds(lambda: explain_margin(model, a, b))
    ten = milliseconds(lambda: explain_margin(model, ranked[:-1], ranked[1:]))
    expands = hasattr(model.feature_map_, "expansion")
    return {
        "terms": model.n_components_,
        "one pair, ms": float(np.median(one)),
        "least": min(one),
        "ten pairs, ms": float(np.median(ten)),
        "least of ten": min(ten),
        "crossings of a feature, ms": median_ms(lambda: crossings(model, a, b, feature, ends)),
        "swaps of all features, ms": median_ms(lambda: swaps(model, a, b, train.X), 3),
        "landmarks, ms": median_ms(lambda: landmark_shares(model, a, b, train)) if expands else np.nan,
        "rest": f"{np.abs(rest).max() / np.ptp(scores):.1e}",
    }


def first_queries(data: RankingData, n: int) -> RankingData:
    """The first n queries."""
    end = int(data.ptr[n])
    return RankingData.from_arrays(data.X[:end], data.y[:end], data.qid[:end])


def median_ms(work: Callable[[], object], repetitions: int = REPETITIONS) -> float:
    """Median milliseconds of a piece of work."""
    return float(np.median(milliseconds(work, repetitions)))


def milliseconds(work: Callable[[], object], repetitions: int = REPETITIONS) -> list[float]:
    """Milliseconds of a piece of work, repeated after it was done once."""
    took = []
    for _ in range(repetitions + 1):
        began = time.perf_counter()
        work()
        took.append(1e3 * (time.perf_counter() - began))
    return took[1:]
