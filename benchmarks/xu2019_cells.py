"""The grids of `benchmarks.xu2019` and one training after another, each kept so that a broken run resumes."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path

import pandas as pd

from benchmarks.xu2019_figures import METRICS
from rankviz import Fold, RankingData, RankSVM, evaluate, load_fold
from rankviz.models.low_rank.estimators import FactorizedRankSVM, RegularizedRankSVM
from rankviz.models.ranker import Ranker

FOLDS = 5
SETS = {"OHSUMED": "letor3", "MQ2008": "letor"}
"""Sets, and the definition of the metrics of the collection that they belong to."""

CS = tuple(10.0**k for k in range(-6, 0))
FINE_CS = tuple(10.0 ** (k / 3) for k in range(-18, 6))
"""24 values, three to a power of ten; every third one up to 0.1 is in `CS`."""

RANKS, NUCLEAR, SCALED_COUPLING = (1, 5, 10, 20), (5.0, 50.0), (1.0, 10.0)
"""K; the paper's γ; and the paper's λ times C, which is what bounds its effect on margins."""

Setting = float | str
Settings = dict[str, Setting]

GRIDS: dict[str, list[Settings]] = {
    "plain": [{"C": C} for C in FINE_CS],
    "plain, squared hinge": [{"C": C} for C in FINE_CS],
    "factorised": [{"rank": K, "C": C} for K, C in product(RANKS, CS)],
    "regularised": [
        {"C": C, "nuclear": nuclear, "coupling": scaled / C}
        for C, nuclear, scaled in product(CS, NUCLEAR, SCALED_COUPLING)
    ],
}
"""At most 24 cells for each method."""

MAX_ITER = {"factorised": 300, "regularised": 150}


@dataclass(frozen=True)
class Trained:
    """One training of a method on a fold.

    Attributes
    ----------
    vali : Series
        Mean metrics of the validation part.
    test : DataFrame
        Metrics by query of the test part.
    status : str
        How the solver ended.
    steps : int
    seconds : float
        Of `fit_data`.
    """

    vali: pd.Series
    test: pd.DataFrame
    status: str
    steps: int
    seconds: float


def model_of(method: str, settings: Settings) -> Ranker:
    """A method with its settings, not trained."""
    if method == "factorised":
        return FactorizedRankSVM(**({"max_iter": MAX_ITER[method]} | settings))
    if method == "regularised":
        return RegularizedRankSVM(**({"max_iter": MAX_ITER[method]} | settings))
    return RankSVM(loss="hinge" if method == "plain" else "squared_hinge", **settings)


@cache
def fold_of(name: str, fold: int) -> Fold:
    """A fold of a set in the folder that RANKVIZ_LETOR names."""
    return load_fold(Path(os.environ["RANKVIZ_LETOR"]) / name, fold)


def trained(name: str, fold: int, method: str, settings: Settings) -> Trained:
    """Train and evaluate, unless a file of the temporary folder has it already."""
    path = kept_at(name, fold, method, settings)
    if path.exists():
        return read(path)
    found = _train(fold_of(name, fold), SETS[name], model_of(method, settings))
    path.parent.mkdir(exist_ok=True)
    write(path, found)
    return found


def kept_at(name: str, fold: int, method: str, settings: Settings) -> Path:
    """The file that a training is kept in."""
    key = repr((name, fold, method, sorted(settings.items()), MAX_ITER.get(method)))
    folder = Path(tempfile.gettempdir()) / "rankviz-xu2019"
    return folder / f"{hashlib.sha256(key.encode()).hexdigest()[:24]}.json"


def write(path: Path, found: Trained) -> None:
    """Keep a training; the file is whole or not there."""
    queries = {"queries": found.test.index.tolist(), "test": found.test.to_dict("list")}
    rest = {"status": found.status, "steps": found.steps, "seconds": found.seconds}
    part = path.with_suffix(".part")
    part.write_text(json.dumps({"vali": found.vali.to_dict(), **queries, **rest}))
    part.replace(path)


def read(path: Path) -> Trained:
    """A training that was kept."""
    kept = json.loads(path.read_text())
    test = pd.DataFrame(kept["test"], index=kept["queries"])
    return Trained(pd.Series(kept["vali"]), test, kept["status"], kept["steps"], kept["seconds"])


def _train(fold: Fold, definition: str, model: Ranker) -> Trained:
    began = time.perf_counter()
    model.fit_data(fold.train)
    seconds = time.perf_counter() - began

    def metrics(part: RankingData) -> pd.DataFrame:
        return evaluate(model.predict(part.X), part, definition, at=[1, 3, 5]).per_query[METRICS]

    return Trained(
        metrics(fold.vali).mean(), metrics(fold.test), model.status_.name, int(model.n_iter_), seconds
    )


def grid(name: str, fold: int, method: str) -> Iterator[tuple[Settings, Trained]]:
    """All cells of a method on a fold."""
    for settings in GRIDS[method]:
        yield settings, trained(name, fold, method, settings)
