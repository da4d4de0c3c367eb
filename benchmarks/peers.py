"""rankviz beside its peers: seconds, memory, objective, and how well unseen queries are ranked.

scikit-learn solves the same problem; LightGBM and XGBoost are what a user might take instead. Every method
has its best settings on the validation part, and as many threads as ours; liblinear can use only one.
"""

from __future__ import annotations

import os
import re
import subprocess
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd
from sklearn import kernel_approximation
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.svm import LinearSVC

from benchmarks import report
from benchmarks.children import LONGEST, REPETITIONS, SLOW, Measured, Method, side_by_side
from benchmarks.report import fold_of, letor, synthetic, timed
from rankviz import Fold, RankSVM, evaluate
from rankviz.common.arrays import FloatArray
from rankviz.common.numbers import small
from rankviz.common.parallel import cores
from rankviz.datasets import RankingData, make_fold
from rankviz.features import FEATURE_MAPS
from rankviz.learning.losses import LOSSES
from rankviz.learning.pairs import count_pairs, preference_pairs
from rankviz.learning.risk import PairRisk
from rankviz.metrics.evaluation import Evaluation
from rankviz.metrics.significance import compare

SYNTHETIC = "synthetic"
SIZES = (100, 500)
REFERENCE, SAME_PROBLEM = "rankviz Nyström m = 500", "scikit-learn Nystroem m = 500 + pairs + LinearSVC"
MINIMUM_TOL = 1e-10
"""The least objective is our own, with the Newton decrement below this share of it."""

EXPONENTS_C, EXPONENTS_LINEAR_C = (-10, -7, -4, -1), (-16, -13, -10, -7, -4, -1, 2)
EXPONENTS_GAMMA = (-8, -6, -4, -2)
MOST_TREES, PATIENCE = 300, 30
TREES: dict[str, tuple[str, dict[str, tuple[float, ...]]]] = {
    "lightgbm": (
        "LightGBM lambdarank",
        {"num_leaves": (7, 31), "learning_rate": (0.05, 0.1), "min_child_samples": (20, 100)},
    ),
    "xgboost": (
        "XGBoost rank:ndcg",
        {"max_depth": (3, 6), "learning_rate": (0.05, 0.1), "min_child_weight": (1.0, 10.0)},
    ),
}
"""Package -> name in tables, and the grid of its settings."""


@dataclass(frozen=True)
class Ours:
    """RankSVM with its own tolerance."""

    feature_map: str
    m: int
    C: float
    gamma: float = 1.0
    tol: float = 1e-6

    @property
    def label(self) -> str:
        """Return the name in tables."""
        kind = FEATURE_MAPS[self.feature_map]
        return f"rankviz {kind.label}{f' m = {self.m}' if kind.has_components else ''}"

    def fit(self, train: RankingData) -> RankSVM:
        settings = {"n_components": self.m, "gamma": self.gamma, "C": self.C, "tol": self.tol}
        return RankSVM(self.feature_map, **settings).fit_data(train)

    def objectives(self, model: RankSVM, train: RankingData) -> tuple[float, float]:
        return model.objective_, replace(self, tol=MINIMUM_TOL).fit(train).objective_


@dataclass(frozen=True)
class PairSVM:
    """The same problem by scikit-learn: approximate map, differences of all pairs, LinearSVC in the primal.

    LinearSVC's squared hinge is ½‖w‖² + C Σ max(0, 1 − t)², as ours. It needs two classes, so half of the
    differences have the other sign. Its tolerance is loose, in its favour: at 10^-1 it stops further above
    the minimum than ours, at 10^-2 it may take half as long again and end closer.
    """

    transformer: str
    m: int
    C: float
    gamma: float = 1.0
    tol: float = 1e-1

    @property
    def label(self) -> str:
        """Return the name in tables."""
        mapping = "" if self.transformer == "linear" else f"{self.transformer} m = {self.m} + "
        return f"scikit-learn {mapping}pairs + LinearSVC"

    def fit(self, train: RankingData) -> Pipeline:
        mapping = FunctionTransformer()
        if self.transformer != "linear":
            kind = getattr(kernel_approximation, self.transformer)
            mapping = kind(gamma=self.gamma, n_components=self.m, random_state=0)
        features, pairs = mapping.fit_transform(train.X), preference_pairs(train.y, train.ptr)
        differences = features[pairs.winner]
        differences -= features[pairs.loser]
        labels = np.random.default_rng(0).permutation(np.arange(len(pairs)) % 2) * 2.0 - 1.0
        differences *= labels[:, None]
        options = {"dual": False, "fit_intercept": False, "random_state": 0, "max_iter": 10_000}
        svm = LinearSVC(C=self.C, tol=self.tol, **options)
        ranker = LinearRegression(fit_intercept=False)  # predicts features @ w
        ranker.coef_, ranker.intercept_ = svm.fit(differences, labels).coef_[0], 0.0
        return make_pipeline(mapping, ranker)

    def objectives(self, model: Pipeline, train: RankingData) -> tuple[float, float]:
        features, w = model[:-1].transform(train.X), model[-1].coef_
        pairs = preference_pairs(train.y, train.ptr)
        slack = np.maximum(0.0, 1.0 - pairs.margins(features @ w))
        reached = 0.5 * float(w @ w) + self.C * float(slack @ slack)
        same = replace(train, X=np.ascontiguousarray(features))
        return reached, Ours("linear", 1, self.C, tol=MINIMUM_TOL).fit(same).objective_


@dataclass(frozen=True)
class Trees:
    """Gradient-boosted trees, by the estimators that their packages make for scikit-learn."""

    package: str
    settings: tuple[tuple[str, float], ...]
    rounds: int = MOST_TREES

    @property
    def label(self) -> str:
        """Return the name in tables."""
        return TREES[self.package][0]

    def fit(self, train: RankingData, vali: RankingData | None = None) -> Any:
        """Boost; with a validation part, stop after 30 trees without a better NDCG@10 there."""
        shared = {"n_estimators": self.rounds, "n_jobs": cores(), "random_state": 0, **dict(self.settings)}
        if self.package == "lightgbm":
            from lightgbm import LGBMRanker, early_stopping

            model, about = LGBMRanker(verbosity=-1, **shared), {"group": np.diff(train.ptr)}
            if vali is not None:
                about |= {"eval_X": vali.X, "eval_y": vali.y, "eval_group": [np.diff(vali.ptr)]}
                about |= {"eval_at": [10], "callbacks": [early_stopping(PATIENCE, verbose=False)]}
            return model.fit(train.X, train.y, **about)
        from xgboost import XGBRanker

        stop = {"early_stopping_rounds": PATIENCE, "eval_metric": "ndcg@10"} if vali is not None else {}
        model, about = XGBRanker(objective="rank:ndcg", **shared, **stop), {"qid": train.qid}
        if vali is not None:
            about |= {"eval_set": [(vali.X, vali.y)], "eval_qid": [vali.qid], "verbose": False}
        return model.fit(train.X, train.y, **about)

    def objectives(self, model: object, train: RankingData) -> tuple[float, float]:
        return np.nan, np.nan


def tuned_trees(package: str, fold: Fold) -> Trees:
    """Return the best settings and number of trees on the validation part."""
    grid = TREES[package][1]
    tried = [Trees(package, tuple(zip(grid, values, strict=True))) for values in product(*grid.values())]
    fitted = [(one, one.fit(fold.train, fold.vali)) for one in tried]
    best, model = max(fitted, key=lambda pair: _ndcg(pair[1], fold))
    rounds = model.best_iteration_ if package == "lightgbm" else model.best_iteration + 1
    return replace(best, rounds=rounds)


def tuned(fold: Fold, methods: Iterable[Ours]) -> Ours:
    """Return the best of several settings on the validation part."""
    return max(methods, key=lambda method: _ndcg(method.fit(fold.train), fold))


def _ndcg(model: Any, fold: Fold) -> float:
    return float(evaluate(model.predict(fold.vali.X), fold.vali, at=[10]).mean["NDCG@10"])


def methods_of(name: str, fold: Fold) -> list[Method]:
    """Return all methods, with settings chosen on the validation part of the fold."""
    print(f"# {name}: choosing settings", flush=True)
    C_linear = tuned(fold, (Ours("linear", 1, 2.0**c) for c in EXPONENTS_LINEAR_C)).C
    grid = product(EXPONENTS_C, EXPONENTS_GAMMA)
    best = tuned(fold, (Ours("nystroem", 500, 2.0**c, 2.0**gamma) for c, gamma in grid))
    sizes = (*SIZES, 2000) if name == SYNTHETIC else SIZES
    methods: list[Method] = [Ours("linear", 1, C_linear)]
    methods += [replace(best, feature_map=kind, m=m) for kind in ("nystroem", "fourier") for m in sizes]
    methods.append(PairSVM("linear", 1, C_linear))
    methods += [PairSVM("Nystroem", m, best.C, best.gamma) for m in SIZES]
    methods.append(PairSVM("RBFSampler", SIZES[0], best.C, best.gamma))
    return methods + [tuned_trees(package, fold) for package in TREES if find_spec(package)]


def folds() -> Iterator[tuple[str, Fold]]:
    """Yield the first folds of the real sets, and a synthetic one with 42,000 documents to train on."""
    for name in ("OHSUMED", "MQ2008") if letor("the comparison on real sets") else ():
        yield f"{name} fold 1", fold_of(name)
    yield SYNTHETIC, make_fold(n_queries=1666, documents_per_query=(42, 42), n_features=46, seed=0)


def main() -> None:
    """Measure all methods on all folds, in turns."""
    rows, notes = [], []
    for name, fold in folds():
        methods = methods_of(name, fold)
        found = side_by_side({method.label: method for method in methods}, fold.train, fold.test)
        scored = {label: one.scores for label, one in found.items() if one.scores is not None}
        tests = {label: evaluate(scores, fold.test) for label, scores in scored.items()}
        rows += [_row(name, method, found[method.label], tests.get(method.label)) for method in methods]
        notes.append(_reading(name, fold, found, tests))
    report.write("peers", "rankviz beside its peers", pd.DataFrame(rows), [*notes, *CONDITIONS])


def _row(name: str, method: Method, measured: Measured, test: Evaluation | None) -> dict[str, object]:
    mean = {} if test is None else test.mean
    return {
        "data": name,
        "method": method.label,
        "seconds": measured.median(),
        "min": min(measured.seconds(), default=np.nan),
        "max": max(measured.seconds(), default=np.nan),
        "fits": len(measured.runs),
        "peak MB": round(measured.memory / 1e6, 1),
        "objective": measured.objectives[0],
        "above its minimum": _above(measured),
        "NDCG@10": mean.get("NDCG@10", np.nan),
        "MAP": mean.get("MAP", np.nan),
        "settings": measured.failure or str(method),
    }


def _above(measured: Measured) -> float:
    reached, least = measured.objectives
    return max(reached / least - 1, 0.0)


def _reading(name: str, fold: Fold, found: dict[str, Measured], tests: dict[str, Evaluation]) -> str:
    """Describe the rows of one data set in sentences."""
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
            f"{small(_above(theirs))} above its minimum (rankviz: {small(_above(ours))})."
        )
    for label in (label for label, _ in TREES.values() if label in tests and REFERENCE in tests):
        values = (tests[one].per_query["NDCG@10"] for one in (label, REFERENCE))
        text.append(f"{compare(*values).sentence(label, REFERENCE, 'NDCG@10')}.".replace("..", "."))
    return " ".join(text)


# linear fits by programs in C++ ---------------------------------------------------------------------------

PAUSE, ROUNDS = 0.3, 15
"""Seconds between fits, as in an app, and number of fits of each."""


@dataclass(frozen=True)
class Program:
    """A program that an environment variable names.

    It is called with options, a file in SVMlight's format and a file for its weights, and prints its seconds
    as "Training-time: 0.1 secs".
    """

    label: str
    variable: str
    loss: str
    options: tuple[str, ...]

    def run(self, documents: Path, C: float) -> tuple[float, FloatArray]:
        """Return the seconds of training, and the weights."""
        weights = documents.with_suffix(".weights")
        command = [os.environ[self.variable], *self.options, "-c", repr(C), str(documents), str(weights)]
        said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        numbers = re.findall(r"^\s*(-?\d\S*)\s*$", weights.read_text(), re.MULTILINE)
        took = re.search(r"Training-time: (\S+)", said)
        return float(took[1]) if took else np.nan, np.array(numbers, float)


PROGRAMS = (
    Program("PRankSVM, array variant", "RANKVIZ_PRANKSVM", "squared_hinge", ("-t", str(cores()))),
    Program("dlib, ε = 1e-3", "RANKVIZ_DLIB_RANK", "hinge", ("-e", "1e-3")),
    Program("dlib, ε = 1e-5", "RANKVIZ_DLIB_RANK", "hinge", ("-e", "1e-5")),
)
LINEAR = {"OHSUMED": {"squared_hinge": 2.0**-11, "hinge": 0.01}, "MQ2008": {"squared_hinge": 2.0**-11}}
"""Data -> loss and C; 42,000 synthetic documents follow."""


def programs() -> None:
    """Alternate linear fits with the programs of PROGRAMS that are there, with a pause before each."""
    found = [program for program in PROGRAMS if os.environ.get(program.variable)]
    data = {name: fold_of(name).train for name in LINEAR if letor("OHSUMED and MQ2008")}
    cases = [(name, train, loss, C) for name, train in data.items() for loss, C in LINEAR[name].items()]
    rows = []
    with TemporaryDirectory() as folder:
        for name, train, loss, C in [*cases, ("42,000 x 46", synthetic(), "squared_hinge", 2.0**-11)]:
            others = [program for program in found if program.loss == loss]
            rows += _alternated(name, train, loss, C, others, Path(folder))
    notes = [
        f"Medians of {ROUNDS} fits in turns, {PAUSE} s after the one before. Objective: ½‖w‖² + C Σ ℓ.",
        "Programs are those that RANKVIZ_PRANKSVM and RANKVIZ_DLIB_RANK name. The first is PRankSVM's train; "
        "benchmarks/dlib_rank.cpp says how to build the second. Their seconds leave out reading the file.",
    ]
    report.write("programs", "Linear fits beside programs in C++", pd.DataFrame(rows), notes)


def _alternated(
    name: str, train: RankingData, loss: str, C: float, others: list[Program], folder: Path
) -> Iterator[dict[str, object]]:
    documents, times = folder / "documents.txt", dict[str, list[float]]()
    query = np.repeat(np.arange(train.n_queries), np.diff(train.ptr))
    documents.write_text(
        "".join(
            f"{y} qid:{q + 1} {' '.join(f'{k + 1}:{x!r}' for k, x in enumerate(row))}\n"
            for y, q, row in zip(train.y, query, train.X.tolist(), strict=True)
        )
    )
    model, weights = RankSVM(C=C, loss=loss).fit_data(train), dict[str, FloatArray]()
    for _ in range(ROUNDS):
        time.sleep(PAUSE)
        times.setdefault("rankviz", []).append(timed(lambda: model.fit_data(train))[1])
        for program in others:
            time.sleep(PAUSE)
            seconds, weights[program.label] = program.run(documents, C)
            times.setdefault(program.label, []).append(seconds)
    weights["rankviz"], risk = model.coef_, PairRisk(train.y, train.ptr, LOSSES[loss])
    for label, took in times.items():
        w = np.zeros(train.n_features)
        w[: len(weights[label])] = weights[label]
        value = 0.5 * float(w @ w) + C * risk.at(train.X @ w).value
        row = {"data": name, "loss": loss, "C": C, "method": label, "seconds": np.median(took)}
        yield row | {"min": min(took), "max": max(took), "objective": value}


CONDITIONS = (
    f"Seconds of a fit: medians of {REPETITIONS} fits, in turns (one fit only above {SLOW:g} s; given up "
    f"after {LONGEST:g} s). All have the same number of threads, but LinearSVC can use only one. Its "
    "tolerance is loose in its favour.",
    "Memory: the peak of the first fit, above a process that holds the data and has its libraries loaded.",
    "Objective: ½‖w‖² + C Σ max(0, 1 − margin)² over all pairs. Each method's minimum is that of its own "
    "features, found to 10^-10: scikit-learn's differ from ours by their random draw. RBFSampler with m = "
    "500 is left out: its time is that of Nystroem, for nearly all of both is LinearSVC.",
    "NDCG@10 and MAP: means over the queries of the test part, LETOR's definition. LightGBM and XGBoost "
    "are measured where they are installed (requirements/bench.txt).",
    "Settings were chosen by NDCG@10 on the validation part, outside the seconds, from all combinations: "
    f"log₂ C {EXPONENTS_C} and log₂ γ {EXPONENTS_GAMMA} for kernel models, at {REFERENCE}; log₂ C "
    f"{EXPONENTS_LINEAR_C} for linear ones; scikit-learn the same. Trees: {TREES}, up to {MOST_TREES} trees, "
    f"stopped after {PATIENCE} without a better NDCG@10 on the validation part.",
)
